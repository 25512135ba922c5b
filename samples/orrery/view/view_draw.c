// The viewer's drawing: one picture at a time, in parts, so that a slow one holds nothing up; and the devices for it.
#include "samples/orrery/view/view.h"

#include "engine/core/memory.h"
#include "engine/loop/shared_device.h"
#include "samples/orrery/commands.h"

#include <math.h>
#include <string.h>

// ---- the device that presents, and draws ----

orr_result view_open_device(viewer *v, orr_error *error)
{
    ORR_TRY(orr_engine_take_vk(v->engine, &v->vk, error));
    orr_result result = orr_present_attach(v->present, v->vk, error);
    if (result != ORR_OK) {
        view_close_device(v);
    }
    return result;
}

static void forget_frame(viewer *v, orr_device_kind device)
{
    orr_frame_destroy(v->frames[device]);
    v->frames[device] = NULL;
    if (device == v->drew && v->place == VIEW_ON_DEVICE) {
        v->place = VIEW_NOWHERE; // the picture went with its frame
    }
}

void view_close_device(viewer *v)
{
    if (v->vk) {
        orr_present_detach(v->present);
        orr_engine_give_vk(v->engine);
        v->vk = NULL;
    }
}

orr_result view_renew_device(viewer *v, orr_error *error)
{
    orr_log_line(command_log(), ORR_LOG_WARNING, ORR_CODE_DEVICE_LOST, "%s: starting it again",
                 error->message);
    orr_engine_lose_vk(v->engine);
    if (v->drawing.device != ORR_DEVICE_CPU) {
        v->drawing.submitted = false; // goes with its frame, and is to be drawn again
    }
    forget_frame(v, ORR_DEVICE_VULKAN);
    forget_frame(v, ORR_DEVICE_CUDA); // its pictures end on the lost device
    view_close_device(v);
    return view_open_device(v, error);
}

// ---- one attempt ----

static orr_result reserve_pixels(viewer *v, int width, int height, orr_error *error)
{
    int64_t pixels = (int64_t)width * height;
    v->readable = false;
    if (v->place == VIEW_IN_MEMORY) {
        v->place = VIEW_NOWHERE; // it is about to be overwritten
    }
    if (pixels > v->pixel_capacity) {
        orr_free(v->rgba);
        orr_free(v->depth);
        orr_free(v->picture.rgba);
        v->rgba = v->depth = NULL;
        v->picture.rgba = NULL;
        v->pixel_capacity = 0;
        ORR_ALLOC(v->rgba, 4 * pixels, "the picture", error);
        ORR_ALLOC(v->depth, pixels, "the picture's depth", error);
        ORR_ALLOC(v->picture.rgba, 4 * pixels, "the picture's bytes", error);
        v->pixel_capacity = pixels;
    }
    return ORR_OK;
}

// Can a picture stay on the device? Not where the CPU has a part in what Vulkan draws.
static bool stays_on_device(const viewer *v)
{
    return v->device == ORR_DEVICE_VULKAN ? !orr_scene_has_fields(v->scene)
                                          : v->device == ORR_DEVICE_CUDA && orr_engine_shows_cuda(v->engine);
}

static orr_result submit(viewer *v, orr_error *error)
{
    view_drawing *d = &v->drawing;
    d->device = v->device;
    d->to_memory = d->for_reading || !stays_on_device(v);
    orr_frame **frame = &v->frames[d->device];
    if (!*frame) {
        const orr_frame_desc desc = {.device = d->device, .frames_in_flight = 1};
        ORR_TRY(orr_frame_create(v->engine, &desc, frame, error));
    }
    orr_view view = {.camera = d->camera,
                     .antialias = v->antialias,
                     .has_background = v->has_background,
                     .contact_points = v->robot.panel.contacts,
                     .contact_forces = v->robot.panel.contacts,
                     .geom_groups = v->robot.panel.groups[0],
                     .site_groups = v->robot.panel.groups[1],
                     .tendon_groups = v->robot.panel.groups[2]};
    memcpy(view.background, v->background, sizeof view.background);
    ORR_TRY(d->to_memory ? orr_frame_submit(*frame, v->scene, v->world, &view, error)
                         : orr_frame_submit_image(*frame, v->scene, v->world, &view, error));
    d->submitted = true;
    return ORR_OK;
}

