// The joints of cables, which resist bending and twisting: MuJoCo's plugin mujoco.elasticity.cable.
#include "physics/model/compile.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// Does the body continue the cable that its parent is part of?
static bool continues(const orr_spec *spec, int body)
{
    const spec_cable *own = &spec->bodies[body].cable,
                     *before = &spec->bodies[spec->bodies[body].parent].cable;
    return own->instance && own->instance == before->instance;
}

int count_cables(const orr_spec *spec)
{
    int count = 0;
    for (int i = 1; i < spec->bodies_count; i++) {
        count += continues(spec, i);
    }
    return count;
}

// Second moments of area [m^4] of a section at right angles to x: polar (the torsion constant), about y, z.
static bool moments_of_area(int type, const double size[3], double moment[3])
{
    if (type == ORR_GEOM_CAPSULE || type == ORR_GEOM_CYLINDER) {
        moment[0] = 0.5 * pi * pow(size[0], 4.0);
        moment[1] = moment[2] = 0.5 * moment[0];
        return true;
    }
    double y = size[1], z = size[2], wide = fmax(y, z), narrow = fmin(y, z), ratio = narrow / wide;
    // a rectangle's, by Roark's approximation
    moment[0] = wide * pow(narrow, 3.0) * (16.0 / 3.0 - 3.36 * ratio * (1.0 - pow(ratio, 4.0) / 12.0));
    moment[1] = 4.0 / 3.0 * y * pow(z, 3.0);
    moment[2] = 4.0 / 3.0 * z * pow(y, 3.0);
    return type == ORR_GEOM_BOX;
}

static orr_result build_joint(model_builder *b, int body, int id)
{
    const orr_model *m = b->m;
    const spec_body *spec = &b->spec->bodies[body];
    const int joint = m->body_jntadr[body], geom = m->body_geomadr[body];
    const double *pos = m->body_pos + 3 * body, straight[4] = {1.0, 0.0, 0.0, 0.0};
    double moment[3], length = sqrt(pos[0] * pos[0] + pos[1] * pos[1] + pos[2] * pos[2]);
    if (m->body_jntnum[body] != 1 || m->jnt_type[joint] != ORR_JOINT_BALL) {
        return spec_fail(&spec->head, b->error, "expected a ball joint alone between two bodies of a cable");
    }
    if (geom < 0 || !moments_of_area(m->geom_type[geom], m->geom_size + 3 * geom, moment)) {
        return spec_fail(&spec->head, b->error,
                         "expected a capsule, cylinder or box as the first geom of a body of a cable");
    }
    if (!(length > 1e-15)) {
        return spec_fail(&spec->head, b->error, "expected a distance from the body before it in the cable");
    }
    m->cable_jntid[id] = joint;
    for (int k = 0; k < 3; k++) {
        m->cable_stiffness[3 * id + k] = (k == 0 ? spec->cable.twist : spec->cable.bend) * moment[k] / length;
    }
    memcpy(m->cable_rest + 4 * id, spec->cable.flat ? straight : m->body_quat + 4 * body, sizeof straight);
    return ORR_OK;
}

orr_result build_cables(model_builder *b)
{
    for (int i = 1, id = 0; i < b->spec->bodies_count; i++) {
        if (continues(b->spec, i)) {
            ORR_TRY(build_joint(b, i, id++));
        }
    }
    return ORR_OK;
}
