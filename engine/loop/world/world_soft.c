#include "engine/loop/world/world_soft.h"

#include "engine/core/memory.h"
#include "engine/core/rotation.h"
#include "engine/loop/engine.h"
#include "engine/loop/world/soft_contact.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 12 };

static const double gravity = 9.81; // m/s^2, where no robot gives another

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
    orr_free(s->now);
    orr_free(s->diverged);
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
    orr_free(softs->contact);
    orr_free(softs->restarts);
    orr_free(softs->bodies);
    orr_free(softs);
}

static size_t numbers_of(const orr_world_soft *s)
{
    return 3 * (size_t)s->layer->cage->vertices;
}

const double *orr_world_soft_positions(const orr_world_soft *s, int index)
{
    return s->position + (size_t)index * numbers_of(s);
}

static void place(const orr_world *world, int index, orr_world_soft *s, const orr_layer_data *layer)
{
    orr_layer_state state = orr_world_state(world, index, layer);
    double *position = s->position + (size_t)index * numbers_of(s), quat[4];
    for (int k = 0; k < 4; k++) {
        quat[k] = (double)state.transform.rotation[k];
    }
    quat_normalise(quat);
    for (int i = 0; i < s->layer->cage->vertices; i++) {
        double *x = position + (ptrdiff_t)i * 3;
        quat_apply(quat, s->layer->cage->vertex + (ptrdiff_t)i * 3, x);
        for (int k = 0; k < 3; k++) {
            x[k] += (double)state.transform.position[k];
        }
    }
    orr_soft_set(s->copies[index], 0, position, s->still);
    s->diverged[index] = false;
}

static orr_result open_body(const orr_world *world, const orr_layer_data *layer, orr_world_soft *s,
                            orr_error *error)
{
    *s = (orr_world_soft){.id = layer->id, .layer = layer->soft};
    orr_soft_layer_keep(s->layer);
    size_t count = (size_t)world->count;
    s->copies = orr_alloc_zero(count, sizeof *s->copies);
    s->position = orr_alloc(count, numbers_of(s) * sizeof *s->position);
    s->diverged = orr_alloc_zero(count, sizeof *s->diverged);
    s->still = orr_alloc_zero(numbers_of(s), sizeof *s->still);
    s->now = orr_alloc(numbers_of(s), sizeof *s->now);
    if (!s->copies || !s->position || !s->diverged || !s->still || !s->now) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d worlds of %s", world->count,
                        layer->name);
    }
    const orr_soft_desc desc = {.iterations = ITERATIONS};
    for (int i = 0; i < world->count; i++) {
        ORR_TRY(orr_soft_create(&desc, s->layer->model, world->scene->context.jobs, &s->copies[i], error));
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

orr_result orr_world_softs_update(const orr_world *world, orr_error *error)
{
    orr_world_softs *softs = world->softs;
    for (int i = softs->count - 1; i >= 0; i--) {
        if (!has_body(world->scene, softs, i)) {
            close_body(&softs->bodies[i], world->count);
            memmove(softs->bodies + i, softs->bodies + i + 1,
                    (size_t)(--softs->count - i) * sizeof *softs->bodies);
        }
    }
    for (int i = 0; i < world->scene->layer_count; i++) {
        const orr_layer_data *layer = &world->scene->layers[i];
        if (!layer->soft || layer->absent || find(softs, layer) >= 0) {
            continue;
        }
        ORR_GROW(softs->bodies, softs->capacity, softs->count + 1, "soft bodies", error);
        orr_world_soft made;
        orr_result result = open_body(world, layer, &made, error);
        if (result != ORR_OK) {
            close_body(&made, world->count);
            return result;
        }
        softs->bodies[softs->count++] = made;
    }
    return ORR_OK;
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
    for (int i = 0; i < world->scene->layer_count; i++) {
        if (world->scene->layers[i].soft) {
            orr_world_soft_place(world, index, &world->scene->layers[i]);
        }
    }
}

// ---- steps

// The robot whose layer says where a physics of one robot is; NULL: it is that of several.
static const orr_world_robot *only_robot(const orr_world *world, const orr_world_physics *p)
{
    for (int i = 0; i < world->robots->count && !p->joint; i++) {
        if (world->robots->robots[i]->physics == p) {
            return world->robots->robots[i];
        }
    }
    return NULL;
}

// Where the physics is in the scene, in one copy.
static orr_transform transform_of(const orr_world *world, int index, const orr_world_physics *p)
{
    const orr_world_robot *r = only_robot(world, p);
    int at = r ? orr_scene_find(world->scene, (orr_layer){r->id.slot, r->id.generation}) : -1;
    if (at < 0) {
        return p->frame;
    }
    orr_layer_state state = orr_world_state(world, index, &world->scene->layers[at]);
    return orr_layer_frame(&world->scene->layers[at], &state.transform);
}

orr_world_physics *orr_world_softs_physics(const orr_world *world)
{
    for (int i = 0; i < world->robots->physics_count; i++) {
        orr_world_physics *p = world->robots->physics[i];
        bool there = p->physics && (p->joint || only_robot(world, p));
        if (there && fabsf(transform_of(world, 0, p).scale - 1.0f) <= 1e-6f) {
            return p;
        }
    }
    return NULL;
}

static orr_soft_frame frame_of(const orr_world *world, int index, const orr_world_physics *p)
{
    const orr_transform t = transform_of(world, index, p);
    orr_soft_frame frame;
    double quat[4];
    for (int k = 0; k < 4; k++) {
        quat[k] = (double)t.rotation[k];
    }
    quat_normalise(quat);
    quat_matrix(quat, frame.rotation);
    for (int k = 0; k < 3; k++) {
        frame.position[k] = (double)t.position[k];
    }
    return frame;
}

static void gravity_of(const orr_world *world, const orr_world_physics *p, const orr_soft_frame *frame,
                       double out[3])
{
    if (p) {
        mat_apply(frame->rotation, p->model->opt.gravity, out);
        return;
    }
    const orr_up up = orr_scene_up(world->scene);
    out[0] = out[1] = out[2] = 0.0;
    out[up == ORR_UP_Z ? 2 : 1] = up == ORR_UP_MINUS_Y ? gravity : -gravity;
}

static bool is_finite(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(numbers[i]) < 1e10)) {
            return false;
        }
    }
    return true;
}

