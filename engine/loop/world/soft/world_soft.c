#include "engine/loop/world/soft/world_soft.h"

#include "engine/core/memory.h"
#include "engine/loop/engine.h"
#include "engine/loop/world/soft/node_points.h"
#include "engine/loop/world/soft/soft_contact.h"
#include "engine/loop/world/soft/soft_device.h"
#include "engine/loop/world/soft/soft_pull.h"
#include "engine/loop/world/soft/soft_sleep.h"
#include "engine/maths/rotation.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

orr_result orr_world_softs_create(orr_world_softs **softs, orr_error *error)
{
    *softs = orr_alloc_zero(1, sizeof **softs);
    if (*softs) {
        (*softs)->contact = orr_alloc_zero(1, sizeof *(*softs)->contact);
    }
    return *softs && (*softs)->contact
               ? ORR_OK
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: soft bodies");
}

static void close_body(orr_world_soft *s, int worlds)
{
    for (int i = 0; s->copies && i < worlds; i++) {
        orr_soft_destroy(s->copies[i]);
    }
    orr_free(s->copies);
    orr_free(s->position);
    orr_free(s->still);
    orr_free(s->state);
    orr_free(s->diverged);
    orr_soft_pull_clear(&s->hand);
    orr_soft_layer_destroy(s->layer);
}

void orr_world_softs_destroy(orr_world_softs *softs, int worlds)
{
    if (!softs) {
        return;
    }
    for (int i = 0; i < softs->count; i++) {
        close_body(&softs->bodies[i], worlds);
    }
    if (softs->contact) {
        orr_soft_contact_clear(softs->contact);
    }
    for (int i = 0; i < softs->worker_count; i++) {
        orr_soft_worker_clear(&softs->workers[i]);
    }
    for (int i = 0; softs->sleep && i < worlds; i++) {
        orr_free(softs->sleep[i].start);
        orr_free(softs->sleep[i].geoms);
    }
    orr_free(softs->sleep);
    orr_free(softs->contact);
    orr_free(softs->workers);
    orr_free(softs->restarted);
    orr_free(softs->bodies);
    orr_free(softs);
}

const double *orr_world_soft_positions(const orr_world_soft *s, int index)
{
    return s->position + (size_t)index * orr_world_soft_numbers(s);
}

void orr_world_soft_points(const orr_world_soft *s, const orr_transform *t, const int32_t *vertex, int count,
                           double *out)
{
    double quat[4];
    for (int k = 0; k < 4; k++) {
        quat[k] = (double)t->rotation[k];
    }
    quat_normalise(quat);
    for (int i = 0; i < count; i++) {
        double *x = out + (ptrdiff_t)i * 3;
        quat_apply(quat, s->layer->cage->vertex + (ptrdiff_t)(vertex ? vertex[i] : i) * 3, x);
        for (int k = 0; k < 3; k++) {
            x[k] += (double)t->position[k];
        }
    }
}

void orr_world_soft_set(const orr_world *world, int index, const orr_world_soft *s, const double *position,
                        const double *velocity)
{
    const size_t numbers = orr_world_soft_numbers(s);
    double *last = s->position + (size_t)index * numbers;
    if (position) {
        memcpy(last, position, numbers * sizeof *last);
    }
    if (s->diverged[index]) { // the numbers that are kept are no state
        position = last;
        velocity = velocity ? velocity : s->still;
    }
    orr_soft_set(s->copies[index], 0, position, velocity);
    s->diverged[index] = false;
    orr_world_softs_let_go(world, index);
}

void orr_world_soft_shift(const orr_world *world, int index, const orr_world_soft *s, const double shift[3])
{
    for (int i = 0; i < s->layer->cage->vertices; i++) {
        for (int k = 0; k < 3; k++) {
            s->state[3 * i + k] = orr_world_soft_positions(s, index)[3 * i + k] + shift[k];
        }
    }
    orr_world_soft_set(world, index, s, s->state, NULL);
}

void orr_world_soft_centre(const orr_world_soft *s, int index, double position[3], double velocity[3])
{
    const double *mass = orr_soft_masses(s->layer->model), *x = s->state,
                 *v = s->state + orr_world_soft_numbers(s);
    double total = 0.0;
    orr_soft_get(s->copies[index], 0, s->state, s->state + orr_world_soft_numbers(s));
    memset(position, 0, 3 * sizeof *position);
    memset(velocity, 0, 3 * sizeof *velocity);
    for (int i = 0; i < s->layer->cage->vertices; i++) {
        total += mass[i];
        for (int k = 0; k < 3; k++) {
            position[k] += mass[i] * x[3 * i + k];
            velocity[k] += mass[i] * v[3 * i + k];
        }
    }
    for (int k = 0; k < 3; k++) {
        position[k] /= total;
        velocity[k] /= total;
    }
}

static void place(const orr_world *world, int index, orr_world_soft *s, const orr_layer_data *layer)
{
    orr_layer_state state = orr_world_state(world, index, layer);
    double *position = s->position + (size_t)index * orr_world_soft_numbers(s);
    orr_transform at;
    orr_error ignored; // on a robot that cannot be simulated: where it would be at rest
    if (orr_world_layer_transform(world, index, layer, &state.transform, &at, &ignored) != ORR_OK) {
        at = orr_scene_layer_transform(world->scene, layer);
    }
    orr_world_soft_points(s, &at, NULL, s->layer->cage->vertices, position);
    orr_soft_set(s->copies[index], 0, position, s->still);
    orr_soft_unstrain(s->copies[index], 0);
    s->diverged[index] = false;
    orr_soft_wake(world, index);
}

