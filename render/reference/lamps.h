// What lights a scene: lamps without extent, spheres, rectangles, discs in the sky, glowing triangles, and
// light from everywhere.
#pragma once

#include "render/reference/surfaces.h"

typedef struct glowing_triangle {
    uint32_t triangle;
    double until; // the sum of the weights up to and with this one
} glowing_triangle;

typedef struct lamps {
    orr_draw_lighting points; // in the world's space, without the sun
    // of `points`: of a sphere its radius, of a disc in the sky the sine of its angular radius; 0: neither
    float radius[ORR_DRAW_LIGHTS];
    real3 ambient;             // radiance from everywhere
    real3 sun;                 // towards it
    real3 sun_radiance;        // of its disc; 0: none
    float sun_share;           // 1 / its solid angle [1/sr]
    glowing_triangle *glowing; // glowing_count
    int64_t glowing_count;
    double glow;                             // the sum of area x luminance
    const orr_draw_environment *environment; // far away, in place of `ambient`; NULL: none
} lamps;

orr_result lamps_gather(const orr_draw_list *list, const surfaces *s, lamps *l, orr_error *error);
void lamps_free(lamps *l);

// Light that reaches a point from a direction.
typedef struct lamp_light {
    real3 to_light; // unit
    real3 radiance;
    float pdf;      // [1/sr]; 0: none
    float distance; // from the point
} lamp_light;

lamp_light lamps_draw_sun(const lamps *l, float u, float v);
lamp_light lamps_draw_glow(const lamps *l, const surfaces *s, real3 from, float choice, float u, float v);
// A direction to a rectangle among `points`.
lamp_light lamps_draw_area(const orr_light_values *lamp, real3 from, float u, float v);
// The same light where a ray meets it before `far`; pdf 0: nowhere. direction: unit
lamp_light lamps_meet_area(const orr_light_values *lamp, real3 from, real3 direction, float far);
// A direction to sphere or disc i among `points`; pdf 0: it has no extent there, or has the point inside.
lamp_light lamps_draw_round(const lamps *l, int i, real3 from, float u, float v);
// The same light where a ray meets it before `far`; pdf 0: nowhere. direction: unit
lamp_light lamps_meet_round(const lamps *l, int i, real3 from, real3 direction, float far);
// A direction to the environment.
lamp_light lamps_draw_environment(const lamps *l, float choice, float u, float v);
// [1/sr] of lamps_draw_glow for a triangle met at `p`, so far away in `direction`.
float lamps_glow_pdf(const lamps *l, const surface_point *p, real3 direction, float distance);
// What comes from a direction in which nothing is, and the density with which lamps_draw_environment draws
// it; *sun: the sun's disc.
real3 lamps_behind(const lamps *l, real3 direction, float *pdf, real3 *sun);
