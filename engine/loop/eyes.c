// Small pictures of many copies (engine/orrery.h): poses one after the other, then a picture for each thread.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/image/image.h"
#include "engine/loop/engine.h"
#include "engine/loop/eyes_detail.h"
#include "engine/loop/eyes_motion.h"
#include "engine/loop/surfaces/surfaces.h"
#include "engine/maths/camera.h"
#include "engine/maths/rotation.h"
#include "render/cpu/kept_splats.h"

#include <math.h>
#include <string.h>

enum { SIDE_MAX = 4096, VIEWS_MAX = 4096, SLOTS_PER_WORKER = 4, KEEP_AFTER = 2 };

// What one thread draws with.
typedef struct eye {
    orr_jobs *jobs; // of this thread alone
    orr_arena arena;
    orr_profile profile;
} eye;

// A picture that is posed, and where it goes.
typedef struct task {
    orr_frame_slot slot;
    size_t picture;              // among all of them
    const orr_kept_splats *kept; // of its camera
    orr_varied_meshes applied;   // surfaces that are this copy's own
    orr_past past;
    bool has_past; // it holds the picture before
    orr_result result;
    orr_error error;
} task;

struct orr_eyes {
    const orr_world *world;
    orr_engine *engine;
    int *cameras;
    orr_camera *views;
    int camera_count, view_count;
    int width, height;
    orr_view look;           // hard_edges unless edges are asked to be smooth
    orr_eyes_detail *detail; // NULL: everything is drawn in full
    orr_eyes_look *looks;    // of each copy; NULL: none has been set
    orr_surfaces *surfaces;  // that may differ between copies; NULL: none
    orr_eyes_motion *motion; // NULL: flow is not asked for
    orr_kept_splats **kept;  // of each camera and view
    eye *eyes;               // worker_count
    int worker_count;
    task *tasks; // task_count
    int task_count;
    const orr_eyes_pictures *pictures; // while they are drawn
};

static orr_result check_desc(const orr_world *world, const orr_eyes_desc *desc, orr_error *error)
{
    const int cameras = orr_world_camera_count(world);
    if (desc->camera_count < 0 || desc->view_count < 0 || desc->camera_count > VIEWS_MAX ||
        desc->view_count > VIEWS_MAX || desc->camera_count + desc->view_count == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "eyes: %d cameras, %d views: expected 1 to %d together",
                        desc->camera_count, desc->view_count, VIEWS_MAX);
    }
    if (desc->width < 1 || desc->height < 1 || desc->width > SIDE_MAX || desc->height > SIDE_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "eyes: %d x %d pixels: expected 1 to %d on a side",
                        desc->width, desc->height, SIDE_MAX);
    }
    ORR_TRY(
        !desc->camera_count || desc->cameras
            ? ORR_OK
            : orr_fail(error, ORR_CODE_ARGUMENT, "eyes: %d cameras: cameras is NULL", desc->camera_count));
    ORR_TRY(!desc->view_count || desc->views
                ? ORR_OK
                : orr_fail(error, ORR_CODE_ARGUMENT, "eyes: %d views: views is NULL", desc->view_count));
    if (!(desc->detail >= 0.0f)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "eyes: detail: expected 0 pixels or more, not %g",
                        (double)desc->detail);
    }
    for (int i = 0; i < desc->camera_count; i++) {
        if (desc->cameras[i] < 0 || desc->cameras[i] >= cameras) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "eyes: camera %d: expected 0 to %d", desc->cameras[i],
                            cameras - 1);
        }
    }
    return ORR_OK;
}

static void set_views(orr_eyes *e, const orr_camera *views)
{
    for (int i = 0; i < e->view_count; i++) {
        e->views[i] = views[i];
        e->views[i].width = e->width;
        e->views[i].height = e->height;
    }
}

