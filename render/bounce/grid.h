// Light of meshes on meshes: a grid of points in a box, from each of which rays say what light meshes throw
// there, and how much of what is behind them they keep off. It becomes the grid of a probe's environment.
#pragma once

#include "render/bounce/lit_rays.h"
#include "render/environment/environment.h"

enum {
    ORR_BOUNCE_RAYS = 64, // of a point
    ORR_BOUNCES = 3       // times that light is reflected besides the lamps' own
};

typedef struct orr_bounce_grid {
    orr_environment_grid place; // in the world's space, but for its offset
    int count;                  // of points; 0: there are none
    orr_lit_hit *hits;          // ORR_ENVIRONMENT_POINTS x ORR_BOUNCE_RAYS, of each point
    float (*light)[6][3];       // ORR_ENVIRONMENT_POINTS: what meshes add, as environment_formula.h has it
    float (*scratch)[6][3];     // likewise
    bool any;                   // a ray has met something
} orr_bounce_grid;

// Lays points into a box. ORR_ERROR_MEMORY
orr_result orr_bounce_grid_place(orr_bounce_grid *grid, const float low[3], const float high[3],
                                 orr_error *error);
void orr_bounce_grid_free(orr_bounce_grid *grid); // zero is empty

// The rays of points `first` to `end`.
void orr_bounce_grid_look(orr_bounce_grid *grid, orr_jobs *jobs, const orr_lit_rays *rays, int first,
                          int end);
// Point i, and the direction of ray i of each, unit.
void orr_bounce_point(const orr_bounce_grid *grid, int i, float position[3]);
void orr_bounce_direction(int i, float direction[3]);

// What lights the meshes of a list whose `environment` is first + i: the i-th.
typedef struct orr_bounce_lit {
    const orr_bounce_grid *grids[4];   // NULL: none
    const float (*harmonics[4])[3][9]; // of the light that is behind meshes
    int count, first;
} orr_bounce_lit;

// What of light from everywhere a white matte surface reflects at a hit.
void orr_bounce_light_at(const orr_bounce_lit *lit, const orr_lit_hit *hit, float light[3]);
// Sums up the rays of a grid, one of those of `lit`, with the light that is reflected several times. Hits of
// rays that meet no mesh have the light that they see. behind: radiance that each ray would see without
// meshes, from the probe
void orr_bounce_grid_reflect(orr_bounce_grid *grid, orr_jobs *jobs, const orr_bounce_lit *lit,
                             float (*behind)[3]);
// Writes it into an environment with room for it, whose centre is at a place of the world.
void orr_bounce_grid_fill(const orr_bounce_grid *grid, const float centre[3], orr_environment *environment);
