// The public functions that say how robots are simulated, and wait for it (engine/orrery.h).
#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/loop/world/world_robots.h"

orr_result orr_world_wait(orr_world *world, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    for (int i = 0; i < world->robots->physics_count; i++) {
        const orr_world_physics *p = world->robots->physics[i];
        if (p->physics) {
            (void)orr_physics_check(p->physics, NULL); // the next line says what has failed
            ORR_TRY(orr_world_robots_check(world, p, error));
        }
    }
    return ORR_OK;
}

orr_result orr_world_forward(orr_world *world, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_TRY(orr_world_robots_update(world, error));
    for (int i = 0; i < world->robots->physics_count; i++) {
        const orr_world_physics *p = world->robots->physics[i];
        if (p->physics) {
            orr_physics_forward(p->physics);
            ORR_TRY(orr_world_robots_check(world, p, error));
        }
    }
    return ORR_OK;
}

orr_result orr_world_simulation_sized(const orr_world *world, orr_layer id, orr_simulation_info *info,
                                      size_t info_size, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(info, error);
    orr_world_robot *r = NULL;
    ORR_TRY(orr_world_robot_open(world, 0, id, &r, error));
    const orr_physics *p = r->physics->physics;
    const orr_physics_accuracy accuracy = orr_physics_get_accuracy(p);
    const orr_cuda *cuda = orr_physics_cuda(p);
    orr_simulation_info own = {.double_precision = orr_physics_is_double(p),
                               .lanes = orr_physics_lanes(p),
                               .team = orr_physics_team(p),
                               .world_bytes = (int64_t)orr_physics_world_bytes(p),
                               .scratch_bytes = (int64_t)orr_physics_scratch_bytes(p),
                               .contact_capacity = orr_physics_contact_capacity(p),
                               .contacts_needed = orr_physics_contacts_needed(p),
                               .inaccurate_worlds = accuracy.worlds,
                               .inaccurate_steps = accuracy.steps,
                               .iterations = accuracy.iterations,
                               .device = cuda ? ORR_DEVICE_CUDA : ORR_DEVICE_CPU,
                               .device_name = cuda ? orr_cuda_describe(cuda)->name : "cpu"};
    for (int i = 0; i < world->count; i++) {
        own.diverged_worlds += orr_physics_diverged(p, i);
        own.restarts += orr_physics_restarts(p, i);
    }
    ORR_TRY(orr_world_robots_check(world, r->physics, error));
    orr_sized_write(&own, sizeof own, info, info_size);
    return ORR_OK;
}
