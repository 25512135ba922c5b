// Domain randomisation: parameters that differ between worlds.
#include "engine/core/memory.h"
#include "physics/model/primitive.h"
#include "physics/pose/inverse_weights.h"
#include "physics/simulation/world_state.h"

#include <math.h>
#include <stdatomic.h>

#define BIT(NAME) (1u << ORR_VARY_##NAME)
static const uint32_t weights = BIT(BODY_SUBTREEMASS) | BIT(BODY_INVWEIGHT0) | BIT(DOF_INVWEIGHT0) |
                                BIT(TENDON_INVWEIGHT0) | BIT(ACTUATOR_ACC0) | BIT(PAIR);

// Parameters that are derived from one that is set.
static uint32_t derived_from(orr_vary what)
{
    switch (what) {
    case ORR_VARY_BODY_MASS:
    case ORR_VARY_BODY_INERTIA:
    case ORR_VARY_DOF_ARMATURE:
        return weights;
    case ORR_VARY_GEOM_FRICTION:
        return BIT(PAIR);
    case ORR_VARY_GEOM_SIZE:
        return BIT(GEOM_RBOUND);
    default:
        return 0;
    }
}

// Numbers per world, and the parameter's name.
static int size_of(const orr_physics *physics, orr_vary what, const char **name)
{
    const orr_model *m = physics->model;
    switch (what) {
#define SIZE(NAME, array, count)                                                                             \
    case ORR_VARY_##NAME:                                                                                    \
        *name = #array;                                                                                      \
        return count;
        ORR_VARY_ARRAYS(SIZE)
        ORR_VARY_OTHERS(SIZE)
        ORR_VARY_DERIVED(SIZE)
#undef SIZE
    default:
        *name = "pair";
        return ORR_PAIR_NUMBERS * physics->plan->pair_count;
    }
}

int orr_physics_vary_size(const orr_physics *physics, orr_vary what)
{
    const char *name;
    return size_of(physics, what, &name);
}

// The model's number, for worlds in which it does not vary.
static double common_number(const orr_physics *physics, orr_vary what, int i)
{
    const orr_model *m = physics->model;
    switch (what) {
#define NUMBER(NAME, array, count)                                                                           \
    case ORR_VARY_##NAME:                                                                                    \
        return m->array[i];
        ORR_VARY_ARRAYS(NUMBER)
        ORR_VARY_DERIVED(NUMBER)
#undef NUMBER
    case ORR_VARY_GRAVITY:
        return m->opt.gravity[i];
    case ORR_VARY_START_QPOS:
        return m->qpos0[i];
    case ORR_VARY_PAIR:
        return physics->plan->pair[i / ORR_PAIR_NUMBERS].numbers[i % ORR_PAIR_NUMBERS];
    default: // ORR_VARY_START_QVEL
        return 0.0;
    }
}

static double world_number(const orr_physics *physics, orr_vary what, int world, int i)
{
    const orr_program *program = physics->program;
    const world_slot slot = slot_of(physics, world);
    int at = varied_index(physics, what);
    return at < 0 ? common_number(physics, what, i)
                  : read_number(program, read_state(physics, slot.block), at + i, slot.lane);
}

// Scratch for worlds of so many numbers more: it may have a copy of a block's state.
static orr_result take_scratch_for(orr_physics *physics, int more, orr_error *error)
{
    physics->plan->varied_count += more;
    const orr_result result = orr_physics_take_scratch(physics, error);
    physics->plan->varied_count -= more;
    return result;
}

