// The public function for tactile pads in many copies (engine/orrery.h).
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/tactile/facets.h"
#include "engine/loop/world/soft/soft_device.h"
#include "engine/loop/world/world_robots.h"

#include <string.h>

// What is read of a physics, in this order.
static const orr_physics_quantity quantities[] = {ORR_PHYSICS_GEOM_XPOS, ORR_PHYSICS_GEOM_XMAT,
                                                  ORR_PHYSICS_CVEL, ORR_PHYSICS_SUBTREE_COM};
enum { QUANTITIES = 4 };

typedef struct tactile_job {
    orr_tactile_pad pad;
    const orr_world_physics *physics;
    const uint8_t *chosen;  // NULL: all
    int numbers;            // of the quantities, of a copy
    double *sizes;          // copies x ngeom x 3, of geoms; NULL: as the model says
    orr_tactile_near *near; // workers x pad.other_count
    double *bounds;         // workers x ngeom: radii of geoms of other sizes; NULL as sizes
    const orr_world *world;
    orr_tactile_soft *soft; // of workers; NULL: no soft body can press
    float *forces, *heights;
} tactile_job;

static void feel_copy(void *context, int index, int worker)
{
    const tactile_job *job = context;
    const orr_world_physics *p = job->physics;
    const ptrdiff_t taxels = (ptrdiff_t)job->pad.rows * job->pad.columns;
    float *forces = job->forces ? job->forces + index * taxels * 3 : NULL;
    float *heights = job->heights ? job->heights + index * taxels : NULL;
    if (job->chosen && !job->chosen[index]) {
        return;
    }
    if (orr_physics_diverged(p->physics, index)) {
        if (forces) {
            memset(forces, 0, (size_t)taxels * 3 * sizeof *forces);
        }
        if (heights) {
            memset(heights, 0, (size_t)taxels * sizeof *heights);
        }
        return;
    }
    const double *numbers = p->batch + (ptrdiff_t)index * job->numbers;
    const int geoms = p->model->ngeom, bodies = p->model->nbody;
    const orr_tactile_state state = {.xpos = numbers,
                                     .xmat = numbers + 3 * (ptrdiff_t)geoms,
                                     .cvel = numbers + 12 * (ptrdiff_t)geoms,
                                     .subtree_com = numbers + 12 * (ptrdiff_t)geoms + 6 * (ptrdiff_t)bodies};
    const orr_tactile_facets *facets =
        job->soft ? orr_tactile_soft_near(&job->soft[worker], job->world, index, p, &job->pad, &state) : NULL;
    orr_tactile_near *near = job->near + (ptrdiff_t)worker * job->pad.other_count;
    if (job->sizes) {
        const orr_model own = orr_tactile_resized(p->model, job->sizes + (ptrdiff_t)index * geoms * 3,
                                                  job->bounds + (ptrdiff_t)worker * geoms);
        orr_tactile_feel(&job->pad, &own, &state, near, facets, forces, heights);
    } else {
        orr_tactile_feel(&job->pad, p->model, &state, near, facets, forces, heights);
    }
}

static orr_result read_sizes(const orr_world *world, tactile_job *job, int workers, orr_error *error)
{
    const orr_world_physics *p = job->physics;
    const int geoms = p->model->ngeom;
    if (!orr_world_parameters_vary(world, p, ORR_PARAMETER_GEOM_SIZE)) {
        return ORR_OK;
    }
    ORR_ALLOC(job->sizes, (int64_t)world->count * geoms * 3, "sizes of geoms", error);
    ORR_ALLOC(job->bounds, (int64_t)workers * geoms, "sizes of geoms", error);
    for (int i = 0; i < world->count; i++) {
        orr_world_parameters_of(world, p, ORR_PARAMETER_GEOM_SIZE, i, job->sizes + (ptrdiff_t)i * geoms * 3);
    }
    return ORR_OK;
}

static orr_result feel(const orr_world *world, orr_world_physics *p, tactile_job *job, orr_error *error)
{
    orr_jobs *jobs = world->scene->context.jobs;
    const int workers = orr_jobs_workers(jobs);
    for (int i = 0; i < QUANTITIES; i++) {
        job->numbers += orr_physics_size(p->physics, quantities[i]);
    }
    if ((int64_t)world->count * job->numbers > INT32_MAX) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: tactile pads of %d copies",
                        world->count);
    }
    ORR_GROW(p->batch, p->batch_capacity, world->count * job->numbers, "tactile pads", error);
    ORR_ALLOC(job->near, (int64_t)workers * job->pad.other_count + 1, "tactile pads", error);
    ORR_TRY(read_sizes(world, job, workers, error));
    ORR_TRY(orr_tactile_soft_create(&job->soft, world, p, workers, error));
    if (job->chosen && !orr_physics_cuda(p->physics)) {
        orr_physics_read_masked(p->physics, job->chosen, quantities, QUANTITIES, p->batch);
    } else {
        orr_physics_read_all(p->physics, quantities, QUANTITIES, p->batch);
    }
    if (job->soft && orr_softs_on_device(world)) {
        for (int i = 0; i < world->count; i++) {
            feel_copy(job, i, 0);
        }
    } else {
        orr_jobs_for(jobs, world->count, feel_copy, job);
    }
    ORR_TRY(orr_tactile_soft_check(job->soft, workers, error));
    return orr_world_robots_check(world, p, error);
}

orr_result orr_world_get_tactile_sized(const orr_world *world, orr_layer id, const orr_tactile_desc *given,
                                       size_t given_size, const uint8_t *chosen, float *forces,
                                       float *heights, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(given, error);
    orr_tactile_desc desc = {0};
    ORR_TRY(orr_sized_read(&desc, sizeof desc, given, given_size, "orr_tactile_desc", error));
    orr_world_robot *r = NULL;
    ORR_TRY(orr_world_robot_open(world, 0, id, &r, error));
    if (desc.geom < 0 || desc.geom >= r->robot->model->ngeom) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a tactile pad on geom %d: expected 0 to %d", desc.geom,
                        r->robot->model->ngeom - 1);
    }
    const int geom = r->physics->joint ? orr_model_place_geom(&r->place, desc.geom) : desc.geom;
    ORR_TRY(orr_world_softs_update(world, error));
    tactile_job job = {
        .world = world, .physics = r->physics, .chosen = chosen, .forces = forces, .heights = heights};
    ORR_TRY(orr_tactile_pad_open(&job.pad, r->physics->model, geom, &desc, error));
    const orr_result result = feel(world, r->physics, &job, error);
    orr_tactile_pad_clear(&job.pad);
    orr_tactile_soft_destroy(job.soft, orr_jobs_workers(world->scene->context.jobs));
    orr_free(job.near);
    orr_free(job.sizes);
    orr_free(job.bounds);
    return result;
}