static orr_result make(orr_eyes *e, const orr_eyes_desc *desc, orr_error *error)
{
    e->camera_count = desc->camera_count;
    e->view_count = desc->view_count;
    e->width = desc->width;
    e->height = desc->height;
    e->look = desc->look;
    e->look.hard_edges = desc->look.hard_edges || !desc->smooth_edges;
    e->worker_count = orr_jobs_workers(e->engine->jobs);
    e->task_count = SLOTS_PER_WORKER * e->worker_count;
    ORR_ALLOC(e->cameras, desc->camera_count, "eyes", error);
    ORR_ALLOC(e->views, desc->view_count, "eyes", error);
    e->tasks = orr_alloc_zero((size_t)e->task_count, sizeof *e->tasks);
    e->eyes = orr_alloc_zero((size_t)e->worker_count, sizeof *e->eyes);
    e->kept = orr_alloc_zero((size_t)e->camera_count + (size_t)e->view_count, sizeof(orr_kept_splats *));
    if (!e->tasks || !e->eyes || !e->kept) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: eyes");
    }
    for (int i = 0; i < e->camera_count; i++) {
        e->cameras[i] = desc->cameras[i];
    }
    set_views(e, desc->views);
    ORR_TRY(desc->detail > 0.0f ? orr_eyes_detail_create(desc->detail, &e->detail, error) : ORR_OK);
    ORR_TRY(desc->flow
                ? orr_eyes_motion_create(e->world->count, e->camera_count + e->view_count, &e->motion, error)
                : ORR_OK);
    for (int i = 0; i < e->camera_count + e->view_count; i++) {
        ORR_TRY(orr_kept_splats_create(&e->kept[i], error));
    }
    for (int i = 0; i < e->worker_count; i++) {
        ORR_TRY(orr_jobs_create(1, NULL, NULL, &e->eyes[i].jobs, error));
    }
    return ORR_OK;
}

orr_result orr_eyes_create_sized(const orr_world *world, const orr_eyes_desc *given, size_t size,
                                 orr_eyes **out, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(given, error);
    orr_eyes_desc desc;
    ORR_TRY(orr_sized_read(&desc, sizeof desc, given, size, "orr_eyes_desc", error));
    ORR_TRY(check_desc(world, &desc, error));
    orr_eyes *e = orr_alloc_zero(1, sizeof *e);
    if (!e) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: eyes");
    }
    e->world = world;
    e->engine = world->scene->context.engine;
    orr_result result = make(e, &desc, error);
    if (result != ORR_OK) {
        orr_eyes_destroy(e);
        return result;
    }
    *out = e;
    return ORR_OK;
}

void orr_eyes_destroy(orr_eyes *e)
{
    if (!e || !orr_jobs_here(e->engine->jobs)) {
        return;
    }
    for (int i = 0; e->tasks && i < e->task_count; i++) {
        orr_frame_slot_close(&e->tasks[i].slot);
        orr_past_close(&e->tasks[i].past);
        orr_varied_meshes_close(&e->tasks[i].applied);
    }
    for (int i = 0; e->eyes && i < e->worker_count; i++) {
        if (e->eyes[i].jobs) {
            orr_jobs_destroy(e->eyes[i].jobs);
        }
        orr_arena_destroy(&e->eyes[i].arena);
    }
    orr_free(e->tasks);
    orr_free(e->eyes);
    for (int i = 0; e->kept && i < e->camera_count + e->view_count; i++) {
        orr_kept_splats_destroy(e->kept[i]);
    }
    orr_free(e->kept);
    orr_free(e->cameras);
    orr_free(e->views);
    orr_free(e->looks);
    orr_surfaces_destroy(e->surfaces);
    orr_eyes_motion_destroy(e->motion);
    orr_eyes_detail_destroy(e->detail);
    orr_free(e);
}

// Memory of a picture that the caller asked for, or of the arena.
static void *plane_of(void *asked, size_t picture, size_t numbers, size_t bytes, orr_arena *arena)
{
    return asked ? (char *)asked + picture * numbers * bytes : orr_arena_take(arena, numbers, bytes);
}

static void put_rgb(const float *rgba, size_t pixels, uint8_t *bytes, uint8_t *rgb)
{
    orr_image_quantise(rgba, (int64_t)pixels, bytes);
    for (size_t i = 0; i < pixels; i++) {
        for (size_t k = 0; k < 3; k++) {
            rgb[3 * i + k] = bytes[4 * i + k];
        }
    }
}

static void put_segmentation(const orr_eyes *e, const orr_frame_slot *slot, const int32_t *items,
                             size_t pixels, int32_t *out)
{
    const orr_scene *scene = e->world->scene;
    for (size_t i = 0; i < pixels; i++) {
        const int32_t item = items[i];
        out[2 * i] = out[2 * i + 1] = -1;
        if (item < -1) {
            out[2 * i] = slot->splat_layers[ORR_ITEM_OF_CLOUD(item)];
        } else if (item >= 0) {
            const orr_layer_data *layer = &scene->layers[slot->mesh_layers[item]];
            out[2 * i] = slot->mesh_layers[item];
            const orr_robot_geom *geom = orr_layer_geom(layer, slot->meshes[item].key);
            out[2 * i + 1] = geom ? geom->geom : -1;
        }
    }
}

