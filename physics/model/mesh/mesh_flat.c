// A mesh whose vertices lie in a plane, given a thickness, for importers of files in which such meshes
// collide.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

#include <math.h>
#include <string.h>

static const double half_thickness = 1e-3; // m; the margin that Bullet gives to the hulls of URDF files

static void scaled_corner(const spec_mesh *mesh, const mesh_data *d, int vertex, double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = mesh->scale[k] * (double)d->vertices[3 * vertex + k];
    }
}

// The normal of the largest triangle, after scaling. Returns whether all vertices are in its plane.
static bool find_plane(const spec_mesh *mesh, const mesh_data *d, double normal[3])
{
    static const double rounding = 1e-6; // of the mesh's size: coordinates are floats
    double largest = 0.0, size = 0.0, distance = 0.0, first[3];
    for (int f = 0; f < d->face_count; f++) {
        const int32_t *face = d->faces + 3 * (ptrdiff_t)f;
        double a[3], b[3], c[3], cross[3];
        scaled_corner(mesh, d, face[0], a);
        scaled_corner(mesh, d, face[1], b);
        scaled_corner(mesh, d, face[2], c);
        for (int k = 0; k < 3; k++) {
            b[k] -= a[k];
            c[k] -= a[k];
        }
        vec3_cross(b, c, cross);
        double area = vec3_normalise(cross);
        if (area > largest) {
            largest = area;
            memcpy(normal, cross, sizeof cross);
        }
    }
    if (!(largest > 0.0)) {
        return false;
    }
    scaled_corner(mesh, d, 0, first);
    for (int i = 1; i < d->vertex_count; i++) {
        double p[3];
        scaled_corner(mesh, d, i, p);
        for (int k = 0; k < 3; k++) {
            p[k] -= first[k];
        }
        size = fmax(size, vec3_length(p));
        distance = fmax(distance, fabs(vec3_dot(p, normal)));
    }
    return distance <= rounding * size;
}

orr_result mesh_thicken(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    double normal[3];
    if (!find_plane(mesh, d, normal)) {
        return spec_fail(&mesh->head, error, "expected vertices in a plane");
    }
    const int count = d->vertex_count;
    mesh_data thick = {
        .thickened = true, .sensed = d->sensed, .as_octree = d->as_octree, .corners = d->corners};
    orr_result result = mesh_data_take(&thick, 2 * count, 0, error); // triangles are those of the hull
    for (int i = 0; result == ORR_OK && i < 6 * count; i++) {
        const int k = i % 3;
        const double way = i < 3 * count ? half_thickness : -half_thickness;
        thick.vertices[i] = (float)((double)d->vertices[i % (3 * count)] + way * normal[k] / mesh->scale[k]);
    }
    mesh_data_free(d);
    *d = thick;
    return result;
}
