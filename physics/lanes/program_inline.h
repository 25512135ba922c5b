// What surrounds the lane program of a world: its model, the arrays of a block in memory, and what can be asked of it.
// For the CPU (world_cpu.c) and for CUDA (world_cuda.cu), where a block is a warp and each of its threads has one world.
#pragma once

#include "physics/lanes/program.h"
#include "physics/lanes/read.h"

#include <assert.h>

enum { LANE_NUMBER_BYTES = sizeof(real) / ORR_LANES }; // of one world

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
    (void)memory; // they are as they should be
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

static int state_count(const void *model)
{
    const lane_model *m = (const lane_model *)model;
    int count = 0;
#define COUNT(name, n) count += (n);
    LANE_STATE(COUNT)
    return count;
}

LANE_FN int scratch_count(const lane_model *m)
{
    int count = 0;
    LANE_SCRATCH(COUNT)
#undef COUNT
    return count;
}

// Memory that all lanes of a vector share, and that each thread of a warp has of its own. X(name, type, count)
// Beside its neighbours', as reals are:
#define LANE_INTEGERS(X)                                                                                     \
    X(fill, int32_t, m->nv * m->nv)                                                                          \
    X(fill_count, int32_t, m->nv)                                                                            \
    X(below, int32_t, m->nv * m->nv)                                                                         \
    X(below_count, int32_t, m->nv)                                                                           \
    X(filled, uint8_t, m->nv * m->nv)                                                                        \
    X(coupled_length, int32_t, m->plan->row_capacity)                                                        \
    X(group, int32_t, m->plan->row_capacity)
// in one piece:
#define LANE_PRIVATE(X)                                                                                      \
    X(row, lane_row, m->plan->row_capacity)                                                                  \
    X(contact, lane_contact, m->plan->contact_capacity)                                                      \
    X(coupled, const int32_t *, m->plan->row_capacity)                                                       \
    X(extent, lane_extent, m->plan->sweep_count)                                                             \
    X(near_pair, uint32_t, (m->plan->pair_count + 31) / 32)

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

static size_t scratch_bytes(const void *model)
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

LANE_FN void bind(const lane_model *m, void *state, void *scratch, int thread, lane_data *d)
{
    memset(d, 0, sizeof *d);
    reals next = first_real(state, thread);
#define BIND(name, count)                                                                                    \
    d->name = next;                                                                                          \
    next = next + (count);
    LANE_STATE(BIND)
    next = first_real(scratch, thread);
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
}

#define FIELD_AT(name, n)                                                                                    \
    if (strcmp(#name, wanted) == 0) {                                                                        \
        *count = (n);                                                                                        \
        return at;                                                                                           \
    }                                                                                                        \
    at += (n);

static int field_at(const void *model, orr_physics_field field, int *count, bool *lasts)
{
    static const char *const names[] = {
#define FIELD_NAME(NAME, name) #name,
        ORR_PHYSICS_STATE(FIELD_NAME) ORR_PHYSICS_DERIVED(FIELD_NAME)
#undef FIELD_NAME
    };
    const lane_model *m = (const lane_model *)model;
    const char *wanted = names[field];
    int at = 0;
    *lasts = true;
    LANE_STATE(FIELD_AT)
    at = 0;
    *lasts = false;
    LANE_SCRATCH(FIELD_AT)
    assert(at < 0); // a field without an array
    return -1;
}

LANE_FN mask is_finite(const lane_model *m, const lane_data *d)
{
    mask fine = everywhere();
    for (int i = 0; i < m->nq; i++) {
        fine = and_(fine, abs_(d->qpos[i]) < R(1e10));
    }
    for (int i = 0; i < m->nv; i++) {
        fine = and_(fine, and_(abs_(d->qvel[i]) < R(1e10), abs_(d->qacc[i]) < R(1e10)));
    }
    return fine;
}

LANE_FN void run_calls(const lane_model *m, lane_data *d, orr_program_call call, int steps)
{
    switch (call) {
    case ORR_PROGRAM_STEP:
        for (int i = 0; i < steps; i++) {
            step(m, d);
        }
        break;
    case ORR_PROGRAM_FORWARD:
        forward(m, d);
        break;
    case ORR_PROGRAM_INVERSE:
        inverse(m, d);
        break;
    default:
        evaluate(m, d, (int)call - ORR_PROGRAM_POSITIONS);
        break;
    }
}

// One world's number; lane: of a vector.
LANE_FN double lane_number(real x, int lane)
{
#if defined(ORR_SCALAR) || defined(__CUDACC__)
    (void)lane;
    return (double)x;
#else
    return (double)x[lane];
#endif
}

LANE_FN int list_contacts(const lane_model *m, lane_data *d, int lane, orr_physics_contact *result,
                          int capacity)
{
    int count = 0;
    for (int i = 0; i < d->contact_count; i++) {
        double dist = lane_number(d->contact_dist[i], lane);
        if (!(dist < 0.5 * LANE_HUGE) || count++ >= capacity) {
            continue;
        }
        const orr_pair *pair = &m->plan->pair[d->contact[i].pair];
        orr_physics_contact *c = &result[count - 1];
        c->geom1 = pair->geom1;
        c->geom2 = pair->geom2;
        c->dim = pair->condim;
        c->dist = dist;
        real force[6];
        contact_force(m, d, i, force);
        for (int k = 0; k < 9; k++) {
            c->frame[k] = lane_number(d->contact_frame[9 * i + k], lane);
        }
        for (int k = 0; k < 3; k++) {
            c->pos[k] = lane_number(d->contact_pos[3 * i + k], lane);
        }
        for (int k = 0; k < 6; k++) {
            c->force[k] = lane_number(force[k], lane);
        }
    }
    return count;
}