static orr_result draw(const orr_eyes *e, eye *with, orr_jobs *jobs, const task *t, orr_error *error)
{
    const orr_eyes_pictures *to = e->pictures;
    const size_t pixels = (size_t)e->width * (size_t)e->height;
    orr_arena_reset(&with->arena);
    const bool estimates = to->normals || to->flow, asks = to->segmentation || estimates;
    const orr_picture picture = {
        .rgba = plane_of(to->rgba, t->picture, 4 * pixels, sizeof(float), &with->arena),
        .depth = to->depth || estimates ? plane_of(to->depth, t->picture, pixels, sizeof(float), &with->arena)
                                        : NULL};
    uint8_t *bytes = to->rgb ? orr_arena_take(&with->arena, pixels, 4) : NULL;
    const orr_seen seen = {.items = asks ? orr_arena_take(&with->arena, pixels, sizeof(int32_t)) : NULL,
                           .normals = to->normals ? to->normals + t->picture * pixels * 3 : NULL,
                           .flow = to->flow ? to->flow + t->picture * pixels * 2 : NULL,
                           .before = t->has_past ? &t->past.before : NULL};
    if (!picture.rgba || (estimates && !picture.depth) || (to->rgb && !bytes) || (asks && !seen.items)) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of %zu pixels", pixels);
    }
    ORR_TRY(orr_draw_cpu(jobs, e->engine->isa, &with->arena, &t->slot.list, t->kept, &picture, &seen,
                         &with->profile, error));
    if (to->rgb) {
        put_rgb(picture.rgba, pixels, bytes, to->rgb + t->picture * pixels * 3);
    }
    if (to->segmentation) {
        put_segmentation(e, &t->slot, seen.items, pixels, to->segmentation + t->picture * pixels * 2);
    }
    return ORR_OK;
}

static void draw_task(void *context, int i, int worker)
{
    orr_eyes *e = context;
    task *t = &e->tasks[i];
    t->result = draw(e, &e->eyes[worker], e->eyes[worker].jobs, t, &t->error);
}

// Draws the tasks that are posed. Fewer than there are threads: all threads draw each of them.
static orr_result draw_tasks(orr_eyes *e, int count, orr_error *error)
{
    if (count < e->worker_count) {
        for (int i = 0; i < count; i++) {
            ORR_TRY(draw(e, &e->eyes[0], e->engine->jobs, &e->tasks[i], error));
        }
        return ORR_OK;
    }
    orr_jobs_for(e->engine->jobs, count, draw_task, e);
    for (int i = 0; i < count; i++) {
        if (e->tasks[i].result != ORR_OK) {
            return orr_fail(error, (orr_code)e->tasks[i].error.code, "%s", e->tasks[i].error.message);
        }
    }
    return ORR_OK;
}

// ---- looks ----

static const float BRIGHTEST = 20.0f; // [EV]

static orr_result check_look(const orr_eyes_look *look, int copy, orr_error *error)
{
    float numbers[16] = {look->exposure};
    memcpy(numbers + 1, look->light, sizeof look->light);
    memcpy(numbers + 4, look->camera_offset, sizeof look->camera_offset);
    memcpy(numbers + 7, look->camera_turn, sizeof look->camera_turn);
    memcpy(numbers + 10, look->light_turn, sizeof look->light_turn);
    memcpy(numbers + 13, look->background, sizeof look->background);
    for (int i = 0; i < 16; i++) {
        if (!isfinite(numbers[i]) || (i < 4 && fabsf(numbers[i]) > BRIGHTEST)) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "the look of copy %d: expected finite numbers, and at most %g EV, not %g", copy,
                            (double)BRIGHTEST, (double)numbers[i]);
        }
    }
    return ORR_OK;
}

