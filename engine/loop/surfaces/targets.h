// Which surface of the scene belongs to which target.
#pragma once

#include "engine/loop/world/soft/world_soft.h"
#include "render/mesh.h"

enum { SURFACE_MESHES = 1 + ORR_ROBOT_COARSE }; // of a geom: the whole one, and coarser ones

// Of a layer with varied surfaces.
typedef struct varied_layer {
    orr_pool_id id;
    int count;       // of the geoms that a robot draws, or of the materials of a mesh
    int32_t *target; // count: of each; -1: none
    // With coordinates for pictures, where the scene's have none: SURFACE_MESHES of each geom, or of a mesh
    // one; NULL: the scene's own are drawn.
    orr_mesh **laid;
    int laid_count;
    bool bare; // a soft mesh without coordinates, which cannot be laid: pictures and patterns are refused
    int materials, textures; // that all of its surfaces have at once
} varied_layer;

typedef struct varied_layers {
    varied_layer *list; // capacity: layers of the scene
    int count;
} varied_layers;

orr_result varied_layers_find(const orr_world *world, const orr_eyes_surfaces_desc *desc,
                              varied_layers *layers, orr_error *error);
// NULL: it has no varied surfaces.
varied_layer *varied_layers_of(const varied_layers *layers, const orr_layer_data *layer);
void varied_layers_clear(varied_layers *layers);
