// What flexes of MJCF touch, as MuJoCo has it: vertices as spheres touch planes, elements all else, each
// at the one point that is deepest. The contacts yield as MuJoCo's do (physics/soft/contact_rows.h).
#include "engine/core/memory.h"
#include "engine/loop/world/geom_distance.h"
#include "engine/loop/world/soft/soft_nearest.h"
#include "engine/loop/world/soft/soft_plane.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static bool is_plane(const orr_model *m, int geom)
{
    return m->geom_type[geom] == ORR_GEOM_PLANE;
}

bool orr_flex_touch_meets(const orr_model *m, const orr_flex_contact *flex, int geom)
{
    return (m->geom_contype[geom] & flex->conaffinity) != 0 ||
           (flex->contype & m->geom_conaffinity[geom]) != 0;
}

static orr_soft_law law_of(const orr_model *m, const orr_flex_contact *flex, int geom)
{
    const orr_contact_side one = orr_contact_side_of(m, geom);
    const bool safe = !(m->opt.disableflags & ORR_DISABLE_REFSAFE);
    orr_pair pair = {.declared = -1};
    orr_contact_mix(&one, &flex->side, &pair);
    orr_contact_mix_friction(m, -1, &one, &flex->side, pair.friction);
    orr_contact_override(m, &pair);
    orr_soft_law law = {.friction = pair.friction[0],
                        .mu = pair.friction[0] / sqrt(m->opt.impratio),
                        .margin = pair.includemargin,
                        .time_step = safe ? m->opt.timestep : 0.0,
                        .condim = pair.condim,
                        .elliptic = m->opt.cone == ORR_CONE_ELLIPTIC};
    memcpy(law.solref, pair.solref, sizeof law.solref);
    memcpy(law.solimp, pair.solimp, sizeof law.solimp);
    return law;
}

// The velocity of a body's centre of mass and its spin, in the scene, at the step's start.
static void motion_at_start(const orr_soft_contact *c, const orr_world_physics *p, int index,
                            const orr_soft_frame *frame, int body, double velocity[3], double spin[3])
{
    const double *cvel =
        orr_soft_contact_numbers(c, p->physics, index, ORR_PHYSICS_CVEL) + (ptrdiff_t)body * 6;
    const double *centre =
        orr_soft_contact_numbers(c, p->physics, index, ORR_PHYSICS_XIPOS) + (ptrdiff_t)body * 3;
    const double *about = orr_soft_contact_numbers(c, p->physics, index, ORR_PHYSICS_SUBTREE_COM) +
                          (ptrdiff_t)p->model->body_rootid[body] * 3;
    double arm[3], turned[3], v[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = centre[k] - about[k];
    }
    vec3_cross(cvel, arm, turned);
    for (int k = 0; k < 3; k++) {
        v[k] = cvel[3 + k] + turned[k];
    }
    mat_apply(frame->rotation, v, velocity);
    mat_apply(frame->rotation, cvel, spin);
}

void orr_flex_touch_near(const orr_soft_contact *c, const orr_world_physics *p, int index,
                         const orr_soft_frame *frame, const orr_flex_contact *flex, const orr_soft_found *f,
                         orr_soft_near *near)
{
    const orr_model *m = p->model;
    const int body = m->geom_bodyid[near->geom];
    near->law = law_of(m, flex, near->geom);
    near->invweight = near->body >= 0 ? m->body_invweight0[2 * (ptrdiff_t)body] : 0.0;
    for (int k = 0; k < 3; k++) {
        near->velocity[k] = near->spin[k] = near->centre[k] = 0.0;
    }
    if (near->body < 0) {
        return;
    }
    // what the step takes from where the body starts to where it ends without contact is no approach: the
    // velocity from which its own acceleration leads there
    const orr_soft_body *b = &f->body[near->body];
    const double late = 0.5 + 0.5 / f->stands_for;
    double velocity[3], spin[3];
    motion_at_start(c, p, index, frame, body, velocity, spin);
    for (int k = 0; k < 3; k++) {
        near->velocity[k] = (1.0 - late) * b->velocity[k] + late * velocity[k];
        near->spin[k] = (1.0 - late) * b->spin[k] + late * spin[k];
        near->centre[k] = b->centre[k];
    }
}