orr_result orr_eyes_set_looks_sized(orr_eyes *e, const uint8_t *chosen, const orr_eyes_look *looks,
                                    size_t look_size, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(e, error);
    ORR_TRY(orr_engine_check(e->engine, error));
    ORR_REQUIRE(looks, error);
    const int count = e->world->count;
    orr_eyes_look *own = orr_alloc_zero((size_t)count, sizeof *own);
    if (!own) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the looks of pictures");
    }
    orr_result result = ORR_OK;
    for (int i = 0; i < count && result == ORR_OK; i++) {
        if (!chosen || chosen[i]) {
            result = orr_sized_read(&own[i], sizeof own[i], (const char *)looks + (size_t)i * look_size,
                                    look_size, "orr_eyes_look", error);
            result = result == ORR_OK ? check_look(&own[i], i, error) : result;
        } else if (e->looks) {
            own[i] = e->looks[i];
        }
    }
    if (result != ORR_OK) {
        orr_free(own);
        return result;
    }
    orr_free(e->looks);
    e->looks = own;
    return ORR_OK;
}

orr_result orr_eyes_vary_surfaces_sized(orr_eyes *e, const orr_eyes_surfaces_desc *given, size_t size,
                                        orr_error *error)
{
    ORR_ENTER;
    orr_eyes_surfaces_desc desc;
    orr_surfaces *surfaces;
    ORR_REQUIRE(e, error);
    ORR_TRY(orr_engine_check(e->engine, error));
    ORR_REQUIRE(given, error);
    ORR_TRY(orr_sized_read(&desc, sizeof desc, given, size, "orr_eyes_surfaces_desc", error));
    ORR_TRY(orr_surfaces_create(e->world, &desc, &surfaces, error));
    orr_surfaces_destroy(e->surfaces);
    e->surfaces = surfaces;
    return ORR_OK;
}

orr_result orr_eyes_set_surfaces_sized(orr_eyes *e, const uint8_t *chosen, const orr_eyes_surface *surfaces,
                                       size_t surface_size, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(e, error);
    ORR_TRY(orr_engine_check(e->engine, error));
    ORR_REQUIRE(surfaces, error);
    if (!e->surfaces) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "eyes: surfaces: expected some that vary (orr_eyes_vary_surfaces)");
    }
    return orr_surfaces_set(e->surfaces, chosen, surfaces, surface_size, error);
}

static void quat_of_vector(const float vector[3], double quat[4])
{
    double angle = sqrt((double)vector[0] * (double)vector[0] + (double)vector[1] * (double)vector[1] +
                        (double)vector[2] * (double)vector[2]);
    quat[0] = cos(0.5 * angle);
    for (int k = 0; k < 3; k++) {
        quat[1 + k] = angle > 0.0 ? sin(0.5 * angle) * (double)vector[k] / angle : 0.0;
    }
}

// Pose: rows of a 3 x 4 matrix from the camera to the world; it is turned and moved in the camera's own axes.
static void move_camera(const orr_eyes_look *look, float pose[12])
{
    double quat[4], turn[3][3];
    quat_of_vector(look->camera_turn, quat);
    for (int axis = 0; axis < 3; axis++) { // columns of the turn
        const double unit[3] = {axis == 0, axis == 1, axis == 2};
        quat_apply(quat, unit, turn[axis]);
    }
    for (int row = 0; row < 3; row++) {
        const double x = (double)pose[4 * row], y = (double)pose[4 * row + 1], z = (double)pose[4 * row + 2];
        pose[4 * row + 3] += (float)(x * (double)look->camera_offset[0] + y * (double)look->camera_offset[1] +
                                     z * (double)look->camera_offset[2]);
        for (int axis = 0; axis < 3; axis++) {
            pose[4 * row + axis] = (float)(x * turn[axis][0] + y * turn[axis][1] + z * turn[axis][2]);
        }
    }
}

static void turn_direction(const double quat[4], float direction[3])
{
    double d[3] = {(double)direction[0], (double)direction[1], (double)direction[2]};
    quat_apply(quat, d, d);
    for (int k = 0; k < 3; k++) {
        direction[k] = (float)d[k];
    }
}

static void change_lights(const orr_eyes_look *look, orr_draw_list *list)
{
    double quat[4];
    quat_of_vector(look->light_turn, quat);
    turn_direction(quat, list->sun.direction);
    for (int i = 0; i < list->light_count; i++) {
        turn_direction(quat, list->lights[i].direction);
    }
    for (int k = 0; k < 3; k++) {
        const float gain = exp2f(look->light[k]);
        list->sun.colour[k] *= gain;
        list->sun.ambient[k] *= gain;
        for (int i = 0; i < list->light_count; i++) {
            orr_draw_light *light = &list->lights[i];
            light->ambient[k] *= gain;
            light->diffuse[k] *= gain;
            light->specular[k] *= gain;
        }
    }
}

