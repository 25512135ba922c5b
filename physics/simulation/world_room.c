// Room for contacts: where a step lacks it more is taken, and the step is made again (on a device: its call),
// with the same numbers as if it had been there before.
#include "engine/core/memory.h"
#include "physics/simulation/world_state.h"

#include <unistd.h>

orr_result orr_physics_take_scratch(orr_physics *physics, orr_error *error)
{
    const bool shared = physics->plan->block_count > 0 && physics->blocks == 1 && physics->workers > 1;
    const size_t bytes = physics->program->scratch_bytes(physics->program_model);
    if (physics->scratch && bytes == physics->scratch_bytes) {
        return ORR_OK;
    }
    char *scratch = orr_alloc((size_t)physics->workers, bytes);
    char *others = shared ? orr_alloc((size_t)physics->workers, bytes) : NULL;
    if (!scratch || (shared && !others)) {
        orr_free(scratch);
        orr_free(others);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory: %zu bytes per thread for a step",
                        physics->model->name, bytes);
    }
    orr_free(physics->scratch);
    orr_free(physics->shared);
    physics->scratch = scratch;
    physics->shared = others;
    physics->scratch_bytes = bytes;
    orr_physics_forget(physics);
    return ORR_OK;
}

// Memory is given before it is there: more than the machine has would end the program when it is used.
static orr_result check_memory(const orr_physics *physics, orr_error *error)
{
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double bytes = (double)physics->program->scratch_bytes(physics->program_model);
    const int alone = physics->blocks < physics->workers ? physics->blocks : physics->workers;
    const double all = bytes * (alone + (physics->shared ? physics->workers : 0));
    if (machine > 0.0 && all > machine) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY,
                        "%s: out of memory: room for %d contacts takes %.0f MB, more than the machine has",
                        physics->model->name, physics->plan->contact_capacity, all / 1e6);
    }
    return ORR_OK;
}

static orr_result reserve(orr_physics *physics, orr_plan_room wanted, orr_error *error)
{
    const orr_plan before = *physics->plan;
    ORR_TRY(orr_plan_reserve(physics->plan, wanted, error));
    orr_result result = check_memory(physics, error);
    if (result == ORR_OK && physics->device) {
        result = orr_device_take_room(physics, error);
    }
    if (result == ORR_OK) {
        result = orr_physics_take_scratch(physics, error);
    }
    if (result != ORR_OK) {
        *physics->plan = before;
    }
    return result;
}

bool orr_physics_grow(orr_physics *physics)
{
    orr_plan_room wanted = {0, 0};
    for (int i = 0; i < physics->workers; i++) {
        const orr_plan_room own = physics->notes[i].wanted;
        wanted.contacts = own.contacts > wanted.contacts ? own.contacts : wanted.contacts;
        wanted.near = own.near > wanted.near ? own.near : wanted.near;
        physics->notes[i].wanted = (orr_plan_room){0, 0};
    }
    physics->lack = (orr_error){0};
    return (wanted.contacts > 0 || wanted.near > 0) && reserve(physics, wanted, &physics->lack) == ORR_OK;
}

typedef struct block_job {
    orr_physics *physics;
    orr_block_body *body;
    void *context;
} block_job;

static void run_unfinished(void *context, int block, int worker)
{
    const block_job *job = context;
    bool *finished = &job->physics->finished[block];
    *finished = *finished || job->body(job->context, block, worker);
}

void orr_physics_for_blocks(orr_physics *physics, orr_block_body *body, void *context)
{
    block_job job = {physics, body, context};
    memset(physics->finished, 0, (size_t)physics->blocks * sizeof *physics->finished);
    do {
        orr_jobs_for(physics->jobs, physics->blocks, run_unfinished, &job);
    } while (orr_physics_grow(physics));
}
