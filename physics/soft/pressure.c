// The gas that closed cloth encloses. One pressure acts on all triangles; an iteration treats it as constant,
// and then it is set to what it will be after the next one: the vertices alone would each answer as if they
// changed the volume by themselves, and a light shell around much gas would not settle.
#include "engine/maths/vector.h"
#include "physics/soft/simulation.h"

#include <math.h>

orr_result orr_soft_fill(orr_soft_model *m, const orr_soft_spec *s, orr_error *error)
{
    if (s->pressure == 0.0 && s->ambient == 0.0) {
        return ORR_OK;
    }
    if (!isfinite(s->pressure) || !isfinite(s->ambient) || !(s->ambient >= 0.0) ||
        (s->ambient > 0.0 && !(s->pressure + s->ambient > 0.0))) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "%s: enclosed gas: expected a pressure around it of at least 0 Pa, and one of its own "
            "above 0, not %g and %g more",
            s->name, s->ambient, s->pressure);
    }
    m->volume = orr_soft_volume(m, m->rest);
    if (!m->closed || !(m->volume > 0.0)) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "%s: enclosed gas: expected closed cloth, its triangles counter-clockwise from outside%s",
            s->name, m->closed ? "" : ", without open edges");
    }
    m->filled = true;
    m->pressure = s->pressure, m->ambient = s->ambient;
    return ORR_OK;
}

// Six times the volume between a triangle and a point: positions relative to it, so that rounding far from
// the origin does not count.
static double wedge(const double p[9], const double origin[3])
{
    double d[9], n[3];
    for (int k = 0; k < 9; k++) {
        d[k] = p[k] - origin[k % 3];
    }
    vec3_cross(d + 3, d + 6, n);
    return vec3_dot(d, n);
}

double orr_soft_volume(const orr_soft_model *m, const double *position)
{
    double sum = 0.0;
    for (int i = 0; i < m->triangles; i++) {
        double p[9];
        for (int k = 0; k < 9; k++) {
            p[k] = position[(ptrdiff_t)m->triangle[i * 3 + k / 3] * 3 + k % 3];
        }
        sum += wedge(p, position);
    }
    return sum / 6.0;
}

double orr_soft_pressure(const orr_soft_model *m, double volume)
{
    return m->ambient > 0.0
               ? (m->pressure + m->ambient) * m->volume / fmax(volume, 1e-3 * m->volume) - m->ambient
               : m->pressure;
}

// The volume in one world of a group, of its positions as they are.
static double world_volume(const orr_soft *soft, const orr_soft_group *g, int world)
{
    const orr_soft_model *m = soft->model;
    double sum = 0.0, origin[3];
    for (int k = 0; k < 3; k++) {
        origin[k] = orr_soft_number(soft, g->position, (ptrdiff_t)k * g->worlds + world);
    }
    for (int i = 0; i < m->triangles; i++) {
        double p[9];
        for (int k = 0; k < 9; k++) {
            const ptrdiff_t at = (ptrdiff_t)m->triangle[i * 3 + k / 3] * 3 + k % 3;
            p[k] = orr_soft_number(soft, g->position, at * g->worlds + world);
        }
        sum += wedge(p, origin);
    }
    return sum / 6.0;
}

void orr_soft_begin_pressure(const orr_soft *soft, const orr_soft_group *g)
{
    for (int world = 0; world < g->worlds && g->pressure; world++) {
        orr_soft_set_number(soft, g->pressure, world,
                            orr_soft_pressure(soft->model, world_volume(soft, g, world)));
    }
}

// p = gas / V(p) - ambient by a step of Newton's method, where V grows with p as the vertices have answered.
void orr_soft_update_pressure(const orr_soft *soft, const orr_soft_group *g)
{
    const orr_soft_model *m = soft->model;
    for (int world = 0; world < g->worlds && g->pressure && m->ambient > 0.0; world++) {
        const double volume = fmax(world_volume(soft, g, world), 1e-3 * m->volume);
        const double before = orr_soft_number(soft, g->pressure, world);
        double growth = 0.0;
        for (int v = 0; v < m->vertices; v++) {
            growth += orr_soft_number(soft, g->swell, (ptrdiff_t)v * g->worlds + world);
        }
        const double slope = (m->pressure + m->ambient) * m->volume / (volume * volume);
        const double off = before - orr_soft_pressure(m, volume);
        orr_soft_set_number(soft, g->pressure, world, before - off / (1.0 + slope * growth));
    }
}
