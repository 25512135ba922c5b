// Small pictures of many copies (engine/orrery.h): what each shows. cpu.c and cuda.c draw them.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/devices.h"
#include "engine/loop/eyes/look.h"
#include "engine/loop/eyes/state.h"

#include <string.h>

enum { SIDE_MAX = 4096, VIEWS_MAX = 4096 };

// The first of what CUDA does not draw is refused.
static orr_result refuse_on_cuda(const char *what, bool asked, orr_error *error)
{
    return asked ? orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                            "eyes: %s: CUDA draws rgb, rgba and depth: expected eyes on the CPU", what)
                 : ORR_OK;
}

static orr_result check_device(const orr_eyes_desc *desc, orr_error *error)
{
    const char *name = orr_device_name(desc->device);
    if (orr_device_is_cuda(desc->device)) {
        return refuse_on_cuda("flow", desc->flow, error);
    }
    if (desc->device == ORR_DEVICE_VULKAN) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "eyes: device %s: expected cpu or cuda", name);
    }
    return desc->device == ORR_DEVICE_AUTO || desc->device == ORR_DEVICE_CPU
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "eyes: device %d: expected one of orr_device_kind",
                          (int)desc->device);
}

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
    return check_device(desc, error);
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
    ORR_ALLOC(e->cameras, desc->camera_count, "eyes", error);
    ORR_ALLOC(e->views, desc->view_count, "eyes", error);
    for (int i = 0; i < e->camera_count; i++) {
        e->cameras[i] = desc->cameras[i];
    }
    set_views(e, desc->views);
    ORR_TRY(desc->flow
                ? orr_eyes_motion_create(e->world->count, e->camera_count + e->view_count, &e->motion, error)
                : ORR_OK);
    const size_t pictures = (size_t)e->world->count * orr_eyes_of_copy(e);
    return orr_device_is_cuda(desc->device)
               ? orr_eyes_cuda_create(e->engine, pictures, e->width, e->height, &e->cuda, error)
               : orr_eyes_cpu_create(e, desc->detail, &e->cpu, error);
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
    orr_free(e->cameras);
    orr_free(e->views);
    orr_free(e->looks);
    orr_surfaces_destroy(e->surfaces);
    orr_eyes_motion_destroy(e->motion);
    orr_eyes_cpu_destroy(e->cpu);
    orr_eyes_cuda_destroy(e->cuda);
    orr_free(e);
}

// ---- looks and surfaces ----

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
            result = result == ORR_OK ? orr_look_check(&own[i], i, error) : result;
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
    ORR_TRY(refuse_on_cuda("surfaces that vary", e->cuda != NULL, error));
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

// ---- pictures ----

orr_result orr_eyes_see(const orr_eyes *e, int copy, int number, orr_view *view,
                        const orr_eyes_look **changes, orr_error *error)
{
    *view = e->look;
    view->world = copy;
    if (number < e->camera_count) {
        ORR_TRY(
            orr_world_camera(e->world, copy, e->cameras[number], e->width, e->height, &view->camera, error));
    } else {
        view->camera = e->views[number - e->camera_count];
    }
    const orr_eyes_look *look = e->looks && !orr_look_is_plain(&e->looks[copy]) ? &e->looks[copy] : NULL;
    if (look) {
        orr_look_move_camera(look, view->camera.pose);
        view->exposure += look->exposure;
        view->has_background |= look->has_background;
        memcpy(view->background, look->has_background ? look->background : view->background,
               sizeof view->background);
    }
    *changes = look;
    return ORR_OK;
}

static orr_result add_to_cuda(const orr_eyes *e, int copy, int number, orr_error *error)
{
    orr_view view;
    const orr_eyes_look *look;
    ORR_TRY(orr_eyes_see(e, copy, number, &view, &look, error));
    return orr_eyes_cuda_add(e->cuda, e->world, &view, look, orr_eyes_number(e, copy, number), error);
}

static orr_result draw_on_cuda(const orr_eyes *e, const uint8_t *chosen, unsigned planes, void *after,
                               orr_error *error)
{
    orr_result result = orr_eyes_cuda_begin(e->cuda, planes, after, error);
    for (int copy = 0; copy < e->world->count && result == ORR_OK; copy++) {
        for (int i = 0; i < e->camera_count + e->view_count && result == ORR_OK; i++) {
            result = !chosen || chosen[copy] ? add_to_cuda(e, copy, i, error) : ORR_OK;
        }
    }
    const orr_result ended = orr_eyes_cuda_end(e->cuda, result != ORR_OK, error);
    return result != ORR_OK ? result : ended;
}

// Copies what was drawn to the host; neighbouring copies at once.
static orr_result read_from_cuda(const orr_eyes *e, const uint8_t *chosen, const orr_eyes_pictures *pictures,
                                 orr_error *error)
{
    const int count = e->world->count;
    for (int first = 0, end; first < count; first = end) {
        const bool drawn = !chosen || chosen[first];
        for (end = first + 1; end < count && (!chosen || chosen[end]) == drawn; end++) {
        }
        ORR_TRY(drawn ? orr_eyes_cuda_read(e->cuda, orr_eyes_number(e, first, 0),
                                           orr_eyes_number(e, end - first, 0), pictures, error)
                      : ORR_OK);
    }
    return ORR_OK;
}

static orr_result draw_through_cuda(const orr_eyes *e, const uint8_t *chosen,
                                    const orr_eyes_pictures *pictures, orr_error *error)
{
    ORR_TRY(refuse_on_cuda("flow", pictures->flow != NULL, error));
    ORR_TRY(refuse_on_cuda("segmentation", pictures->segmentation != NULL, error));
    ORR_TRY(refuse_on_cuda("normals", pictures->normals != NULL, error));
    const unsigned planes = (pictures->rgb ? ORR_EYES_RGB : 0u) | (pictures->rgba ? ORR_EYES_RGBA : 0u) |
                            (pictures->depth ? ORR_EYES_DEPTH : 0u);
    ORR_TRY(draw_on_cuda(e, chosen, planes, NULL, error));
    return read_from_cuda(e, chosen, pictures, error);
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
    return e->cuda ? draw_through_cuda(e, chosen, &pictures, error)
                   : orr_eyes_cpu_draw(e->cpu, chosen, &pictures, error);
}

static orr_result check_planes(const orr_eyes *e, unsigned planes, orr_error *error)
{
    const unsigned all = ORR_EYES_RGB | ORR_EYES_RGBA | ORR_EYES_DEPTH;
    if (!e->cuda) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "eyes: pictures in CUDA's memory: expected eyes whose device is cuda");
    }
    return planes != 0 && (planes & ~all) == 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT,
                          "eyes: planes %#x: expected ORR_EYES_RGB, _RGBA and _DEPTH, one or more", planes);
}

orr_result orr_eyes_draw_cuda_sized(orr_eyes *e, const uint8_t *chosen, unsigned planes, void *after,
                                    orr_eyes_cuda_pictures *pictures, size_t size, orr_error *error)
{
    ORR_ENTER;
    orr_eyes_cuda_pictures own = {0};
    ORR_REQUIRE(e, error);
    ORR_TRY(orr_engine_check(e->engine, error));
    ORR_REQUIRE(pictures, error);
    ORR_TRY(check_planes(e, planes, error));
    ORR_TRY(draw_on_cuda(e, chosen, planes, after, error));
    orr_eyes_cuda_find(e->cuda, &own);
    own.copies = e->world->count;
    own.cameras = (int)orr_eyes_of_copy(e);
    orr_sized_write(&own, sizeof own, pictures, size);
    return ORR_OK;
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
