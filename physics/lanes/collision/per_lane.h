// Contacts of pairs whose routines branch: lane after lane the two geoms are gathered into plain double and
// collided; the contacts are scattered to the lanes.
#pragma once

#include "physics/lanes/collision/box.h"
#include "physics/lanes/collision/function_contact.h"
#include "physics/lanes/collision/hfield.h"
#include "physics/lanes/collision/hull.h"
#include "physics/lanes/collision/sphere_hull.h"

// A shape without a hull, of the type and in the frame of a geom or a site.
FN convex_shape plain_shape(int type, const real3 *pos, const matrix3 *frame, const real3 *size, int lane)
{
    convex_shape s; // its prism is of height fields alone
    s.vertex = NULL;
    s.hull = NULL;
    s.bound = 0.0;
    s.type = type;
    s.frame.pos = point_in(pos, lane);
    s.frame.axis[0] = point_in(&frame->x, lane);
    s.frame.axis[1] = point_in(&frame->y, lane);
    s.frame.axis[2] = point_in(&frame->z, lane);
    s.size[0] = value_in(&size->x, lane);
    s.size[1] = value_in(&size->y, lane);
    s.size[2] = value_in(&size->z, lane);
    s.radius = type == ORR_GEOM_SPHERE || type == ORR_GEOM_CAPSULE ? s.size[0] : 0.0;
    return s;
}

LANE_FN convex_shape shape_in(const lane_model *m, const lane_data *d, const lane_geom *g, int geom, int lane)
{
    convex_shape s = plain_shape(m->geom_type[geom], &g->pos, &g->frame, &g->size, lane);
    real bound = geom_rbound(m, d, geom);
    s.bound = value_in(&bound, lane);
    if (s.type == ORR_GEOM_MESH || s.type == ORR_GEOM_SDF) {
        int mesh = m->geom_dataid[geom], first = m->mesh_hullvertadr[mesh];
        s.vertex = m->hull_vert + 3 * first;
        s.hull = &m->plan->hull[mesh];
    }
    return s;
}

// The corners of the face at the hull's lowest vertex that lies closest to the plane; of more than four, four
// that are far apart. As in MuJoCo, of corners above the hull's centre of mass only the lowest counts.
LANE_FN int plane_hull(const convex_frame *plane, const convex_shape *s, double margin, convex_hit *hits)
{
    point normal = plane->axis[2], down = to_local_direction(&s->frame, point_scaled(normal, -1.0));
    int lowest = farthest_vertex(s, down), at = face_at_vertex(s, lowest, down), count = 0;
    convex_polygon face;
    if (at >= 0) {
        hull_face(s, at, lowest, 0, &face);
    } else { // inside of a face that is bent a little: it touches alone, as in MuJoCo
        put_corner(&face, 0, to_world(&s->frame, hull_vertex(s, lowest)));
        face.count = 1;
    }
    if (face.count > 4) {
        keep_four_corners(&face);
    }
    for (int k = 0; k < face.count; k++) {
        double distance = point_dot(point_difference(corner_at(&face, k), plane->pos), normal);
        int below = point_dot(point_difference(corner_at(&face, k), s->frame.pos), normal) < 0.0;
        if (distance <= margin && (k == 0 || below)) {
            hits[count].distance = distance;
            hits[count].normal = normal;
            hits[count].pos = point_along(corner_at(&face, k), -0.5 * distance, normal);
            count++;
        }
    }
    return count;
}

// Of any shape but a plane with one that has a function.
LANE_FN int sdf_contacts(const lane_model *m, int geom1, const convex_shape *a, int geom2,
                         const convex_shape *b, convex_hit *hits)
{
    return a->type == ORR_GEOM_MESH ? mesh_function_contacts(m, geom1, a, geom2, b, hits)
                                    : function_contacts(m, geom1, a, geom2, b, hits);
}

FN convex_search search_of(const lane_model *m, const orr_pair *pair)
{
    convex_search search = {pair->margin, m->opt.ccd_tolerance, m->opt.ccd_iterations,
                            !(m->opt.disableflags & ORR_DISABLE_MULTICCD)};
    return search;
}

// The same of two geoms, which must overlap by more than rounding can where faces meet faces.
FN convex_search touching_search(const lane_model *m, const orr_pair *pair, const convex_shape *a,
                                 const convex_shape *b)
{
    convex_search search = search_of(m, pair);
    if (has_flush_faces(a->type, b->type)) {
        search.margin -= HULL_LEAST_DEPTH * (a->bound + b->bound);
    }
    return search;
}

// Lets the force of contacts that must overlap begin at 0: what is less deep than twice the least depth
// counts as twice as far beyond it. Else what rests on a stiff floor, less deep, falls and is pushed back.
FN void ease_contacts(const orr_pair *pair, const convex_search *search, convex_hit *hits, int count)
{
    double least = pair->margin - search->margin;
    for (int k = 0; k < count; k++) {
        double beyond = search->margin - hits[k].distance;
        hits[k].distance = beyond < least ? pair->margin - 2.0 * beyond : hits[k].distance;
    }
}

