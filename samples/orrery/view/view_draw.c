// The viewer's drawing: one picture at a time, in parts, so that a slow one holds nothing up. The frame says
// where a picture is when it is finished; devices that fail are the engine's business (engine/loop/window.h).
#include "samples/orrery/view/view.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

enum { ATTEMPTS = 3 }; // a device that fails may take a picture with it, and robots that it moved

orr_picture_location view_location(const viewer *v)
{
    return v->shown ? orr_frame_location(v->shown) : ORR_PICTURE_NOWHERE;
}

static orr_result reserve_pixels(viewer *v, int width, int height, orr_error *error)
{
    int64_t pixels = (int64_t)width * height;
    v->readable = false;
    if (pixels > v->pixel_capacity) {
        orr_free(v->rgba);
        orr_free(v->picture.rgba);
        v->rgba = NULL;
        v->picture.rgba = NULL;
        v->pixel_capacity = 0;
        ORR_ALLOC(v->rgba, 4 * pixels, "the picture", error);
        ORR_ALLOC(v->picture.rgba, 4 * pixels, "the picture's bytes", error);
        v->pixel_capacity = pixels;
    }
    return ORR_OK;
}

orr_view view_of(const viewer *v, const orr_camera *camera)
{
    orr_view view = look_options_view(&v->look, camera);
    view.contact_points = view.contact_forces = v->robot.panel.contacts;
    view.geom_groups = v->robot.panel.groups[0];
    view.site_groups = v->robot.panel.groups[1];
    view.tendon_groups = v->robot.panel.groups[2];
    return view;
}

static orr_result submit(viewer *v, orr_error *error)
{
    view_drawing *d = &v->drawing;
    orr_frame **frame = &v->frames[v->device];
    if (!*frame) {
        const orr_frame_desc desc = {.device = v->device, .frames_in_flight = 1};
        ORR_TRY(orr_frame_create_for_window(v->engine, &desc, frame, error));
    }
    const orr_view view = view_of(v, &d->camera);
    ORR_TRY(d->for_reading ? orr_frame_submit(*frame, v->scene, v->world, &view, error)
                           : orr_frame_submit_for_window(*frame, v->scene, v->world, &view, error));
    d->frame = *frame;
    return ORR_OK;
}

// The picture is done but for composing: from here on it is what the window shows, unless it is for reading
// only.
static orr_result finish(viewer *v, orr_error *error)
{
    view_drawing *d = &v->drawing;
    if (!d->for_reading) {
        v->shown = NULL; // its pixels are about to be overwritten
    }
    ORR_TRY(reserve_pixels(v, d->camera.width, d->camera.height, error));
    const orr_picture picture = {.rgba = v->rgba};
    ORR_TRY(orr_frame_finish_for_window(d->frame, &picture, &v->image, error));
    v->stage_count = orr_frame_stages(d->frame, v->stages, VIEW_STAGES);
    v->stage_count = v->stage_count < VIEW_STAGES ? v->stage_count : VIEW_STAGES;
    if (!d->for_reading) {
        v->shown = d->frame;
    }
    if (d->for_reading || view_location(v) == ORR_PICTURE_IN_MEMORY) {
        orr_image_quantise(v->rgba, (int64_t)d->camera.width * d->camera.height, v->picture.rgba);
        v->readable = true;
    }
    return ORR_OK;
}

static orr_result draw_part(viewer *v, double milliseconds, bool *done, orr_error *error)
{
    *done = true;
    if (!v->drawing.frame) {
        ORR_TRY(submit(v, error));
    }
    ORR_TRY(orr_frame_advance(v->drawing.frame, milliseconds, done, error));
    return *done ? finish(v, error) : ORR_OK;
}

static void drop_frame(view_drawing *d)
{
    if (d->frame) {
        orr_frame_discard(d->frame);
        d->frame = NULL;
    }
}

// A frame that has gone on with another device is that device's from now on; V may try the first one again.
static void sort_frame(viewer *v)
{
    orr_frame *frame = v->frames[v->device];
    orr_device_kind device = frame ? orr_frame_device(frame) : v->device;
    if (device != v->device) {
        v->shown = v->shown == v->frames[device] ? NULL : v->shown;
        orr_frame_destroy(v->frames[device]);
        v->frames[device] = frame;
        v->frames[v->device] = NULL;
        v->device = device;
    }
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
    orr_result result = draw_part(v, milliseconds, done, error);
    for (int i = 1; i < ATTEMPTS && (result == ORR_ERROR_DEVICE || result == ORR_ERROR_MEMORY); i++) {
        drop_frame(d);
        result = draw_part(v, milliseconds, done, error);
    }
    d->milliseconds += 1e3 * (glfwGetTime() - start);
    d->going = result == ORR_OK && !*done;
    if (result == ORR_OK && *done) {
        v->picture.width = d->camera.width;
        v->picture.height = d->camera.height;
    }
    if (!d->going) { // also when it failed: another attempt waits for another view
        drop_frame(d);
        sort_frame(v);
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
    drop_frame(&v->drawing);
    v->drawing.going = false;
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
