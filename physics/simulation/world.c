// Worlds: creation, and the schedule of steps, blocks of worlds over threads.
#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "physics/simulation/world_state.h"

#define PROGRAM(isa) orr_program_##isa
#define SINGLE_PROGRAM(isa) orr_single_program_##isa
typedef const orr_program *program_of(void);
static program_of *const programs[ORR_ISA_COUNT] = ORR_ISA_TABLE(PROGRAM);
static program_of *const single_programs[ORR_ISA_COUNT] = ORR_ISA_TABLE(SINGLE_PROGRAM);

// Accelerations in float lose about as many digits as the pivots of the inertia matrix. At this limit, that
// of nine equal links, they are wrong by 1e-4 of the largest in the median and by 3e-4 at most; longer chains
// exceed it (20 links lose 4 digits), and no robot that was measured: MyoSuite's arms lose the most, 1060,
// as joints of their shoulders turn back what others have turned.
enum { LARGEST_PIVOT_LOSS = 1500 };

// One world alone is faster in scalar float than in a block.
static const orr_program *choose_program(const orr_physics_desc *desc, const orr_plan *plan, orr_isa isa)
{
    bool single = desc->worlds <= 1 && !desc->as_of_many, wide = desc->double_precision;
    wide = wide || (!desc->single_precision && plan->pivot_loss > LARGEST_PIVOT_LOSS);
    if (desc->cuda) {
        return orr_device_program(wide);
    }
    if (wide) {
        return orr_program_double();
    }
    return single ? single_programs[isa]() : programs[isa]();
}

static size_t model_doubles(const orr_model *m)
{
    size_t count = 0;
#define COUNT_double(n) count += (size_t)(n)
#define COUNT_float(n) (void)0
#define COUNT_int32_t(n) (void)0
#define COUNT_uint8_t(n) (void)0
#define COUNT_char(n) (void)0
#define COUNT_ARRAY(type, name, rows, columns) COUNT_##type((int64_t)(rows) * (int64_t)(columns));
    ORR_MODEL_ARRAYS(COUNT_ARRAY)
    return count;
}

// One bit per lane of a block that has a world.
static uint32_t lanes_in_use(const orr_physics *physics, int block)
{
    int lanes = physics->program->lanes, left = physics->worlds - block * lanes;
    return left >= lanes ? (uint32_t)((1ull << lanes) - 1) : (1u << left) - 1u;
}

static void restart_block(orr_physics *physics, int block, uint32_t lanes)
{
    physics->program->restart(physics->program_model, write_state(physics, block), lanes);
    physics->diverged[block] &= ~lanes;
}

static orr_result create(const orr_physics_desc *desc, const orr_model *model, orr_jobs *jobs, bool settled,
                         orr_physics **physics, orr_error *error);

// Trees that are asleep at the start (sleep="init"): one world in double finds out which of them can be, as
// they touch none that is awake.
static orr_result find_start_of_sleep(orr_physics *physics, const orr_physics_desc *desc, orr_error *error)
{
    const orr_model *m = physics->model;
    bool any = false;
    for (int i = 0; i < m->ntree && physics->plan->tree_start; i++) {
        any |= m->tree_sleep_policy[i] == ORR_SLEEP_INIT;
    }
    if (!any) {
        return ORR_OK;
    }
    const orr_physics_desc alone = {.double_precision = true, .contact_capacity = desc->contact_capacity};
    orr_physics *first = NULL;
    double *asleep;
    ORR_ALLOC(asleep, m->ntree, "kinematic trees", error);
    orr_result result = create(&alone, m, physics->jobs, false, &first, error);
    if (result == ORR_OK) {
        orr_physics_run(first, ORR_PROGRAM_SETTLE, 0, NULL);
        result = orr_physics_status(first, error);
        orr_physics_get(first, ORR_PHYSICS_TREE_ASLEEP, 0, asleep);
    }
    for (int i = 0; i < m->ntree && result == ORR_OK; i++) {
        physics->plan->tree_start[i] = (int32_t)asleep[i];
    }
    orr_physics_destroy(first);
    orr_free(asleep);
    return result;
}

