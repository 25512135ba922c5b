// A mesh asset: vertices scaled, inertia by integrals over the volume, everything moved into the principal
// frame, convex hull.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

#include <string.h>

static const double VOLUME_MIN = 1e-15; // [m^3], of a shell [m^2]: MuJoCo's

static void scale_normal(const spec_mesh *mesh, const double mat[9], float *normal)
{
    double n[3] = {(double)normal[0], (double)normal[1], (double)normal[2]};
    mat_apply_transposed(mat, n, n);
    for (int k = 0; k < 3; k++) {
        n[k] /= mesh->scale[k];
    }
    vec3_normalise(n);
    for (int k = 0; k < 3; k++) {
        normal[k] = (float)n[k];
    }
}

// One vertex of the file, turned back by refquat, about refpos.
static void scale_vertex(const spec_mesh *mesh, const double mat[9], double v[3])
{
    for (int k = 0; k < 3; k++) {
        v[k] -= mesh->refpos[k];
    }
    mat_apply_transposed(mat, v, v);
    for (int k = 0; k < 3; k++) {
        v[k] *= mesh->scale[k];
    }
}

// Vertices stay doubles until they are in the principal frame.
orr_result mesh_scale(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    double turn[4], mat[9];
    d->exact = orr_alloc(3 * (size_t)d->vertex_count, sizeof *d->exact);
    if (!d->exact) {
        return spec_memory_fail(error);
    }
    memcpy(turn, mesh->refquat, sizeof turn);
    quat_normalise(turn);
    quat_matrix(turn, mat);
    for (int i = 0; i < d->vertex_count; i++) {
        double *v = d->exact + 3 * (ptrdiff_t)i;
        for (int k = 0; k < 3; k++) {
            v[k] = (double)d->vertices[3 * i + k];
        }
        scale_vertex(mesh, mat, v);
        for (int k = 0; k < 3; k++) {
            d->vertices[3 * i + k] = (float)v[k];
        }
        scale_normal(mesh, mat, d->normals + 3 * (ptrdiff_t)i);
    }
    for (int i = 0; i < d->hull_vertex_count; i++) {
        scale_vertex(mesh, mat, d->hull_vertices + 3 * (ptrdiff_t)i);
    }
    for (int i = 0; i < 2 * d->point_count; i++) {
        scale_normal(mesh, mat, d->tangents + 3 * (ptrdiff_t)i); // as if they were normals, as in MuJoCo
    }
    if (mesh->scale[0] * mesh->scale[1] * mesh->scale[2] <
        0.0) { // mirrored: triangles are reversed, so that normals stay outward
        for (int f = 0; f < d->face_count; f++) {
            int32_t swap = d->faces[3 * f];
            d->faces[3 * f] = d->faces[3 * f + 1], d->faces[3 * f + 1] = swap;
        }
    }
    return ORR_OK;
}

// Vertices without a normal get the mean of their triangles' normals, weighted by area.
static void add_normals(mesh_data *d)
{
    bool *given = orr_alloc((size_t)d->vertex_count, sizeof *given);
    for (int i = 0; given && i < d->vertex_count; i++) {
        const float *n = d->normals + 3 * i;
        given[i] = n[0] != 0.0f || n[1] != 0.0f || n[2] != 0.0f;
    }
    for (int f = 0; given && f < d->face_count; f++) {
        const int32_t *face = d->faces + 3 * f;
        double a[3], b[3], normal[3];
        for (int k = 0; k < 3; k++) {
            a[k] = d->exact[3 * face[1] + k] - d->exact[3 * face[0] + k];
            b[k] = d->exact[3 * face[2] + k] - d->exact[3 * face[0] + k];
        }
        vec3_cross(a, b, normal);
        for (int k = 0; k < 9; k++) {
            if (!given[face[k / 3]]) {
                d->normals[3 * face[k / 3] + k % 3] += (float)normal[k % 3];
            }
        }
    }
    for (int i = 0; given && i < d->vertex_count; i++) {
        double n[3] = {(double)d->normals[3 * i], (double)d->normals[3 * i + 1],
                       (double)d->normals[3 * i + 2]};
        bool none = vec3_normalise(n) < 1e-14;
        for (int k = 0; k < 3; k++) {
            d->normals[3 * i + k] = none ? (float)(k == 2) : (float)n[k];
        }
    }
    orr_free(given);
}

