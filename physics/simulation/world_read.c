// Reading and writing worlds.
#include "physics/simulation/world_state.h"

// How much has to be computed for a quantity.
static orr_program_call call_for(orr_physics_quantity quantity)
{
    switch (quantity) {
    case ORR_PHYSICS_XPOS:
    case ORR_PHYSICS_XQUAT:
    case ORR_PHYSICS_XMAT:
    case ORR_PHYSICS_XIPOS:
    case ORR_PHYSICS_XIMAT:
    case ORR_PHYSICS_XANCHOR:
    case ORR_PHYSICS_XAXIS:
    case ORR_PHYSICS_GEOM_XPOS:
    case ORR_PHYSICS_GEOM_XMAT:
    case ORR_PHYSICS_SITE_XPOS:
    case ORR_PHYSICS_SITE_XMAT:
    case ORR_PHYSICS_CAM_XPOS:
    case ORR_PHYSICS_CAM_XMAT:
    case ORR_PHYSICS_SUBTREE_COM:
    case ORR_PHYSICS_CDOF:
    case ORR_PHYSICS_CINERT:
    case ORR_PHYSICS_QM:
    case ORR_PHYSICS_TEN_LENGTH:
    case ORR_PHYSICS_ACTUATOR_LENGTH:
        return ORR_PROGRAM_POSITIONS;
    case ORR_PHYSICS_CVEL:
    case ORR_PHYSICS_SUBTREE_LINVEL:
    case ORR_PHYSICS_SUBTREE_ANGMOM:
    case ORR_PHYSICS_TEN_VELOCITY:
    case ORR_PHYSICS_ACTUATOR_VELOCITY:
    case ORR_PHYSICS_ENERGY:
        return ORR_PROGRAM_VELOCITIES;
    case ORR_PHYSICS_SENSORDATA:
        return ORR_PROGRAM_SENSORS;
    case ORR_PHYSICS_QFRC_INVERSE:
        return ORR_PROGRAM_INVERSE;
    default:
        return ORR_PROGRAM_ACCELERATIONS;
    }
}

number_range orr_physics_range(const orr_physics *physics, orr_physics_quantity quantity)
{
    number_range range;
    range.first =
        physics->program->quantity_offset(physics->program_model, quantity, &range.count, &range.in_state);
    range.with_rest = quantity == ORR_PHYSICS_TIME;
    return range;
}

int orr_physics_size(const orr_physics *physics, orr_physics_quantity quantity)
{
    return orr_physics_range(physics, quantity).count;
}

static void copy_out(const orr_physics *physics, const char *array, number_range range, int lane,
                     double *values)
{
    for (int i = 0; i < range.count; i++) {
        values[i] = read_number(physics->program, array, range.first + i, lane);
    }
    if (range.with_rest) {
        values[0] += read_number(physics->program, array, range.first + 1, lane);
    }
}

// A time as the two numbers of the state, of which it is the sum.
static int divide_time(const orr_physics *physics, double time, double numbers[2])
{
    numbers[0] = physics->program->real_bytes == sizeof(float) ? (double)(float)time : time;
    numbers[1] = time - numbers[0];
    return 2;
}

void orr_physics_get(const orr_physics *physics, orr_physics_quantity quantity, int world, double *values)
{
    assert(world >= 0 && world < physics->worlds);
    const world_slot at = slot_of(physics, world);
    number_range range = orr_physics_range(physics, quantity);
    assert(range.in_state);
    copy_out(physics, read_state(physics, at.block), range, at.lane, values);
}

