// Edges of soft bodies that stick out, across each other.
#include "engine/maths/nearest.h"
#include "physics/soft/collide/collisions.h"

static void outwards(const orr_soft_collider *b, const int32_t rim[4], double normal[3])
{
    normal[0] = normal[1] = normal[2] = 0.0;
    for (int i = 2; i < 4; i++) {
        double n[3];
        if (rim[i] >= 0 && soft_is_wall(b, rim[i])) {
            orr_soft_wall_normal(b->model, b->position, rim[i], n);
            for (int k = 0; k < 3; k++) {
                normal[k] += n[k];
            }
        }
    }
    vec3_normalise(normal); // of cloth: 0
}

// An edge of a rim in the search.
typedef struct rim_edge {
    const orr_soft_collider *body;
    const int32_t *rim;
    const double *end[2];
    double way[3], out[3]; // from end to end; outwards
} rim_edge;

static rim_edge edge_of(const orr_soft_collisions *c, orr_soft_part p)
{
    const orr_soft_collider *b = &c->body[p.body];
    rim_edge e = {.body = b, .rim = b->model->rim + (ptrdiff_t)p.number * 4};
    for (int i = 0; i < 2; i++) {
        e.end[i] = soft_position_of(b, e.rim[i]);
    }
    for (int k = 0; k < 3; k++) {
        e.way[k] = e.end[1][k] - e.end[0][k];
    }
    outwards(b, e.rim, e.out);
    return e;
}

// Two edges that cross each other within reach. Of solids the normal is on the outer side of both.
static orr_result try_edges(orr_soft_collisions *c, orr_soft_part one, orr_soft_part other, orr_error *error)
{
    const rim_edge a = edge_of(c, one), b = edge_of(c, other);
    const double end = 1e-3; // where vertices meet triangles
    double s, t, gap[3], cross[3], facing[3], speed = 0.0;
    if (!orr_nearest_of_lines(a.end[0], a.end[1], b.end[0], b.end[1], &s, &t) || s < end || s > 1.0 - end ||
        t < end || t > 1.0 - end) {
        return ORR_OK;
    }
    for (int k = 0; k < 3; k++) {
        gap[k] = a.end[0][k] + s * a.way[k] - b.end[0][k] - t * b.way[k];
        facing[k] = b.out[k] - a.out[k];
    }
    vec3_cross(a.way, b.way, cross);
    vec3_normalise(cross);
    const bool solid = vec3_dot(facing, facing) > 0.0;
    const double side = vec3_dot(cross, solid ? facing : gap) < 0.0 ? -1.0 : 1.0;
    orr_soft_pair pair = {.soft = {one.body, one.body, other.body, other.body},
                          .share = 1.0,
                          .vertex = {a.rim[0], a.rim[1], b.rim[0], b.rim[1]},
                          .weight = {1.0 - s, s, t - 1.0, -t}};
    for (int k = 0; k < 3; k++) {
        pair.normal[k] = side * cross[k];
    }
    pair.distance = vec3_dot(pair.normal, gap);
    for (int i = 0; i < 4; i++) {
        speed = fmax(speed, soft_square_speed(a.body, a.rim[i / 2], b.body, b.rim[i % 2]));
    }
    const double reach = soft_skin_of(a.body, b.body) + soft_ahead * c->time_step * sqrt(speed);
    const bool hidden = vec3_dot(pair.normal, a.out) > 0.0 || vec3_dot(pair.normal, b.out) < 0.0;
    return hidden || fabs(pair.distance) > reach ? ORR_OK : orr_soft_add_pair(c, &pair, error);
}

orr_result orr_soft_meet_edges(orr_soft_collisions *c, orr_error *error)
{
    ORR_TRY(orr_box_grid_build(&c->grid, c->rims.box, c->rims.count,
                               orr_box_mean_side(c->rims.box, c->rims.count), error));
    for (int i = 0; i < c->rims.count; i++) {
        const orr_soft_part one = c->rims.part[i];
        orr_box_walk walk = orr_box_grid_meeting(&c->grid, &c->rims.box[i]);
        for (int32_t k; (k = orr_box_grid_next(&walk)) >= 0;) {
            if (k > i && c->rims.part[k].body != one.body) {
                ORR_TRY(try_edges(c, one, c->rims.part[k], error));
            }
        }
    }
    return ORR_OK;
}
