// The triangles of a draw list with their materials, in the world's space, and what a ray sees where it meets
// one.
#pragma once

#include "engine/maths/rng.h"
#include "render/draw.h"
#include "render/reference/bsdf.h"
#include "render/reference/triangles.h"

static inline real3 of_three(const float v[3])
{
    return make_real3(v[0], v[1], v[2]);
}

typedef struct surface_mesh {
    const orr_mesh *mesh;
    float model[12];
    uint32_t first; // triangle
    bool endless;
} surface_mesh;

typedef struct surface_material {
    const orr_mesh_material *look;
    int mesh;   // that has it
    float glow; // luminance of what it emits by itself [linear]; 0: nothing
} surface_material;

typedef struct surfaces {
    const orr_triangle_walk *walk;
    orr_triangle_tree tree;
    surface_mesh *meshes;
    surface_material *materials;
    uint32_t *material_of; // triangle_count
    float *corners;        // triangle_count x 9
    int64_t triangle_count;
    int mesh_count, material_count;
    float linear[256]; // of a byte of sRGB
} surfaces;

// The meshes and their textures must outlive it. backdrop: is this one (orr_draw_list.backdrop)?
orr_result surfaces_build(orr_isa isa, const orr_draw_mesh *meshes, int count, surfaces *s, orr_error *error);
void surfaces_free(surfaces *s);

typedef struct surface_point {
    const orr_mesh_material *material;
    real3 position;
    real3 plane;  // normal of the triangle, unit, on the side that is seen
    real3 normal; // interpolated, unit, likewise
    real3 base;   // linear
    real3 light;  // that it emits to this side, linear
    real metallic, roughness;
    real transmission;           // of the material, by its texture
    real coated, coat_roughness; // 0, 0: no clear coat
    real3 smooth;                // interpolated normal without a texture of normals
    real3 coat_normal;           // interpolated, with the coat's texture of normals
    real3 raw;                   // the interpolated normal on the side that the file says, of any length
    mesh_frame frame;            // of a material that is a network
    real4 latents[2];            // likewise
    real3 tint;                  // colour of the vertices
    float glow;                  // of its material
    bool front;
} surface_point;

// What glass on a straight ray leaves of light, in any order of its surfaces.
typedef struct surface_glass {
    real3 direction; // of the ray, unit
    real3 passes;    // the part of light
    real3 depth;     // optical: of bodies up to their backs, less up to their fronts
    real3 inside;    // absorption of the bodies in which the ray ends, given where it begins
} surface_glass;

// A ray that passes holes of textures, and what is transparent by chance.
typedef struct surface_sieve {
    const surfaces *surfaces;
    orr_rng *random;
    bool to_lamp; // passes what casts no shadow, too
    // of a ray to a lamp that goes straight through smooth glass: what it leaves; NULL: it stops there
    surface_glass *glass;
} surface_sieve;

bool surfaces_nearest(const surface_sieve *sieve, const orr_ray *ray, bool heed_sides, orr_ray_hit *hit);
bool surfaces_any(const surface_sieve *sieve, const orr_ray *ray);
// Is a point of a smooth metal, at which rays of frames go on (render/cpu/rays)?
bool surface_mirrors(const surface_point *p);
// May a material of theirs be such a metal, or does light go through one?
bool surfaces_lead_on(const surfaces *s);
// Is what it has met an endless plane (orr_draw_mesh.endless)?
bool surfaces_endless(const surfaces *s, const orr_ray_hit *hit);
surface_point surfaces_look(const surfaces *s, const orr_ray_hit *hit, real3 direction);
// Where a ray leaves from to the side of `direction`, so that it does not meet the same triangle again.
real3 surface_leave(const surface_point *p, real3 direction);
