// A layer in a photo, by three pictures: all, the scene without the layer, and the layer alone.
//
// What covers the photo is the layer alone, as far as it is in front of the scene's depth. The light that is
// left beside it follows from the other two: where the layer covers a share v of a pixel of the scene B, the
// picture of all is A = O + (1 - v) S B, so S = (A - O) / ((1 - v) B). Differential rendering (Debevec
// 1998), with a ratio in the place of a difference, so that a bright photo and a dim scene agree on it.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/world/world.h"

#include <math.h>

static const float HIDDEN = 0.9f;     // share of a pixel that the layer covers from which no shadow is seen
static const float DARK = 4.0f / 255; // the scene below which a ratio is noise
static const float NEAR =
    0.01f; // share of the depth by which the layer may be behind a surface that it stands on

typedef struct layers_drawn {
    float *all, *scene, *object;       // pixels x 4
    float *scene_depth, *object_depth; // pixels
    bool *shown;                       // of each layer, before
} layers_drawn;

static orr_result draw(orr_frame *frame, const orr_scene *scene, const orr_world *world, const orr_view *view,
                       float *rgba, float *depth, orr_error *error)
{
    ORR_TRY(orr_frame_submit(frame, scene, world, view, error));
    return orr_frame_finish(frame, &(orr_picture){.rgba = rgba, .depth = depth}, error);
}

// Shows what was shown, but of these two parts only those asked for.
static orr_result show(const orr_scene *scene, orr_world *world, int index, orr_layer object, bool others,
                       bool itself, const bool *shown, orr_error *error)
{
    for (int i = 0; i < orr_scene_layer_count(scene); i++) {
        orr_layer layer = orr_scene_layer(scene, i);
        bool is = layer.slot == object.slot;
        ORR_TRY(orr_world_set_visible(world, index, layer, shown[i] && (is ? itself : others), error));
    }
    return ORR_OK;
}

static orr_result draw_all(orr_frame *frame, const orr_scene *scene, orr_world *world, const orr_view *view,
                           orr_layer layer, const layers_drawn *d, orr_error *error)
{
    orr_view alone = *view;
    alone.has_background = false;
    ORR_TRY(show(scene, world, view->world, layer, true, true, d->shown, error));
    ORR_TRY(draw(frame, scene, world, &alone, d->all, NULL, error));
    ORR_TRY(show(scene, world, view->world, layer, true, false, d->shown, error));
    ORR_TRY(draw(frame, scene, world, &alone, d->scene, d->scene_depth, error));
    ORR_TRY(show(scene, world, view->world, layer, false, true, d->shown, error));
    return draw(frame, scene, world, &alone, d->object, d->object_depth, error);
}

static void compose_pixel(const layers_drawn *d, const float *photo, int64_t i, float *rgba, float *shadow)
{
    const float *all = d->all + 4 * i, *scene = d->scene + 4 * i, *object = d->object + 4 * i;
    bool behind = d->scene_depth[i] > 0.0f && scene[3] > 0.5f && object[3] > 0.0f &&
                  d->object_depth[i] > d->scene_depth[i] * (1.0f + NEAR);
    float in_front = behind ? 0.0f : 1.0f, covered = in_front * object[3];
    float left = 1.0f, lit = scene[0] + scene[1] + scene[2];
    if (covered < HIDDEN && lit > 3.0f * DARK) {
        float with = all[0] + all[1] + all[2] - in_front * (object[0] + object[1] + object[2]);
        left = fminf(fmaxf(with / ((1.0f - covered) * lit), 0.0f), 1.0f);
    }
    for (int c = 0; c < 4 && rgba; c++) {
        float factor = c < 3 ? left : 1.0f;
        rgba[4 * i + c] = in_front * object[c] + (1.0f - covered) * factor * photo[4 * i + c];
    }
    if (shadow) {
        shadow[i] = left;
    }
}

static orr_result compose(orr_frame *frame, const orr_scene *scene, orr_world *world, const orr_view *view,
                          orr_layer layer, const float *photo, const layers_drawn *d, float *rgba,
                          float *shadow, orr_error *error)
{
    int64_t pixels = (int64_t)view->camera.width * view->camera.height;
    for (int i = 0; i < orr_scene_layer_count(scene); i++) {
        ORR_TRY(orr_world_get(world, view->world, orr_scene_layer(scene, i), NULL, &d->shown[i], error));
    }
    orr_result result = draw_all(frame, scene, world, view, layer, d, error);
    orr_result restored = show(scene, world, view->world, layer, true, true, d->shown, NULL);
    ORR_TRY(result);
    assert(restored == ORR_OK); // as it was set before
    (void)restored;
    for (int64_t i = 0; i < pixels; i++) {
        compose_pixel(d, photo, i, rgba, shadow);
    }
    return ORR_OK;
}

static orr_result check_and_compose(orr_frame *frame, const orr_scene *scene, orr_world *world,
                                    const orr_view *view, orr_layer layer, const float *photo, float *rgba,
                                    float *shadow, orr_error *error)
{
    if (world->scene != scene || orr_scene_find(scene, layer) < 0) {
        return orr_fail(error, ORR_CODE_STALE_ID, "compose: expected a layer and a world of this scene");
    }
    int width = view->camera.width, height = view->camera.height;
    if (width < 1 || height < 1 || width > 16384 || height > 16384) {
        return orr_fail(error, ORR_CODE_CAMERA, "compose: %d x %d pixels: expected 1 to 16384 a side", width,
                        height);
    }
    size_t pixels = (size_t)width * (size_t)height;
    const layers_drawn d = {.all = orr_alloc(pixels, 16),
                            .scene = orr_alloc(pixels, 16),
                            .object = orr_alloc(pixels, 16),
                            .scene_depth = orr_alloc(pixels, 4),
                            .object_depth = orr_alloc(pixels, 4),
                            .shown = orr_alloc((size_t)orr_scene_layer_count(scene), sizeof(bool))};
    orr_result result = d.all && d.scene && d.object && d.scene_depth && d.object_depth && d.shown
                            ? compose(frame, scene, world, view, layer, photo, &d, rgba, shadow, error)
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a composed picture");
    orr_free(d.all);
    orr_free(d.scene);
    orr_free(d.object);
    orr_free(d.scene_depth);
    orr_free(d.object_depth);
    orr_free(d.shown);
    return result;
}

orr_result orr_frame_compose_sized(orr_frame *frame, const orr_scene *scene, orr_world *world,
                                   const orr_view *view, size_t view_size, orr_layer layer,
                                   const float *photo, float *rgba, float *shadow, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(frame, error);
    ORR_REQUIRE(scene, error);
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(photo, error);
    orr_view own;
    ORR_TRY(orr_sized_read(&own, sizeof own, view, view_size, "orr_view", error));
    return check_and_compose(frame, scene, world, &own, layer, photo, rgba, shadow, error);
}
