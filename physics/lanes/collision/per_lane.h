// Contacts of pairs whose routines branch: lane after lane the two geoms are gathered into plain double and
// collided; the contacts are scattered to the lanes.
#pragma once

#include "physics/lanes/collision/box.h"
#include "physics/lanes/collision/hfield.h"
#include "physics/lanes/collision/primitive.h"
#include "physics/model/half_sizes.h"

FN double value_in(const real *x, int lane)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    (void)lane;
    return (double)*x;
#else
    return (double)(*x)[lane];
#endif
}

FN void put_in(real *x, int lane, double value)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    (void)lane;
    *x = (real)value;
#else
    (*x)[lane] = (float)value;
#endif
}

FN uint32_t lanes_of(mask m)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    return m ? 1u : 0u;
#else
    return mask_bits(m);
#endif
}

FN point point_in(const real3 *p, int lane)
{
    return make_point(value_in(&p->x, lane), value_in(&p->y, lane), value_in(&p->z, lane));
}

FN void put_point(real3 *to, int lane, point p)
{
    put_in(&to->x, lane, p.x);
    put_in(&to->y, lane, p.y);
    put_in(&to->z, lane, p.z);
}

LANE_FN convex_shape shape_in(const lane_model *m, const lane_data *d, const lane_geom *g, int geom, int lane)
{
    convex_shape s = {0};
    s.type = m->geom_type[geom];
    s.frame.pos = point_in(&g->pos, lane);
    s.frame.axis[0] = point_in(&g->frame.x, lane);
    s.frame.axis[1] = point_in(&g->frame.y, lane);
    s.frame.axis[2] = point_in(&g->frame.z, lane);
    s.size[0] = value_in(&g->size.x, lane);
    s.size[1] = value_in(&g->size.y, lane);
    s.size[2] = value_in(&g->size.z, lane);
    s.radius = s.type == ORR_GEOM_SPHERE || s.type == ORR_GEOM_CAPSULE ? s.size[0] : 0.0;
    real bound = geom_rbound(m, d, geom);
    s.bound = value_in(&bound, lane);
    if (s.type == ORR_GEOM_MESH) {
        int mesh = m->geom_dataid[geom], first = m->mesh_hullvertadr[mesh];
        s.vertex = m->hull_vert + 3 * first;
        s.vertex_count = m->mesh_hullvertnum[mesh];
        s.edge_first = m->hull_edgeadr + first;
        s.edge_count = m->hull_edgenum + first;
        s.edge = m->hull_edge;
        s.hull = &m->plan->hull[mesh];
    }
    return s;
}

// The box around a shape along its own axes: half sizes, centre.
LANE_FN point shape_box(const lane_model *m, const convex_shape *s, int geom, double half[3])
{
    if (s->type == ORR_GEOM_MESH) {
        const uniform_real *box = m->geom_aabb + 6 * geom;
        for (int k = 0; k < 3; k++) {
            half[k] = (double)box[3 + k] + 1e-6 * s->bound; // margin for float rounding
        }
        return to_world(&s->frame, make_point((double)box[0], (double)box[1], (double)box[2]));
    }
    primitive_half_sizes(s->type, s->size, half);
    return s->frame.pos;
}

// Does a plane parallel to a side of either bounding box separate two shapes by more than the margin? It
// rejects most pairs whose bounding spheres intersect, without GJK.
LANE_FN int boxes_apart(const lane_model *m, const orr_pair *pair, const convex_shape *a,
                        const convex_shape *b)
{
    double half[2][3];
    point centre = shape_box(m, a, pair->geom1, half[0]);
    point between = point_difference(shape_box(m, b, pair->geom2, half[1]), centre);
    for (int side = 0; side < 2; side++) {
        const convex_shape *one = side ? b : a, *two = side ? a : b;
        for (int k = 0; k < 3; k++) {
            double reach = pair->margin + half[side][k];
            for (int j = 0; j < 3; j++) {
                reach += half[1 - side][j] * fabs(point_dot(one->frame.axis[k], two->frame.axis[j]));
            }
            if (fabs(point_dot(between, one->frame.axis[k])) > reach) {
                return 1;
            }
        }
    }
    return 0;
}