static orr_result open_body(const orr_world *world, const orr_layer_data *layer, orr_cuda *cuda,
                            orr_world_soft *s, orr_error *error)
{
    *s = (orr_world_soft){.id = layer->id, .layer = layer->soft};
    orr_soft_layer_keep(s->layer);
    size_t count = (size_t)world->count;
    s->copies = orr_alloc_zero(count, sizeof *s->copies);
    s->position = orr_alloc(count, orr_world_soft_numbers(s) * sizeof *s->position);
    s->diverged = orr_alloc_zero(count, sizeof *s->diverged);
    s->still = orr_alloc_zero(orr_world_soft_numbers(s), sizeof *s->still);
    s->state = orr_alloc(orr_world_soft_numbers(s), 2 * sizeof *s->state);
    if (!s->copies || !s->position || !s->diverged || !s->still || !s->state) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d worlds of %s", world->count,
                        layer->name);
    }
    for (int i = 0; i < world->count; i++) {
        ORR_TRY(orr_soft_layer_simulate(world, s->layer, cuda, &s->copies[i], error));
        place(world, i, s, layer);
    }
    return ORR_OK;
}

static int find(const orr_world_softs *softs, const orr_layer_data *layer)
{
    for (int i = 0; i < softs->count; i++) {
        const orr_world_soft *s = &softs->bodies[i];
        if (s->id.slot == layer->id.slot && s->id.generation == layer->id.generation &&
            s->layer == layer->soft && !layer->absent) {
            return i;
        }
    }
    return -1;
}

static bool has_body(const orr_scene *scene, const orr_world_softs *softs, int body)
{
    for (int i = 0; i < scene->layer_count; i++) {
        if (scene->layers[i].soft && find(softs, &scene->layers[i]) == body) {
            return true;
        }
    }
    return false;
}

void orr_world_softs_let_go(const orr_world *world, int index)
{
    orr_soft_wake(world, index);
    for (int i = 0; i < world->robots->physics_count; i++) {
        orr_world_physics *p = world->robots->physics[i];
        if (p->pushed) {
            const size_t size = (size_t)orr_physics_size(p->physics, ORR_PHYSICS_XFRC_APPLIED);
            memset(p->pushed + (size_t)index * size, 0, size * sizeof *p->pushed);
            p->wait[index] = 0;
        }
    }
}

static void let_all_go(const orr_world *world)
{
    for (int i = 0; i < world->count; i++) {
        orr_world_softs_let_go(world, i);
    }
}

static orr_result bring_up_to_date(const orr_world *world, orr_cuda *cuda, orr_error *error)
{
    orr_world_softs *softs = world->softs;
    for (int i = softs->count - 1; i >= 0; i--) {
        if (!has_body(world->scene, softs, i)) {
            close_body(&softs->bodies[i], world->count);
            memmove(softs->bodies + i, softs->bodies + i + 1,
                    (size_t)(--softs->count - i) * sizeof *softs->bodies);
            let_all_go(world);
        }
    }
    for (int i = 0; i < world->scene->layer_count; i++) {
        const orr_layer_data *layer = &world->scene->layers[i];
        if (!layer->soft || layer->absent || orr_layer_has_nodes(layer) || find(softs, layer) >= 0) {
            continue;
        }
        ORR_GROW(softs->bodies, softs->capacity, softs->count + 1, "soft bodies", error);
        orr_world_soft made;
        orr_result result = open_body(world, layer, cuda, &made, error);
        if (result != ORR_OK) {
            close_body(&made, world->count);
            return result;
        }
        softs->bodies[softs->count++] = made;
        let_all_go(world);
    }
    return orr_softs_move(world, cuda, error);
}

orr_result orr_world_softs_update(const orr_world *world, orr_error *error)
{
    orr_cuda *cuda = orr_softs_device(world);
    orr_error why = {0};
    const orr_result result = bring_up_to_date(world, cuda, &why);
    if (cuda && (result == ORR_ERROR_MEMORY || result == ORR_ERROR_DEVICE)) {
        orr_softs_leave_device(world, &why);
        return bring_up_to_date(world, NULL, error);
    }
    return result == ORR_OK ? ORR_OK : orr_fail(error, (orr_code)why.code, "%s", why.message);
}

const orr_world_soft *orr_world_soft_find(const orr_world *world, const orr_layer_data *layer)
{
    int at = layer->soft ? find(world->softs, layer) : -1;
    return at >= 0 ? &world->softs->bodies[at] : NULL;
}

void orr_world_soft_place(const orr_world *world, int index, const orr_layer_data *layer)
{
    int at = find(world->softs, layer);
    if (at >= 0) {
        place(world, index, &world->softs->bodies[at], layer);
    }
}

void orr_world_softs_reset(const orr_world *world, int index)
{
    orr_world_softs_let_go(world, index);
    for (int i = 0; i < world->robots->physics_count; i++) { // which layers may be bound to
        orr_world_robots_moved(world, world->robots->physics[i]);
    }
    for (int i = 0; i < world->scene->layer_count; i++) {
        if (world->scene->layers[i].soft) {
            orr_world_soft_place(world, index, &world->scene->layers[i]);
        }
    }
}