// settled: whether trees may be asleep at the start.
static orr_result build(orr_physics *physics, const orr_physics_desc *desc, bool settled, orr_error *error)
{
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    ORR_TRY(
        orr_plan_create(physics->model, desc->contact_capacity, desc->cuda != NULL, &physics->plan, error));
    if (settled) {
        ORR_TRY(find_start_of_sleep(physics, desc, error));
    }
    physics->program = choose_program(desc, physics->plan, isa);
    const orr_program *program = physics->program;
    physics->program_model = orr_alloc_zero(1, program->model_bytes);
    physics->numbers = orr_alloc(model_doubles(physics->model), program->real_bytes);
    if (!physics->program_model || !physics->numbers) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the model's numbers");
    }
    program->fill_model(physics->plan, physics->program_model, physics->numbers);
    physics->worlds = desc->worlds ? desc->worlds : 1;
    physics->blocks = orr_blocks(physics->worlds, program->lanes);
    physics->state_count = program->state_count(physics->program_model);
    size_t block_bytes = (size_t)physics->state_count * (size_t)program->lanes * program->real_bytes;
    physics->state = orr_alloc((size_t)physics->blocks, block_bytes);
    physics->workers = desc->cuda ? 1 : orr_jobs_workers(physics->jobs);
    physics->diverged = orr_alloc_zero((size_t)physics->blocks, sizeof *physics->diverged);
    size_t lanes = (size_t)physics->blocks * (size_t)program->lanes;
    physics->counts = orr_alloc_zero(lanes, sizeof *physics->counts);
    physics->chosen = orr_alloc_zero((size_t)physics->blocks, sizeof *physics->chosen);
    physics->begun = orr_alloc_zero((size_t)physics->blocks, sizeof *physics->begun);
    physics->left = orr_alloc_zero((size_t)physics->blocks, sizeof *physics->left);
    physics->finished = orr_alloc_zero((size_t)physics->blocks, sizeof *physics->finished);
    physics->kept = desc->cuda ? NULL : orr_alloc((size_t)physics->workers, block_bytes);
    physics->notes = orr_alloc_zero((size_t)physics->workers, sizeof *physics->notes);
    if (!physics->state || !physics->diverged || !physics->counts || !physics->notes || !physics->chosen ||
        !physics->begun || !physics->left || !physics->finished || (!physics->kept && !desc->cuda)) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d worlds of %zu bytes",
                        physics->worlds, block_bytes / (size_t)program->lanes);
    }
    ORR_TRY(orr_physics_take_scratch(physics, error));
    for (int block = 0; block < physics->blocks; block++) { // lanes without a world, too
        restart_block(physics, block, (uint32_t)((1ull << program->lanes) - 1));
    }
    return desc->cuda ? orr_device_create(desc, physics, error) : orr_order_create(physics, error);
}

static orr_result create(const orr_physics_desc *desc, const orr_model *model, orr_jobs *jobs, bool settled,
                         orr_physics **physics, orr_error *error)
{
    orr_physics *made = orr_alloc_zero(1, sizeof *made);
    if (!made) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu bytes for physics", sizeof *made);
    }
    made->model = model;
    made->jobs = jobs;
    orr_result result = build(made, desc, settled, error);
    if (result != ORR_OK) {
        orr_physics_destroy(made);
        return result;
    }
    *physics = made;
    return ORR_OK;
}

orr_result orr_physics_create(const orr_physics_desc *desc, const orr_model *model, orr_jobs *jobs,
                              orr_physics **physics, orr_error *error)
{
    if (desc->contact_capacity < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "contact capacity: expected at least 0, not %d",
                        desc->contact_capacity);
    }
    if (desc->worlds < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "worlds: expected at least 1, not %d", desc->worlds);
    }
    if (desc->team != 0 && desc->team != 1 && desc->team != 2 && desc->team != 4 && desc->team != 8) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "team: expected 0, 1, 2, 4 or 8 threads, not %d",
                        desc->team);
    }
    return create(desc, model, jobs, true, physics, error);
}

