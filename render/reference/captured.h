// Shadows on captured surfaces, which are splats and fields: their colours have the light of the capture in
// them, and are multiplied by what meshes and clouds leave of it (the ratio image of Debevec 1998), as in
// frames (render/shadow), but by one sample of that light.
#pragma once

#include "render/cloud_shadow/cloud_shadow.h"
#include "render/reference/gaussians.h"
#include "render/reference/lamps.h"
#include "render/shadow/self_shadow.h"

typedef struct captured {
    float umbra; // of the list; 1: nothing is kept off
    // how much meshes keep light from all around off, which is the part `umbra`, as if the surface were
    // level; 0: they do not
    float strength;
    float up[3];
    const orr_self_map *self; // of the light in the list; NULL: there is none
    const float *depths;      // of all maps
    int lamp;                 // of lamps.points: the light of the capture; -1: the sun
    const orr_gaussian_walk *walk;
    orr_gaussians casters[ORR_CLOUD_CASTERS]; // clouds that cast shadows, each on all but itself
    int caster_layers[ORR_CLOUD_CASTERS];
    int caster_count;
} captured;

orr_result captured_gather(const orr_draw_list *list, const lamps *l, const orr_gaussian_walk *walk,
                           captured *c, orr_error *error);
void captured_free(captured *c);

// Where, on which layer of splats (-1: a field), and whose random numbers and count of rays it takes.
typedef struct captured_point {
    real3 position;
    int owner;
    orr_rng *random;
    int64_t *rays;
} captured_point;

// The factor of what a captured surface shows there.
real captured_ratio(const captured *c, const lamps *l, const surfaces *s, const captured_point *at);