void orr_physics_set(orr_physics *physics, orr_physics_quantity quantity, int world, const double *values)
{
    assert(world >= 0 && world < physics->worlds);
    const world_slot at = slot_of(physics, world);
    number_range range = orr_physics_range(physics, quantity);
    assert(range.in_state);
    double own[2];
    const int count = range.with_rest ? divide_time(physics, values[0], own) : range.count;
    values = range.with_rest ? own : values;
    if (!physics->device || !orr_device_write(physics, world, range.first, count, values)) {
        char *state = write_state(physics, at.block);
        for (int i = 0; i < count; i++) {
            write_number(physics->program, state, range.first + i, at.lane, values[i]);
        }
    }
    physics->diverged[at.block] &= ~(1u << at.lane);
    if (!step_notices(quantity)) {
        orr_physics_forget(physics);
    }
}

void orr_physics_evaluate(orr_physics *physics, int world, orr_program_call call)
{
    const int block = slot_of(physics, world).block;
    if (physics->device) {
        orr_device_evaluate(physics, block, 1, call);
        return;
    }
    do {
        physics->program->run(physics->program_model, block_state(physics, block), physics->scratch, call, 0,
                              &physics->notes[0], NULL, NULL);
    } while (orr_physics_grow(physics));
}

number_range orr_physics_found(orr_physics *physics, orr_physics_quantity quantity)
{
    number_range range = orr_physics_range(physics, quantity);
    if (physics->device) {
        size_t number_bytes = (size_t)physics->program->lanes * physics->program->real_bytes;
        orr_device_take(physics, 0, 1, range.first, range.count,
                        physics->scratch + (size_t)range.first * number_bytes);
    }
    return range;
}

void orr_physics_read(orr_physics *physics, orr_physics_quantity quantity, int world, double *values)
{
    assert(world >= 0 && world < physics->worlds);
    number_range range = orr_physics_range(physics, quantity);
    if (range.in_state) {
        orr_physics_get(physics, quantity, world, values);
        return;
    }
    orr_physics_evaluate(physics, world, call_for(quantity));
    copy_out(physics, physics->scratch, orr_physics_found(physics, quantity), slot_of(physics, world).lane,
             values);
}

// ---- all worlds at once ----

static const uint32_t ALL_LANES = UINT32_MAX;

typedef struct read_job {
    orr_physics *physics;
    number_range ranges[ORR_PHYSICS_QUANTITY_COUNT];
    orr_program_call calls[ORR_PHYSICS_QUANTITY_COUNT];
    int count, size; // of quantities; of their numbers, per world
    double *wide;    // one of these
    float *narrow;
    const uint8_t *chosen; // a byte of each world, 0: it is left out; NULL: all are read
} read_job;

static read_job begin_read(orr_physics *physics, const orr_physics_quantity *quantities, int count)
{
    assert(count >= 0 && count <= ORR_PHYSICS_QUANTITY_COUNT);
    read_job job = {.physics = physics, .count = count};
    for (int i = 0; i < count; i++) {
        job.ranges[i] = orr_physics_range(physics, quantities[i]);
        job.calls[i] = call_for(quantities[i]);
        job.size += job.ranges[i].count;
    }
    return job;
}

// Numbers of a float program as floats, without a branch for each of them.
static void copy_floats(const char *from, size_t stride, int count, float *to)
{
    for (int k = 0; k < count; k++) {
        memcpy(&to[k], from + (size_t)k * stride, sizeof *to);
    }
}

// Quantity `i` of the worlds of a block, which begins at `numbers`; `before`: numbers of the quantities
// before it; chosen: a bit for each lane.
static void copy_quantity(const read_job *job, int block, const char *numbers, int i, int before,
                          uint32_t chosen)
{
    const orr_program *program = job->physics->program;
    size_t stride = (size_t)program->lanes * program->real_bytes;
    const number_range range = {.count = job->ranges[i].count, .with_rest = job->ranges[i].with_rest};
    for (int lane = 0; lane < block_worlds(job->physics, block); lane++) {
        if (!(chosen >> lane & 1)) {
            continue;
        }
        size_t world = (size_t)world_at(job->physics, block, lane);
        size_t to = world * (size_t)job->size + (size_t)before;
        if (job->wide) {
            copy_out(job->physics, numbers, range, lane, job->wide + to);
        } else if (program->real_bytes == sizeof(float)) {
            copy_floats(numbers + (size_t)lane * sizeof(float), stride, range.count, job->narrow + to);
        } else {
            for (int k = 0; k < range.count; k++) {
                job->narrow[to + (size_t)k] = (float)read_number(program, numbers, k, lane);
            }
        }
    }
}

