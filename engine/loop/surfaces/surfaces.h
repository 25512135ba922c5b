// Surfaces that look different in each copy of a world, for eyes (engine/orrery.h): what is varied, and how
// each copy has it. Memory is taken when they are made, and for each picture that is drawn at once.
#pragma once

#include "engine/loop/frame_pose.h"

typedef struct orr_surfaces orr_surfaces;

// desc: as of orr_eyes_vary_surfaces, whose errors it has.
orr_result orr_surfaces_create(const orr_world *world, const orr_eyes_surfaces_desc *desc,
                               orr_surfaces **surfaces, orr_error *error);
void orr_surfaces_destroy(orr_surfaces *surfaces); // NULL is allowed
// As orr_eyes_set_surfaces_sized.
orr_result orr_surfaces_set(orr_surfaces *surfaces, const uint8_t *chosen, const orr_eyes_surface *given,
                            size_t size, orr_error *error);

// The meshes of one picture with surfaces of their own; zero: no memory yet.
typedef struct orr_varied_meshes {
    orr_mesh *meshes;             // mesh_capacity
    orr_mesh_material *materials; // material_capacity, of all meshes
    orr_image8 *textures;         // texture_capacity, likewise; borrowed
    int mesh_capacity, material_capacity, texture_capacity;
} orr_varied_meshes;

// Replaces the meshes of a posed picture whose surfaces differ in this copy. They are valid until the next
// call with the same memory.
orr_result orr_surfaces_apply(const orr_surfaces *surfaces, int copy, const orr_frame_slot *slot,
                              orr_varied_meshes *applied, orr_error *error);
void orr_varied_meshes_close(orr_varied_meshes *applied);
