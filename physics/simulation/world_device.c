#include "physics/simulation/world_device.h"

#include "engine/device/cuda_gpu.h"
#include "physics/pose/rest_pose.h"
#include "physics/simulation/program_cuda.h"
#include "physics/simulation/world_state.h"

// Scratch is for as many warps as a GPU can have resident; more blocks are launched one after the other.
enum { WARPS_PER_PROCESSOR = 16 };
// Warps of this program that the registers of a multiprocessor hold.
enum { WARPS_AT_WORK = 8 };

// Where the newest numbers of a block, or the newest notes, are.
typedef enum newest { NEWEST_BOTH, NEWEST_HOST, NEWEST_DEVICE } newest;

struct orr_device_worlds {
    orr_cuda *cuda; // borrowed
    const orr_cuda_program *program;
    orr_cuda_worlds worlds;
    void *model, *state, *scratch, *notes, *contacts; // notes: counts, diverged, world counts
    void *chosen;                                     // of orr_cuda_worlds
    void *kept;                                       // of orr_cuda_bodies
    orr_cuda_buffer begun;                            // state and notes before a call that may lack room
    uint32_t *noted;                                  // on the host
    size_t note_bytes;
    int scratch_blocks, contact_capacity;
    newest *newest;      // per block
    newest newest_notes; // on the host: physics->diverged
    bool model_changed;
    orr_result failed;
    orr_error error;
};

enum { NOTE_COUNTS = 3 }; // of orr_cuda_worlds.counts
enum { WORLD_COUNTS = sizeof(orr_world_counts) / sizeof(uint32_t) };
enum { BODY_NUMBERS = 7 }; // position and quaternion

const orr_program *orr_device_program(bool double_precision)
{
    return &(double_precision ? orr_cuda_program_double() : orr_cuda_program_single())->host;
}

void orr_device_model_changed(orr_device_worlds *device)
{
    device->model_changed = true;
}

int orr_device_team(const orr_device_worlds *device)
{
    return device->worlds.team;
}

orr_cuda *orr_device_cuda(const orr_device_worlds *device)
{
    return device->cuda;
}

orr_result orr_device_status(const orr_device_worlds *device, orr_error *error)
{
    if (device->failed != ORR_OK && error) {
        *error = device->error;
    }
    return device->failed;
}

// More threads per world while the GPU has registers for their warps.
static int choose_team(int blocks, int processors)
{
    int team = 1;
    while (team < 8 && 2 * team * blocks <= WARPS_AT_WORK * processors) {
        team *= 2;
    }
    return team;
}

static size_t state_bytes(const orr_physics *physics, int state_count)
{
    return (size_t)state_count * (size_t)physics->program->lanes * physics->program->real_bytes;
}

static orr_result upload_model(orr_physics *physics, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    size_t bytes = device->program->copy_model(physics->program_model, NULL, NULL);
    if (!device->model) {
        ORR_TRY(orr_cuda_alloc(device->cuda, bytes, 1, &device->model, error));
    }
    char *copy;
    ORR_ALLOC(copy, bytes, "a model to upload", error);
    device->program->copy_model(physics->program_model, copy, device->model);
    orr_result result = orr_cuda_upload(device->cuda, device->model, copy, bytes, error);
    orr_free(copy);
    device->worlds.model = device->model;
    device->model_changed = false;
    return result;
}

// Until a world has been read that has not diverged, its bodies are in the rest pose.
static orr_result keep_rest(orr_physics *physics, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    const orr_model *m = physics->model;
    size_t count = (size_t)m->nbody;
    ORR_TRY(orr_cuda_alloc(device->cuda, BODY_NUMBERS * count, sizeof(float), &device->kept, error));
    double *pose = orr_alloc(BODY_NUMBERS * count, sizeof *pose); // positions, then quaternions
    float *numbers = orr_alloc(BODY_NUMBERS * count, sizeof *numbers);
    orr_result result = pose && numbers
                            ? orr_model_rest_pose(m, pose, pose + 3 * count, error)
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: poses of bodies");
    for (size_t i = 0; i < BODY_NUMBERS * count && result == ORR_OK; i++) {
        numbers[i] = (float)pose[i];
    }
    if (result == ORR_OK) {
        result = orr_cuda_upload(device->cuda, device->kept, numbers, BODY_NUMBERS * count * sizeof *numbers,
                                 error);
    }
    orr_free(pose);
    orr_free(numbers);
    return result;
}

