// Rays against all geoms of a world, including meshes, height fields and functions.
#pragma once

#include "physics/lanes/collision/ray_function.h"

LANE_FN void ray_mesh(const lane_model *m, lane_ray *ray, int mesh)
{
    const float *vert = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
    const int32_t *face = m->mesh_face + 3 * m->mesh_faceadr[mesh];
    for (int i = 0; i < m->mesh_facenum[mesh]; i++) {
        double corner[3][3];
        for (int k = 0; k < 9; k++) {
            corner[k / 3][k % 3] = (double)vert[3 * face[3 * i + k / 3] + k % 3];
        }
        ray_triangle(ray, corner[0], corner[1], corner[2]);
    }
}

// A part of a ray, from `first` to `last` [m].
typedef struct lane_span {
    real first, last;
} lane_span;

// The part of the span where p + x v is between low and high.
FN lane_span ray_clip(lane_span span, real p, real v, real low, real high)
{
    mask moves = abs_(v) > R(LANE_TINY);
    real inverse = R(1.0) / sel(moves, v, R(1.0));
    real a = (low - p) * inverse, b = (high - p) * inverse;
    mask between = and_(p >= low, p <= high);
    real enter = sel(moves, min_(a, b), sel(between, R(-LANE_HUGE), R(LANE_HUGE)));
    real leave = sel(moves, max_(a, b), sel(between, R(LANE_HUGE), R(-LANE_HUGE)));
    span.first = max_(span.first, enter);
    span.last = min_(span.last, leave);
    return span;
}

FN int spans_any(lane_span span)
{
    return any(span.first <= span.last);
}

// The samples of a height field in metres.
typedef struct lane_hfield {
    const float *data;
    int rows, columns;
    double half_x, half_y, height, base, step_x, step_y;
} lane_hfield;

FN void hfield_point(const lane_hfield *f, int row, int column, double at[3])
{
    at[0] = column * f->step_x - f->half_x;
    at[1] = row * f->step_y - f->half_y;
    at[2] = (double)f->data[row * f->columns + column] * f->height;
}

// The wall below the edge between two neighbouring samples on the rim. axis: 0: the wall is at an end of x,
// 1: of y
LANE_FN void ray_wall(lane_ray *ray, const double a[3], const double b[3], int axis)
{
    real p = axis ? ray->from.y : ray->from.x, v = axis ? ray->along.y : ray->along.x;
    real q = axis ? ray->from.x : ray->from.y, w = axis ? ray->along.x : ray->along.y;
    real x = ray_reach(p, v, R(a[axis]));
    real share = (fma_(x, w, q) - R(a[1 - axis])) * R(1.0 / (b[1 - axis] - a[1 - axis]));
    real z = fma_(x, ray->along.z, ray->from.z), edge = R(a[2]) + share * R(b[2] - a[2]);
    mask below = and_(z >= R(0.0), z < edge);
    mask hit = and_(below, and_(share >= R(0.0), share <= R(1.0)));
    ray_hit_face(ray, x, hit, scale3(axis3(axis), R(a[axis] < 0.0 ? -1.0 : 1.0)));
}

LANE_FN void ray_hfield_cell(lane_ray *ray, const lane_hfield *f, int row, int column)
{
    double a[3], b[3], c[3], e[3];
    hfield_point(f, row, column, a);
    hfield_point(f, row, column + 1, b);
    hfield_point(f, row + 1, column + 1, c);
    hfield_point(f, row + 1, column, e);
    ray_triangle(ray, a, b, c);
    ray_triangle(ray, a, c, e);
    if (row == 0) {
        ray_wall(ray, a, b, 1);
    }
    if (row == f->rows - 2) {
        ray_wall(ray, e, c, 1);
    }
    if (column == 0) {
        ray_wall(ray, a, e, 0);
    }
    if (column == f->columns - 2) {
        ray_wall(ray, b, c, 0);
    }
}

