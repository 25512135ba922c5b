// Steps of soft layers, and of the physics that touches them.
#include "engine/core/memory.h"
#include "engine/loop/engine.h"
#include "engine/loop/world/soft/soft_contact.h"
#include "engine/loop/world/soft/soft_device.h"
#include "engine/loop/world/soft/soft_pull.h"
#include "engine/loop/world/soft/soft_sleep.h"
#include "engine/loop/world/soft/world_soft.h"
#include "engine/maths/rotation.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

static const char what[] = "soft bodies";
static const double gravity = 9.81; // m/s^2, where no robot gives another

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

orr_soft_frame orr_world_softs_frame(const orr_world *world, int index, const orr_world_physics *p)
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

// How many steps of the physics a step of the soft bodies lasts that is to last so many seconds.
static int steps_of(const orr_world_physics *p, double seconds)
{
    return (int)fmax(floor(seconds / p->model->opt.timestep + 0.5), 1.0);
}

// The bodies that step in one copy, as they touch each other. The cage of a cloud is wider than the cloud:
// how deep its parts are in each other does not show in it.
static orr_result list_bodies(const orr_world *world, int index, orr_soft_worker *w, int *count,
                              orr_error *error)
{
    const orr_world_softs *softs = world->softs;
    size_t numbers = 0;
    for (int i = 0; i < softs->count; i++) {
        numbers += orr_world_soft_numbers(&softs->bodies[i]);
    }
    ORR_GROW(w->soft, w->soft_capacity, softs->count, what, error);
    ORR_GROW(w->collider, w->collider_capacity, softs->count, what, error);
    ORR_GROW(w->body, w->body_capacity, softs->count, what, error);
    ORR_GROW(w->now, w->now_capacity, (int)numbers, what, error);
    double *velocity = w->now;
    *count = 0;
    for (int i = 0; i < softs->count; i++) {
        const orr_world_soft *s = &softs->bodies[i];
        if (!s->diverged[index]) {
            orr_soft_get(s->copies[index], 0, NULL, velocity);
            w->body[*count] = i;
            w->soft[*count] = s->copies[index];
            w->collider[(*count)++] =
                (orr_soft_collider){.model = s->layer->model,
                                    .position = orr_world_soft_positions(s, index),
                                    .velocity = velocity,
                                    .margin = s->layer->margin,
                                    .friction = s->layer->friction,
                                    .with_itself = s->layer->margin <= 0.0 && !s->layer->untouchable &&
                                                   (!s->layer->contact || s->layer->contact->with_itself),
                                    .untouchable = s->layer->untouchable};
            velocity += orr_world_soft_numbers(s);
        }
    }
    return ORR_OK;
}

static bool keep_positions(const orr_world *world, int index, const orr_soft_worker *w, int count)
{
    bool finite = true;
    for (int i = 0; i < count; i++) {
        orr_world_soft *s = &world->softs->bodies[w->body[i]];
        const size_t numbers = orr_world_soft_numbers(s);
        orr_soft_get(s->copies[index], 0, w->now, NULL);
        s->diverged[index] = !is_finite(w->now, numbers);
        if (!s->diverged[index]) {
            memcpy(s->position + (size_t)index * numbers, w->now, numbers * sizeof *w->now);
        }
        finite &= !s->diverged[index];
    }
    return finite;
}

// What the body holds to which the layer of soft body number `soft` is bound, if it is.
static orr_result tie_body(const orr_world *world, int index, const orr_world_physics *p,
                           const orr_soft_frame *frame, int soft, double step, orr_soft_worker *w,
                           orr_error *error)
{
    const orr_world_soft *s = &world->softs->bodies[w->body[soft]];
    const orr_layer_data *layer =
        &world->scene->layers[orr_scene_find(world->scene, (orr_layer){s->id.slot, s->id.generation})];
    for (int i = 0; i < world->robots->count && s->layer->ties > 0; i++) {
        const orr_world_robot *r = world->robots->robots[i];
        if (r->physics != p || r->id.slot != layer->bound_to.slot ||
            r->id.generation != layer->bound_to.generation) {
            continue;
        }
        const orr_layer_state state = orr_world_state(world, index, layer);
        ORR_GROW(w->point, w->point_capacity, s->layer->ties * 3, what, error);
        orr_world_soft_points(s, &state.transform, s->layer->tie, s->layer->ties, w->point);
        ORR_TRY(orr_soft_contact_tie(
            world->softs->contact, p, index, frame, soft, orr_model_place_body(&r->place, layer->bound_body),
            s->layer->tie, w->point, s->layer->ties, w->collider[soft].position, step, &w->found, error));
    }
    return ORR_OK;
}

// The pairs of soft bodies follow those with rigid ones.
static orr_result join_pairs(orr_soft_found *f, orr_soft_contacts *contacts, orr_error *error)
{
    if (f->pair_count > 0) {
        ORR_GROW(f->pair, f->pair_capacity, f->pair_count + contacts->pairs, what, error);
        if (contacts->pairs > 0) {
            memcpy(f->pair + f->pair_count, contacts->pair, (size_t)contacts->pairs * sizeof *f->pair);
        }
        contacts->pair = f->pair;
        contacts->pairs += f->pair_count;
    }
    return ORR_OK;
}

