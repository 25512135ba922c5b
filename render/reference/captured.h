// Shadows and new lamps on captured surfaces, which are splats and fields: their colours have the light of
// the capture in them, and are multiplied by what meshes and clouds leave of it (the ratio image of Debevec
// 1998), as in frames (render/shadow), but by one sample of that light. Lamps that were not there light
// fields, as in frames (render/field_light).
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
    bool by_lamp;             // that is a lamp that was not there, whose shadows fields have already
    // lamps that were not there, in the world, and what keeps them off what is captured
    orr_captured_lamps added;
    const orr_self_map *added_maps[ORR_DRAW_LIGHTS]; // nullable
    int added_points[ORR_DRAW_LIGHTS];               // of lamps.points
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

// Light of the lamps that were not there on the surface of a field: linear radiance of a white one. normal:
// unit, towards who sees it; known: as of captured_facing
real3 captured_added_light(const captured *c, const lamps *l, const surfaces *s, const captured_point *at,
                           real3 normal, real known);

// The factor of what a captured surface shows there.
real captured_ratio(const captured *c, const lamps *l, const surfaces *s, const captured_point *at);