// The lowest vertex of the hull, and up to two of its neighbours that are far enough from it.
LANE_FN int plane_hull(const convex_frame *plane, convex_shape *shape, double margin, convex_hit *hits)
{
    point normal = plane->axis[2];
    point down = to_local_direction(&shape->frame, point_scaled(normal, -1.0));
    int lowest = farthest_vertex(shape, down), count = 0;
    for (int k = -1; k < shape->edge_count[lowest] && count < 3; k++) {
        int vertex = k < 0 ? lowest : shape->edge[shape->edge_first[lowest] + k];
        point p = to_world(&shape->frame, hull_vertex(shape, vertex));
        double distance = point_dot(point_difference(p, plane->pos), normal);
        point pos = point_along(p, -0.5 * distance, normal);
        if (distance > margin) {
            if (k < 0) {
                return 0;
            }
            continue;
        }
        if (k >= 0 && point_length(point_difference(p, hits[0].pos)) < 0.3 * shape->bound) {
            continue;
        }
        hits[count].distance = distance;
        hits[count].normal = normal;
        hits[count].pos = pos;
        count++;
    }
    return count;
}

LANE_FN int scalar_contacts(const lane_model *m, const orr_pair *pair, convex_shape *a, convex_shape *b,
                            convex_hit *hits)
{
    convex_search search = {pair->margin, m->opt.ccd_tolerance, m->opt.ccd_iterations,
                            !(m->opt.disableflags & ORR_DISABLE_MULTICCD)};
    switch (a->type * 8 + b->type) {
    case ORR_GEOM_PLANE * 8 + ORR_GEOM_MESH:
        return plane_hull(&a->frame, b, pair->margin, hits);
    case ORR_GEOM_SPHERE * 8 + ORR_GEOM_BOX:
        return sphere_box(a->frame.pos, a->size[0], b, pair->margin, hits);
    case ORR_GEOM_CAPSULE * 8 + ORR_GEOM_BOX:
        return capsule_box(a, b, pair->margin, hits);
    case ORR_GEOM_BOX * 8 + ORR_GEOM_BOX:
        return box_box(a, b, pair->margin, hits);
    default:
        break;
    }
    if (a->type == ORR_GEOM_HFIELD) {
        int hfield = m->geom_dataid[pair->geom1];
        return hfield_contacts(&a->frame, m->hfield_size + 4 * hfield, m->hfield_data + m->hfield_adr[hfield],
                               m->hfield_nrow[hfield], m->hfield_ncol[hfield], b, &search, hits);
    }
    return boxes_apart(m, pair, a, b) ? 0 : convex_contacts(a, b, &search, hits);
}

// The contacts of a pair in the lanes of `near`; the k-th contacts of all lanes are one contact of the block.
LANE_FN void collide_lanes(const lane_model *m, lane_data *d, int index, const lane_geom *a,
                           const lane_geom *b, uint32_t near)
{
    const orr_pair *pair = lane_pair(m, d, index);
    real distance[ORR_PAIR_CONTACTS], found[ORR_PAIR_CONTACTS];
    real3 pos[ORR_PAIR_CONTACTS], normal[ORR_PAIR_CONTACTS];
    int most = 0;
    for (int lane = 0; lane < ORR_LANES; lane++) {
        if (!(near >> lane & 1)) {
            continue;
        }
        convex_shape one = shape_in(m, d, a, pair->geom1, lane), two = shape_in(m, d, b, pair->geom2, lane);
        convex_hit hits[ORR_PAIR_CONTACTS];
        int count = scalar_contacts(m, pair, &one, &two, hits);
        for (; most < count; most++) {
            distance[most] = found[most] = R(0.0);
            pos[most] = a->pos;
            normal[most] = axis3(2);
        }
        for (int k = 0; k < count; k++) {
            put_in(&distance[k], lane, hits[k].distance);
            put_in(&found[k], lane, 1.0);
            put_point(&pos[k], lane, hits[k].pos);
            put_point(&normal[k], lane, hits[k].normal);
        }
    }
    for (int k = 0; k < most; k++) {
        add_contact(m, d, index, distance[k], pos[k], normal[k], no_tangent(), found[k] > R(0.5));
    }
}