// Adds parameters to the state of all worlds, those that have not varied before.
static orr_result reserve_varied(orr_physics *physics, uint32_t added, orr_error *error)
{
    const orr_program *program = physics->program;
    orr_plan *plan = physics->plan;
    int more = 0;
    for (int what = 0; what < ORR_VARY_COUNT; what++) {
        added &= ~((uint32_t)(plan->varied_at[what] >= 0) << what);
        more += added >> what & 1 ? orr_physics_vary_size(physics, (orr_vary)what) : 0;
    }
    if (added == 0) {
        return ORR_OK;
    }
    size_t number_bytes = (size_t)program->lanes * program->real_bytes; // in all lanes
    size_t old_bytes = (size_t)physics->state_count * number_bytes;
    size_t new_bytes = old_bytes + (size_t)more * number_bytes;
    char *state = orr_alloc((size_t)physics->blocks, new_bytes);
    char *kept = physics->device ? NULL : orr_alloc((size_t)physics->workers, new_bytes);
    if (!state || (!kept && !physics->device)) {
        orr_free(state);
        orr_free(kept);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d worlds of %zu bytes",
                        physics->worlds, new_bytes / (size_t)program->lanes);
    }
    orr_result result = physics->device ? orr_device_resize_state(physics, physics->state_count + more, error)
                                        : take_scratch_for(physics, more, error);
    if (result == ORR_OK && physics->order) {
        result = orr_order_resize(physics->order, (size_t)physics->blocks, new_bytes, error);
    }
    if (result != ORR_OK) {
        orr_free(state);
        orr_free(kept);
        return result;
    }
    for (int block = 0; block < physics->blocks; block++) {
        memcpy(state + (size_t)block * new_bytes, block_state(physics, block), old_bytes);
    }
    orr_free(physics->state);
    orr_free(physics->kept);
    physics->state = state;
    physics->kept = kept;
    physics->state_count += more;
    for (int what = 0; what < ORR_VARY_COUNT; what++) {
        if (!(added >> what & 1)) {
            continue;
        }
        int count = orr_physics_vary_size(physics, (orr_vary)what);
        int at = physics->state_count - more;
        more -= count;
        plan->varied_at[what] = plan->varied_count;
        plan->varied_count += count;
        for (int slot = 0; slot < physics->blocks * program->lanes; slot++) {
            for (int i = 0; i < count; i++) {
                write_number(program, block_state(physics, slot / program->lanes), at + i,
                             slot % program->lanes, common_number(physics, (orr_vary)what, i));
            }
        }
    }
    return ORR_OK;
}

static bool below_its_least(orr_vary what, double value)
{
    switch (what) {
    case ORR_VARY_GRAVITY:
    case ORR_VARY_START_QPOS:
    case ORR_VARY_START_QVEL:
    case ORR_VARY_ACTUATOR_GAINPRM:
    case ORR_VARY_ACTUATOR_BIASPRM:
        return false;
    default:
        return value < 0.0;
    }
}

static bool has_drag_of_its_own(const orr_model *m, int geom)
{
    return (m->opt.density > 0.0 || m->opt.viscosity > 0.0) && m->geom_fluid[ORR_NFLUID * geom] > 0.0;
}

static orr_result check(const orr_physics *physics, orr_vary what, int world, const double *values,
                        orr_error *error)
{
    const orr_model *m = physics->model;
    const char *name;
    int count = size_of(physics, what, &name);
    if ((what == ORR_VARY_BODY_MASS || what == ORR_VARY_BODY_INERTIA) &&
        (m->opt.density > 0.0 || m->opt.viscosity > 0.0)) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "%s: world %d: expected a model without density and viscosity, drag does not follow",
                        name, world);
    }
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i]) || below_its_least(what, values[i])) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: world %d, number %d: expected %s, not %g", name,
                            world, i, isfinite(values[i]) ? "at least 0" : "a finite number", values[i]);
        }
        if (what == ORR_VARY_GEOM_SIZE && has_drag_of_its_own(m, i / 3) && values[i] != m->geom_size[i]) {
            return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                            "geom_size: world %d, geom %d: expected %g as in the model, its drag as an "
                            "ellipsoid does not follow",
                            world, i / 3, m->geom_size[i]);
        }
        int type = what == ORR_VARY_GEOM_SIZE ? m->geom_type[i / 3] : ORR_GEOM_SPHERE;
        if ((type == ORR_GEOM_MESH || type == ORR_GEOM_HFIELD || type == ORR_GEOM_SDF) &&
            values[i] != m->geom_size[i]) {
            return orr_fail(
                error, ORR_CODE_ARGUMENT,
                "geom_size: world %d, geom %d: expected %g as in the model, a mesh, height field or "
                "distance grid has one size",
                world, i / 3, m->geom_size[i]);
        }
    }
    return ORR_OK;
}

// A model with a world's parameters: it has its own copy of arrays that can vary, and of derived ones.
typedef struct orr_vary_memory {
    orr_model model;
    double *numbers;              // of these arrays
    orr_inverse_weights *weights; // of the model
} orr_vary_memory;

