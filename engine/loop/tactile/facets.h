// The surfaces of soft bodies near a pad in one copy: triangles of solids and of closed cloth, in the pad's
// frame.
#pragma once

#include "engine/loop/tactile/pad.h"
#include "engine/loop/world/soft/world_soft.h"

typedef struct orr_tactile_facet {
    double corner[9], velocity[9]; // of its corners, m and m/s
    double normal[3];              // unit, outward
    double low[3], high[3];        // the box around it
    double margin;                 // m: the surface is so far outside of what it stands for
    int body;                      // those of a body follow each other
} orr_tactile_facet;

// Zeros are an empty one.
typedef struct orr_tactile_facets {
    orr_tactile_facet *facet; // count
    int count, capacity;
    double reach;    // m: of points of the pad, to which those that are nearer are all here
    double *scratch; // of a body's vertices
    int scratch_capacity;
} orr_tactile_facets;

// A point against the soft bodies, as against a geom.
typedef struct orr_tactile_surface {
    double distance, normal[3]; // m, negative inside; unit, outward
    double velocity[3];         // of the nearest point, m/s
} orr_tactile_surface;

// What a thread needs for the soft bodies near pads, of one copy and pad after another.
typedef struct orr_tactile_soft {
    orr_tactile_facets facets;
    orr_result result; // what went wrong in it
    orr_error error;
} orr_tactile_soft;

// *soft: of so many threads; it stays NULL where no soft body can press what is in this physics.
orr_result orr_tactile_soft_create(orr_tactile_soft **soft, const orr_world *world,
                                   const orr_world_physics *physics, int workers, orr_error *error);
void orr_tactile_soft_destroy(orr_tactile_soft *soft, int workers); // NULL is allowed
// The facets near a pad in one copy, whose soft bodies are up to date, by a thread with its own `soft`. NULL:
// there is no memory for them, as orr_tactile_soft_check says. physics: that the pad is on; state: of the
// copy.
const orr_tactile_facets *orr_tactile_soft_near(orr_tactile_soft *soft, const orr_world *world, int index,
                                                const orr_world_physics *physics, const orr_tactile_pad *pad,
                                                const orr_tactile_state *state);
// After all threads: the error of the first that had one, which it forgets. NULL is allowed.
orr_result orr_tactile_soft_check(orr_tactile_soft *soft, int workers, orr_error *error);

// The body in which a point of the pad's frame is deepest, or to which it is nearest. false: none is within
// `reach`.
bool orr_tactile_facets_at(const orr_tactile_facets *facets, const double p[3], orr_tactile_surface *surface);