orr_result orr_device_take_room(orr_physics *physics, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    const size_t bytes = physics->program->scratch_bytes(physics->program_model);
    void *scratch = NULL, *contacts = NULL;
    ORR_TRY(orr_cuda_alloc(device->cuda, (size_t)device->scratch_blocks, bytes, &scratch, error));
    orr_result result = orr_cuda_alloc(device->cuda, (size_t)physics->plan->contact_capacity,
                                       sizeof(orr_physics_contact), &contacts, error);
    if (result != ORR_OK) {
        orr_cuda_free(scratch);
        return result;
    }
    orr_cuda_free(device->scratch);
    orr_cuda_free(device->contacts);
    device->worlds.scratch = device->scratch = scratch;
    device->worlds.contacts = device->contacts = contacts;
    device->worlds.scratch_bytes = bytes;
    device->model_changed = true; // its plan
    return ORR_OK;
}

static orr_result build(orr_physics *physics, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    orr_cuda *cuda = device->cuda;
    size_t blocks = (size_t)physics->blocks, most = WARPS_PER_PROCESSOR * (size_t)cuda->info.processors;
    device->scratch_blocks = (int)(blocks < most ? blocks : most);
    size_t notes = NOTE_COUNTS + blocks + WORLD_COUNTS * blocks * (size_t)physics->program->lanes;
    device->note_bytes = notes * sizeof(uint32_t);
    ORR_ALLOC(device->noted, notes, "notes on worlds", error);
    ORR_ALLOC(device->newest, blocks, "notes on worlds", error);
    for (size_t i = 0; i < blocks; i++) {
        device->newest[i] = NEWEST_HOST;
    }
    orr_cuda_worlds *worlds = &device->worlds;
    worlds->worlds = physics->worlds;
    worlds->state_bytes = state_bytes(physics, physics->state_count);
    ORR_TRY(orr_device_take_room(physics, error));
    ORR_TRY(upload_model(physics, error));
    ORR_TRY(orr_cuda_alloc(cuda, blocks, worlds->state_bytes, &device->state, error));
    ORR_TRY(orr_cuda_alloc(cuda, device->note_bytes, 1, &device->notes, error));
    ORR_TRY(orr_cuda_alloc(cuda, blocks, sizeof *physics->chosen, &device->chosen, error));
    ORR_TRY(keep_rest(physics, error));
    worlds->state = device->state;
    worlds->counts = device->notes;
    worlds->diverged = (uint32_t *)device->notes + NOTE_COUNTS;
    worlds->world_counts = (orr_world_counts *)(worlds->diverged + blocks);
    ORR_CUDA_TRY(cudaMemsetAsync(device->notes, 0, device->note_bytes, cuda->stream));
    return orr_cuda_wait(cuda, error);
}

orr_result orr_device_create(const orr_physics_desc *desc, orr_physics *physics, orr_error *error)
{
    orr_device_worlds *device = orr_alloc_zero(1, sizeof *device);
    if (!device) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: worlds on a device");
    }
    device->cuda = desc->cuda;
    device->program = orr_physics_is_double(physics) ? orr_cuda_program_double() : orr_cuda_program_single();
    device->worlds.team = desc->team ? desc->team : choose_team(physics->blocks, desc->cuda->info.processors);
    physics->device = device;
    return build(physics, error);
}

