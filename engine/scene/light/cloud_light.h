// Clouds in the light of the lamps of a scene that say so (orr_light_desc.clouds), wherever they are: what
// frames ask for clouds that have moved from where orr_scene_light_clouds has lit them.
#pragma once

#include "engine/scene/scene.h"

// A cloud of a frame, of which lamps know the shape (layer->shape).
typedef struct orr_posed_cloud {
    const orr_layer_data *layer;
    float model[12]; // layer to world, a similarity
    orr_draw_deformation deformation;
} orr_posed_cloud;

bool orr_scene_has_cloud_lamps(const orr_scene *scene);
// Linear radiance that white surfaces had in the light of the capture.
void orr_scene_captured_white(const orr_scene *scene, float white[3]);
// Numbers in the harmonics of a pack.
size_t orr_cloud_harmonics(const orr_splat_pack *pack);
// Does the layer have the light of where this puts it?
bool orr_cloud_is_lit_at(const orr_layer_data *layer, const float model[12]);
// The same as long as neither lamps nor clouds have changed or moved.
uint64_t orr_cloud_light_hash(const orr_scene *scene, const orr_posed_cloud *clouds, int count);
// Harmonics (orr_cloud_harmonics) of one of these clouds in the light of the lamps, less what all of them
// keep off: one ray a splat and lamp. By all jobs. ORR_ERROR_MEMORY; ORR_ERROR_ARGUMENT for a model
// that cannot be inverted.
orr_result orr_cloud_light(const orr_scene *scene, const orr_posed_cloud *clouds, int count, int which,
                           float *harmonics, orr_error *error);
