#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "engine/loop/world/geom_distance.h"

#include "engine/maths/vector.h"
#include "physics/grid/distance_grid.h"
#include "physics/model/octree_distance.h"
#include "physics/soft/obstacle_formula.h"

#include <math.h>

static obstacle_distance cylinder_distance(real3 p, double radius, double half)
{
    double across = hypot(p.x, p.y);
    obstacle_distance d = box_distance(make_real3(across, 0.0, p.z), radius, 1e30, half);
    double x = across > 0.0 ? p.x / across : 1.0, y = across > 0.0 ? p.y / across : 0.0;
    d.normal = make_real3(d.normal.x * x, d.normal.x * y, d.normal.z);
    return d;
}

// Exact at the surface to first order.
static obstacle_distance ellipsoid_distance(real3 p, const double size[3])
{
    real3 q = make_real3(p.x / size[0], p.y / size[1], p.z / size[2]);
    real3 g = make_real3(q.x / size[0], q.y / size[1], q.z / size[2]);
    double k = sqrt(dot3(q, q)), slope = fmax(sqrt(dot3(g, g)), 1e-12);
    obstacle_distance d = {k > 1e-6 ? k * (k - 1.0) / slope : -fmin(size[0], fmin(size[1], size[2])),
                           make_real3(g.x / slope, g.y / slope, g.z / slope)};
    return d;
}

// The farthest of the planes of its faces: too small beside edges, exact on faces.
static obstacle_distance hull_distance(const orr_model *m, int mesh, const double p[3])
{
    obstacle_distance best = {-INFINITY, {0.0, 0.0, 1.0}};
    const double *vertex = m->hull_vert + 3 * (ptrdiff_t)m->mesh_hullvertadr[mesh];
    for (int f = 0; f < m->mesh_hullfacenum[mesh]; f++) {
        const int32_t *face = m->hull_face + 3 * (ptrdiff_t)(m->mesh_hullfaceadr[mesh] + f);
        double u[3], v[3], n[3], d[3];
        for (int k = 0; k < 3; k++) {
            u[k] = vertex[3 * face[1] + k] - vertex[3 * face[0] + k];
            v[k] = vertex[3 * face[2] + k] - vertex[3 * face[0] + k];
            d[k] = p[k] - vertex[3 * face[0] + k];
        }
        vec3_cross(u, v, n);
        if (vec3_normalise(n) > 0.0 && vec3_dot(n, d) > best.distance) {
            best.distance = vec3_dot(n, d);
            best.normal = make_real3(n[0], n[1], n[2]);
        }
    }
    return best;
}

static obstacle_distance grid_distance(const orr_model *m, int grid, const double p[3])
{
    const orr_distance_grid view = {
        .origin = {m->grid_origin[3 * grid], m->grid_origin[3 * grid + 1], m->grid_origin[3 * grid + 2]},
        .cell = m->grid_cell[grid],
        .bricks = {m->grid_bricks[3 * grid], m->grid_bricks[3 * grid + 1], m->grid_bricks[3 * grid + 2]},
        .brick = m->grid_brick + m->grid_brickadr[grid],
        .corner = m->grid_corner + m->grid_corneradr[grid],
        .sample = m->grid_sample + m->grid_sampleadr[grid]};
    double n[3];
    obstacle_distance d = {orr_distance_grid_at(&view, p, n), {0.0, 0.0, 0.0}};
    d.distance = vec3_normalise(n) > 0.0 ? d.distance : INFINITY;
    d.normal = make_real3(n[0], n[1], n[2]);
    return d;
}

