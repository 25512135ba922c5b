#include "engine/loop/world/soft/soft_device.h"

#include "engine/loop/devices.h"
#include "engine/loop/engine.h"
#include "engine/loop/world/soft/node_points.h"

#include <math.h>

enum { ITERATIONS = 12 };
// Flexes are as near to MuJoCo's as without it, with 1e-3 a beam's tip is 10 % of its length away.
#define TOLERANCE 3e-5

orr_cuda *orr_softs_device(const orr_world *world)
{
    if (world->robots->desc.device != ORR_DEVICE_CUDA || world->softs->left) {
        return NULL;
    }
    bool any = false;
    for (int i = 0; i < world->scene->layer_count; i++) {
        const orr_layer_data *layer = &world->scene->layers[i];
        any |= layer->soft && !layer->absent && !orr_layer_has_nodes(layer);
    }
    orr_cuda *cuda = NULL;
    orr_error why;
    if (any && orr_engine_take_cuda(world->robots->engine, &cuda, &why) != ORR_OK) {
        orr_softs_leave_device(world, &why);
        return NULL;
    }
    return cuda;
}

bool orr_softs_on_device(const orr_world *world)
{
    return world->softs->count > 0 && orr_soft_get_cuda(world->softs->bodies[0].copies[0]) != NULL;
}

void orr_softs_leave_device(const orr_world *world, const orr_error *why)
{
    world->softs->left = true;
    orr_log_line(world->robots->engine->log, ORR_LOG_WARNING, (orr_code)why->code,
                 "%s: the CPU simulates soft bodies", why->message);
}

orr_result orr_soft_layer_simulate(const orr_world *world, const orr_soft_layer *layer, orr_cuda *cuda,
                                   orr_soft **soft, orr_error *error)
{
    // the radius of convergence is about that of Jacobi's method for the stiffest waves; above 0.9 the
    // rounding of positions far from the origin shows, but plates would bend as if they were softer
    const double most = layer->plate ? 0.99 : 0.9;
    const double ratio = orr_soft_stiffness(layer->model) * orr_softs_time_step * orr_softs_time_step;
    const orr_soft_desc desc = {.iterations = layer->iterations > 0 ? layer->iterations : ITERATIONS,
                                .chebyshev = fmin(ratio / (1.0 + ratio), most),
                                .tolerance = TOLERANCE,
                                .cuda = cuda};
    // threads share either the copies or the vertices of the only one
    orr_jobs *jobs = world->count == 1 ? world->scene->context.jobs : NULL;
    return orr_soft_create(&desc, layer->model, jobs, soft, error);
}

// Of a device that has failed, what the host last knew of it.
static orr_result move_strain(const orr_world_soft *s, const orr_soft *from, orr_soft *to, orr_error *error)
{
    const int numbers = orr_soft_strain_numbers(s->layer->model);
    double *strain;
    if (numbers == 0) {
        return ORR_OK;
    }
    ORR_ALLOC(strain, numbers, "soft bodies", error);
    orr_soft_get_strain(from, 0, strain);
    orr_soft_set_strain(to, 0, strain);
    orr_free(strain);
    return ORR_OK;
}

orr_result orr_softs_move(const orr_world *world, orr_cuda *cuda, orr_error *error)
{
    for (int i = 0; i < world->softs->count; i++) {
        orr_world_soft *s = &world->softs->bodies[i];
        double *velocity = s->state + orr_world_soft_numbers(s);
        for (int k = 0; k < world->count; k++) {
            orr_soft *moved, *before = s->copies[k];
            if (orr_soft_get_cuda(before) == cuda) {
                continue;
            }
            ORR_TRY(orr_soft_layer_simulate(world, s->layer, cuda, &moved, error));
            // where a device has failed in a step, the host has positions of its middle
            const bool whole = orr_soft_check(before, NULL) == ORR_OK;
            orr_soft_get(before, 0, s->state, velocity);
            orr_soft_set(moved, 0, whole ? s->state : orr_world_soft_positions(s, k), velocity);
            ORR_TRY(move_strain(s, before, moved, error));
            s->copies[k] = moved;
            orr_soft_destroy(before);
        }
    }
    return ORR_OK;
}
