// Scenes for tests of the shadows that clouds cast, of which all machines draw the same: a cloud above the
// floor and the cube of shadow_scene.h.
#pragma once

#include "engine/core/jobs.h"
#include "tests/render/scenes/shadow_scene.h"
#include "tests/support/drawn.h"

enum { CLOUD_SCENE_SIDE = 96, CLOUD_SCENE_SPLATS = 2000 };

// So many splats that those of a tile are more than one batch.
typedef struct cloud_scene {
    shadow_scene base; // its list is the scene's
    orr_splats *splats;
    orr_splat_pack *pack;
    orr_draw_splats layers[3]; // the cloud; then others
    int32_t piece_of[CLOUD_SCENE_SPLATS];
    orr_affine_piece pieces[2];
} cloud_scene;

// What differs between the lists; named by cloud_scene_variants.
enum { CLOUD_SCENE_CLOUDS_ALONE = 4, CLOUD_SCENE_TWO_CLOUDS = 6, CLOUD_SCENE_VARIANTS = 8 };
extern const char *const cloud_scene_variants[CLOUD_SCENE_VARIANTS];
void cloud_scene_make(cloud_scene *scene, orr_jobs *jobs, int variant); // not to be copied
void cloud_scene_free(cloud_scene *scene);
// Shadows of clouds on or off; those of meshes stay.
void cloud_scene_cast(cloud_scene *scene, bool on);

// A picture of a machine beside that of the CPU.
typedef struct cloud_agreement {
    int shown;        // pixels that the shadows of clouds change by more than 0.02 on the CPU
    int off;          // pixels that differ by more than a tolerance
    double worst;     // difference where `off` counts none
    double quality;   // [dB] of the whole picture
    bool depth_alike; // shadows change no depth
} cloud_agreement;
// plain: drawn by the machine without shadows of clouds
cloud_agreement cloud_scene_compare(orr_jobs *jobs, cloud_scene *scene, const drawn *machine,
                                    const drawn *plain, double tolerance);
