// The viewer's picture: what is drawn next, when, at which resolution; and its presentation in the window,
// with the panel over it.
#include "samples/orrery/view/view.h"

#include <math.h>
#include <string.h>

static const double REST_SECONDS = 0.2;       // without a change, until the view is drawn sharper
static const double PART_MILLISECONDS = 20.0; // of a picture, then keys and mouse have their turn
static const double PATIENCE = 4.0; // budgets for a view's first picture, until a rougher one is tried

static bool same_camera(const orr_camera *a, const orr_camera *b)
{
    return memcmp(a, b, sizeof *a) == 0; // both come from view_camera, which sets every byte alike
}

orr_camera view_camera(const viewer *v, int width, int height)
{
    orr_camera through; // a robot's camera, which may move
    int followed = view_cameras_followed(v);
    if (!v->playing && followed >= 0 &&
        orr_world_camera(v->world, 0, followed, width, height, &through, NULL) == ORR_OK) {
        return through;
    }
    return v->playing ? camera_recorder_at(&v->recorder, v->path_time, width, height)
                      : navigator_camera(&v->navigator, width, height);
}

bool view_is_moving(const viewer *v, double now)
{
    return now - v->seen_at < REST_SECONDS;
}

static orr_camera scaled_camera(const viewer *v, float scale)
{
    int width, height;
    glfwGetFramebufferSize(v->window, &width, &height);
    width = (int)fmaxf(roundf((float)width * scale), 1.0f);
    height = (int)fmaxf(roundf((float)height * scale), 1.0f);
    return view_camera(v, width, height);
}

// ---- what to draw, and when ----

// Does this picture, drawn or being drawn, show what is to be seen from where the camera is now?
static bool shows_view(const viewer *v, const orr_camera *picture, float scale)
{
    orr_camera camera = scaled_camera(v, scale);
    return same_camera(&camera, picture);
}