// The last stage that the quantities need, of inverse dynamics or of the others; ORR_PROGRAM_STEP: none.
static orr_program_call deepest(const read_job *job, bool inverse)
{
    orr_program_call call = ORR_PROGRAM_STEP;
    for (int i = 0; i < job->count; i++) {
        if (!job->ranges[i].in_state && (job->calls[i] == ORR_PROGRAM_INVERSE) == inverse &&
            job->calls[i] > call) {
            call = job->calls[i];
        }
    }
    return call;
}

static uint32_t chosen_lanes(const read_job *job, int block)
{
    uint32_t lanes = 0;
    for (int lane = 0; lane < block_worlds(job->physics, block) && job->chosen; lane++) {
        lanes |= (uint32_t)(job->chosen[world_at(job->physics, block, lane)] != 0) << lane;
    }
    return job->chosen ? lanes : ALL_LANES;
}

static bool read_block(void *context, int block, int worker)
{
    const read_job *job = context;
    const orr_physics *physics = job->physics;
    uint32_t lanes = chosen_lanes(job, block);
    if (lanes == 0) {
        return true;
    }
    char *state = block_state(physics, block);
    char *scratch = physics->scratch + (size_t)worker * physics->scratch_bytes;
    size_t number_bytes = (size_t)physics->program->lanes * physics->program->real_bytes;
    // inverse dynamics overwrite other quantities, so they come last
    for (int inverse = 0; inverse < 2; inverse++) {
        orr_program_call call = deepest(job, inverse);
        if (call != ORR_PROGRAM_STEP) {
            physics->program->run(physics->program_model, state, scratch, call, 0, &physics->notes[worker],
                                  NULL, NULL);
            if (lacked_room(&physics->notes[worker])) {
                return false;
            }
        }
        for (int i = 0, before = 0; i < job->count; before += job->ranges[i++].count) {
            if ((job->calls[i] == ORR_PROGRAM_INVERSE) == inverse) {
                size_t at = (size_t)job->ranges[i].first * number_bytes;
                copy_quantity(job, block, (job->ranges[i].in_state ? state : scratch) + at, i, before, lanes);
            }
        }
    }
    return true;
}

// A quantity of blocks, copied from a device: [block][number][lane].
typedef struct taken_quantity {
    const read_job *job;
    const char *numbers;
    size_t block_bytes;
    int first, i, before;
} taken_quantity;

static void copy_taken(void *context, int block, int worker)
{
    const taken_quantity *taken = context;
    (void)worker;
    copy_quantity(taken->job, taken->first + block, taken->numbers + (size_t)block * taken->block_bytes,
                  taken->i, taken->before, ALL_LANES);
}

// Copies quantity `i` of `blocks` blocks from the device's scratch, as many at once as the host's scratch
// holds.
static void take_quantity(const read_job *job, int first, int blocks, int i, int before)
{
    orr_physics *physics = job->physics;
    number_range range = job->ranges[i];
    size_t bytes = (size_t)range.count * (size_t)physics->program->lanes * physics->program->real_bytes;
    int at_once = range.count > 0 ? (int)(physics->scratch_bytes / bytes) : blocks;
    for (int done = 0; done < blocks; done += at_once) {
        int count = blocks - done < at_once ? blocks - done : at_once;
        taken_quantity taken = {job, physics->scratch, bytes, first + done, i, before};
        orr_device_take(physics, done, count, range.first, range.count, physics->scratch);
        orr_jobs_for(physics->jobs, count, copy_taken, &taken);
    }
}

