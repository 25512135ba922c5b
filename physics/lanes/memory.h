// The layout of a block of worlds in memory: ORR_LANES worlds on the CPU, LANE_STRIDE on CUDA. State and
// scratch are one piece each: the reals of state.h, [quantity][world]; in the scratch, integers and structs
// follow.
#pragma once

#include "physics/lanes/parameters.h"

enum { LANE_NUMBER_BYTES = sizeof(real) / ORR_LANES }; // of one real of one world

#if defined(ORR_SCALAR_DOUBLE)
#define NUMBERS_double(to, from, count) ((to) = (from))
#else
#define NUMBERS_double(to, from, count) ((to) = numbers, numbers = narrow(numbers, (from), (count)))

static float *narrow(float *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] = (float)from[i];
    }
    return to + count;
}
#endif
#define NUMBERS_float(to, from, count) ((to) = (from))
#define NUMBERS_int32_t(to, from, count) ((to) = (from))
#define NUMBERS_uint8_t(to, from, count) ((to) = (from))
#define NUMBERS_char(to, from, count) ((to) = (from))

static void fill_model(const orr_plan *plan, void *model, void *memory)
{
    const orr_model *from = plan->model;
    lane_model *m = (lane_model *)model;
#if defined(ORR_SCALAR_DOUBLE)
    (void)memory; // the model's own arrays are used
#else
    float *numbers = (float *)memory;
#endif
#define FILL_SIZE(name) m->name = from->name;
    ORR_MODEL_SIZES(FILL_SIZE)
#undef FILL_SIZE
    m->opt = from->opt;
    m->stat = from->stat;
    m->plan = plan;
#define FILL_ARRAY(type, name, rows, columns)                                                                \
    NUMBERS_##type(m->name, from->name, (int64_t)(rows) * (int64_t)(columns));
    ORR_MODEL_ARRAYS(FILL_ARRAY)
#undef FILL_ARRAY
}

static inline int state_count(const void *model)
{
    return state_reals((const lane_model *)model);
}

LANE_FN int scratch_count(const lane_model *m)
{
    int count = 0;
#define COUNT(name, n) count += (n);
    LANE_SCRATCH(COUNT)
#undef COUNT
    return count;
}

// Dofs and rows that are sorted by island.
FN int block_dofs(const lane_model *m)
{
    return m->plan->block_count > 0 ? m->nv : 0;
}

FN int block_rows(const lane_model *m)
{
    return m->plan->block_count > 0 ? m->plan->row_capacity : 0;
}

// Groups that can act on free bodies.
FN int run_rows(const lane_model *m)
{
#if defined(ORR_SCALAR)
    return block_rows(m);
#else
    (void)m;
    return 0;
#endif
}

// Integers and structs, which all lanes of a vector share and each thread of a warp has a copy of. X(name,
// type, count). On CUDA interleaved between threads, as reals are:
#define LANE_INTEGERS(X)                                                                                     \
    X(fill, int32_t, dense_rows(m) * dense_rows(m))                                                          \
    X(fill_count, int32_t, m->nv)                                                                            \
    X(below, int32_t, dense_rows(m) * dense_rows(m))                                                         \
    X(below_count, int32_t, m->nv)                                                                           \
    X(filled, int32_t, dense_rows(m) * pattern_words(m))                                                     \
    X(coupled_length, int32_t, m->plan->row_capacity)                                                        \
    X(group, int32_t, m->plan->row_capacity)
