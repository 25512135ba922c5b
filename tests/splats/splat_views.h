// The views that every drawing machine is tested on, so that all draw the same pictures.
#pragma once

#include "assets/clouds.h"
#include "tests/splats/splat_reference.h"
#include "tests/support/drawn.h"

enum { VIEW_LAYERS_MAX = 2 };

typedef struct splat_view {
    const char *name;
    orr_camera camera;
    int layer_count;
    orr_splats *layers[VIEW_LAYERS_MAX];
    orr_transform transforms[VIEW_LAYERS_MAX];
    // not 0: the machines get one cloud for both layers, deformed in two pieces, of which the second is
    // stretched by these factors along the axes; its splats are not rotated
    float stretch[3];
    bool antialias;
    bool opaque;
    float background[3];
    double worst; // largest difference from the double-precision reference a machine may show, and why
} splat_view;

int splat_view_count(void);
splat_view splat_view_make(int index); // free with splat_view_free
void splat_view_free(splat_view *view);

// The view's draw list and the reference's picture of it. Packs are made with `jobs`; free with
// view_scene_free.
typedef struct view_scene {
    orr_draw_list list;
    orr_draw_splats splats[VIEW_LAYERS_MAX];
    orr_splat_pack *packs[VIEW_LAYERS_MAX];
    orr_affine_piece pieces[VIEW_LAYERS_MAX]; // of a deformation
    int32_t *piece_of;
    float *reference_rgba, *reference_depth;
} view_scene;

void view_scene_make(const splat_view *view, orr_jobs *jobs, view_scene *scene);
void view_scene_free(view_scene *scene);

// Holds a machine's picture of the view against the reference's: at least so many dB, and no more than a
// share `odd` of the values off by more than 1e-4 (colours) and 2e-3 (depths; where alpha is 1/255 one splat
// more or less moves a depth by the cloud's). splat_views.c says why pictures differ at all.
void assert_view_drawn(const splat_view *view, const view_scene *scene, const drawn *d, double decibels,
                       double odd);
