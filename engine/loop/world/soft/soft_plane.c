#include "engine/loop/world/soft/soft_plane.h"

#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"

static const double still = 1e-6; // m: what moves less is where it was
static const double same = 0.5; // cosine: surfaces that are turned more are not the same, but round a corner

// How far the point goes in the step along the surface, in the geom's frame.
static void way_along(const orr_soft_near *g, const orr_soft_body *body, const double arm[3],
                      const double velocity[3], const double normal[3], double time_step, double way[3])
{
    double there[3] = {0.0, 0.0, 0.0}, relative[3];
    if (body) {
        vec3_cross(body->spin, arm, there);
    }
    for (int k = 0; k < 3; k++) {
        relative[k] = time_step * (velocity[k] - there[k] - (body ? body->velocity[k] : 0.0));
    }
    mat_apply_transposed(g->rotation, relative, way);
    const double away = vec3_dot(way, normal);
    for (int k = 0; k < 3; k++) {
        way[k] -= away * normal[k];
    }
}

orr_soft_plane orr_soft_plane_ahead(const orr_model *m, const orr_soft_found *f, const orr_soft_near *g,
                                    const double point[3], const double velocity[3],
                                    const orr_geom_distance *now, double time_step)
{
    const orr_soft_body *body = g->body >= 0 ? &f->body[g->body] : NULL;
    double from[3], at[3], arm[3], way[3], end[3], turned[3] = {0.0, 0.0, 0.0};
    orr_geom_distance then = *now;
    orr_soft_plane out = {.distance = now->distance};
    for (int k = 0; k < 3; k++) {
        from[k] = point[k] - g->position[k];
        arm[k] = body ? point[k] - body->centre[k] : 0.0;
    }
    mat_apply(g->rotation, now->normal, out.normal);
    if (m->geom_type[g->geom] == ORR_GEOM_PLANE) {
        return out;
    }
    way_along(g, body, arm, velocity, now->normal, time_step, way);
    if (vec3_dot(way, way) > still * still) {
        mat_apply_transposed(g->rotation, from, at);
        for (int k = 0; k < 3; k++) {
            at[k] += way[k];
        }
        then = orr_geom_distance_at(m, g->geom, at);
        if (!(then.distance < INFINITY) || !(vec3_dot(then.normal, now->normal) > same)) {
            return out;
        }
    }
    mat_apply(g->rotation, way, end);
    mat_apply(g->rotation, then.normal, out.normal);
    for (int k = 0; k < 3; k++) {
        end[k] += arm[k];
    }
    if (body) { // which turns in the step
        mat_apply(g->turn, end, end);
        mat_apply(g->turn, out.normal, out.normal);
        vec3_cross(body->spin, end, turned);
    }
    out.distance = then.distance;
    for (int k = 0; k < 3; k++) {
        out.ahead[k] = end[k] - arm[k];
        out.distance -= out.normal[k] * (out.ahead[k] - time_step * turned[k]);
    }
    return out;
}

void orr_soft_plane_reach(const orr_soft_plane *p, double more, double reach[3])
{
    const double distance = p->distance + more + vec3_dot(p->normal, p->ahead);
    for (int k = 0; k < 3; k++) {
        reach[k] = p->ahead[k] - distance * p->normal[k];
    }
}