// On CUDA contiguous for each thread:
#define LANE_PRIVATE(X)                                                                                      \
    X(row, lane_row, m->plan->row_capacity)                                                                  \
    X(contact, lane_contact, m->plan->contact_capacity)                                                      \
    X(coupled, const int32_t *, m->plan->row_capacity)                                                       \
    X(kept, lane_kept, 1)                                                                                    \
    X(body_list, int32_t, list_room(m, m->nbody))                                                            \
    X(dof_list, int32_t, list_room(m, m->nv))                                                                \
    X(joint_list, int32_t, list_room(m, m->njnt))                                                            \
    X(geom_list, int32_t, list_room(m, m->ngeom))                                                            \
    X(site_list, int32_t, list_room(m, m->nsite))                                                            \
    X(tree_list, int32_t, list_room(m, m->ntree))                                                            \
    X(block_list, int32_t, list_room(m, m->plan->block_count))                                               \
    X(tree_moves, int32_t, list_room(m, m->ntree))                                                           \
    X(tree_touches, int32_t, list_room(m, m->ntree))                                                         \
    X(box_list, int32_t, list_room(m, m->plan->boxed_moving))                                                \
    X(extent, lane_extent, m->plan->boxed_count)                                                             \
    X(box_side, float, box_sides(m))                                                                         \
    X(box_node, lane_box_node, 2 * m->plan->boxed_count)                                                     \
    X(block_island, int32_t, m->plan->block_count)                                                           \
    X(island_row, int32_t, m->plan->block_count + 1)                                                         \
    X(island_dof, int32_t, m->plan->block_count + 1)                                                         \
    X(island_group, int32_t, m->plan->block_count + 1)                                                       \
    X(island_tie, int32_t, m->plan->block_count + 1)                                                         \
    X(dof_sorted, int32_t, block_dofs(m))                                                                    \
    X(row_sorted, lane_row, block_rows(m))                                                                   \
    X(row_place, int32_t, block_rows(m))                                                                     \
    X(tie, lane_tie, block_rows(m))                                                                          \
    X(tie_sorted, lane_tie, block_rows(m))                                                                   \
    X(runs, lane_runs, run_rows(m))                                                                          \
    X(couple, lane_couple, block_rows(m))                                                                    \
    X(block_order, int32_t, m->plan->block_count)                                                            \
    X(block_at, int32_t, m->plan->block_count)                                                               \
    X(edge_first, int32_t, m->plan->block_count)                                                             \
    X(edge_end, int32_t, m->plan->block_count)                                                               \
    X(edge, int32_t, 2 * m->plan->block_capacity)                                                            \
    X(fill_first, int32_t, m->plan->block_count + 1)                                                         \
    X(fill_place, int32_t, m->plan->block_capacity)                                                          \
    X(between_first, int32_t, m->plan->block_count + 1)                                                      \
    X(between_place, int32_t, m->plan->block_capacity)                                                       \
    X(between_spill, int32_t, m->plan->block_capacity)                                                       \
    X(spill_place, int32_t, m->plan->block_capacity)                                                         \
    X(block_stale, uint8_t, m->plan->block_count)                                                            \
    X(between_stale, uint8_t, m->plan->block_capacity)                                                       \
    X(block_mark, int32_t, m->plan->block_count)                                                             \
    X(block_scratch, int32_t, m->plan->block_count)                                                          \
    X(block_sibling, int32_t, m->plan->block_count)                                                          \
    X(island_part, lane_island_part, m->plan->block_count > 0 ? LANE_PARTS + 1 : 0)                          \
    X(outcome, lane_outcome, m->plan->block_count > 0 ? 1 : 0)                                               \
    X(tree_part, int32_t, m->plan->block_count)                                                              \
    X(touch, lane_touch, touch_room(m))                                                                      \
    X(response, lane_response, m->plan->response_rows)                                                       \
    X(response_dof, int32_t, m->plan->response_dofs)                                                         \
    X(response_mark, uint32_t, m->plan->response_rows > 0 ? pattern_words(m) : 0)                            \
    X(wanted, orr_plan_room, LANE_THREADS == 1)                                                              \
    X(near_geoms, int32_t, 2 * m->plan->near_capacity)                                                       \
    X(near_first, int32_t, m->plan->pairs_mixed *(m->ngeom + 1))                                             \
    X(met, orr_pair, met_capacity(m))                                                                        \
    X(met_dof, int32_t, (int64_t)met_capacity(m) * m->plan->pair_dofs)                                       \
    X(met_part, uint8_t, (int64_t)met_capacity(m) * m->plan->pair_dofs)                                      \
    X(tree_rank, int32_t, m->plan->pairs_mixed * m->ntree)                                                   \
    X(contact_order, int32_t, 2 * m->plan->pairs_mixed * m->plan->contact_capacity)                          \
    X(part, lane_part, (m->plan->near_capacity + LANE_PAIRS_OF_PART - 1) / LANE_PAIRS_OF_PART)               \
    X(near_pair, uint32_t, (m->plan->geom_pairs + 31) / 32)

LANE_FN size_t padded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

LANE_FN size_t private_bytes(const lane_model *m)
{
    size_t bytes = 0;
#define ADD(name, type, count) bytes += padded((size_t)(count) * sizeof(type));
    LANE_PRIVATE(ADD)
#undef ADD
    return bytes;
}

LANE_FN size_t integer_bytes(const lane_model *m) // of all threads
{
    size_t bytes = 0;
#define ADD(name, type, count) bytes += padded((size_t)(count)*LANE_THREADS * sizeof(type));
    LANE_INTEGERS(ADD)
#undef ADD
    return bytes;
}

// of all lanes
LANE_FN size_t real_bytes(int count)
{
    return padded((size_t)count * LANE_STRIDE * LANE_NUMBER_BYTES);
}

static inline size_t scratch_bytes(const void *model)
{
    const lane_model *m = (const lane_model *)model;
    return real_bytes(scratch_count(m)) + integer_bytes(m) + LANE_THREADS * private_bytes(m);
}

// thread: of a warp; 0 on the CPU
LANE_FN reals first_real(void *memory, int thread)
{
#if defined(__CUDACC__)
    reals first = {(real *)memory + thread};
    return first;
#else
    (void)thread;
    return (reals)memory;
#endif
}

#define BIND(name, count)                                                                                    \
    d->name = next;                                                                                          \
    next = next + (count);

LANE_FN void bind_state(const lane_model *m, void *state, int thread, lane_data *d)
{
    memset(d, 0, sizeof *d);
    reals next = first_real(state, thread);
    LANE_STATE(BIND)
}

LANE_FN void bind(const lane_model *m, void *state, void *scratch, int thread, lane_data *d)
{
    bind_state(m, state, thread, d);
    reals next = first_real(scratch, thread);
    LANE_SCRATCH(BIND)
#undef BIND
    char *memory = (char *)scratch + real_bytes(scratch_count(m));
#if defined(__CUDACC__)
#define BIND(name, type, count)                                                                              \
    d->name.first = (type *)(void *)memory + thread;                                                         \
    memory += padded((size_t)(count)*LANE_THREADS * sizeof(type));
    LANE_INTEGERS(BIND)
#undef BIND
    memory += (size_t)thread * private_bytes(m);
#define BIND(name, type, count)                                                                              \
    d->name = (type *)(void *)memory;                                                                        \
    memory += padded((size_t)(count) * sizeof(type));
#else
#define BIND(name, type, count)                                                                              \
    d->name = (type *)(void *)memory;                                                                        \
    memory += padded((size_t)(count) * sizeof(type));
    LANE_INTEGERS(BIND)
#endif
    LANE_PRIVATE(BIND)
#undef BIND
    d->coupled_count = -1;
    d->dof = m->plan->dof_ascending;
    d->dof_count = m->nv;
}