static void begin(viewer *v, float scale, view_purpose purpose)
{
    orr_camera camera = scaled_camera(v, scale);
    view_draw_begin(v, &camera, scale);
    v->drawing.purpose = purpose;
    v->drawing.begun_at = glfwGetTime();
    v->stale = v->again = false;
    orr_error error;
    if (v->training && view_training_refresh(v->training, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
    }
}

static orr_result write_picture(viewer *v, const char *path, orr_error *error)
{
    ORR_TRY(view_read_picture(v, error));
    int64_t pixels = (int64_t)v->picture.width * v->picture.height;
    for (int64_t i = 0; i < pixels; i++) {
        v->picture.rgba[4 * i + 3] = 255; // as the window shows it: over black
    }
    return orr_png_save(path, v->picture.rgba, v->picture.width, v->picture.height, error);
}

static void save_screenshot(viewer *v)
{
    orr_error error;
    if (write_picture(v, v->screenshot, &error) == ORR_OK) {
        view_say(v, "%s: %d x %d", v->screenshot, v->picture.width, v->picture.height);
    } else {
        view_say(v, "%s", error.message);
    }
    v->screenshot[0] = 0;
}

// A view is first drawn as roughly as it takes to be fluid; at rest it becomes sharper picture by picture.
static void choose_picture(viewer *v)
{
    bool shown = !v->stale && shows_view(v, &v->drawn, v->drawn_scale);
    bool full = v->drawn_scale == v->resolution.full;
    if (v->screenshot[0] && shown && full) {
        save_screenshot(v);
    } else if (v->screenshot[0]) {
        begin(v, v->resolution.full, VIEW_FOR_SCREENSHOT);
    } else if (!shown) {
        begin(v, resolution_scale(&v->resolution, true), VIEW_FIRST);
    } else if (v->moving) { // a view is drawn once
        if (v->again) {
            begin(v, resolution_scale(&v->resolution, true), VIEW_SHARPER);
        }
    } else if (v->again || !full) {
        begin(v, resolution_sharpen(&v->resolution, v->drawn_scale, v->drawn_cost), VIEW_SHARPER);
    }
}

// Is there a better use of the time than the picture in the making?
static bool is_outdated(viewer *v)
{
    const view_drawing *d = &v->drawing;
    switch (d->purpose) {
    case VIEW_FIRST: // while the view goes on to move, pictures of it must nevertheless come to their end
        if (d->milliseconds > PATIENCE * v->resolution.budget &&
            d->scale > resolution_least(&v->resolution)) {
            resolution_measure(&v->resolution, d->scale, d->milliseconds);
            return true;
        }
        return false;
    case VIEW_SHARPER:
        return v->stale || v->screenshot[0] || !shows_view(v, &d->camera, d->scale);
    case VIEW_FOR_SCREENSHOT:
        break;
    }
    return false;
}

static void draw_on(viewer *v)
{
    view_drawing *d = &v->drawing;
    bool done;
    orr_error error;
    orr_result result = view_draw_part(v, PART_MILLISECONDS, &done, &error);
    if (d->going) {
        return;
    }
    v->attention = v->attention > 1 ? v->attention : 1;
    v->drawn_cost = d->milliseconds;
    if (result != ORR_OK) {
        view_say(v, "%s", error.message);
        v->screenshot[0] = 0;
    } else if (d->purpose == VIEW_FIRST) {
        resolution_measure(&v->resolution, d->scale, d->milliseconds);
    } else if (d->purpose == VIEW_FOR_SCREENSHOT) {
        save_screenshot(v);
    }
    if (v->training) {
        training_pace_drawn(&v->training->pace, d->begun_at, d->milliseconds);
    }
}

void view_refresh(viewer *v, double now)
{
    orr_camera camera = scaled_camera(v, 1.0f);
    if (!same_camera(&camera, &v->seen) ||
        view_robot_is_going(v)) { // what moves in the picture moves the view
        v->seen = camera;
        v->seen_at = now;
    }
    bool moving = view_is_moving(v, now);
    if (v->moving && !moving) {
        v->attention = v->attention > 1 ? v->attention : 1; // the panel says so
    }
    v->moving = moving;
    if (v->drawing.going && is_outdated(v)) {
        view_draw_drop(v);
    }
    if (!v->drawing.going) {
        choose_picture(v);
    }
    if (v->drawing.going) {
        draw_on(v);
    }
}

orr_result view_save_picture(viewer *v, const char *path, orr_error *error)
{
    if (v->stale || view_location(v) == ORR_PICTURE_NOWHERE || v->drawn_scale != v->resolution.full ||
        !shows_view(v, &v->drawn, v->drawn_scale)) {
        orr_camera camera = scaled_camera(v, v->resolution.full);
        ORR_TRY(view_draw_now(v, &camera, v->resolution.full, false, error));
        v->stale = false;
    }
    return write_picture(v, path, error);
}

static const orr_overlay *build_panel(viewer *v)
{
    v->cameras.wanted = -1;
    panel_state state = {
        .panel = !v->panel_hidden,
        .scene = v->scene,
        .device = view_device_name(v),
        .presenter = v->vk ? orr_vk_name(v->vk) : "no device",
        .message = v->message,
        .stages = v->stages,
        .stage_count = v->stage_count,
        .frames_per_second = v->interval > 0.0 ? 1.0 / v->interval : 0.0,
        .width = v->picture.width,
        .height = v->picture.height,
        .playing = v->playing,
        .path_time = v->path_time,
        .path_duration = camera_recorder_duration(&v->recorder),
        .world = v->world,
        .view = &v->navigator,
        .quality = &v->resolution,
        .recorder = &v->recorder,
        .antialias = v->look.antialias,
        .shadows = !v->look.no_shadows,
        .mirrors = !v->look.no_mirrors,
        .fog = v->look.fog,
        .exposure = v->look.exposure,
        .occlusion_radius = v->look.occlusion_radius,
        .tone = v->look.tone,
        .cameras = &v->cameras,
        .region = view_region_show(v),
        .gizmo = view_gizmo_show(v),
        .light = view_light_show(v),
        .hidden = v->history.layers,
        .hidden_count = v->history.layer_count,
        .undo = view_history_to_undo(&v->history),
        .redo = view_history_to_redo(&v->history),
        .help = v->help,
        .remove = -1,
        .move = -1,
        .training = v->training ? &v->training->figures : NULL,
        .robot = v->robot.present ? view_robot_show(v) : NULL,
    };
    const orr_overlay *overlay = panel_build(v->panel, &state);
    v->look.antialias = state.antialias;
    v->look.no_mirrors = !state.mirrors;
    v->look.fog = state.fog;
    v->look.exposure = state.exposure;
    v->look.occlusion_radius = state.occlusion_radius;
    v->look.tone = state.tone;
    v->stale = v->stale || state.redraw;
    if (state.robot) {
        view_robot_take(v);
    }
    view_light_take(v);
    v->help = state.help;
    if (state.remove >= 0) {
        view_history_remove(v, state.remove);
    }
    if (state.move >= 0) {
        view_gizmo_choose(v, state.move);
    }
    if (v->cameras.wanted >= 0) {
        view_cameras_choose(v, v->cameras.wanted);
    }
    if (state.action != VIEW_NOTHING) {
        view_do(v, state.action);
    }
    return overlay;
}

orr_result view_present(viewer *v, const orr_overlay *overlay, bool *shown, orr_error *error)
{
    orr_picture_location location = view_location(v);
    const orr_present_picture picture = {
        .bytes = location == ORR_PICTURE_IN_MEMORY ? &v->picture : NULL,
        .image = location == ORR_PICTURE_ON_DEVICE ? &v->image : NULL,
        .revision = v->revision,
    };
    return orr_present_frame(v->present, location == ORR_PICTURE_NOWHERE ? NULL : &picture, overlay, shown,
                             error);
}

static orr_result present(viewer *v, const orr_overlay *overlay, bool *shown, orr_error *error)
{
    ORR_TRY(orr_engine_attach_window(v->engine, error));
    return view_present(v, overlay, shown, error);
}

orr_result view_show(viewer *v, double now, orr_error *error)
{
    if (v->attention == 0 || (v->limit > 0 && v->presented_revision == v->revision)) {
        return ORR_OK;
    }
    v->attention--;
    v->presented_revision = v->revision;
    // smoothed while frames follow each other; a pause starts anew
    double interval = now - v->presented_at;
    bool flowing = view_is_moving(v, now) || v->limit > 0;
    v->interval = !flowing || interval > 0.5 ? 0.0
                  : v->interval > 0.0        ? v->interval + 0.1 * (interval - v->interval)
                                             : interval;
    v->presented_at = now;
    const orr_overlay *overlay = build_panel(v);
    bool shown = false;
    orr_result result = present(v, overlay, &shown, error);
    if (result != ORR_OK) {
        ORR_TRY(orr_engine_restore_window(v->engine, error));
        if (view_location(v) == ORR_PICTURE_NOWHERE) { // the picture was lost with the device
            const orr_camera camera = v->drawn;
            ORR_TRY(view_draw_now(v, &camera, v->drawn_scale, false, error));
        }
        result = present(v, overlay, &shown, error);
    }
    v->presented += shown;
    return result;
}