typedef struct surface {
    const double *vertices;
    const int32_t *faces;
    int face_count;
} surface;

static void corner(const surface *s, int face, int k, const double origin[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = s->vertices[3 * s->faces[3 * face + k] + i] - origin[i];
    }
}

static double face_area(const double v[3][3], double normal[3])
{
    double a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = v[1][i] - v[0][i];
        b[i] = v[2][i] - v[0][i];
    }
    vec3_cross(a, b, normal);
    return 0.5 * vec3_length(normal);
}

// Second moments of the tetrahedra (or, of a shell, triangles) between `origin` and the faces; also volume
// and first moments. Tetrahedra on the wrong side count negative, with `legacy` all count positive.
static double integrate(const surface *s, const double origin[3], bool shell, bool legacy, double first[3],
                        double second[9])
{
    double sum = 0.0;
    memset(first, 0, 3 * sizeof *first);
    memset(second, 0, 9 * sizeof *second);
    for (int f = 0; f < s->face_count; f++) {
        double v[3][3], normal[3], total[3];
        for (int k = 0; k < 3; k++) {
            corner(s, f, k, origin, v[k]);
        }
        double area = face_area((const double(*)[3])v, normal), volume = vec3_dot(v[0], normal) / 6.0;
        double size = shell ? area : legacy ? fabs(volume) : volume;
        // the mean of x x^T over a simplex of n corners (the origin is one of a tetrahedron's)
        double share = shell ? 1.0 / 12.0 : 1.0 / 20.0;
        for (int i = 0; i < 3; i++) {
            total[i] = v[0][i] + v[1][i] + v[2][i];
            first[i] += size * total[i] / (shell ? 3.0 : 4.0);
        }
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double corners = v[0][i] * v[0][j] + v[1][i] * v[1][j] + v[2][i] * v[2][j];
                second[3 * i + j] += size * share * (corners + total[i] * total[j]);
            }
        }
        sum += size;
    }
    return sum;
}

// The mean of the triangles' centres, weighted by area: the origin of MuJoCo's legacy integrals.
static void face_centre(const surface *s, double centre[3])
{
    static const double zero[3];
    double sum = 0.0, mean[3] = {0.0};
    for (int f = 0; f < s->face_count; f++) {
        double v[3][3], normal[3];
        for (int k = 0; k < 3; k++) {
            corner(s, f, k, zero, v[k]);
        }
        double area = face_area((const double(*)[3])v, normal);
        for (int i = 0; i < 3; i++) {
            mean[i] += area * (v[0][i] + v[1][i] + v[2][i]) / 3.0;
        }
        sum += area;
    }
    for (int i = 0; i < 3; i++) {
        centre[i] = sum > 0.0 ? mean[i] / sum : 0.0;
    }
}

// What is wrong with a surface whose volume (of a shell: area) is not above VOLUME_MIN.
static orr_result fail_by_volume(const spec_mesh *mesh, const surface *s, double volume, orr_error *error)
{
    static const double zero[3];
    if (volume < -VOLUME_MIN) {
        return spec_fail(&mesh->head, error,
                         "expected triangles that are counter-clockwise from outside (or inertia=\"shell\")");
    }
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 3 * s->face_count; i++) {
        double v[3];
        corner(s, i / 3, i % 3, zero, v);
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], v[k]);
            high[k] = fmax(high[k], v[k]);
        }
    }
    bool shell = mesh->inertia == SPEC_MESH_SHELL;
    return spec_fail(&mesh->head, error,
                     "size %.3g x %.3g x %.3g m, %s %.3g m^%d: expected more than %g m^%d", high[0] - low[0],
                     high[1] - low[1], high[2] - low[2], shell ? "area" : "volume", volume, shell ? 2 : 3,
                     VOLUME_MIN, shell ? 2 : 3);
}