// The rows of a contact of a point of the flex. mass: of its vertices, kg.
static int list_rows(const orr_soft_near *g, const orr_soft_found *f, const orr_soft_plane *plane,
                     double radius, double mass, const double point[3], const double velocity[3],
                     orr_soft_row row[ORR_SOFT_ROWS_MAX])
{
    double arm[3], turned[3], relative[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = point[k] - g->centre[k];
    }
    vec3_cross(g->spin, arm, turned);
    for (int k = 0; k < 3; k++) {
        relative[k] = velocity[k] - g->velocity[k] - turned[k];
    }
    return orr_soft_contact_rows(&g->law, plane->distance - radius, plane->normal, relative,
                                 1.0 / mass + g->invweight, f->time_step, f->stands_for, row);
}

// ---- vertices

int orr_flex_touch_vertex(const orr_model *m, const orr_soft_collider *collider, int soft, int vertex,
                          const orr_soft_found *f, orr_soft_touch touch[ORR_SOFT_TOUCHES_MAX])
{
    const double *x = collider->position + (ptrdiff_t)vertex * 3;
    const double *v = collider->velocity + (ptrdiff_t)vertex * 3;
    const double mass = orr_soft_masses(collider->model)[vertex];
    int count = 0;
    for (int i = 0; i < f->near_count; i++) {
        const orr_soft_near *g = &f->near[i];
        double d[3], at[3];
        if (!is_plane(m, g->geom)) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            d[k] = x[k] - g->position[k];
        }
        mat_apply_transposed(g->rotation, d, at);
        const orr_geom_distance found = orr_geom_distance_at(m, g->geom, at);
        const orr_soft_plane plane = orr_soft_plane_ahead(m, f, g, x, v, &found, f->time_step);
        orr_soft_row row[ORR_SOFT_ROWS_MAX];
        const int rows = list_rows(g, f, &plane, -collider->margin, mass, x, v, row);
        for (int n = 0; n < rows && count < ORR_SOFT_TOUCHES_MAX; n++) {
            orr_soft_touch *t = &touch[count++];
            *t = (orr_soft_touch){.soft = soft,
                                  .vertex = vertex,
                                  .body = g->body,
                                  .distance = row[n].distance,
                                  .friction = row[n].friction,
                                  .stiffness = row[n].stiffness};
            memcpy(t->normal, row[n].direction, sizeof t->normal);
            memcpy(t->ahead, plane.ahead, sizeof t->ahead);
        }
    }
    return count;
}

// ---- elements

static orr_result add_point(const orr_model *m, const orr_soft_near *g, const orr_soft_side *side,
                            const orr_soft_nearest *at, double mass, orr_soft_found *f, orr_error *error)
{
    double point[3], velocity[3];
    const orr_geom_distance now = orr_soft_side_at(side, at, point, velocity);
    const orr_soft_plane plane = orr_soft_plane_ahead(m, f, g, point, velocity, &now, side->time_step);
    orr_soft_row row[ORR_SOFT_ROWS_MAX];
    const int rows = list_rows(g, f, &plane, -side->margin, mass, point, velocity, row);
    ORR_GROW(f->pair, f->pair_capacity, f->pair_count + rows, "contacts of soft bodies", error);
    for (int n = 0; n < rows; n++) {
        orr_soft_pair *pair = &f->pair[f->pair_count++];
        *pair = (orr_soft_pair){.rigid = true,
                                .body = g->body,
                                .distance = row[n].distance,
                                .friction = row[n].friction,
                                .stiffness = row[n].stiffness};
        for (int k = 0; k < 4; k++) {
            pair->soft[k] = side->soft;
            pair->vertex[k] = side->vertex[k % 3];
            pair->weight[k] = k < 3 ? at->weight[k] : 0.0;
        }
        memcpy(pair->normal, row[n].direction, sizeof pair->normal);
        orr_soft_plane_reach(&plane, side->margin, pair->reach);
    }
    return ORR_OK;
}