// The highest speed of a vertex of the bodies, before the step; along an axis. flexes: of MJCF alone.
static double fastest_of(const orr_world *world, const orr_soft_worker *w, int count, bool flexes)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        const orr_world_soft *s = &world->softs->bodies[w->body[i]];
        const size_t numbers = flexes && !s->layer->contact ? 0 : orr_world_soft_numbers(s);
        for (size_t k = 0; k < numbers; k++) {
            most = fmax(most, fabs(w->collider[i].velocity[k]));
        }
    }
    return most;
}

// Whether they push what can move.
static bool does_push(const orr_soft_found *f)
{
    bool pushes = false;
    for (int i = 0; i < f->body_count; i++) {
        pushes |= vec3_dot(f->body[i].force, f->body[i].force) > 0.0;
    }
    return pushes;
}

// In how many a step is divided while flexes of MJCF move at such a speed, m/s. What they lose when they land
// or are caught, and MuJoCo's do not, is proportional to the step.
static double parts_of(double speed)
{
    return speed > 2.0 ? 4.0 : speed > 0.5 ? 2.0 : 1.0;
}

// Does one copy step at a time? Then threads share its vertices.
static bool steps_alone(const orr_world *world)
{
    return world->count == 1 || orr_softs_on_device(world);
}

// All bodies in one copy.
static orr_result step_together(const orr_world *world, int index, const orr_world_physics *p,
                                orr_soft_worker *w, orr_error *error)
{
    orr_soft_frame frame = {.rotation = {0.0}};
    double g[3];
    orr_soft_found *f = &w->found;
    orr_jobs *jobs = steps_alone(world) ? world->scene->context.jobs : NULL;
    int count = 0;
    f->touch_count = f->tie_count = f->pair_count = f->body_count = f->linkage_count = f->joint_count = 0;
    if (p) {
        frame = orr_world_softs_frame(world, index, p);
        p->wait[index] = steps_of(p, orr_softs_time_step) - 1;
    }
    gravity_of(world, p, &frame, g);
    if (orr_soft_sleeps(world, index, p, &frame, g)) {
        if (p) {
            orr_soft_contact_push(NULL, p, index, &frame);
        }
        return ORR_OK;
    }
    ORR_TRY(list_bodies(world, index, w, &count, error));
    const double fastest = fastest_of(world, w, count, false);
    double step = orr_softs_time_step;
    f->stands_for = 1;
    if (p) {
        f->stands_for = steps_of(p, orr_softs_time_step / parts_of(fastest_of(world, w, count, true)));
        p->wait[index] = f->stands_for - 1;
        step = f->stands_for * p->model->opt.timestep;
    }
    f->time_step = step;
    for (int i = 0; i < count; i++) {
        const orr_soft_collider *c = &w->collider[i];
        const orr_world_soft *s = &world->softs->bodies[w->body[i]];
        const orr_flex_contact *flex = s->layer->contact;
        orr_soft_set_conditions(w->soft[i], step, flex ? f->stands_for : 1, g);
        if (p && !c->untouchable) {
            ORR_TRY(orr_soft_contact_find(world->softs->contact, p, index, &frame, i, c, s->layer, jobs, f,
                                          error));
            ORR_TRY(flex ? orr_flex_touch_elements(p->model, c, flex, i, f, error)
                         : orr_soft_contact_press(p->model, c, i, step, jobs, f, error));
        }
        if (p) {
            ORR_TRY(tie_body(world, index, p, &frame, i, step, w, error));
        }
        if (index == 0) {
            ORR_TRY(orr_soft_pull_tie(s, i, c->position, step, f, error));
        }
    }
    orr_soft_contacts contacts = {.touches = f->touch_count,
                                  .ties = f->tie_count,
                                  .tie = f->tie,
                                  .touch = f->touch,
                                  .bodies = f->body_count,
                                  .body = f->body,
                                  .linkages = f->linkage_count,
                                  .linkage = f->linkage,
                                  .joints = f->joints};
    ORR_TRY(orr_soft_collide(w->collisions, w->collider, count, step, jobs, &contacts.pair, &contacts.pairs,
                             error));
    ORR_TRY(join_pairs(f, &contacts, error));
    ORR_TRY(orr_soft_step_together(w->coupling, w->soft, count, &contacts, error));
    const bool finite = keep_positions(world, index, w, count);
    if (p) {
        orr_soft_contact_push(finite ? f : NULL, p, index, &frame);
    }
    return orr_soft_sleep_note(world, index, p, &frame, g, fastest, does_push(f), error);
}

typedef struct step_job {
    const orr_world *world;
    const orr_world_physics *physics; // nullable
    const uint8_t *chosen;            // nullable
} step_job;