static orr_result find_inertia(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    bool shell = mesh->inertia == SPEC_MESH_SHELL, legacy = mesh->inertia == SPEC_MESH_LEGACY;
    surface s = {.vertices = d->exact, .faces = d->faces, .face_count = d->face_count};
    if (mesh->inertia == SPEC_MESH_CONVEX) {
        s = (surface){.vertices = d->hull_vertices, .faces = d->hull_faces, .face_count = d->hull_face_count};
    }
    double centre[3], first[3], second[9], matrix[9];
    face_centre(&s, centre);
    d->volume = integrate(&s, centre, shell, legacy, first, second);
    if (!(d->volume > VOLUME_MIN)) {
        return fail_by_volume(mesh, &s, d->volume, error);
    }
    for (int i = 0; i < 3; i++) {
        d->pos[i] = centre[i] + first[i] / d->volume;
    }
    d->volume = integrate(&s, d->pos, shell, legacy, first, second);
    double trace = second[0] + second[4] + second[8];
    for (int i = 0; i < 9; i++) {
        matrix[i] = (i % 4 == 0 ? trace : 0.0) - second[i];
    }
    principal_moments(matrix, true, d->moment, d->quat);
    return d->moment[2] > 0.0 ? ORR_OK
                              : spec_fail(&mesh->head, error, "expected a positive moment of inertia");
}

static void to_frame(const double mat[9], const double origin[3], double v[3])
{
    for (int k = 0; k < 3; k++) {
        v[k] -= origin[k];
    }
    mat_apply_transposed(mat, v, v);
}

// gcc 12 at -O2 drops the rounding where it vectorises (double)(float)x of adjacent numbers; volatile
// prevents that.
static double rounded_to_float(double x)
{
    volatile float narrow = (float)x;
    return (double)narrow;
}

static void move_floats(const double mat[9], const double origin[3], float v[3])
{
    double moved[3] = {(double)v[0], (double)v[1], (double)v[2]};
    to_frame(mat, origin, moved);
    for (int k = 0; k < 3; k++) {
        v[k] = (float)moved[k];
    }
}

static void centre_mesh(mesh_data *d)
{
    static const double zero[3];
    double mat[9];
    quat_matrix(d->quat, mat);
    for (int k = 0; k < 3; k++) {
        d->low[k] = INFINITY, d->high[k] = -INFINITY;
    }
    for (int i = 0; i < d->vertex_count; i++) {
        double *v = d->exact + 3 * (ptrdiff_t)i, n[3];
        for (int k = 0; k < 3; k++) {
            n[k] = (double)d->normals[3 * i + k];
        }
        to_frame(mat, d->pos, v);
        to_frame(mat, zero, n);
        for (int k = 0; k < 3; k++) {
            d->vertices[3 * i + k] = (float)v[k];
            d->normals[3 * i + k] = (float)n[k];
            d->low[k] = fmin(d->low[k], v[k]);
            d->high[k] = fmax(d->high[k], v[k]);
        }
    }
    for (int i = 0; i < d->point_count; i++) {
        move_floats(mat, d->pos, d->points + 3 * (ptrdiff_t)i);
        move_floats(mat, zero, d->tangents + 6 * (ptrdiff_t)i);
        move_floats(mat, zero, d->tangents + 6 * (ptrdiff_t)i + 3);
    }
    for (int i = 0; i < d->hull_vertex_count; i++) {
        double *v = d->hull_vertices + 3 * i;
        to_frame(mat, d->pos, v);
        for (int k = 0; k < 3;
             k++) { // as the drawn vertices: which vertex of a flat side is lowest depends on it
            v[k] = rounded_to_float(v[k]);
        }
    }
}

