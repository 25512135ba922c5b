// Obstacles as program_inline.h has them for a vertex, in double.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/obstacles.h"

#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "physics/soft/obstacle_formula.h"

static obstacle_distance distance_of(const orr_soft_obstacle *o, const double p[3])
{
    const real3 at = make_real3(p[0], p[1], p[2]);
    switch (o->shape) {
    case ORR_SOFT_PLANE:
        return plane_distance(at);
    case ORR_SOFT_SPHERE:
        return sphere_distance(at, o->size[0]);
    case ORR_SOFT_CAPSULE:
        return capsule_distance(at, o->size[0], o->size[1]);
    default:
        return box_distance(at, o->size[0], o->size[1], o->size[2]);
    }
}

// A vertex that started at `start` and has moved against the plane that touches the obstacle nearest to it.
static soft_system push_of(const orr_soft_obstacle *o, const double start[3], const double moved[3],
                           double stiffness, double slip, soft_system s)
{
    double from[3], at[3], n[3];
    for (int k = 0; k < 3; k++) {
        from[k] = start[k] - o->position[k];
    }
    mat_apply_transposed(o->axis, from, at);
    const obstacle_distance d = distance_of(o, at);
    mat_apply(o->axis, (const double[3]){d.normal.x, d.normal.y, d.normal.z}, n);
    const double depth = -(d.distance + vec3_dot(n, moved));
    return depth > 0.0 ? plane_contact(s, depth, make_real3(moved[0], moved[1], moved[2]),
                                       make_real3(n[0], n[1], n[2]), stiffness, o->friction, slip)
                       : s;
}

soft_system orr_soft_obstacles_system(const orr_soft *soft)
{
    const orr_soft_constants *k = &soft->constants;
    const orr_soft_group *g = soft->group;
    const double rate = 1.0 / (k->time_step * k->time_step * orr_soft_end_share(k));
    soft_system s = {{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int v = 0; v < g->vertices && k->obstacles > 0; v++) {
        const double own =
            k->contact_stiffness > 0.0 ? k->contact_stiffness : 100.0 * soft->model->mass[v] * rate;
        double start[3], moved[3];
        for (int c = 0; c < 3; c++) {
            const ptrdiff_t at = (ptrdiff_t)v * 3 + c;
            start[c] = orr_soft_number(soft, g->start, at);
            moved[c] = orr_soft_number(soft, g->position, at) - start[c];
        }
        for (int i = 0; i < k->obstacles; i++) {
            s = push_of(&k->obstacle[i], start, moved, own, 1e-2 * k->time_step, s);
        }
    }
    return s;
}