// The picture is done but for composing: from here on it is what the window shows, unless it is for reading only.
static orr_result finish(viewer *v, orr_frame *frame, orr_error *error)
{
    view_drawing *d = &v->drawing;
    if (!d->for_reading) {
        v->place = VIEW_NOWHERE;
    }
    if (!d->to_memory) {
        v->readable = false;
        ORR_TRY(orr_frame_finish_image(frame, &v->image, error));
        v->place = VIEW_ON_DEVICE;
        v->drew = d->device;
        return ORR_OK;
    }
    ORR_TRY(reserve_pixels(v, d->camera.width, d->camera.height, error));
    ORR_TRY(orr_frame_finish(frame, &(orr_picture){.rgba = v->rgba, .depth = v->depth}, error));
    orr_image_quantise(v->rgba, (int64_t)d->camera.width * d->camera.height, v->picture.rgba);
    v->readable = true;
    if (v->place == VIEW_NOWHERE) {
        v->place = VIEW_IN_MEMORY;
    }
    return ORR_OK;
}

static orr_result draw_part(viewer *v, double milliseconds, bool *done, orr_error *error)
{
    *done = true;
    if (!v->drawing.submitted) {
        ORR_TRY(submit(v, error));
    }
    orr_frame *frame = v->frames[v->drawing.device];
    ORR_TRY(orr_frame_advance(frame, milliseconds, done, error));
    if (!*done) {
        return ORR_OK;
    }
    ORR_TRY(finish(v, frame, error));
    v->stage_count = orr_frame_stages(frame, v->stages, VIEW_STAGES);
    v->stage_count = v->stage_count < VIEW_STAGES ? v->stage_count : VIEW_STAGES;
    return ORR_OK;
}

// ---- all of them ----

// The picture, and those after it, are drawn another way; a line says why, also for who looks at no window.
static void go_on_with(viewer *v, orr_device_kind device, const orr_error *why)
{
    v->device = device;
    view_say(v, "%s: going on with %s", why->message, view_device_name(v));
    orr_log_line(command_log(), ORR_LOG_WARNING, (orr_code)why->code, "%s: going on with %s", why->message,
                 view_device_name(v));
}

// After a failure: is there another way to draw the picture?
static bool recover(viewer *v, orr_error *why)
{
    view_drawing *d = &v->drawing;
    forget_frame(v, d->device); // whatever state it is in, the next attempt starts afresh
    d->submitted = false;
    if (why->code == ORR_CODE_DEVICE_LOST && !d->renewed) {
        d->renewed = true;
        if (view_renew_device(v, why) == ORR_OK) {
            return true;
        }
    }
    if (v->device == ORR_DEVICE_CUDA && !d->to_memory && !orr_engine_shows_cuda(v->engine)) {
        return true; // by way of memory
    }
    if (v->device == ORR_DEVICE_CUDA) {
        go_on_with(v, ORR_DEVICE_VULKAN, why);
        return true;
    }
    if (v->device == ORR_DEVICE_VULKAN) {
        go_on_with(v, ORR_DEVICE_CPU, why);
        return true;
    }
    return false;
}

void view_draw_begin(viewer *v, const orr_camera *camera, float scale)
{
    view_draw_drop(v);
    v->drawing = (view_drawing){.going = true, .camera = *camera, .scale = scale};
}

orr_result view_draw_part(viewer *v, double milliseconds, bool *done, orr_error *error)
{
    view_drawing *d = &v->drawing;
    double start = glfwGetTime();
    orr_error why = {0};
    orr_result result = draw_part(v, milliseconds, done, &why);
    while (result != ORR_OK && recover(v, &why)) {
        result = draw_part(v, milliseconds, done, &why);
    }
    d->milliseconds += 1e3 * (glfwGetTime() - start);
    d->going = result == ORR_OK && !*done;
    if (result != ORR_OK) {
        *error = why;
    } else if (*done) {
        v->picture.width = d->camera.width;
        v->picture.height = d->camera.height;
    }
    if (!d->going) { // also when it failed: another attempt waits for another view
        d->submitted = false;
        v->drawn = d->camera;
        v->drawn_scale = d->scale;
        v->revision++;
    }
    return result;
}

const char *view_device_name(const viewer *v)
{
    return v->device == ORR_DEVICE_CPU ? "the CPU" : v->device == ORR_DEVICE_VULKAN ? "Vulkan" : "CUDA";
}

void view_draw_drop(viewer *v)
{
    if (v->drawing.submitted) {
        orr_frame_discard(v->frames[v->drawing.device]);
    }
    v->drawing.submitted = v->drawing.going = false;
}

orr_result view_draw_now(viewer *v, const orr_camera *camera, float scale, bool for_reading, orr_error *error)
{
    bool done;
    view_draw_begin(v, camera, scale);
    v->drawing.for_reading = for_reading;
    return view_draw_part(v, INFINITY, &done, error);
}

orr_result view_read_picture(viewer *v, orr_error *error)
{
    if (v->readable) {
        return ORR_OK;
    }
    const orr_camera camera = v->drawn;
    return view_draw_now(v, &camera, v->drawn_scale, true, error);
}
