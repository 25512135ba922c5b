#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "engine/loop/pick_ray.h"

#include "engine/maths/triangle_formula.h"
#include "neural/capture/fisheye.h"
#include "neural/capture/ray_formula.h"

orr_pick_ray orr_pick_ray_through(const orr_lens *lens, const float pose[12], float x, float y)
{
    const float *k = lens->radial, *p = lens->tangential;
    ray_camera c = {.lens = {.focal_x = (double)lens->focal[0],
                             .focal_y = (double)lens->focal[1],
                             .centre_x = (double)lens->centre[0],
                             .centre_y = (double)lens->centre[1],
                             .k1 = (double)k[0],
                             .k2 = (double)k[1],
                             .k3 = (double)k[2],
                             .k4 = (double)k[3],
                             .p1 = (double)p[0],
                             .p2 = (double)p[1]},
                    .distorted = lens->distorted,
                    .orthographic = lens->orthographic,
                    .scale = 1.0};
    c.lens.fisheye_limit = lens->distorted && lens->fisheye ? (double)orr_fisheye_limit(k) : 0.0;
    for (int i = 0; i < 3; i++) {
        const float *row = pose + 4 * i;
        for (int axis = 0; axis < 3; axis++) {
            c.axes[axis][i] = (double)row[axis];
        }
        c.origin[i] = (double)row[3];
    }
    camera_ray ray = ray_of_pixel(c, make_real2((double)x, (double)y));
    return (orr_pick_ray){.origin = {ray.origin.x, ray.origin.y, ray.origin.z},
                          .direction = {ray.direction.x, ray.direction.y, ray.direction.z},
                          .depth = ray.depth};
}

void orr_pick_ray_point(const orr_pick_ray *ray, double depth, float point[3])
{
    for (int i = 0; i < 3; i++) {
        point[i] = (float)(ray->origin[i] + depth / ray->depth * ray->direction[i]);
    }
}

static real3 map(const float m[12], const double v[3], double w)
{
    double out[3];
    for (int i = 0; i < 3; i++) {
        const float *row = m + 4 * i;
        out[i] = (double)row[0] * v[0] + (double)row[1] * v[1] + (double)row[2] * v[2] + w * (double)row[3];
    }
    return make_real3(out[0], out[1], out[2]);
}

static real3 corner(const orr_mesh *mesh, int64_t index)
{
    const float *p = mesh->vertices[mesh->indices[index]].position;
    return make_real3((double)p[0], (double)p[1], (double)p[2]);
}

// Does the ray come from the side on which the corners go round counter-clockwise?
static bool meets_front(real3 direction, real3 edge1, real3 edge2)
{
    return dot3(direction, cross3(edge1, edge2)) < 0.0;
}

int64_t orr_pick_ray_mesh(const orr_pick_ray *ray, const orr_mesh *mesh, const float model[12],
                          double near_depth, double *depth)
{
    float inverse[12];
    if (orr_affine_invert(model, inverse, NULL) != ORR_OK) {
        return -1;
    }
    // affine maps leave distances along the ray as they are, in units of its mapped direction
    const real3 origin = map(inverse, ray->origin, 1.0), direction = map(inverse, ray->direction, 0.0);
    int64_t found = -1;
    for (int k = 0; k < mesh->part_count; k++) {
        const orr_mesh_part *part = &mesh->parts[k];
        bool two_sided = mesh->materials[part->material].two_sided;
        int64_t end = (int64_t)part->first_index + part->index_count;
        for (int64_t i = part->first_index; i < end; i += 3) {
            real3 a = corner(mesh, i), edge1 = sub3(corner(mesh, i + 1), a),
                  edge2 = sub3(corner(mesh, i + 2), a);
            triangle_hit hit = intersect_triangle(sub3(origin, a), direction, edge1, edge2, 0.0);
            double at = hit.distance * ray->depth;
            if (hit.inside && at >= near_depth && at < *depth &&
                (two_sided || meets_front(direction, edge1, edge2))) {
                *depth = at;
                found = i / 3;
            }
        }
    }
    return found;
}