void orr_device_destroy(orr_device_worlds *device)
{
    if (!device) {
        return;
    }
    void *memory[] = {device->model,    device->state, device->scratch, device->notes,
                      device->contacts, device->kept,  device->chosen};
    orr_cuda_use(device->cuda, NULL);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        orr_cuda_free(memory[i]);
    }
    orr_cuda_release(&device->begun);
    orr_free(device->noted);
    orr_free(device->newest);
    orr_free(device);
}

// Records a failure; only the first one counts.
static void note(orr_device_worlds *device, orr_result result, const orr_error *error)
{
    if (result != ORR_OK && device->failed == ORR_OK) {
        device->failed = result;
        device->error = *error;
    }
}

// Copies runs of neighbouring blocks whose newest numbers are on `side` to the other side.
static orr_result exchange(const orr_physics *physics, int first, int count, newest side, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    size_t bytes = device->worlds.state_bytes;
    for (int begin = first, end; begin < first + count; begin = end) {
        for (end = begin + 1; end < first + count && device->newest[end] == device->newest[begin];) {
            end++;
        }
        if (device->newest[begin] != side) {
            continue;
        }
        char *host = block_state(physics, begin), *there = device->worlds.state + (size_t)begin * bytes;
        size_t length = (size_t)(end - begin) * bytes;
        ORR_TRY(side == NEWEST_HOST ? orr_cuda_upload(device->cuda, there, host, length, error)
                                    : orr_cuda_download(device->cuda, host, there, length, error));
        for (int i = begin; i < end; i++) {
            device->newest[i] = NEWEST_BOTH;
        }
    }
    return ORR_OK;
}

void orr_device_fetch(const orr_physics *physics, int first, int count)
{
    orr_device_worlds *device = physics->device;
    orr_error error;
    if (device->failed == ORR_OK) {
        orr_result result = orr_cuda_use(device->cuda, &error);
        note(device, result == ORR_OK ? exchange(physics, first, count, NEWEST_DEVICE, &error) : result,
             &error);
    }
}

static orr_result fetch_notes(const orr_physics *physics, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    ORR_TRY(orr_cuda_use(device->cuda, error));
    ORR_TRY(orr_cuda_download(device->cuda, device->noted, device->notes, device->note_bytes, error));
    size_t blocks = (size_t)physics->blocks, lanes = (size_t)physics->program->lanes;
    physics->notes[0].contacts_needed = (int)device->noted[0];
    physics->notes[0].iterations = (int)device->noted[2];
    memcpy(physics->diverged, device->noted + NOTE_COUNTS, blocks * sizeof *physics->diverged);
    memcpy(physics->counts, device->noted + NOTE_COUNTS + blocks, blocks * lanes * sizeof *physics->counts);
    device->newest_notes = NEWEST_BOTH;
    return ORR_OK;
}

void orr_device_settle(const orr_physics *physics)
{
    orr_device_worlds *device = physics->device;
    orr_error error;
    if (device->failed == ORR_OK && device->newest_notes == NEWEST_DEVICE) {
        note(device, fetch_notes(physics, &error), &error);
    }
}

void orr_device_change(orr_physics *physics, int first, int count)
{
    orr_device_worlds *device = physics->device;
    orr_device_fetch(physics, first, count);
    orr_device_settle(physics);
    for (int i = first; i < first + count; i++) {
        device->newest[i] = NEWEST_HOST;
        if (physics->diverged[i]) { // a written world counts as finite again
            device->newest_notes = NEWEST_HOST;
        }
    }
}

static orr_result write(orr_physics *physics, int world, int at, int count, const double *values,
                        orr_error *error)
{
    orr_device_worlds *device = physics->device;
    ORR_TRY(orr_cuda_use(device->cuda, error));
    for (int done = 0; done < count; done += ORR_CUDA_NUMBERS) {
        int left = count - done;
        orr_cuda_numbers numbers = {world, at + done, left < ORR_CUDA_NUMBERS ? left : ORR_CUDA_NUMBERS, {0}};
        memcpy(numbers.values, values + done, (size_t)numbers.count * sizeof *values);
        device->program->write(device->cuda->stream, &device->worlds, &numbers);
        ORR_CUDA_LAUNCHED();
    }
    return ORR_OK;
}