// How far a corner of the side can come nearer to the geom in the step, m.
static double approach_of(const orr_soft_near *g, const orr_soft_side *side)
{
    double most = 0.0;
    for (int i = 0; i < 3; i++) {
        double arm[3], turned[3], relative[3];
        for (int k = 0; k < 3; k++) {
            arm[k] = side->position[(ptrdiff_t)side->vertex[i] * 3 + k] - g->centre[k];
        }
        vec3_cross(g->spin, arm, turned);
        for (int k = 0; k < 3; k++) {
            relative[k] = side->velocity[(ptrdiff_t)side->vertex[i] * 3 + k] - g->velocity[k] - turned[k];
        }
        most = fmax(most, vec3_length(relative));
    }
    return most * side->time_step;
}

// The nearest point of a facet, where it can be near enough to push in the step.
static bool find_point(const orr_model *m, const orr_soft_near *g, const orr_soft_side *side,
                       orr_soft_nearest *out)
{
    const double within = g->law.margin - side->margin + approach_of(g, side);
    const double far = m->geom_rbound[g->geom] + side->radius + within;
    double d[3], at[3], corners[3][3];
    for (int k = 0; k < 3; k++) {
        d[k] = side->middle[k] - g->position[k];
    }
    if (vec3_dot(d, d) >= far * far) {
        return false;
    }
    mat_apply_transposed(g->rotation, d, at);
    if (orr_geom_distance_at(m, g->geom, at).distance >= side->radius + within) {
        return false;
    }
    orr_soft_side_bring(g, side, corners);
    *out = orr_soft_nearest_from_corners(m, g->geom, (const double(*)[3])corners, side->longest);
    return out->distance < within;
}

// An element of `count` facets: the deepest of their points.
static orr_result touch_element(const orr_model *m, const orr_soft_near *g, const orr_soft_side *sides,
                                int count, double mass, orr_soft_found *f, orr_error *error)
{
    orr_soft_nearest best = {.distance = INFINITY}, next;
    int of = 0;
    for (int i = 0; i < count; i++) {
        if (find_point(m, g, &sides[i], &next) && next.distance < best.distance) {
            best = next, of = i;
        }
    }
    return best.distance < INFINITY ? add_point(m, g, &sides[of], &best, mass, f, error) : ORR_OK;
}

enum { FACETS_MAX = 4 }; // of an element

orr_result orr_flex_touch_elements(const orr_model *m, const orr_soft_collider *collider,
                                   const orr_flex_contact *flex, int soft, orr_soft_found *f,
                                   orr_error *error)
{
    const int32_t *facet = flex->facet;
    for (int i = 0, next; i < flex->facets && f->near_count > 0; i = next) {
        orr_soft_side side[FACETS_MAX];
        const double mass = orr_soft_masses(collider->model)[facet[4 * (ptrdiff_t)i]];
        for (next = i; next < flex->facets && facet[4 * (ptrdiff_t)next + 3] == facet[4 * (ptrdiff_t)i + 3];
             next++) {
            side[next - i] = (orr_soft_side){.vertex = facet + 4 * (ptrdiff_t)next,
                                             .position = collider->position,
                                             .velocity = collider->velocity,
                                             .soft = soft,
                                             .margin = collider->margin,
                                             .time_step = f->time_step};
            orr_soft_side_measure_edges(&side[next - i]);
            orr_soft_side_measure_middle(&side[next - i]);
        }
        for (int n = 0; n < f->near_count; n++) {
            if (!is_plane(m, f->near[n].geom)) {
                ORR_TRY(touch_element(m, &f->near[n], side, next - i, mass, f, error));
            }
        }
    }
    return ORR_OK;
}
