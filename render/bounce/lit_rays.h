// What rays meet of the meshes of a draw list, lit by its lamps: matte surfaces in plain C, for what meshes
// throw on each other (grid.h).
#pragma once

#include "render/bounce/lit_shadows.h"
#include "render/cpu/rays/mesh_trees.h"

typedef struct orr_lit_rays {
    const orr_triangle_walk *walk;
    orr_mesh_trees trees;
    orr_draw_list list;        // whose meshes the trees are of
    orr_draw_lighting *lights; // in the world's space
    orr_lit_shadows shadows;   // of what is no mesh
    float linear[256];         // of a byte of sRGB
} orr_lit_rays;

// Holds the list's meshes, whose places the host knows, and its lights; what it refers to must outlive the
// rays. ORR_ERROR_MEMORY; ORR_ERROR_CAPACITY as orr_mesh_trees_hold.
orr_result orr_lit_rays_hold(orr_lit_rays *rays, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                             orr_error *error);
void orr_lit_rays_free(orr_lit_rays *rays); // zero is empty

typedef struct orr_lit_hit {
    int32_t mesh;   // of the list; -1: nothing
    int32_t lit_by; // its `environment`
    float distance; // in lengths of the direction
    float position[3];
    float normal[3]; // of the triangle, unit, on the side of the ray's start
    float base[3];   // the part of light that it reflects, linear
    float light[3];  // that it emits, and reflects of lamps
    int dark_back;   // of the back of a triangle, on which no lamp shines: of orr_lit_backs; else 0
} orr_lit_hit;

// How much a back says that it is seen from within a body. That of what is shown from both sides may be the
// underside of a plate, and says little.
enum orr_lit_backs { ORR_BACK_OF_TWO_SIDES = 1, ORR_BACK_OF_BODY = 6 };

// The first surface on a ray, both sides of triangles. passed: of each mesh, does the ray go through it?
// NULL: through none. chance: two numbers in [0, 1), the place on a rectangle of light to which the shadow of
// a point is traced
void orr_lit_rays_meet(const orr_lit_rays *rays, const orr_ray *ray, const uint8_t *passed,
                       const float chance[2], orr_lit_hit *hit);