bool orr_device_write(orr_physics *physics, int world, int at, int count, const double *values)
{
    orr_device_worlds *device = physics->device;
    orr_error error;
    if (device->failed == ORR_OK && device->newest[world / physics->program->lanes] == NEWEST_DEVICE) {
        note(device, write(physics, world, at, count, values, &error), &error);
        return device->failed == ORR_OK;
    }
    return false;
}

orr_result orr_device_resize_state(orr_physics *physics, int state_count, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    orr_device_change(physics, 0, physics->blocks);
    ORR_TRY(orr_device_status(device, error));
    void *state;
    size_t bytes = state_bytes(physics, state_count);
    ORR_TRY(orr_cuda_alloc(device->cuda, (size_t)physics->blocks, bytes, &state, error));
    orr_cuda_free(device->state);
    device->state = state;
    device->worlds.state = state;
    device->worlds.state_bytes = bytes;
    device->model_changed = true;
    return ORR_OK;
}

// Uploads what the host has changed.
static orr_result send(orr_physics *physics, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    ORR_TRY(orr_cuda_use(device->cuda, error));
    if (device->model_changed) {
        ORR_TRY(upload_model(physics, error));
    }
    if (device->newest_notes == NEWEST_HOST) {
        ORR_TRY(orr_cuda_upload(device->cuda, device->worlds.diverged, physics->diverged,
                                (size_t)physics->blocks * sizeof *physics->diverged, error));
        device->newest_notes = NEWEST_BOTH;
    }
    return exchange(physics, 0, physics->blocks, NEWEST_HOST, error);
}

static orr_result launch(orr_physics *physics, int first, int count, orr_program_call call, int steps,
                         int listed, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    device->program->launch(device->cuda->stream, &device->worlds, first, count, call, steps, listed);
    ORR_CUDA_TRY(cudaGetLastError());
    return ORR_OK;
}

static orr_result launch_all(orr_physics *physics, orr_program_call call, int steps, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    for (int i = 0; i < physics->blocks; i++) {
        device->newest[i] = NEWEST_DEVICE;
    }
    device->newest_notes = NEWEST_DEVICE;
    for (int first = 0; first < physics->blocks; first += device->scratch_blocks) {
        int left = physics->blocks - first;
        int count = left < device->scratch_blocks ? left : device->scratch_blocks;
        ORR_TRY(launch(physics, first, count, call, steps, -1, error));
    }
    return ORR_OK;
}

static orr_result choose(orr_physics *physics, bool all, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    device->worlds.chosen = all ? NULL : device->chosen;
    return all ? ORR_OK
               : orr_cuda_upload(device->cuda, device->chosen, physics->chosen,
                                 (size_t)physics->blocks * sizeof *physics->chosen, error);
}

// Copies the state of all worlds and the notes on them, or copies them back.
static orr_result keep(orr_physics *physics, bool back, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    const size_t bytes[2] = {(size_t)physics->blocks * device->worlds.state_bytes, device->note_bytes};
    void *const current[2] = {device->state, device->notes};
    ORR_TRY(orr_cuda_reserve(device->cuda, &device->begun, bytes[0] + bytes[1], 1, error));
    for (int i = 0; i < 2; i++) {
        char *kept = (char *)device->begun.memory + (i == 0 ? 0 : bytes[0]);
        ORR_CUDA_TRY(cudaMemcpyAsync(back ? current[i] : kept, back ? kept : current[i], bytes[i],
                                     cudaMemcpyDeviceToDevice, device->cuda->stream));
    }
    return ORR_OK;
}

