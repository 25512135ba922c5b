// What a pad feels in one copy: forces and indentation of its taxels.
#include "engine/loop/tactile/facets.h"
#include "engine/loop/world/geom_distance.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "physics/model/primitive.h"

#include <math.h>
#include <string.h>

enum { STEPS = 256 };
static const double tolerance = 1e-6; // of the thickness: how near the end of a ray is to what it meets

// Of a point that a geom or a soft body presses, all in the pad's frame.
typedef struct touch {
    double distance, normal[3]; // m; outward from what presses
    const orr_tactile_near *by; // NULL: a soft body, or nothing is near
    double velocity[3];         // of a soft body's surface, m/s
} touch;

// What is near a pad.
typedef struct around {
    const orr_tactile_near *near; // count
    int count;
    const orr_tactile_facets *facets; // NULL: there are no soft bodies
} around;

// ---- what is near ----

// The velocity at a point of a body, in world axes.
static void velocity_at(const orr_model *m, const orr_tactile_state *s, int body, const double point[3],
                        double velocity[3])
{
    const double *cvel = s->cvel + (ptrdiff_t)body * 6;
    const double *about = s->subtree_com + (ptrdiff_t)m->body_rootid[body] * 3;
    double arm[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = point[k] - about[k];
    }
    vec3_cross(cvel, arm, velocity);
    for (int k = 0; k < 3; k++) {
        velocity[k] += cvel[3 + k];
    }
}

void orr_tactile_pad_frame(const orr_tactile_pad *pad, const orr_tactile_state *s, double origin[3],
                           double axes[9])
{
    const double *xmat = s->xmat + (ptrdiff_t)pad->geom * 9;
    mat_apply(xmat, pad->centre, origin);
    for (int k = 0; k < 3; k++) {
        origin[k] += s->xpos[(ptrdiff_t)pad->geom * 3 + k];
        mat_apply(xmat, pad->axes + 3 * (ptrdiff_t)k, axes + 3 * (ptrdiff_t)k);
    }
}

static orr_tactile_near describe(const orr_model *m, const orr_tactile_state *s, int geom,
                                 const double origin[3], const double axes[9])
{
    const double *xmat = s->xmat + (ptrdiff_t)geom * 9, *xpos = s->xpos + (ptrdiff_t)geom * 3;
    const int body = m->geom_bodyid[geom];
    orr_tactile_near near = {.geom = geom};
    double d[3], velocity[3], column[3];
    for (int k = 0; k < 3; k++) {
        d[k] = origin[k] - xpos[k];
        mat_apply_transposed(xmat, axes + 3 * (ptrdiff_t)k, column);
        for (int row = 0; row < 3; row++) {
            near.rotation[row * 3 + k] = column[row];
        }
    }
    mat_apply_transposed(xmat, d, near.position);
    velocity_at(m, s, body, origin, velocity);
    mat_apply(axes, velocity, near.velocity);
    mat_apply(axes, s->cvel + (ptrdiff_t)body * 6, near.spin);
    return near;
}

static int find_near(const orr_tactile_pad *pad, const orr_model *m, const orr_tactile_state *s,
                     const double origin[3], const double axes[9], orr_tactile_near *near)
{
    double middle[3];
    int count = 0;
    mat_apply_transposed(axes, pad->middle, middle);
    for (int i = 0; i < pad->other_count; i++) {
        const int geom = pad->other[i];
        const double reach = m->geom_rbound[geom] + pad->radius;
        double d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = origin[k] + middle[k] - s->xpos[(ptrdiff_t)geom * 3 + k];
        }
        if (m->geom_type[geom] == ORR_GEOM_PLANE || vec3_dot(d, d) < reach * reach) {
            near[count++] = describe(m, s, geom, origin, axes);
        }
    }
    return count;
}

// Of what is near the one that is deepest at a point of the pad's frame.
static touch touch_at(const orr_model *m, const around *a, const double p[3])
{
    const orr_tactile_near *near = a->near;
    touch found = {.distance = INFINITY};
    orr_tactile_surface soft;
    for (int i = 0; i < a->count; i++) {
        double q[3];
        mat_apply(near[i].rotation, p, q);
        for (int k = 0; k < 3; k++) {
            q[k] += near[i].position[k];
        }
        const orr_geom_distance at = orr_geom_distance_at(m, near[i].geom, q);
        if (at.distance < found.distance) {
            found.distance = at.distance;
            found.by = &near[i];
            mat_apply_transposed(near[i].rotation, at.normal, found.normal);
        }
    }
    if (a->facets && orr_tactile_facets_at(a->facets, p, &soft) && soft.distance < found.distance) {
        found = (touch){.distance = soft.distance};
        memcpy(found.normal, soft.normal, sizeof found.normal);
        memcpy(found.velocity, soft.velocity, sizeof found.velocity);
    }
    return found;
}

// ---- forces ----