static void fill(const orr_physics *physics, int world, orr_vary what, const double *values,
                 orr_vary_memory *memory)
{
    const orr_model *m = physics->model;
#define FILL(NAME, array, count)                                                                             \
    for (int i = 0; i < (count); i++) {                                                                      \
        memory->model.array[i] =                                                                             \
            what == ORR_VARY_##NAME ? values[i] : world_number(physics, ORR_VARY_##NAME, world, i);          \
    }
    ORR_VARY_ARRAYS(FILL)
    ORR_VARY_DERIVED(FILL)
#undef FILL
}

static orr_result make_memory(const orr_physics *physics, orr_vary_memory *memory, orr_error *error)
{
    const orr_model *m = physics->model;
    size_t total = (size_t)m->nv; // dof_M0
#define ADD(NAME, array, count) total += (size_t)(count);
    ORR_VARY_ARRAYS(ADD)
    ORR_VARY_DERIVED(ADD)
#undef ADD
    ORR_ALLOC(memory->numbers, total, "the numbers of a world", error);
    double *next = memory->numbers;
    memory->model = *m;
#define BIND(NAME, array, count)                                                                             \
    memory->model.array = next;                                                                              \
    next += (count);
    ORR_VARY_ARRAYS(BIND)
    ORR_VARY_DERIVED(BIND)
#undef BIND
    memory->model.dof_M0 = next;
    fill(physics, 0, ORR_VARY_COUNT, NULL, memory);
    return orr_inverse_weights_create(&memory->model, &memory->weights, error);
}

void orr_physics_vary_clear(orr_physics *physics)
{
    for (int i = 0; i < physics->vary_count; i++) {
        orr_free(physics->vary[i].numbers);
        orr_inverse_weights_destroy(physics->vary[i].weights);
    }
    orr_free(physics->vary);
    physics->vary = NULL;
    physics->vary_count = 0;
}

// Of each thread, the first time that a parameter varies from which others follow.
static orr_result reserve_memory(orr_physics *physics, orr_error *error)
{
    const int count = orr_jobs_workers(physics->jobs);
    if (physics->vary) {
        return ORR_OK;
    }
    physics->vary = orr_alloc_zero((size_t)count, sizeof *physics->vary);
    if (!physics->vary) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the numbers of a world");
    }
    physics->vary_count = count;
    for (int i = 0; i < count; i++) {
        orr_result result = make_memory(physics, &physics->vary[i], error);
        if (result != ORR_OK) {
            orr_physics_vary_clear(physics);
            return result;
        }
    }
    return ORR_OK;
}

