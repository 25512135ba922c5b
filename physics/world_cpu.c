// The lane program of a world (lane_step.h) as a table, compiled once per instruction set; world_single.c compiles
// it for one world in plain float, world_double.c in plain double.
#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "physics/lane_read.h"
#include "physics/program.h"

#include <math.h>

#if !defined(PROGRAM)
#define PROGRAM ORR_ISA_NAME(orr_program)
#endif

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
    lane_model *m = model;
    uniform_real *numbers = memory;
    (void)numbers;
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
    const lane_model *m = model;
    int count = 0;
#define COUNT(name, n) count += (n);
    LANE_STATE(COUNT)
    return count;
}

static int scratch_count(const lane_model *m)
{
    int count = 0;
    LANE_SCRATCH(COUNT)
#undef COUNT
    return count;
}

static size_t padded(size_t bytes)
{
    return (bytes + ORR_ALIGNMENT - 1) / ORR_ALIGNMENT * ORR_ALIGNMENT;
}

static size_t scratch_bytes(const void *model)
{
    const lane_model *m = model;
    size_t nv = (size_t)m->nv;
    return padded((size_t)scratch_count(m) * sizeof(real)) +
           padded((size_t)m->plan->row_capacity * sizeof(lane_row)) +
           padded((size_t)m->plan->contact_capacity * sizeof(lane_contact)) +
           2 * padded(nv * nv * sizeof(int32_t)) + 2 * padded(nv * sizeof(int32_t)) + padded(nv * nv) +
           padded((size_t)m->plan->row_capacity * sizeof(int32_t *)) +
           padded((size_t)m->plan->row_capacity * sizeof(int32_t)) +
           padded((size_t)m->plan->sweep_count * sizeof(lane_extent)) +
           padded((size_t)(m->plan->pair_count + 31) / 32 * sizeof(uint32_t));
}

static void *take(char **memory, size_t bytes)
{
    void *taken = *memory;
    *memory += padded(bytes);
    return taken;
}

static lane_data bind(const lane_model *m, void *state, void *scratch)
{
    lane_data d = {0};
    real *next = state;
#define BIND(name, count)                                                                                    \
    d.name = next;                                                                                           \
    next += (count);
    LANE_STATE(BIND)
    char *memory = scratch;
    next = take(&memory, (size_t)scratch_count(m) * sizeof(real));
    LANE_SCRATCH(BIND)
#undef BIND
    size_t nv = (size_t)m->nv;
    d.row = take(&memory, (size_t)m->plan->row_capacity * sizeof(lane_row));
    d.contact = take(&memory, (size_t)m->plan->contact_capacity * sizeof(lane_contact));
    d.fill = take(&memory, nv * nv * sizeof(int32_t));
    d.fill_count = take(&memory, nv * sizeof(int32_t));
    d.below = take(&memory, nv * nv * sizeof(int32_t));
    d.below_count = take(&memory, nv * sizeof(int32_t));
    d.filled = take(&memory, nv * nv);
    d.coupled = take(&memory, (size_t)m->plan->row_capacity * sizeof(int32_t *));
    d.coupled_length = take(&memory, (size_t)m->plan->row_capacity * sizeof(int32_t));
    d.coupled_count = -1;
    d.extent = take(&memory, (size_t)m->plan->sweep_count * sizeof(lane_extent));
    d.near_pair = take(&memory, (size_t)(m->plan->pair_count + 31) / 32 * sizeof(uint32_t));
    return d;
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
    const lane_model *m = model;
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

static uint32_t not_finite(const lane_model *m, const lane_data *d)
{
    mask fine = everywhere();
    for (int i = 0; i < m->nq; i++) {
        fine = and_(fine, abs_(d->qpos[i]) < R(1e10));
    }
    for (int i = 0; i < m->nv; i++) {
        fine = and_(fine, and_(abs_(d->qvel[i]) < R(1e10), abs_(d->qacc[i]) < R(1e10)));
    }
#if defined(ORR_SCALAR)
    return !fine;
#else
    return mask_bits(not_(fine));
#endif
}

static uint32_t run(const void *model, void *state, void *scratch, orr_program_call call, int steps,
                    int *contacts_needed)
{
    const lane_model *m = model;
    lane_data d = bind(m, state, scratch);
    switch (call) {
    case ORR_PROGRAM_STEP:
        for (int i = 0; i < steps; i++) {
            step(m, &d);
        }
        break;
    case ORR_PROGRAM_FORWARD:
        forward(m, &d);
        break;
    case ORR_PROGRAM_INVERSE:
        inverse(m, &d);
        break;
    default:
        evaluate(m, &d, (int)call - ORR_PROGRAM_POSITIONS);
        break;
    }
    *contacts_needed = d.contacts_needed > *contacts_needed ? d.contacts_needed : *contacts_needed;
    return not_finite(m, &d);
}

static double number(real x, int lane)
{
#if defined(ORR_SCALAR)
    (void)lane;
    return (double)x;
#else
    return (double)x[lane];
#endif
}

static int contacts(const void *model, void *state, void *scratch, int lane, orr_physics_contact *result,
                    int capacity)
{
    const lane_model *m = model;
    lane_data d = bind(m, state, scratch);
    evaluate(m, &d, LANE_DEPTH_ACCELERATIONS);
    int count = 0;
    for (int i = 0; i < d.contact_count; i++) {
        double dist = number(d.contact_dist[i], lane);
        if (!(dist < 0.5 * LANE_HUGE) || count++ >= capacity) {
            continue;
        }
        const orr_pair *pair = &m->plan->pair[d.contact[i].pair];
        orr_physics_contact *c = &result[count - 1];
        c->geom1 = pair->geom1;
        c->geom2 = pair->geom2;
        c->dim = pair->condim;
        c->dist = dist;
        real force[6];
        contact_force(m, &d, i, force);
        for (int k = 0; k < 9; k++) {
            c->frame[k] = number(d.contact_frame[9 * i + k], lane);
        }
        for (int k = 0; k < 3; k++) {
            c->pos[k] = number(d.contact_pos[3 * i + k], lane);
        }
        for (int k = 0; k < 6; k++) {
            c->force[k] = number(force[k], lane);
        }
    }
    return count;
}

const orr_program *PROGRAM(void)
{
    static const orr_program program = {ORR_LANES,
                                        sizeof(real) / ORR_LANES,
                                        sizeof(lane_model),
                                        fill_model,
                                        state_count,
                                        scratch_bytes,
                                        field_at,
                                        run,
                                        contacts};
    return &program;
}