static void copy_lasting(void *context, int block, int worker)
{
    const read_job *job = context;
    const orr_physics *physics = job->physics;
    size_t number_bytes = (size_t)physics->program->lanes * physics->program->real_bytes;
    (void)worker;
    for (int i = 0, before = 0; i < job->count; before += job->ranges[i++].count) {
        if (job->ranges[i].in_state) {
            copy_quantity(job, block,
                          block_state(physics, block) + (size_t)job->ranges[i].first * number_bytes, i,
                          before, ALL_LANES);
        }
    }
}

static void read_device(read_job *job)
{
    orr_physics *physics = job->physics;
    orr_device_fetch(physics, 0, physics->blocks);
    orr_jobs_for(physics->jobs, physics->blocks, copy_lasting, job);
    int at_once = orr_device_blocks(physics);
    for (int first = 0; first < physics->blocks; first += at_once) {
        int left = physics->blocks - first, blocks = left < at_once ? left : at_once;
        for (int inverse = 0; inverse < 2; inverse++) {
            orr_program_call call = deepest(job, inverse);
            if (call == ORR_PROGRAM_STEP) {
                continue;
            }
            orr_device_evaluate(physics, first, blocks, call);
            for (int i = 0, before = 0; i < job->count; before += job->ranges[i++].count) {
                if (!job->ranges[i].in_state && (job->calls[i] == ORR_PROGRAM_INVERSE) == inverse) {
                    take_quantity(job, first, blocks, i, before);
                }
            }
        }
    }
}

static void read_all(read_job *job)
{
    if (job->physics->device) {
        read_device(job);
    } else {
        orr_physics_for_blocks(job->physics, read_block, job);
    }
}

void orr_physics_read_all(orr_physics *physics, const orr_physics_quantity *quantities, int count,
                          double *values)
{
    read_job job = begin_read(physics, quantities, count);
    job.wide = values;
    read_all(&job);
}

void orr_physics_read_masked(orr_physics *physics, const uint8_t *chosen,
                             const orr_physics_quantity *quantities, int count, double *values)
{
    assert(!physics->device);
    read_job job = begin_read(physics, quantities, count);
    job.wide = values;
    job.chosen = chosen;
    orr_physics_for_blocks(physics, read_block, &job);
}

void orr_physics_read_all_f32(orr_physics *physics, const orr_physics_quantity *quantities, int count,
                              float *values)
{
    read_job job = begin_read(physics, quantities, count);
    job.narrow = values;
    read_all(&job);
}

void orr_physics_read_after(const orr_physics *physics, int block, int worker, uint32_t lanes)
{
    const read_job *job = physics->after;
    const char *state = block_state(physics, block);
    const char *scratch = physics->scratch + (size_t)worker * physics->scratch_bytes;
    size_t number_bytes = (size_t)physics->program->lanes * physics->program->real_bytes;
    for (int i = 0, before = 0; i < job->count; before += job->ranges[i++].count) {
        size_t at = (size_t)job->ranges[i].first * number_bytes;
        copy_quantity(job, block, (job->ranges[i].in_state ? state : scratch) + at, i, before, lanes);
    }
}

void orr_physics_step_read(orr_physics *physics, int steps, const uint8_t *chosen,
                           const orr_physics_quantity *quantities, int count, double *values)
{
    assert(!physics->device && steps > 0);
    read_job job = begin_read(physics, quantities, count);
    job.wide = values;
    assert(deepest(&job, true) == ORR_PROGRAM_STEP);
    orr_program_call call = deepest(&job, false);
    physics->after = &job;
    orr_physics_run(physics,
                    call == ORR_PROGRAM_STEP
                        ? call
                        : (orr_program_call)(ORR_PROGRAM_STEP_POSITIONS + (call - ORR_PROGRAM_POSITIONS)),
                    steps, chosen);
    physics->after = NULL;
}

