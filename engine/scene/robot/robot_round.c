#include "engine/scene/robot/robot_round.h"

#include <math.h>

float orr_robot_round_radius(const orr_model *m, int geom)
{
    const double *size = m->geom_size + 3 * geom;
    switch ((orr_geom_type)m->geom_type[geom]) {
    case ORR_GEOM_SPHERE:
    case ORR_GEOM_CAPSULE:
    case ORR_GEOM_CYLINDER:
        return (float)size[0];
    case ORR_GEOM_ELLIPSOID:
        return (float)fmax(size[0], fmax(size[1], size[2]));
    default:
        return 0.0f;
    }
}

static orr_round shape_of(orr_geom_type type, const double given[3])
{
    const float size[3] = {(float)given[0], (float)given[1], (float)given[2]};
    switch (type) {
    case ORR_GEOM_CAPSULE:
        return (orr_round){.kind = ORR_ROUND_CAPSULE, .size = {size[0], size[0], size[1]}};
    case ORR_GEOM_CYLINDER:
        return (orr_round){.kind = ORR_ROUND_CYLINDER, .size = {size[0], size[0], size[1]}};
    case ORR_GEOM_ELLIPSOID:
        return (orr_round){.kind = ORR_ROUND_ELLIPSOID, .size = {size[0], size[1], size[2]}};
    default:
        return (orr_round){.kind = ORR_ROUND_ELLIPSOID, .size = {size[0], size[0], size[0]}};
    }
}

orr_round orr_robot_round(const orr_model *m, int geom, const orr_image8 *texture)
{
    orr_round r = shape_of((orr_geom_type)m->geom_type[geom], m->geom_size + 3 * geom);
    if (!texture) {
        return r;
    }
    const int material = m->geom_matid[geom];
    const bool uniform = m->mat_texuniform[material];
    r.how = m->tex_type[m->mat_texid[material]] == ORR_TEXTURE_CUBE ? ORR_ROUND_CUBE : ORR_ROUND_FLAT;
    r.cube_margin = 0.5f / (float)texture->width;
    for (int k = 0; k < 3; k++) {
        const float half = r.size[k] + (r.kind == ORR_ROUND_CAPSULE && k == 2 ? r.size[0] : 0.0f);
        if (r.how == ORR_ROUND_CUBE) {
            r.lay[k] = uniform ? 1.0f / half : 1.0f;
        } else if (k < 2) { // the picture's first row is at +y
            const float repeat = m->mat_texrepeat[2 * material + k], side = uniform ? 2.0f : 2.0f * half;
            r.lay[k] = (k == 0 ? repeat : -repeat) / side;
        }
    }
    return r;
}