// The surface, the walls below its rim, and the box of the base; visits only cells that some lane's ray
// passes over.
LANE_FN void ray_height_field(const lane_model *m, lane_ray *ray, int id)
{
    const uniform_real *size = m->hfield_size + 4 * id;
    lane_hfield f = {.data = m->hfield_data + m->hfield_adr[id],
                     .rows = m->hfield_nrow[id],
                     .columns = m->hfield_ncol[id],
                     .half_x = (double)size[0],
                     .half_y = (double)size[1],
                     .height = (double)size[2],
                     .base = (double)size[3]};
    f.step_x = 2.0 * f.half_x / (f.columns - 1);
    f.step_y = 2.0 * f.half_y / (f.rows - 1);
    real3 p = ray->from, v = ray->along;
    ray_box_around(ray, make_real3(R(f.half_x), R(f.half_y), R(0.5 * f.base)), R(-0.5 * f.base));
    const double wide = 1e-4; // of a cell: tolerance for rounding
    lane_span whole = {R(0.0), R(LANE_HUGE)};
    whole = ray_clip(whole, p.z, v.z, R(-wide * f.height), R((1.0 + wide) * f.height));
    for (int row = 0; row < f.rows - 1 && spans_any(whole); row++) {
        double low = (row - wide) * f.step_y - f.half_y, high = (row + 1.0 + wide) * f.step_y - f.half_y;
        lane_span over = ray_clip(whole, p.y, v.y, R(low), R(high));
        for (int column = 0; column < f.columns - 1 && spans_any(over); column++) {
            low = (column - wide) * f.step_x - f.half_x;
            high = (column + 1.0 + wide) * f.step_x - f.half_x;
            if (spans_any(ray_clip(over, p.x, v.x, R(low), R(high)))) {
                ray_hfield_cell(ray, &f, row, column);
            }
        }
    }
}

// Can a ray of some lane hit the geom's bounding sphere?
FN int ray_may_hit(const lane_model *m, const lane_data *d, int geom, real3 from, real3 along)
{
    if (m->geom_type[geom] == ORR_GEOM_PLANE) { // it has no bounding sphere
        return 1;
    }
    real radius = geom_rbound(m, d, geom);
    real3 apart = sub3(load3(d->geom_xpos, geom), from);
    real ahead = dot3(apart, along), squared = dot3(apart, apart);
    real bound = fma_(squared, R(1e-5), radius * radius * R(1.01)); // with a tolerance for rounding
    return any(and_(squared - ahead * ahead <= bound, ahead >= radius * R(-1.01)));
}

FN int invisible(const lane_model *m, int geom)
{
    int material = m->geom_matid[geom];
    return material < 0 ? m->geom_rgba[4 * geom + 3] == 0.0f : m->mat_rgba[4 * material + 3] == 0.0f;
}

// A ray in world coordinates against one geom; distance grids are not seen.
LANE_FN void cast_ray_at_geom(const lane_model *m, const lane_data *d, int geom, real3 from, real3 along,
                              real nearest, lane_ray *ray)
{
    real3 size = geom_sizes(m, d, geom);
    *ray = local_ray(load3(d->geom_xpos, geom), load_matrix(d->geom_xmat, geom), from, along);
    ray->nearest = nearest;
    if (m->geom_type[geom] == ORR_GEOM_MESH) {
        ray_mesh(m, ray, m->geom_dataid[geom]);
    } else if (m->geom_type[geom] == ORR_GEOM_HFIELD) {
        ray_height_field(m, ray, m->geom_dataid[geom]);
    } else if (has_function(m, geom)) {
        ray_function(m, ray, geom);
    } else if (m->geom_type[geom] != ORR_GEOM_SDF) {
        ray_shape(ray, m->geom_type[geom], &size);
    }
}

// A ray in world coordinates, and its first hit.
typedef struct lane_scene_ray {
    real3 from, along;
    real distance; // m; -1: no hit
    real3 normal;  // of the surface, of length 1
} lane_scene_ray;

// Finds the first geom on the ray, except those of the body `without`, invisible ones and distance grids.
LANE_FN void cast_scene_ray(const lane_model *m, const lane_data *d, lane_scene_ray *ray, int without)
{
    real nearest = R(LANE_HUGE);
    real3 normal = axis3(2);
    for (int i = 0; i < m->ngeom; i++) {
        if (m->geom_bodyid[i] == without || invisible(m, i) || !ray_may_hit(m, d, i, ray->from, ray->along)) {
            continue;
        }
        lane_ray local;
        cast_ray_at_geom(m, d, i, ray->from, ray->along, nearest, &local);
        mask closer = local.nearest < nearest;
        if (any(closer)) {
            real3 size = geom_sizes(m, d, i), local_normal = ray_normal(&local, m->geom_type[i], &size);
            normal = select3(closer, rotate(load_matrix(d->geom_xmat, i), local_normal), normal);
        }
        nearest = local.nearest;
    }
    ray->distance = sel(nearest < R(LANE_HUGE), nearest, R(-1.0));
    ray->normal = normalise3(normal);
}
