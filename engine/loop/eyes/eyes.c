// Small pictures of many copies (engine/orrery.h): what each shows. cpu.c and cuda.c draw them.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/devices.h"
#include "engine/loop/eyes/look.h"
#include "engine/loop/eyes/state.h"

#include <math.h>
#include <string.h>

enum { SIDE_MAX = 4096, VIEWS_MAX = 4096 };

static orr_result check_device(const orr_eyes_desc *desc, orr_error *error)
{
    const char *name = orr_device_name(desc->device);
    if (desc->device == ORR_DEVICE_VULKAN) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "eyes: device %s: expected cpu or cuda", name);
    }
    return desc->device == ORR_DEVICE_AUTO || desc->device == ORR_DEVICE_CPU ||
                   orr_device_is_cuda(desc->device)
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
    if (isnan(desc->cloud_detail)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "eyes: cloud_detail: expected a number of pixels, not nan");
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
    e->self_shadow = orr_alloc_zero(1, sizeof *e->self_shadow);
    if (!e->self_shadow) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: eyes");
    }
    ORR_ALLOC(e->cameras, desc->camera_count, "eyes", error);
    ORR_ALLOC(e->views, desc->view_count, "eyes", error);
    for (int i = 0; i < e->camera_count; i++) {
        e->cameras[i] = desc->cameras[i];
    }
    set_views(e, desc->views);
    ORR_TRY(desc->flow
                ? orr_eyes_motion_create(e->world->count, e->camera_count + e->view_count, &e->motion, error)
                : ORR_OK);
    return orr_device_is_cuda(desc->device) ? orr_eyes_cuda_create(e, desc, &e->cuda, error)
                                            : orr_eyes_cpu_create(e, desc, &e->cpu, error);
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
    orr_free(e->next_looks);
    orr_surfaces_destroy(e->surfaces);
    orr_eyes_motion_destroy(e->motion);
    orr_eyes_cpu_destroy(e->cpu);
    orr_eyes_cuda_destroy(e->cuda);
    if (e->self_shadow) {
        orr_frame_self_shadow_close(e->self_shadow);
    }
    orr_free(e->self_shadow);
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
    if (!e->next_looks) {
        ORR_ALLOC(e->next_looks, count, "the looks of pictures", error);
    }
    orr_eyes_look *own = e->next_looks;
    for (int i = 0; i < count; i++) {
        if (!chosen || chosen[i]) {
            ORR_TRY(orr_sized_read(&own[i], sizeof own[i], (const char *)looks + (size_t)i * look_size,
                                   look_size, "orr_eyes_look", error));
            ORR_TRY(orr_look_check(&own[i], i, error));
        } else {
            own[i] = e->looks ? e->looks[i] : (orr_eyes_look){0};
        }
    }
    e->next_looks = e->looks;
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
    if (e->cuda) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "eyes: surfaces that vary: CUDA does not draw them: expected eyes on the CPU");
    }
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

orr_result orr_eyes_light(const orr_eyes *e, const orr_eyes_look *look, orr_frame_slot *slot,
                          orr_error *error)
{
    if (look) {
        orr_look_change_lights(look, &slot->list);
    }
    return look && orr_look_turns_lights(look)
               ? ORR_OK
               : orr_frame_self_shadow_update(e->self_shadow, slot, e->world->scene, false, error);
}

static orr_result check_flow(const orr_eyes *e, bool asked, orr_error *error)
{
    return !asked || e->motion
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "eyes: flow: expected eyes that were made with it");
}

static unsigned planes_of(const orr_eyes_pictures *p)
{
    return (p->rgb ? ORR_EYES_RGB : 0u) | (p->rgba ? ORR_EYES_RGBA : 0u) | (p->depth ? ORR_EYES_DEPTH : 0u) |
           (p->segmentation ? ORR_EYES_SEGMENTATION : 0u) | (p->normals ? ORR_EYES_NORMALS : 0u) |
           (p->flow ? ORR_EYES_FLOW : 0u);
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
    ORR_TRY(check_flow(e, pictures.flow != NULL, error));
    if (e->cuda) {
        ORR_TRY(orr_eyes_cuda_draw(e->cuda, chosen, planes_of(&pictures), NULL, error));
        return orr_eyes_cuda_read(e->cuda, chosen, &pictures, error);
    }
    return orr_eyes_cpu_draw(e->cpu, chosen, &pictures, error);
}

static orr_result check_planes(const orr_eyes *e, unsigned planes, orr_error *error)
{
    const unsigned all = ORR_EYES_RGB | ORR_EYES_RGBA | ORR_EYES_DEPTH | ORR_EYES_SEGMENTATION |
                         ORR_EYES_NORMALS | ORR_EYES_FLOW;
    if (!e->cuda) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "eyes: pictures in CUDA's memory: expected eyes whose device is cuda");
    }
    if (planes == 0 || (planes & ~all) != 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "eyes: planes %#x: expected ORR_EYES_..., one or more",
                        planes);
    }
    return check_flow(e, (planes & ORR_EYES_FLOW) != 0, error);
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
    ORR_TRY(orr_eyes_cuda_draw(e->cuda, chosen, planes, after, error));
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
