// Meshes that are made from numbers, against those of MuJoCo (tests/golden/record_meshes.py): vertices,
// normals and triangles. Sizes and inertia are compared by test_mjcf.
#include "physics/load/load.h"
#include "tests/physics/golden_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Vertices are floats of up to 1 m, with half a unit in the last place (3e-8) from the making, from the scale
// and from the move into the principal frame, whose centre and axes carry the vertices' own rounding.
#define VERTEX_TOLERANCE 2e-7
// A normal is a sum of products of edges of 0.05 m or more, each off by the vertices' 2e-7 / 0.05 at most.
#define NORMAL_TOLERANCE 1e-5

typedef struct recorded_mesh {
    int vertices, faces;
    const double *vertex, *normal, *face;
} recorded_mesh;

static recorded_mesh take_mesh(golden_numbers *g)
{
    const double *counts = golden_numbers_take(g, 2);
    recorded_mesh mesh = {.vertices = (int)counts[0], .faces = (int)counts[1]};
    mesh.vertex = golden_numbers_take(g, 3 * mesh.vertices);
    mesh.normal = golden_numbers_take(g, 3 * mesh.vertices);
    mesh.face = golden_numbers_take(g, 3 * mesh.faces);
    return mesh;
}

static double distance(const float *a, const double *b)
{
    const double x = (double)a[0] - b[0], y = (double)a[1] - b[1], z = (double)a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

// Where the triangles are those of the hull, vertices are in its order here, and as they were made there.
static void assert_same_points(const orr_model *m, int mesh, const recorded_mesh *golden)
{
    const float *vertex = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh];
    for (int i = 0; i < golden->vertices; i++) {
        double nearest = INFINITY;
        for (int j = 0; j < m->mesh_vertnum[mesh]; j++) {
            nearest = fmin(nearest, distance(vertex + 3 * j, golden->vertex + 3 * i));
        }
        assert_true(nearest < VERTEX_TOLERANCE);
    }
}

static double cosine(const recorded_mesh *golden, const double *face, const double *direction)
{
    const double *a = golden->vertex + 3 * (int)face[0], *b = golden->vertex + 3 * (int)face[1],
                 *c = golden->vertex + 3 * (int)face[2];
    double along = 0.0, squares = 0.0;
    for (int x = 0; x < 3; x++) {
        const int y = (x + 1) % 3, z = (x + 2) % 3;
        const double normal = (b[y] - a[y]) * (c[z] - a[z]) - (b[z] - a[z]) * (c[y] - a[y]);
        along += normal * direction[x];
        squares += normal * normal;
    }
    return along / sqrt(squares);
}

// Whether no triangle at a vertex is far from its normal: those that are MuJoCo leaves out of it
// (smoothnormal="false"), and this engine does not.
static bool is_smooth(const recorded_mesh *golden, int vertex)
{
    bool smooth = true;
    for (int i = 0; i < 3 * golden->faces && smooth; i++) {
        smooth = (int)golden->face[i] != vertex ||
                 cosine(golden, golden->face + i / 3 * 3, golden->normal + 3 * vertex) > 0.85;
    }
    return smooth;
}

static void assert_same_triangles(const orr_model *m, int mesh, const recorded_mesh *golden)
{
    const float *vertex = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh];
    const int32_t *face = m->mesh_face + 3 * (ptrdiff_t)m->mesh_faceadr[mesh];
    assert_int_equal(m->mesh_vertnum[mesh], golden->vertices);
    for (int i = 0; i < golden->vertices; i++) {
        assert_true(distance(vertex + 3 * i, golden->vertex + 3 * i) < VERTEX_TOLERANCE);
    }
    for (int i = 0; i < golden->faces; i++) { // mirrored ones begin at another corner
        const int32_t *ours = face + 3 * i;
        const double *theirs = golden->face + 3 * i;
        const int turn = ours[0] == (int)theirs[0] ? 0 : ours[0] == (int)theirs[1] ? 1 : 2;
        for (int k = 0; k < 3; k++) {
            assert_int_equal(ours[k], (int)theirs[(k + turn) % 3]);
        }
    }
}

static int assert_same_normals(const orr_model *m, int mesh, const recorded_mesh *golden)
{
    const float *normal = m->mesh_normal + 3 * (ptrdiff_t)m->mesh_vertadr[mesh];
    int compared = 0;
    for (int i = 0; i < golden->vertices; i++) {
        if (is_smooth(golden, i)) {
            assert_true(distance(normal + 3 * i, golden->normal + 3 * i) < NORMAL_TOLERANCE);
            compared++;
        }
    }
    return compared;
}

static void builtin_meshes_are_those_of_mujoco(void **state)
{
    (void)state;
    golden_numbers g = golden_numbers_load("builtin_meshes");
    orr_model *m;
    assert_ok(orr_model_load(source_path("tests/golden/models/builtin_meshes.xml"), &m, &error));
    static const char *const of_hull[] = {"cone", "tip", "wedge", "slice", NULL};
    static const char *const convex[] = {"sphere", "hemisphere", "supersphere", "mirrored", NULL};
    int normals = 0;
    for (int i = 0; i < m->nmesh; i++) {
        const recorded_mesh golden = take_mesh(&g);
        const char *name = orr_model_name(m, ORR_OBJECT_MESH, i);
        print_message("%s\n", name);
        assert_int_equal(m->mesh_facenum[i], golden.faces);
        if (is_one_of(name, of_hull)) {
            assert_same_points(m, i, &golden);
        } else {
            assert_same_triangles(m, i, &golden);
        }
        normals += is_one_of(name, convex) ? assert_same_normals(m, i, &golden) : 0;
    }
    assert_int_equal(normals, 55); // of 114; the others are at edges
    assert_ptr_equal(g.next, g.behind);
    orr_model_destroy(m);
    orr_free(g.numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(builtin_meshes_are_those_of_mujoco)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
