// The studio around the orrery: soft boxes, a dim surrounding, the glowing sun; and the radiance of surfaces
// in it.
#pragma once

#include "assets/rays.h"

enum { STUDIO_LAMPS_MOST = 256 };

// One small distant light; together they approximate the studio when a surface gathers its diffuse light.
typedef struct studio_lamp {
    real3 direction;
    real3 power; // radiance times solid angle
} studio_lamp;

typedef struct studio {
    const ray_tree *tree; // borrowed; the sun is not in it
    studio_lamp lamps[STUDIO_LAMPS_MOST];
    int lamp_count;
} studio;

void studio_create(studio *scene, const ray_tree *tree);

// A point on a surface, with the light it gathers.
typedef struct studio_point {
    real3 position, normal;
    int material;
    real3 diffuse;    // light that leaves in all directions alike
    float visibility; // share of the hemisphere that is not blocked, 0 .. 1
} studio_point;

studio_point studio_gather(const studio *scene, real3 position, real3 normal, int material);
// Linear radiance that leaves the point towards `out` (unit).
real3 studio_radiance(const studio *scene, const studio_point *point, real3 out);
// Linear radiance to a display-referred colour in 0 .. 1: film curve, then sRGB.
real3 studio_develop(real3 radiance);
