// The gas that closed cloth encloses. One pressure acts on all triangles; an iteration treats it as constant,
// and then it is set to what it will be after the next one: the vertices alone would each answer as if they
// changed the volume by themselves, and a light shell around much gas would not settle.
#include "physics/soft/gas_inline.h"
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
    m->gas.volume = orr_soft_volume(m, m->rest);
    if (!m->closed || !(m->gas.volume > 0.0)) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "%s: enclosed gas: expected closed cloth, its triangles counter-clockwise from outside%s",
            s->name, m->closed ? "" : ", without open edges");
    }
    m->filled = true;
    m->gas.pressure = s->pressure, m->gas.ambient = s->ambient;
    return ORR_OK;
}

double orr_soft_volume(const orr_soft_model *m, const double *position)
{
    double sum = 0.0;
    for (int i = 0; i < m->triangles; i++) {
        double p[9];
        for (int k = 0; k < 9; k++) {
            p[k] = position[(ptrdiff_t)m->triangle[i * 3 + k / 3] * 3 + k % 3];
        }
        sum += gas_wedge(p, position);
    }
    return sum / 6.0;
}

double orr_soft_pressure(const orr_soft_model *m, double volume)
{
    return gas_pressure(&m->gas, volume);
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
        sum += gas_wedge(p, origin);
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

void orr_soft_update_pressure(const orr_soft *soft, const orr_soft_group *g)
{
    const orr_soft_model *m = soft->model;
    for (int world = 0; world < g->worlds && g->pressure && m->gas.ambient > 0.0; world++) {
        double growth = 0.0;
        for (int v = 0; v < m->vertices; v++) {
            growth += orr_soft_number(soft, g->swell, (ptrdiff_t)v * g->worlds + world);
        }
        const double before = orr_soft_number(soft, g->pressure, world);
        orr_soft_set_number(soft, g->pressure, world,
                            gas_next(&m->gas, before, world_volume(soft, g, world), growth));
    }
}