void orr_physics_destroy(orr_physics *physics)
{
    if (!physics) {
        return;
    }
    orr_physics_vary_clear(physics);
    orr_device_destroy(physics->device);
    orr_order_destroy(physics->order);
    orr_plan_destroy(physics->plan);
    orr_free(physics->program_model);
    orr_free(physics->numbers);
    orr_free(physics->state);
    orr_free(physics->scratch);
    orr_free(physics->shared);
    orr_free(physics->diverged);
    orr_free(physics->counts);
    orr_free(physics->chosen);
    orr_free(physics->left);
    orr_free(physics->begun);
    orr_free(physics->finished);
    orr_free(physics->kept);
    orr_free(physics->notes);
    orr_free(physics);
}

// Copies the lanes whose bits are set from one state of a block to another.
static void copy_lanes(const orr_physics *physics, char *to, const char *from, uint32_t lanes)
{
    size_t real = physics->program->real_bytes, row = (size_t)physics->program->lanes * real;
    for (int lane = 0; lane < physics->program->lanes; lane++) {
        for (size_t i = 0; i < (size_t)physics->state_count && (lanes >> lane & 1); i++) {
            memcpy(to + i * row + (size_t)lane * real, from + i * row + (size_t)lane * real, real);
        }
    }
}

// What remains of the call on a block that lacked room. Returns whether that is nothing.
static bool has_finished(orr_physics *physics, int block, int worker)
{
    physics->left[block] -= physics->notes[worker].done;
    return !lacked_room(&physics->notes[worker]);
}

// Gives the worlds of a block that take no part in a call what they had before it.
static void restore_others(orr_physics *physics, int block, const char *before)
{
    copy_lanes(physics, block_state(physics, block), before, ~physics->chosen[block]);
    orr_free(physics->begun[block]);
    physics->begun[block] = NULL;
}

// Runs the call on the chosen worlds of a block: on all, after which the others get back what they had. Where
// room is lacking, that waits until the call has ended, as numbers can depend on which worlds go on together.
static bool run_chosen(orr_physics *physics, int block, int worker, uint32_t chosen)
{
    const orr_program *program = physics->program;
    size_t bytes = (size_t)physics->state_count * (size_t)program->lanes * program->real_bytes;
    char *state = block_state(physics, block), *kept = physics->kept + (size_t)worker * bytes;
    char *scratch = physics->scratch + (size_t)worker * physics->scratch_bytes;
    orr_world_counts counts[32] = {{0, 0}};
    memcpy(kept, physics->begun[block] ? physics->begun[block] : state, bytes);
    uint32_t diverged = program->run(physics->program_model, state, scratch, physics->call,
                                     physics->left[block], &physics->notes[worker], counts, physics->threads);
    const bool finished = has_finished(physics, block, worker);
    if (!finished && !physics->begun[block]) {
        physics->begun[block] = orr_alloc(1, bytes);
        if (physics->begun[block]) {
            memcpy(physics->begun[block], kept, bytes);
        }
    }
    if (finished || !physics->begun[block]) {
        restore_others(physics, block, kept);
    }
    physics->notes[worker].stepped = NULL;
    physics->diverged[block] |= finished && !physics->more ? diverged & chosen : 0;
    for (int lane = 0; lane < program->lanes; lane++) {
        if (chosen >> lane & 1) {
            orr_world_counts *total = &physics->counts[block * program->lanes + lane];
            total->inaccurate += counts[lane].inaccurate;
            total->restarts += counts[lane].restarts;
        }
    }
    return finished;
}

static bool run_block(void *context, int block, int worker)
{
    orr_physics *physics = context;
    bool finished = true;
    char *scratch = physics->scratch + (size_t)worker * physics->scratch_bytes;
    uint32_t in_use = lanes_in_use(physics, block), chosen = physics->all ? in_use : physics->chosen[block];
    if (chosen != 0 && physics->call == ORR_PROGRAM_RESTART) {
        restart_block(physics, block, chosen);
    } else if (chosen == in_use) {
        uint32_t diverged = physics->program->run(
            physics->program_model, block_state(physics, block), scratch, physics->call, physics->left[block],
            &physics->notes[worker], physics->counts + (size_t)block * (size_t)physics->program->lanes,
            physics->threads);
        finished = has_finished(physics, block, worker);
        physics->diverged[block] |= finished && !physics->more ? diverged : 0;
    } else if (chosen != 0) {
        finished = run_chosen(physics, block, worker, chosen);
    }
    if (!finished) {
        return false;
    }
    if (chosen != 0 && physics->notes[worker].row_sets.wanted) {
        memcpy(physics->order->row_sets + (ptrdiff_t)block * physics->program->lanes,
               physics->notes[worker].row_sets.lane,
               (size_t)physics->program->lanes * sizeof *physics->order->row_sets);
    }
    if (physics->after) {
        orr_physics_read_after(physics, block, worker, chosen);
    }
    return true;
}