LANE_FN int contacts_of_shapes(const lane_model *m, const orr_pair *pair, convex_shape *a, convex_shape *b,
                               const convex_search *search, convex_hit *hits)
{
    if (b->type == ORR_GEOM_SDF && a->type != ORR_GEOM_PLANE) {
        return sdf_contacts(m, pair->geom1, a, pair->geom2, b, hits);
    }
    switch (a->type * 8 + b->type) {
    case ORR_GEOM_PLANE * 8 + ORR_GEOM_MESH:
    case ORR_GEOM_PLANE * 8 + ORR_GEOM_SDF: // as the hull of its mesh
        return plane_hull(&a->frame, b, pair->margin, hits);
    case ORR_GEOM_SPHERE * 8 + ORR_GEOM_BOX:
        return sphere_box(a->frame.pos, a->size[0], b, pair->margin, hits);
#if ORR_LANES > 1
    case ORR_GEOM_SPHERE * 8 + ORR_GEOM_MESH: {
        int count = sphere_hull(a, b, pair->margin, hits);
        if (count >= 0) {
            return count;
        }
        break;
    }
#endif
    case ORR_GEOM_CAPSULE * 8 + ORR_GEOM_BOX:
        return capsule_box(a, b, pair->margin, hits);
    case ORR_GEOM_BOX * 8 + ORR_GEOM_BOX:
        return box_box(a, b, search->margin, hits);
    default:
        break;
    }
    if (a->type == ORR_GEOM_HFIELD) {
        int hfield = m->geom_dataid[pair->geom1];
        return hfield_contacts(&a->frame, m->hfield_size + 4 * hfield, m->hfield_data + m->hfield_adr[hfield],
                               m->hfield_nrow[hfield], m->hfield_ncol[hfield], b, search, hits);
    }
    return convex_contacts(a, b, search, hits);
}

LANE_FN int scalar_contacts(const lane_model *m, const orr_pair *pair, convex_shape *a, convex_shape *b,
                            convex_hit *hits)
{
    convex_search search = touching_search(m, pair, a, b);
    int count = contacts_of_shapes(m, pair, a, b, &search, hits);
    ease_contacts(pair, &search, hits, count);
    return count;
}

// The lanes in which a pair of these kinds must be collided.
LANE_FN mask must_collide(const lane_model *m, lane_data *d, int index, const lane_geom *a,
                          const lane_geom *b, mask near)
{
    const orr_pair *pair = lane_pair(m, d, index);
    int one = m->geom_type[pair->geom1], two = m->geom_type[pair->geom2];
    if (two == ORR_GEOM_SDF) {
        return near;
    }
    if (one == ORR_GEOM_PLANE) {
        return two == ORR_GEOM_MESH ? plane_may_touch_hull(m, d, pair, a, b, near) : near;
    }
    return one == ORR_GEOM_HFIELD ? near : may_collide(m, d, index, a, b, near);
}

// Contacts of a pair in all lanes: the k-th of each lane are one contact of the block.
typedef struct lane_hits {
    real distance[ORR_PAIR_CONTACTS], found[ORR_PAIR_CONTACTS];
    real3 pos[ORR_PAIR_CONTACTS], normal[ORR_PAIR_CONTACTS];
    int most;
} lane_hits;

// Keeps the direction of not_apart: the opposite of this normal, which may be 0.
FN void keep_apart(const lane_model *m, lane_data *d, int index, int lane, point normal)
{
    reals apart = apart_at(m, d, index);
    real3 last = load3(apart, 0);
    put_point(&last, lane, point_scaled(normal, -1.0));
    store3(apart, 0, last);
}

// The contacts of one lane. Without one the normal of the first is that of a plane between the geoms, or 0.
FN void put_hits(const lane_model *m, lane_data *d, int index, int lane, const convex_hit *hits, int count,
                 lane_hits *to)
{
    if (m->plan->apart_count > 0 && (ORR_LANES == 1 || count == 0)) {
        keep_apart(m, d, index, lane, count == 0 ? hits[0].normal : make_point(0.0, 0.0, 0.0));
    }
    for (; to->most < count; to->most++) {
        to->distance[to->most] = to->found[to->most] = R(0.0);
        to->pos[to->most] = zero3();
        to->normal[to->most] = axis3(2);
    }
    for (int k = 0; k < count; k++) {
        put_in(&to->distance[k], lane, hits[k].distance);
        put_in(&to->found[k], lane, 1.0);
        put_point(&to->pos[k], lane, hits[k].pos);
        put_point(&to->normal[k], lane, hits[k].normal);
    }
}

FN void add_hits(const lane_model *m, lane_data *d, int index, const lane_hits *hits)
{
    for (int k = 0; k < hits->most; k++) {
        add_contact(m, d, index, hits->distance[k], hits->pos[k], hits->normal[k], no_tangent(),
                    hits->found[k] > R(0.5));
    }
}

// The contacts of a pair in the lanes of `near`.
LANE_FN void collide_lanes(const lane_model *m, lane_data *d, int index, const lane_geom *a,
                           const lane_geom *b, mask near)
{
    const orr_pair *pair = lane_pair(m, d, index);
    lane_hits all;
    all.most = 0;
    uint32_t lanes = lanes_of(must_collide(m, d, index, a, b, near));
    for (int lane = 0; lane < ORR_LANES; lane++) {
        if (!(lanes >> lane & 1)) {
            continue;
        }
        convex_shape one = shape_in(m, d, a, pair->geom1, lane), two = shape_in(m, d, b, pair->geom2, lane);
        convex_hit hits[ORR_PAIR_CONTACTS];
        hits[0].normal = make_point(0.0, 0.0, 0.0);
        int count = scalar_contacts(m, pair, &one, &two, hits);
        put_hits(m, d, index, lane, hits, count, &all);
    }
    add_hits(m, d, index, &all);
}
