// A scene for tests of mirrors: a floor at z = 0 that mirrors, and boxes and splats above, in and below it.
#pragma once

#include "engine/core/jobs.h"
#include "tests/render/scenes/shadow_scene.h"
#include "tests/support/drawn.h"

enum { MIRROR_SCENE_SPLATS = 64, MIRROR_SCENE_BOXES = 3, MIRROR_SCENE_PANES = 8 };

typedef struct mirror_scene {
    int side;          // [px] of the picture
    shadow_scene base; // its floor and its box; its list is the scene's
    shadow_scene wall; // its floor is a wall, its box of glass
    int32_t piece_of[MIRROR_SCENE_SPLATS];
    orr_affine_piece pieces[2];
    orr_draw_mesh items[MIRROR_SCENE_BOXES + 3];
    orr_splats *splats;
    orr_splat_pack *pack;
    orr_draw_splats layer;
    orr_environment *environment; // of a variant
    orr_draw_mesh panes[MIRROR_SCENE_PANES + 1];
} mirror_scene;

// Not to be copied: it points into itself.
void mirror_scene_make(mirror_scene *scene, orr_jobs *jobs);
void mirror_scene_free(mirror_scene *scene);
// side: 1, or -1 for what is mirrored; hidden: what is below the floor too
void mirror_scene_put_items(mirror_scene *scene, orr_jobs *jobs, float side, bool hidden);
// A camera that looks down at the floor at a slope [radians].
void mirror_scene_look(mirror_scene *scene, float slope, bool orthographic);

// What differs between the lists that all machines draw; named by mirror_scene_variants.
enum { MIRROR_SCENE_VARIANTS = 8 };
extern const char *const mirror_scene_variants[MIRROR_SCENE_VARIANTS];
void mirror_scene_vary(mirror_scene *scene, orr_jobs *jobs, int variant);
// A wall that mirrors before the camera, and so many transparent panes behind the camera, each over all of
// what the wall shows: fragments in the mirror alone.
void mirror_scene_put_panes(mirror_scene *scene, int count);

// A picture of a machine beside that of the CPU.
typedef struct mirror_agreement {
    int shown;        // pixels that mirrors change by more than 0.01 on the CPU
    int off;          // those of a mirror that differ by more than a tolerance
    double quality;   // [dB] of the whole picture
    bool depth_alike; // mirrors change no depth
} mirror_agreement;
// plain: drawn by the machine without mirrors
mirror_agreement mirror_scene_compare(orr_jobs *jobs, const orr_draw_list *list, const drawn *machine,
                                      const drawn *plain, double tolerance);