static void choose_worlds(orr_physics *physics, const uint8_t *mask)
{
    physics->all = !mask;
    for (int block = 0; block < physics->blocks && mask; block++) {
        physics->chosen[block] = 0;
    }
    for (int world = 0; world < physics->worlds && mask; world++) {
        const world_slot at = slot_of(physics, world);
        physics->chosen[at.block] |= (uint32_t)(mask[world] != 0) << at.lane;
    }
}

static void run_on_cpu(orr_physics *physics, orr_program_call call, int steps, const uint8_t *mask)
{
    choose_worlds(physics, mask);
    physics->call = call;
    for (int block = 0; block < physics->blocks; block++) {
        physics->left[block] = steps;
    }
    if (!physics->shared) {
        orr_physics_for_blocks(physics, run_block, physics);
    }
    bool more = physics->shared != NULL;
    while (more) {
        const orr_program_threads threads = {physics->jobs, physics->shared};
        physics->threads = &threads;
        orr_jobs_expect_more(physics->jobs);
        (void)run_block(physics, 0, 0); // which calls orr_jobs_for itself
        orr_jobs_expect_no_more(physics->jobs);
        physics->threads = NULL;
        more = orr_physics_grow(physics);
    }
    for (int block = 0; block < physics->blocks && physics->lack.code; block++) { // those without room
        if (physics->begun[block]) {
            restore_others(physics, block, physics->begun[block]);
        }
    }
}

// Worlds are sorted between the steps of a call, too.
static void run_sorted(orr_physics *physics, orr_program_call call, int steps, const uint8_t *mask)
{
    const struct read_job *after = physics->after;
    int part = orr_order_update(physics, steps);
    physics->after = NULL;
    physics->more = true;
    for (; part < steps; part = orr_order_update(physics, steps)) {
        run_on_cpu(physics, ORR_PROGRAM_STEP, part, mask);
        steps -= part;
    }
    physics->more = false;
    physics->after = after;
    run_on_cpu(physics, call, steps, mask);
}

void orr_physics_run(orr_physics *physics, orr_program_call call, int steps, const uint8_t *mask)
{
    const bool stepping = call == ORR_PROGRAM_STEP || call >= ORR_PROGRAM_STEP_POSITIONS;
    if (call == ORR_PROGRAM_RESTART) {
        orr_physics_forget(physics);
    }
    if (physics->device) {
        choose_worlds(physics, mask);
        orr_device_run(physics, call, steps, physics->all);
    } else if (physics->order && stepping && steps > 0) {
        run_sorted(physics, call, steps, mask);
    } else {
        run_on_cpu(physics, call, steps, mask);
    }
}

void orr_physics_step(orr_physics *physics, int steps)
{
    orr_physics_run(physics, ORR_PROGRAM_STEP, steps, NULL);
}

void orr_physics_step_masked(orr_physics *physics, int steps, const uint8_t *mask)
{
    orr_physics_run(physics, ORR_PROGRAM_STEP, steps, mask);
}

void orr_physics_forward(orr_physics *physics)
{
    orr_physics_run(physics, ORR_PROGRAM_FORWARD, 0, NULL);
}

void orr_physics_reset_masked(orr_physics *physics, const uint8_t *mask)
{
    orr_physics_run(physics, ORR_PROGRAM_RESTART, 0, mask);
}

orr_result orr_physics_check(const orr_physics *physics, orr_error *error)
{
    if (physics->device) {
        orr_device_settle(physics);
    }
    return orr_physics_status(physics, error);
}

