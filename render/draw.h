// What a frame draws: the door between the loop, which knows scenes, and the drawing machines, which do not.
//
// A machine draws meshes first (their depth bounds the rest), then splats over them, then composes both over
// the background.
#pragma once

#include "engine/core/camera.h"
#include "engine/core/profile.h"
#include "render/field_layer.h"
#include "render/mesh.h"
#include "render/splat_cloud.h"

typedef struct orr_draw_splats {
    const orr_splat_pack *pack;
    uint64_t key;    // the same for the same pack contents: machines keep uploaded copies under it
    float model[12]; // layer to world, a similarity
    bool antialias;
} orr_draw_splats;

typedef struct orr_draw_mesh {
    const orr_mesh *mesh;
    uint64_t key;
    float model[12]; // layer to world, a similarity
} orr_draw_mesh;

typedef struct orr_draw_field {
    const orr_field_layer *layer;
    float model[12]; // layer to world, a similarity
} orr_draw_field;

typedef struct orr_draw_sun {
    float direction[3]; // towards the sun, unit, world
    float colour[3];    // linear radiance of a white surface that faces it
    float ambient[3];   // linear, from everywhere
} orr_draw_sun;

typedef struct orr_draw_list {
    orr_lens lens;
    const orr_draw_splats *splats; // splat_count
    const orr_draw_mesh *meshes;   // mesh_count
    const orr_draw_field *fields;  // field_count
    int splat_count;
    int mesh_count;
    int field_count; // the CPU marches these for every machine: render/field_pass.h
    orr_draw_sun sun;
    bool opaque; // false: transparent behind everything, background ignored
    float background[3];
} orr_draw_list;