// The bodies of one copy, when they are due.
static void step_copy(void *context, int index, int worker)
{
    const step_job *job = context;
    const orr_world *world = job->world;
    const orr_world_physics *p = job->physics;
    orr_soft_worker *w = &world->softs->workers[worker];
    if (job->chosen && !job->chosen[index]) {
        return;
    }
    if (p && p->wait[index]-- > 0) {
        return;
    }
    if (p && orr_physics_diverged(p->physics, index)) {
        const orr_soft_frame frame = orr_world_softs_frame(world, index, p);
        orr_soft_contact_push(NULL, p, index, &frame);
        p->wait[index] = steps_of(p, orr_softs_time_step) - 1;
    } else if (w->result == ORR_OK) {
        w->result = step_together(world, index, p, w, &w->error);
    }
}

orr_result orr_world_softs_prepare(const orr_world *world, orr_world_physics *p, orr_error *error)
{
    orr_world_softs *softs = world->softs;
    const int workers = orr_jobs_workers(world->scene->context.jobs);
    if (!softs->workers) {
        softs->workers = orr_alloc_zero((size_t)workers, sizeof *softs->workers);
        softs->worker_count = softs->workers ? workers : 0;
        for (int i = 0; i < softs->worker_count; i++) {
            ORR_TRY(orr_soft_worker_open(&softs->workers[i], error));
        }
    }
    if (!softs->sleep) {
        ORR_ALLOC(softs->sleep, world->count, what, error);
        memset(softs->sleep, 0, (size_t)world->count * sizeof *softs->sleep);
    }
    if (!softs->restarted) {
        ORR_ALLOC(softs->restarted, world->count, what, error);
    }
    if (p && !p->pushed) {
        const int size = orr_physics_size(p->physics, ORR_PHYSICS_XFRC_APPLIED);
        ORR_ALLOC(p->restarts, world->count, what, error);
        p->wait = orr_alloc_zero((size_t)world->count, sizeof *p->wait);
        p->pushed = orr_alloc_zero((size_t)world->count * (size_t)size, sizeof *p->pushed);
    }
    return softs->workers && (!p || (p->pushed && p->wait))
               ? ORR_OK
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
}

static bool is_due(const orr_world *world, const orr_world_physics *p, const uint8_t *chosen)
{
    bool due = false;
    for (int i = 0; i < world->count; i++) {
        due |= (!chosen || chosen[i]) && p->wait[i] == 0;
    }
    return due;
}

static bool has_diverged(const orr_world_softs *softs, int index)
{
    bool diverged = false;
    for (int i = 0; i < softs->count; i++) {
        diverged |= softs->bodies[i].diverged[index];
    }
    return diverged;
}

static orr_result step_bodies(orr_world *world, const orr_world_physics *p, const uint8_t *chosen,
                              orr_error *error)
{
    orr_world_softs *softs = world->softs;
    orr_jobs *jobs = world->scene->context.jobs;
    step_job job = {world, p, chosen};
    for (int i = 0; i < softs->worker_count; i++) {
        softs->workers[i].result = ORR_OK;
    }
    if (steps_alone(world)) {
        orr_jobs_expect_more(jobs); // one for each colour of each iteration
        for (int i = 0; i < world->count; i++) {
            step_copy(&job, i, 0);
        }
        orr_jobs_expect_no_more(jobs);
    } else {
        orr_jobs_for(jobs, world->count, step_copy, &job);
    }
    for (int i = 0; i < softs->worker_count; i++) {
        if (softs->workers[i].result != ORR_OK) {
            return orr_fail(error, (orr_code)softs->workers[i].error.code, "%s",
                            softs->workers[i].error.message);
        }
    }
    for (int i = 0; i < world->count && world->robots->autoreset; i++) {
        if (has_diverged(softs, i)) {
            orr_world_softs_reset(world, i);
        }
    }
    return ORR_OK;
}

orr_result orr_world_softs_step(orr_world *world, orr_world_physics *p, const uint8_t *chosen,
                                orr_error *error)
{
    orr_world_softs *softs = world->softs;
    ORR_TRY(orr_world_softs_prepare(world, p, error));
    if (p && is_due(world, p, chosen)) {
        ORR_TRY(orr_soft_contact_read(softs->contact, p, error));
    }
    orr_error why;
    const orr_result result = step_bodies(world, p, chosen, &why);
    if (result == ORR_ERROR_DEVICE && !softs->left) {
        orr_softs_leave_device(world, &why); // the next call moves them
    }
    if (result != ORR_OK) {
        return orr_fail(error, (orr_code)why.code, "%s", why.message);
    }
    if (!p) {
        return ORR_OK;
    }
    ORR_TRY(orr_soft_contact_step(softs->contact, p, chosen, softs->restarted, error));
    for (int i = 0; i < world->count; i++) {
        if (softs->restarted[i]) {
            orr_world_softs_reset(world, i);
        }
    }
    return ORR_OK;
}