// Keeps the tangents of all vertices, for a tactile sensor.
static orr_result take_tangents(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    const size_t count = (size_t)d->vertex_count;
    d->tangents = orr_alloc_zero(6 * count, sizeof *d->tangents);
    if (!d->tangents) {
        return spec_memory_fail(error);
    }
    d->point_count = d->vertex_count;
    if (mesh->builtin) {
        mesh_builtin_tangents(mesh, d->vertex_count, d->tangents);
    } else if (!mesh->file && (size_t)mesh->normal.count == 9 * count) {
        for (size_t i = 0; i < 6 * count; i++) {
            d->tangents[i] = (float)mesh->normal.values[i / 6 * 9 + 3 + i % 6];
        }
    }
    return ORR_OK;
}

// Keeps all vertices, scaled, before those replace them that the hull has.
static orr_result take_points(mesh_data *d, orr_error *error)
{
    const size_t numbers = 3 * (size_t)d->point_count;
    d->points = orr_alloc(numbers, sizeof *d->points);
    if (!d->points) {
        return spec_memory_fail(error);
    }
    memcpy(d->points, d->vertices, numbers * sizeof *d->points);
    return ORR_OK;
}

// Vertices without triangles have those of their convex hull. All vertices stay: a hull that may not have all
// (maxhullvert) is smaller than the box around them.
static orr_result take_hull_faces(mesh_data *d, orr_error *error)
{
    if (d->face_count > 0) {
        return ORR_OK;
    }
    size_t faces = (size_t)d->hull_face_count;
    orr_free(d->faces);
    d->faces = orr_alloc(3 * faces, sizeof *d->faces);
    if (!d->faces) {
        return spec_memory_fail(error);
    }
    d->face_count = d->hull_face_count;
    for (size_t i = 0; i < 3 * faces; i++) {
        d->faces[i] = d->hull_points[d->hull_faces[i]];
    }
    return ORR_OK;
}

static orr_result build(const spec_mesh *mesh, bool collides, bool thick, mesh_data *d, orr_error *error)
{
    if (mesh->scale[0] == 0.0 || mesh->scale[1] == 0.0 || mesh->scale[2] == 0.0) {
        return spec_fail(&mesh->head, error, "scale: expected numbers other than 0");
    }
    ORR_TRY(mesh_load(mesh, d, error));
    if (thick) {
        ORR_TRY(mesh_thicken(mesh, d, error));
    }
    if (d->sensed) {
        ORR_TRY(take_tangents(mesh, d, error));
    }
    // of the vertices as they are in the file, as in MuJoCo: their last bits decide which triangles qhull
    // gives to a flat side, and in which order. Meshes that need no hull may be flat.
    if (collides || mesh->inertia == SPEC_MESH_CONVEX || d->face_count == 0) {
        ORR_TRY(mesh_hull(mesh, d, error));
    }
    ORR_TRY(mesh_scale(mesh, d, error));
    mesh_hull_orient(d);
    if (d->sensed) {
        ORR_TRY(take_points(d, error));
    }
    ORR_TRY(take_hull_faces(d, error));
    add_normals(d);
    ORR_TRY(find_inertia(mesh, d, error));
    if (mesh->function
            .kind) { // stays where its function is; so do the moments, as if about axes of its frame
        memset(d->pos, 0, sizeof d->pos);
        d->quat[0] = 1.0, d->quat[1] = d->quat[2] = d->quat[3] = 0.0;
    }
    centre_mesh(d);
    return d->as_octree ? mesh_octree(mesh, d, error) : ORR_OK;
}

orr_result mesh_build(const spec_mesh *mesh, bool collides, mesh_data *d, orr_error *error)
{
    mesh_data thick = {.thickened = true, .sensed = d->sensed, .as_octree = d->as_octree};
    orr_result result = build(mesh, collides, false, d, error);
    if (result == ORR_OK || !mesh->thickens || d->vertex_count == 0) {
        return result;
    }
    // the error stays that of the mesh as it is
    if (build(mesh, collides, true, &thick, NULL) != ORR_OK) {
        mesh_data_free(&thick);
        return result;
    }
    mesh_data_free(d);
    *d = thick;
    return ORR_OK;
}
