// What rays of smooth surfaces walk: the opaque triangles of a draw list, a tree for each mesh
// (mesh_trees.h), and its splats, kept from one list to the next. The hierarchies are those of
// render/reference.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "render/draw.h"
#include "render/reference/bvh.h"
#include "render/reference/field_rays.h"

typedef struct orr_ray_trees orr_ray_trees;

// ORR_ERROR_MEMORY. It holds nothing yet.
orr_result orr_ray_trees_create(orr_ray_trees **trees, orr_error *error);
void orr_ray_trees_destroy(orr_ray_trees *trees); // NULL is allowed

// May rays start at the material: is it lit, of the metallic-roughness model, not blended, and smooth enough
// somewhere (rays_formula.h) or such that light goes through it?
bool orr_ray_material_asks(const orr_mesh_material *material);
// Does a mesh of the list, wherever it is, have such a material?
bool orr_ray_list_asks(const orr_draw_list *list);
// Or one that light goes through?
bool orr_ray_list_transmits(const orr_draw_list *list);
// And is so rough that it takes several rays?
bool orr_ray_list_has_frost(const orr_draw_list *list);

// Holds the list's triangles and splats. Meshes keep their trees as mesh_trees.h says; all splats are built
// anew when one cloud moves or is deformed. The list's packs and meshes must outlive what is met.
// ORR_ERROR_MEMORY; ORR_ERROR_CAPACITY for more than ORR_BVH_BOXES triangles of a mesh, or splats.
orr_result orr_ray_trees_hold(orr_ray_trees *trees, orr_isa isa, const orr_draw_list *list, orr_error *error);

enum { ORR_RAY_NOTHING = -1 }; // a ray meets no surface

typedef struct orr_ray_met {
    int32_t surface;  // of the parts of the list's meshes, counted from the first; ORR_RAY_NOTHING
    int32_t triangle; // of its mesh
    float b, c;       // weights of the corners b and c
    float distance;   // in lengths of the direction
    float veil[3];    // light of the splats and fields before it, linear and premultiplied
    float passes;     // the part of what is behind them that is seen
} orr_ray_met;

// The first surfaces that `count` (up to ORR_FIELD_RAYS) rays with unit directions meet, from the side that
// the camera would see, where the rays end then, and what fields (NULL: there are none) show up to there.
// Holes of textures are passed.
void orr_ray_trees_meet(const orr_ray_trees *trees, orr_field_rays *fields, orr_ray *rays, int count,
                        orr_ray_met *met, orr_field_seen *seen);
// Adds what is before the rays' ends to `met`: splats and what fields show, blended as displayed. As in
// frames, the fields of a ray are at one depth among its splats.
void orr_ray_trees_veil(const orr_ray_trees *trees, const orr_ray *rays, int count,
                        const orr_field_seen *seen, orr_ray_met *met);