static void write_derived(orr_physics *physics, int world, uint32_t which, const orr_model *copy)
{
    const orr_model *m = physics->model;
    const orr_program *program = physics->program;
    const world_slot slot = slot_of(physics, world);
    char *state = write_state(physics, slot.block);
    const int lane = slot.lane;
#define WRITE(NAME, array, count)                                                                            \
    for (int i = 0; i < (count) && which & BIT(NAME); i++) {                                                 \
        write_number(program, state, varied_index(physics, ORR_VARY_##NAME) + i, lane, copy->array[i]);      \
    }
    ORR_VARY_DERIVED(WRITE)
#undef WRITE
    for (int p = 0; p < physics->plan->pair_count && which & BIT(PAIR); p++) {
        double numbers[ORR_PAIR_NUMBERS];
        orr_pair_numbers(copy, &physics->plan->pair[p], numbers);
        for (int i = 0; i < ORR_PAIR_NUMBERS; i++) {
            int at = varied_index(physics, ORR_VARY_PAIR) + ORR_PAIR_NUMBERS * p + i;
            write_number(program, state, at, lane, numbers[i]);
        }
    }
}

// Derived parameters of a world in which one is to become `values`.
static orr_result derive(orr_physics *physics, orr_vary what, int world, const double *values,
                         orr_vary_memory *memory, orr_error *error)
{
    const uint32_t which = derived_from(what);
    if (which == 0) {
        return ORR_OK;
    }
    orr_model *copy = &memory->model;
    fill(physics, world, what, values, memory);
    if (which == weights) {
        ORR_TRY(orr_inverse_weights_find(memory->weights, physics->model->name, error));
    }
    for (int g = 0; g < copy->ngeom && what == ORR_VARY_GEOM_SIZE; g++) {
        int type = copy->geom_type[g];
        double box[6];
        if (type != ORR_GEOM_MESH && type != ORR_GEOM_HFIELD && type != ORR_GEOM_SDF) {
            orr_primitive_bounds(type, copy->geom_size + 3 * (ptrdiff_t)g, box, &copy->geom_rbound[g]);
        }
    }
    write_derived(physics, world, which, copy);
    return ORR_OK;
}

static orr_result reserve(orr_physics *physics, orr_vary what, orr_error *error)
{
    assert(what <= ORR_VARY_START_QVEL);
    if (physics->plan->pairs_mixed && derived_from(what) & BIT(PAIR)) {
        return orr_fail(
            error, ORR_CODE_CAPACITY,
            "%s: expected a model of fewer pairs of geoms that can collide: friction, mass, inertia and "
            "armature cannot vary where a step has to mix the parameters of pairs",
            physics->model->name);
    }
    ORR_TRY(reserve_varied(physics, 1u << what | derived_from(what), error));
    return derived_from(what) != 0 ? reserve_memory(physics, error) : ORR_OK;
}

// All trees of a world wake.
static void wake(orr_physics *physics, int world)
{
    const orr_program *program = physics->program;
    const world_slot slot = slot_of(physics, world);
    number_range trees = orr_physics_range(physics, ORR_PHYSICS_TREE_ASLEEP);
    for (int i = 0; i < trees.count; i++) {
        write_number(program, write_state(physics, slot.block), trees.first + i, slot.lane, ORR_AWAKE);
    }
}

static orr_result vary_world(orr_physics *physics, orr_vary what, int world, const double *values,
                             orr_vary_memory *memory, orr_error *error)
{
    const orr_program *program = physics->program;
    const world_slot slot = slot_of(physics, world);
    const int size = orr_physics_vary_size(physics, what);
    ORR_TRY(check(physics, what, world, values, error));
    ORR_TRY(derive(physics, what, world, values, memory, error));
    for (int i = 0; i < size; i++) {
        write_number(program, write_state(physics, slot.block), varied_index(physics, what) + i, slot.lane,
                     values[i]);
    }
    wake(physics, world);
    return ORR_OK;
}

orr_result orr_physics_vary(orr_physics *physics, orr_vary what, int world, int count, const double *values,
                            orr_error *error)
{
    assert(world >= 0 && count >= 0 && count <= physics->worlds - world);
    const int size = orr_physics_vary_size(physics, what);
    orr_physics_forget(physics);
    ORR_TRY(reserve(physics, what, error));
    for (int k = world; k < world + count; k++, values += size) {
        ORR_TRY(vary_world(physics, what, k, values, physics->vary, error));
    }
    return ORR_OK;
}

typedef struct vary_job {
    orr_physics *physics;
    orr_vary what;
    const uint8_t *mask;
    const double *values;
    atomic_int refused; // the first world whose numbers are
} vary_job;

static void vary_block(void *context, int block, int worker)
{
    vary_job *job = context;
    orr_physics *physics = job->physics;
    const int size = orr_physics_vary_size(physics, job->what);
    orr_vary_memory *memory = physics->vary ? &physics->vary[worker] : NULL;
    for (int lane = 0; lane < block_worlds(physics, block); lane++) {
        const int i = world_at(physics, block, lane);
        const double *row = job->values + (size_t)i * (size_t)size;
        if (job->mask[i] && vary_world(physics, job->what, i, row, memory, NULL) != ORR_OK) {
            int first = atomic_load(&job->refused);
            while (i < first && !atomic_compare_exchange_weak(&job->refused, &first, i)) {
            }
        }
    }
}

orr_result orr_physics_vary_masked(orr_physics *physics, orr_vary what, const uint8_t *mask,
                                   const double *values, orr_error *error)
{
    vary_job job = {.physics = physics, .what = what, .mask = mask, .values = values};
    atomic_init(&job.refused, physics->worlds);
    orr_physics_forget(physics);
    ORR_TRY(reserve(physics, what, error));
    for (int block = 0; block < physics->blocks && physics->device; block++) {
        vary_block(&job, block, 0);
    }
    if (!physics->device) {
        orr_jobs_for(physics->jobs, physics->blocks, vary_block, &job);
    }
    const int refused = atomic_load(&job.refused), size = orr_physics_vary_size(physics, what);
    return refused == physics->worlds
               ? ORR_OK
               : vary_world(physics, what, refused, values + (size_t)refused * (size_t)size, physics->vary,
                            error); // again, for the message
}