orr_result orr_physics_status(const orr_physics *physics, orr_error *error)
{
    if (physics->device) {
        ORR_TRY(orr_device_status(physics->device, error));
    }
    return physics->lack.code ? orr_fail(error, (orr_code)physics->lack.code, "%s", physics->lack.message)
                              : ORR_OK;
}

orr_cuda *orr_physics_cuda(const orr_physics *physics)
{
    return physics->device ? orr_device_cuda(physics->device) : NULL;
}

void orr_physics_reset(orr_physics *physics, int world)
{
    assert(world >= 0 && world < physics->worlds);
    orr_physics_forget(physics);
    const world_slot at = slot_of(physics, world);
    restart_block(physics, at.block, 1u << at.lane);
}

int orr_physics_sleepless(const orr_physics *physics, int *first)
{
    const orr_model *m = physics->model;
    int count = 0;
    for (int i = m->nbody - 1; i > 0; i--) {
        int tree = m->body_treeid[i];
        bool root = tree >= 0 && m->body_treeid[m->body_parentid[i]] != tree;
        if (root && physics->plan->tree_start && m->tree_sleep_policy[tree] == ORR_SLEEP_INIT &&
            physics->plan->tree_start[tree] < 0) {
            count++;
            *first = i;
        }
    }
    return count;
}

bool orr_physics_diverged(const orr_physics *physics, int world)
{
    assert(world >= 0 && world < physics->worlds);
    const world_slot at = slot_of(physics, world);
    if (physics->device) {
        orr_device_settle(physics);
    }
    return (physics->diverged[at.block] >> at.lane) & 1;
}

int orr_physics_contact_capacity(const orr_physics *physics)
{
    const orr_plan *plan = physics->plan;
    return plan->contact_capacity < plan->contact_limit ? plan->contact_capacity : plan->contact_limit;
}

int orr_physics_contacts_needed(const orr_physics *physics)
{
    int most = 0;
    if (physics->device) {
        orr_device_settle(physics);
    }
    for (int i = 0; i < physics->workers; i++) {
        most = physics->notes[i].contacts_needed > most ? physics->notes[i].contacts_needed : most;
    }
    return most;
}

orr_physics_accuracy orr_physics_get_accuracy(const orr_physics *physics)
{
    orr_physics_accuracy accuracy = {0};
    if (physics->device) {
        orr_device_settle(physics);
    }
    for (int world = 0; world < physics->worlds; world++) {
        accuracy.worlds += physics->counts[world].inaccurate > 0;
        accuracy.steps += physics->counts[world].inaccurate;
    }
    for (int i = 0; i < physics->workers; i++) {
        int needed = physics->notes[i].iterations;
        accuracy.iterations = needed > accuracy.iterations ? needed : accuracy.iterations;
    }
    return accuracy;
}

void orr_physics_set_autoreset(orr_physics *physics, bool on)
{
    int before = physics->plan->autoreset;
    physics->plan->autoreset = on && !(physics->model->opt.disableflags & ORR_DISABLE_AUTORESET);
    if (physics->device && physics->plan->autoreset != before) {
        orr_device_model_changed(physics->device);
    }
}

int orr_physics_restarts(const orr_physics *physics, int world)
{
    assert(world >= 0 && world < physics->worlds);
    if (physics->device) {
        orr_device_settle(physics);
    }
    const world_slot at = slot_of(physics, world);
    return (int)physics->counts[at.block * physics->program->lanes + at.lane].restarts;
}

bool orr_physics_is_double(const orr_physics *physics)
{
    return physics->program->real_bytes == sizeof(double);
}

int orr_physics_worlds(const orr_physics *physics)
{
    return physics->worlds;
}

int orr_physics_lanes(const orr_physics *physics)
{
    return physics->program->lanes;
}

int orr_physics_team(const orr_physics *physics)
{
    return physics->device ? orr_device_team(physics->device) : 1;
}

size_t orr_physics_world_bytes(const orr_physics *physics)
{
    return (size_t)physics->state_count * physics->program->real_bytes;
}

size_t orr_physics_scratch_bytes(const orr_physics *physics)
{
    return physics->scratch_bytes;
}