typedef struct write_job {
    orr_physics *physics;
    number_range range;
    const double *wide; // one of these
    const float *narrow;
    const uint8_t *mask; // a byte of each world, 0: it stays; NULL: all are written
} write_job;

static void write_time(const orr_physics *physics, int block, int lane, double time)
{
    const int first = orr_physics_range(physics, ORR_PHYSICS_TIME).first;
    double numbers[2];
    const int count = divide_time(physics, time, numbers);
    for (int i = 0; i < count; i++) {
        write_number(physics->program, block_state(physics, block), first + i, lane, numbers[i]);
    }
}

static void write_block(void *context, int block, int worker)
{
    const write_job *job = context;
    const orr_physics *physics = job->physics;
    (void)worker;
    for (int lane = 0; lane < block_worlds(physics, block); lane++) {
        size_t world = (size_t)world_at(physics, block, lane);
        if (job->mask && !job->mask[world]) {
            continue;
        }
        physics->diverged[block] &= ~(1u << lane);
        if (job->range.with_rest) {
            write_time(physics, block, lane, job->wide ? job->wide[world] : (double)job->narrow[world]);
            continue;
        }
        for (int k = 0; k < job->range.count; k++) {
            size_t i = world * (size_t)job->range.count + (size_t)k;
            write_number(physics->program, block_state(physics, block), job->range.first + k, lane,
                         job->wide ? job->wide[i] : (double)job->narrow[i]);
        }
    }
}

static void write_all(orr_physics *physics, orr_physics_quantity quantity, const uint8_t *chosen,
                      const double *wide, const float *narrow)
{
    write_job job = {physics, orr_physics_range(physics, quantity), wide, narrow, chosen};
    assert(job.range.in_state);
    if (physics->device) {
        orr_device_change(physics, 0, physics->blocks);
    }
    if (!step_notices(quantity)) {
        orr_physics_forget(physics);
    }
    orr_jobs_for(physics->jobs, physics->blocks, write_block, &job);
}

void orr_physics_set_all(orr_physics *physics, orr_physics_quantity quantity, const double *values)
{
    write_all(physics, quantity, NULL, values, NULL);
}

void orr_physics_set_masked(orr_physics *physics, orr_physics_quantity quantity, const uint8_t *chosen,
                            const double *values)
{
    write_all(physics, quantity, chosen, values, NULL);
}

void orr_physics_set_all_f32(orr_physics *physics, orr_physics_quantity quantity, const float *values)
{
    write_all(physics, quantity, NULL, NULL, values);
}

orr_result orr_physics_device_view(orr_physics *physics, orr_physics_quantity quantity,
                                   orr_physics_view *view, orr_error *error)
{
    if (!physics->device) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected worlds on a CUDA device, not on the CPU",
                        orr_physics_quantity_name(quantity));
    }
    number_range range = orr_physics_range(physics, quantity);
    int blocks = orr_device_blocks(physics);
    if (!range.in_state && blocks < physics->blocks) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%s: expected at most %d worlds on this device, not %d",
                        orr_physics_quantity_name(quantity), blocks * physics->program->lanes,
                        physics->worlds);
    }
    if (!range.in_state) {
        orr_device_evaluate(physics, 0, blocks, call_for(quantity));
    }
    view->count = range.count;
    return orr_device_view(physics, range.in_state, range.first, view, error);
}

orr_result orr_physics_device_bodies(orr_physics *physics, int world, orr_physics_bodies *bodies,
                                     orr_error *error)
{
    assert(world >= 0 && world < physics->worlds);
    if (!physics->device) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "bodies: expected worlds on a CUDA device, not on the CPU");
    }
    int position_at = orr_physics_range(physics, ORR_PHYSICS_XPOS).first;
    return orr_device_take_bodies(physics, world, position_at,
                                  orr_physics_range(physics, ORR_PHYSICS_XQUAT).first, bodies, error);
}