// Does a launch have to be repeated, as it lacked room for contacts, for which there is more now? Waits for
// it, if the model can need more than there is. If there is none to be had, physics->lack says so.
static orr_result make_room(orr_physics *physics, bool *lacked, bool *again, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    *lacked = *again = false;
    physics->lack = (orr_error){0};
    if (!physics->plan->room_grows) {
        return ORR_OK;
    }
    ORR_TRY(orr_cuda_download(device->cuda, device->noted, device->notes, sizeof *device->noted, error));
    *lacked = (int)device->noted[0] > physics->plan->contact_capacity;
    if (*lacked) {
        physics->notes[0].wanted.contacts = (int)device->noted[0];
        *again = orr_physics_grow(physics);
    }
    return *again ? upload_model(physics, error) : ORR_OK;
}

static orr_result run_with_room(orr_physics *physics, orr_program_call call, int steps, orr_error *error)
{
    if (!physics->plan->room_grows || call == ORR_PROGRAM_RESTART) {
        return launch_all(physics, call, steps, error);
    }
    ORR_TRY(keep(physics, false, error));
    for (bool lacked = false, again = true; again;) {
        ORR_TRY(launch_all(physics, call, steps, error));
        ORR_TRY(make_room(physics, &lacked, &again, error));
        if (lacked) {
            ORR_TRY(keep(physics, true, error));
        }
    }
    return ORR_OK;
}

static orr_result run(orr_physics *physics, orr_program_call call, int steps, bool all, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    orr_cuda_range_begin("worlds upload");
    orr_result result = send(physics, error);
    orr_cuda_range_end();
    ORR_TRY(result);
    ORR_TRY(choose(physics, all, error));
    orr_cuda_range_begin("worlds step");
    result = run_with_room(physics, call, steps, error);
    orr_cuda_range_end();
    device->worlds.chosen = NULL;
    return result;
}

// A launch that does not change the state, of a few blocks.
static orr_result launch_reading(orr_physics *physics, int first, int count, orr_program_call call,
                                 int listed, orr_error *error)
{
    ORR_TRY(send(physics, error));
    for (bool lacked = false, again = true; again;) {
        ORR_TRY(launch(physics, first, count, call, 0, listed, error));
        ORR_TRY(make_room(physics, &lacked, &again, error));
    }
    return ORR_OK;
}

void orr_device_run(orr_physics *physics, orr_program_call call, int steps, bool all)
{
    orr_error error;
    if (physics->device->failed == ORR_OK) {
        note(physics->device, run(physics, call, steps, all, &error), &error);
    }
}

int orr_device_blocks(const orr_physics *physics)
{
    return physics->device->scratch_blocks;
}

void orr_device_evaluate(orr_physics *physics, int first, int count, orr_program_call call)
{
    orr_error error;
    if (physics->device->failed == ORR_OK) {
        note(physics->device, launch_reading(physics, first, count, call, -1, &error), &error);
    }
}

static orr_result take(orr_physics *physics, int skip, int blocks, int at, int count, char *numbers,
                       orr_error *error)
{
    orr_device_worlds *device = physics->device;
    size_t lane_bytes = (size_t)physics->program->lanes * physics->program->real_bytes;
    size_t bytes = (size_t)count * lane_bytes;
    const char *from =
        device->worlds.scratch + (size_t)skip * device->worlds.scratch_bytes + (size_t)at * lane_bytes;
    ORR_CUDA_TRY(cudaMemcpy2DAsync(numbers, bytes, from, device->worlds.scratch_bytes, bytes, (size_t)blocks,
                                   cudaMemcpyDeviceToHost, device->cuda->stream));
    return orr_cuda_wait(device->cuda, error);
}

void orr_device_take(orr_physics *physics, int skip, int blocks, int at, int count, char *numbers)
{
    orr_error error;
    if (physics->device->failed == ORR_OK && count > 0) {
        note(physics->device, take(physics, skip, blocks, at, count, numbers, &error), &error);
    }
}