// One body in one copy.
static orr_result step_body(const orr_world *world, int index, orr_world_soft *s, const orr_world_physics *p,
                            orr_error *error)
{
    orr_soft_contact *c = world->softs->contact;
    orr_soft_frame frame = {.rotation = {0.0}};
    double g[3], step = p ? p->model->opt.timestep : orr_softs_time_step;
    double *position = s->position + (size_t)index * numbers_of(s);
    c->touch_count = c->body_count = 0;
    if (p) {
        frame = frame_of(world, index, p);
        ORR_TRY(orr_soft_contact_find(c, p, index, &frame, position, s->layer->cage->vertices,
                                      s->layer->margin, s->layer->friction, step, error));
    }
    gravity_of(world, p, &frame, g);
    orr_soft_set_conditions(s->copies[index], step, g);
    ORR_TRY(
        orr_soft_step_touching(s->copies[index], c->touch, c->touch_count, c->body, c->body_count, error));
    orr_soft_get(s->copies[index], 0, s->now, NULL);
    s->diverged[index] = !is_finite(s->now, numbers_of(s));
    if (!s->diverged[index]) {
        memcpy(position, s->now, numbers_of(s) * sizeof *position);
        if (p) {
            orr_soft_contact_push(c, p, index, &frame);
        }
    }
    return ORR_OK;
}

static orr_result step_bodies(const orr_world *world, const orr_world_physics *p, int index, orr_error *error)
{
    for (int i = 0; i < world->softs->count; i++) {
        orr_world_soft *s = &world->softs->bodies[i];
        if (!s->diverged[index] && !(p && orr_physics_diverged(p->physics, index))) {
            ORR_TRY(step_body(world, index, s, p, error));
        }
    }
    for (int i = 0; i < world->softs->count && world->robots->autoreset; i++) {
        if (world->softs->bodies[i].diverged[index]) {
            orr_world_softs_reset(world, index);
        }
    }
    return ORR_OK;
}

// Steps the physics with the forces of the soft bodies; a program's own forces are as it has set them
// afterwards, but 0 in copies that have returned to their start.
static orr_result step_physics(const orr_world *world, orr_world_physics *p, const uint8_t *chosen,
                               orr_error *error)
{
    orr_soft_contact *c = world->softs->contact;
    int size = orr_physics_size(p->physics, ORR_PHYSICS_XFRC_APPLIED);
    if (!world->softs->restarts) {
        ORR_ALLOC(world->softs->restarts, world->count, "soft bodies", error);
    }
    int *restarts = world->softs->restarts;
    for (int i = 0; i < world->count; i++) {
        restarts[i] = orr_physics_restarts(p->physics, i);
    }
    orr_physics_set_all(p->physics, ORR_PHYSICS_XFRC_APPLIED, c->pushed);
    orr_physics_step_masked(p->physics, 1, chosen);
    for (int i = 0; i < world->count; i++) {
        if (orr_physics_restarts(p->physics, i) != restarts[i]) {
            memset(c->applied + (ptrdiff_t)i * size, 0, (size_t)size * sizeof *c->applied);
            orr_world_softs_reset(world, i);
        }
    }
    orr_physics_set_all(p->physics, ORR_PHYSICS_XFRC_APPLIED, c->applied);
    return ORR_OK;
}

orr_result orr_world_softs_step(orr_world *world, orr_world_physics *p, const uint8_t *chosen,
                                orr_error *error)
{
    if (p) {
        ORR_TRY(orr_soft_contact_read(world->softs->contact, p, error));
    }
    for (int index = 0; index < world->count; index++) {
        if (!chosen || chosen[index]) {
            ORR_TRY(step_bodies(world, p, index, error));
        }
    }
    return p ? step_physics(world, p, chosen, error) : ORR_OK;
}