// Along the normal of the triangle above or below, which is exact where the field is flat. A cell is split as
// rigid bodies see it, from the corner of least x and y to the opposite one. Beyond the rim and below the
// base is nothing.
static obstacle_distance height_distance(const orr_model *m, int field, const double p[3])
{
    const double *size = m->hfield_size + (ptrdiff_t)field * 4;
    const int columns = m->hfield_ncol[field], rows = m->hfield_nrow[field];
    const float *data = m->hfield_data + m->hfield_adr[field];
    const double dx = 2.0 * size[0] / (columns - 1), dy = 2.0 * size[1] / (rows - 1);
    double u = (p[0] + size[0]) / dx, v = (p[1] + size[1]) / dy;
    if (!(u >= 0.0 && v >= 0.0 && u <= columns - 1 && v <= rows - 1 && p[2] >= -size[3])) {
        return (obstacle_distance){INFINITY, {0.0, 0.0, 1.0}};
    }
    int c = u < columns - 1 ? (int)u : columns - 2, r = v < rows - 1 ? (int)v : rows - 2;
    u -= c, v -= r;
    double z[4]; // of the corners 00, +x, +y, +x+y
    for (int i = 0; i < 4; i++) {
        z[i] = size[2] * (double)data[(ptrdiff_t)(r + i / 2) * columns + c + i % 2];
    }
    double sx = u > v ? z[1] - z[0] : z[3] - z[2], sy = u > v ? z[3] - z[1] : z[2] - z[0];
    double height = z[0] + u * sx + v * sy;
    double normal[3] = {-sx / dx, -sy / dy, 1.0};
    vec3_normalise(normal);
    return (obstacle_distance){(p[2] - height) * normal[2], make_real3(normal[0], normal[1], normal[2])};
}

static obstacle_distance function_distance_of(const orr_model *m, int geom, const double p[3])
{
    const double *prm = m->geom_functionprm + (ptrdiff_t)ORR_NFUNCTION * geom;
    distance_at at;
    if (m->geom_function[geom] == ORR_FUNCTION_OCTREE) {
        const int mesh = m->geom_dataid[geom];
        const double *box = m->mesh_octreebox + (ptrdiff_t)6 * mesh;
        const octree_view tree = {.child = m->octree_child + m->mesh_octreeadr[mesh],
                                  .coeff = m->octree_coeff + (ptrdiff_t)8 * m->mesh_octreeadr[mesh],
                                  .centre = {box[0], box[1], box[2]},
                                  .half = {box[3], box[4], box[5]}};
        at = octree_distance(&tree, p);
    } else {
        at = function_distance(m->geom_function[geom], prm, p);
    }
    double n[3] = {at.x, at.y, at.z};
    const double distance = vec3_normalise(n) > 0.0 ? at.d : INFINITY;
    return (obstacle_distance){distance, make_real3(n[0], n[1], n[2])};
}

static obstacle_distance distance_of(const orr_model *m, int geom, const double p[3])
{
    const double *size = m->geom_size + (ptrdiff_t)geom * 3;
    const real3 at = make_real3(p[0], p[1], p[2]);
    switch ((orr_geom_type)m->geom_type[geom]) {
    case ORR_GEOM_PLANE:
        return plane_distance(at);
    case ORR_GEOM_SPHERE:
        return sphere_distance(at, size[0]);
    case ORR_GEOM_CAPSULE:
        return capsule_distance(at, size[0], size[1]);
    case ORR_GEOM_ELLIPSOID:
        return ellipsoid_distance(at, size);
    case ORR_GEOM_CYLINDER:
        return cylinder_distance(at, size[0], size[1]);
    case ORR_GEOM_BOX:
        return box_distance(at, size[0], size[1], size[2]);
    case ORR_GEOM_MESH:
        return hull_distance(m, m->geom_dataid[geom], p);
    case ORR_GEOM_HFIELD:
        return height_distance(m, m->geom_dataid[geom], p);
    case ORR_GEOM_SDF:
        return m->geom_function[geom] ? function_distance_of(m, geom, p)
                                      : grid_distance(m, m->geom_dataid[geom], p);
    default:
        return (obstacle_distance){INFINITY, {0.0, 0.0, 1.0}};
    }
}

orr_geom_distance orr_geom_distance_at(const orr_model *m, int geom, const double p[3])
{
    const obstacle_distance d = distance_of(m, geom, p);
    return (orr_geom_distance){d.distance, {d.normal.x, d.normal.y, d.normal.z}};
}