orr_result orr_device_view(orr_physics *physics, bool in_state, int at, orr_physics_view *view,
                           orr_error *error)
{
    orr_device_worlds *device = physics->device;
    ORR_TRY(orr_device_status(device, error));
    ORR_TRY(send(physics, error));
    for (int i = 0; i < physics->blocks && in_state; i++) {
        device->newest[i] = NEWEST_DEVICE; // the caller may write there
    }
    size_t lane_bytes = (size_t)physics->program->lanes * physics->program->real_bytes;
    view->numbers = (in_state ? device->worlds.state : device->worlds.scratch) + (size_t)at * lane_bytes;
    view->block_bytes = in_state ? device->worlds.state_bytes : device->worlds.scratch_bytes;
    view->device = device->cuda->device;
    view->stream = device->cuda->stream;
    return orr_cuda_wait(device->cuda, error);
}

void orr_physics_bodies_release(orr_physics_bodies *bodies)
{
    if (bodies->memory) {
        orr_cuda_use(bodies->cuda, NULL);
        orr_cuda_free(bodies->memory);
    }
    *bodies = (orr_physics_bodies){0};
}

static orr_result reserve_bodies(orr_cuda *cuda, int count, orr_physics_bodies *bodies, orr_error *error)
{
    if (bodies->cuda == cuda && bodies->count == count) {
        return ORR_OK;
    }
    orr_physics_bodies_release(bodies);
    ORR_TRY(orr_cuda_alloc(cuda, BODY_NUMBERS * (size_t)count, sizeof(float), &bodies->memory, error));
    bodies->cuda = cuda;
    bodies->count = count;
    bodies->position = bodies->memory;
    bodies->rotation = bodies->position + 3 * (size_t)count;
    return ORR_OK;
}

static orr_result take_bodies(orr_physics *physics, int world, int position_at, int rotation_at,
                              orr_physics_bodies *bodies, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    ORR_TRY(reserve_bodies(device->cuda, physics->model->nbody, bodies, error));
    ORR_TRY(send(physics, error));
    ORR_TRY(launch(physics, world / physics->program->lanes, 1, ORR_PROGRAM_POSITIONS, 0, -1, error));
    const orr_cuda_bodies taken = {world,       bodies->count, position_at,
                                   rotation_at, device->kept,  bodies->memory};
    device->program->take_bodies(device->cuda->stream, &device->worlds, &taken);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

orr_result orr_device_take_bodies(orr_physics *physics, int world, int position_at, int rotation_at,
                                  orr_physics_bodies *bodies, orr_error *error)
{
    orr_error why;
    ORR_TRY(orr_device_status(physics->device, error));
    orr_result result = take_bodies(physics, world, position_at, rotation_at, bodies, &why);
    if (result == ORR_ERROR_MEMORY) { // the worlds' own memory is not affected
        return orr_fail(error, (orr_code)why.code, "%s", why.message);
    }
    note(physics->device, result, &why);
    return orr_device_status(physics->device, error);
}

static orr_result list_contacts(orr_physics *physics, int world, orr_physics_contact *contacts, int capacity,
                                int *count, orr_error *error)
{
    orr_device_worlds *device = physics->device;
    ORR_TRY(
        launch_reading(physics, world / physics->program->lanes, 1, ORR_PROGRAM_ACCELERATIONS, world, error));
    ORR_TRY(
        orr_cuda_download(device->cuda, device->noted, device->notes, NOTE_COUNTS * sizeof(uint32_t), error));
    *count = (int)device->noted[1];
    int written = *count < capacity ? *count : capacity;
    return orr_cuda_download(device->cuda, contacts, device->contacts, (size_t)written * sizeof *contacts,
                             error);
}

int orr_device_contacts(orr_physics *physics, int world, orr_physics_contact *contacts, int capacity)
{
    orr_error error;
    int count = 0;
    if (physics->device->failed == ORR_OK) {
        note(physics->device, list_contacts(physics, world, contacts, capacity, &count, &error), &error);
    }
    return count;
}