static bool is_plain(const orr_eyes_look *look)
{
    static const orr_eyes_look plain;
    return memcmp(look, &plain, sizeof plain) == 0;
}

static orr_result pose(const orr_eyes *e, task *t, int copy, int number, orr_error *error)
{
    orr_view view = e->look;
    view.world = copy;
    if (number < e->camera_count) {
        ORR_TRY(
            orr_world_camera(e->world, copy, e->cameras[number], e->width, e->height, &view.camera, error));
    } else {
        view.camera = e->views[number - e->camera_count];
    }
    t->picture = (size_t)copy * (size_t)(e->camera_count + e->view_count) + (size_t)number;
    const orr_eyes_look *look = e->looks && !is_plain(&e->looks[copy]) ? &e->looks[copy] : NULL;
    if (look) {
        move_camera(look, view.camera.pose);
        view.exposure += look->exposure;
        view.has_background |= look->has_background;
        memcpy(view.background, look->has_background ? look->background : view.background,
               sizeof view.background);
    }
    t->kept = e->kept[number];
    ORR_TRY(orr_frame_pose(&t->slot, e->world->scene, e->world, &view, false, error));
    if (e->motion) {
        ORR_TRY(orr_eyes_motion_keep(e->motion, e->world, &t->slot, copy, number, error));
        ORR_TRY(
            orr_eyes_motion_find(e->motion, e->world, &t->slot, copy, number, &t->past, &t->has_past, error));
    }
    if (look) {
        change_lights(look, &t->slot.list);
    }
    if (e->detail) {
        ORR_TRY(orr_eyes_detail_apply(e->detail, e->engine->jobs, e->world->scene, &t->slot, error));
    }
    return e->surfaces ? orr_surfaces_apply(e->surfaces, copy, &t->slot, &t->applied, error) : ORR_OK;
}

orr_result orr_eyes_draw_sized(orr_eyes *e, const uint8_t *chosen, const orr_eyes_pictures *given,
                               size_t size, orr_error *error)
{
    ORR_ENTER;
    orr_eyes_pictures pictures;
    ORR_REQUIRE(e, error);
    ORR_TRY(orr_engine_check(e->engine, error));
    ORR_REQUIRE(given, error);
    ORR_TRY(orr_sized_read(&pictures, sizeof pictures, given, size, "orr_eyes_pictures", error));
    if (pictures.flow && !e->motion) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "eyes: flow: expected eyes that were made with it");
    }
    e->pictures = &pictures;
    int posed = 0;
    for (int copy = 0; copy < e->world->count; copy++) {
        if (e->motion && (!chosen || chosen[copy])) {
            orr_eyes_motion_begin(e->motion, copy);
        }
        for (int i = 0; i < e->camera_count + e->view_count && (!chosen || chosen[copy]); i++) {
            ORR_TRY(pose(e, &e->tasks[posed], copy, i, error));
            if (orr_kept_splats_repeats(e->kept[i], &e->tasks[posed].slot.list) >= KEEP_AFTER) {
                ORR_TRY(draw_tasks(e, posed, error)); // with what it has held so far
                posed = 0;
                ORR_TRY(pose(e, &e->tasks[0], copy, i, error));
                ORR_TRY(orr_kept_splats_hold(e->kept[i], e->engine->jobs, e->engine->isa,
                                             &e->tasks[0].slot.list, error));
            }
            if (++posed == e->task_count) {
                ORR_TRY(draw_tasks(e, posed, error));
                posed = 0;
            }
        }
    }
    return draw_tasks(e, posed, error);
}

orr_result orr_eyes_set_views(orr_eyes *e, const orr_camera *views, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(e, error);
    ORR_TRY(orr_engine_check(e->engine, error));
    ORR_REQUIRE(views, error);
    set_views(e, views);
    return ORR_OK;
}

orr_result orr_eyes_forget(orr_eyes *e, const uint8_t *chosen, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(e, error);
    ORR_TRY(orr_engine_check(e->engine, error));
    for (int copy = 0; e->motion && copy < e->world->count; copy++) {
        if (!chosen || chosen[copy]) {
            orr_eyes_motion_forget(e->motion, copy);
        }
    }
    return ORR_OK;
}