// The velocity of a point that moves with a body whose velocity at the origin and spin are given.
static void moving(const double velocity[3], const double spin[3], const double p[3], double out[3])
{
    vec3_cross(spin, p, out);
    for (int k = 0; k < 3; k++) {
        out[k] += velocity[k];
    }
}

// TacSL's force: the normal one grows with depth; the tangential one damps sliding over the point of the
// geom's surface that is nearest, up to the limit of friction.
static void force_at(const orr_tactile_pad *pad, const orr_tactile_near *own, const touch *t,
                     const double p[3], float out[3])
{
    const double depth = -t->distance, press = pad->stiffness * depth;
    double at[3], here[3], there[3], slide[3];
    for (int k = 0; k < 3; k++) {
        at[k] = p[k] + depth * t->normal[k];
    }
    moving(own->velocity, own->spin, p, here);
    if (t->by) {
        moving(t->by->velocity, t->by->spin, at, there);
    } else {
        memcpy(there, t->velocity, sizeof there);
    }
    for (int k = 0; k < 3; k++) {
        slide[k] = here[k] - there[k];
    }
    const double along = vec3_dot(slide, t->normal);
    for (int k = 0; k < 3; k++) {
        slide[k] -= along * t->normal[k];
    }
    const double speed = vec3_normalise(slide);
    const double drag = fmin(pad->damping * speed, pad->friction * press);
    out[0] = (float)(drag * slide[2] - press * t->normal[2]);
    out[1] = (float)(press * t->normal[0] - drag * slide[0]);
    out[2] = (float)(press * t->normal[1] - drag * slide[1]);
}

// ---- heights ----

// How far a ray may go at once. Distances of these geoms are not exact, and could lead past a thin part.
static double longest_step(const orr_tactile_pad *pad, const orr_model *m, const around *a)
{
    double step = pad->thickness;
    for (int i = 0; i < a->count; i++) {
        const int type = m->geom_type[a->near[i].geom];
        if (type == ORR_GEOM_ELLIPSOID || type == ORR_GEOM_HFIELD || type == ORR_GEOM_SDF) {
            step = 0.25 * pad->thickness;
        }
    }
    return step;
}

// How far above the pad's back, `thickness` behind the taxel, the first thing is, along the pad's normal: the
// picture of a camera behind the pad that looks straight out of it.
static double height_at(const orr_tactile_pad *pad, const orr_model *m, const around *a, double step,
                        const double taxel[3])
{
    double up = 0.0;
    for (int i = 0; i < STEPS && up < pad->thickness; i++) {
        const double p[3] = {taxel[0], taxel[1], taxel[2] - pad->thickness + up};
        const double distance = touch_at(m, a, p).distance;
        if (distance < tolerance * pad->thickness && up == 0.0) {
            return pad->thickness;
        }
        if (fabs(distance) < tolerance * pad->thickness) {
            return pad->thickness - up;
        }
        up = fmax(up + fmin(distance, step), 0.0);
    }
    return fmax(pad->thickness - up, 0.0);
}

orr_model orr_tactile_resized(const orr_model *m, double *sizes, double *bounds)
{
    orr_model own = *m;
    memcpy(bounds, m->geom_rbound, (size_t)m->ngeom * sizeof *bounds);
    for (int i = 0; i < m->ngeom; i++) {
        const int type = m->geom_type[i];
        double box[6];
        if (type != ORR_GEOM_MESH && type != ORR_GEOM_HFIELD && type != ORR_GEOM_SDF) {
            orr_primitive_bounds(type, sizes + (ptrdiff_t)i * 3, box, &bounds[i]);
        }
    }
    own.geom_size = sizes;
    own.geom_rbound = bounds;
    return own;
}

void orr_tactile_feel(const orr_tactile_pad *pad, const orr_model *m, const orr_tactile_state *s,
                      orr_tactile_near *near, const orr_tactile_facets *facets, float *forces, float *heights)
{
    const int taxels = pad->rows * pad->columns;
    double origin[3], axes[9];
    orr_tactile_pad_frame(pad, s, origin, axes);
    const orr_tactile_near own = describe(m, s, pad->geom, origin, axes);
    const around a = {near, find_near(pad, m, s, origin, axes, near), facets};
    const double step = longest_step(pad, m, &a);
    const bool any = a.count > 0 || (facets && facets->count > 0);
    for (int i = 0; i < taxels; i++) {
        const double *p = pad->taxel + (ptrdiff_t)i * 3;
        if (forces) {
            const touch t = touch_at(m, &a, p);
            memset(forces + (ptrdiff_t)i * 3, 0, 3 * sizeof *forces);
            if (t.distance < 0.0) {
                force_at(pad, &own, &t, p, forces + (ptrdiff_t)i * 3);
            }
        }
        if (heights) {
            heights[i] = any ? (float)height_at(pad, m, &a, step, p) : 0.0f;
        }
    }
}
