// A scene file of what a world shows (engine/orrery.h).
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/loop/world/world_robots.h"
#include "engine/maths/camera.h"
#include "engine/scene/scene_save.h"

#include <string.h>

// Bodies are where physics has moved them; layers on robots stay in the frames of their bodies.
static orr_result find_place(const orr_world *world, int index, const orr_layer_data *layer,
                             orr_layer_place *place, orr_error *error)
{
    const orr_layer_state state = orr_world_state(world, index, layer);
    *place = (orr_layer_place){state.transform, state.visible};
    return layer->bound_to.slot == 0
               ? orr_world_layer_transform(world, index, layer, &state.transform, &place->transform, error)
               : ORR_OK;
}

static orr_result check_camera(const orr_camera *camera, orr_error *error)
{
    orr_lens lens;
    ORR_TRY(orr_camera_resolve(camera, &lens, error));
    const bool middle = camera->centre[0] == 0.0f && camera->centre[1] == 0.0f;
    return middle && camera->focal[0] == camera->focal[1] && !lens.distorted
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT,
                          "camera: expected square pixels, its axis in the middle and no distortion");
}

orr_result orr_world_save(const orr_world *world, int index, const orr_camera *camera, const char *path,
                          orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(path, error);
    ORR_TRY(orr_world_check_index(world, index, error));
    ORR_TRY(camera ? check_camera(camera, error) : ORR_OK);
    const orr_scene *scene = world->scene;
    orr_layer_place *places;
    orr_result result = ORR_OK;
    ORR_ALLOC(places, scene->layer_count > 0 ? scene->layer_count : 1, "places of layers", error);
    for (int i = 0; i < scene->layer_count && result == ORR_OK; i++) {
        result = find_place(world, index, &scene->layers[i], &places[i], error);
    }
    result = result == ORR_OK ? orr_scene_save(scene, places, camera, path, error) : result;
    orr_free(places);
    return result;
}
