// Tests of marching cubes: surfaces are closed manifolds whatever the function, and are where they should be.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "neural/fields/marching_cubes.h"
#include "neural/fields/surface_file.h"
#include "render/mesh.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static orr_jobs *make_jobs(int threads)
{
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(threads, NULL, NULL, &jobs, &error));
    return jobs;
}

// ---- functions ----

static void sphere_values(void *context, int worker, const float *points, float *values)
{
    (void)worker;
    const float radius = *(const float *)context;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        float x = points[i] - 0.5f, y = points[ORR_SAMPLES + i] - 0.5f,
              z = points[2 * ORR_SAMPLES + i] - 0.5f;
        values[i] = sqrtf(x * x + y * y + z * z) - radius;
    }
}

static void sphere_gradients(void *context, int worker, const float *points, float *gradients)
{
    (void)context, (void)worker;
    for (int i = 0; i < 3 * ORR_SAMPLES; i++) {
        gradients[i] = points[i] - 0.5f;
    }
}

static void position_as_colour(void *context, int worker, const float *points, const float *normals,
                               uint8_t *colours)
{
    (void)context, (void)worker, (void)normals;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        for (int k = 0; k < 4; k++) {
            colours[4 * i + k] = k < 3 ? (uint8_t)(255.0f * points[k * ORR_SAMPLES + i]) : 255;
        }
    }
}

// Noise: every lattice point is inside or outside by a coin, so that all 256 cases occur beside each other;
// some values are no numbers.
static void noise_values(void *context, int worker, const float *points, float *values)
{
    (void)context, (void)worker;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        uint32_t at[3];
        for (int k = 0; k < 3; k++) {
            at[k] = (uint32_t)lrintf(points[k * ORR_SAMPLES + i] * 16.0f);
        }
        uint32_t bits = (uint32_t)orr_random_bits(7, 1, at[0] + 32 * at[1] + 1024 * at[2]);
        values[i] = bits % 97 == 0 ? NAN : (float)(int32_t)bits;
    }
}

// ---- what a surface is ----

static int compare_edges(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Every edge has two triangles, which pass it in opposite directions. Returns V - E + F.
static int64_t assert_closed(const orr_surface *s)
{
    int64_t count = 3 * s->triangle_count;
    uint64_t *edges = malloc((size_t)count * sizeof *edges), *turned = malloc((size_t)count * sizeof *edges);
    assert_true(edges && turned && count > 0);
    for (int64_t t = 0; t < s->triangle_count; t++) {
        for (int k = 0; k < 3; k++) {
            uint64_t a = s->indices[3 * t + k], b = s->indices[3 * t + (k + 1) % 3];
            assert_true(a < (uint64_t)s->vertex_count && a != b);
            edges[3 * t + k] = a << 32 | b;
            turned[3 * t + k] = b << 32 | a;
        }
    }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    qsort(turned, (size_t)count, sizeof *turned, compare_edges);
    assert_memory_equal(edges, turned, (size_t)count * sizeof *edges);
    for (int64_t i = 1; i < count; i++) {
        assert_true(edges[i] != edges[i - 1]);
    }
    free(edges);
    free(turned);
    return s->vertex_count - count / 2 + s->triangle_count;
}

static void assert_finite(const orr_surface *s)
{
    for (int64_t i = 0; i < s->vertex_count; i++) {
        const float *n = s->normals + 3 * i;
        float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        assert_true(fabsf(length - 1.0f) < 1e-5f); // rounding of a few operations
        for (int k = 0; k < 3; k++) {
            assert_true(s->positions[3 * i + k] >= 0.0f && s->positions[3 * i + k] <= 1.0f);
        }
    }
}

static double degrees_from_radius(const orr_surface *s, int64_t i)
{
    double dot = 0.0, length = 0.0;
    for (int k = 0; k < 3; k++) {
        double offset = (double)s->positions[3 * i + k] - 0.5;
        dot += offset * (double)s->normals[3 * i + k];
        length += offset * offset;
    }
    return acos(fmin(dot / sqrt(length), 1.0)) * 180.0 / 3.14159265358979;
}

static void a_sphere_is_closed_round_and_faces_outwards(void **state)
{
    (void)state;
    orr_jobs *jobs = make_jobs(2);
    float radius = 0.4f;
    for (int with_gradients = 0; with_gradients < 2; with_gradients++) {
        orr_marching_function function = {.context = &radius, .values = sphere_values};
        function.gradients = with_gradients ? sphere_gradients : NULL;
        orr_surface s;
        assert_ok(orr_marching_cubes(&function, jobs, (int[3]){50, 50, 50}, &s, &error));
        assert_int_equal(assert_closed(&s), 2);
        assert_finite(&s);
        assert_null(s.colours);
        for (int64_t i = 0; i < s.vertex_count; i++) {
            // by the gradient exact; by the triangles the mean of facets that are 1/50 / 0.4 = 3 degrees wide
            assert_true(degrees_from_radius(&s, i) < (with_gradients ? 0.1 : 5.0));
            double length = 0.0;
            for (int k = 0; k < 3; k++) {
                length += pow((double)s.positions[3 * i + k] - 0.5, 2.0);
            }
            // a chord of one cell bends by step^2 / 8 r; the function is not linear by as much
            assert_true(fabs(sqrt(length) - 0.4) < 0.02 * 0.02 / (4.0 * 0.4));
        }
        orr_surface_free(&s);
    }
    orr_jobs_destroy(jobs);
}

static void a_shape_that_leaves_the_cube_is_closed_at_its_walls(void **state)
{
    (void)state;
    orr_jobs *jobs = make_jobs(1);
    float radius = 0.6f; // through all six walls, not through the edges of the cube
    const orr_marching_function function = {.context = &radius, .values = sphere_values};
    orr_surface s;
    assert_ok(orr_marching_cubes(&function, jobs, (int[3]){20, 20, 20}, &s, &error));
    assert_int_equal(assert_closed(&s), 2);
    assert_finite(&s);
    orr_surface_free(&s);
    radius = -1.0f; // nothing is inside
    assert_ok(orr_marching_cubes(&function, jobs, (int[3]){20, 20, 20}, &s, &error));
    assert_true(s.vertex_count == 0 && s.triangle_count == 0);
    orr_surface_free(&s);
    orr_jobs_destroy(jobs);
}

static void a_box_of_cells_is_a_part_of_the_cube(void **state)
{
    (void)state;
    orr_jobs *jobs = make_jobs(2);
    float radius = 0.1f;
    const orr_marching_function function = {.context = &radius, .values = sphere_values};
    orr_surface cube, box;
    assert_ok(orr_marching_cubes(&function, jobs, (int[3]){40, 40, 40}, &cube, &error));
    assert_ok(orr_marching_cubes(&function, jobs, (int[3]){26, 40, 30}, &box, &error));
    assert_int_equal(assert_closed(&box), 2);
    assert_int_equal(box.vertex_count, cube.vertex_count);
    assert_int_equal(box.triangle_count, cube.triangle_count);
    assert_memory_equal(box.positions, cube.positions, (size_t)box.vertex_count * 3 * sizeof(float));
    assert_memory_equal(box.indices, cube.indices, (size_t)box.triangle_count * 3 * sizeof(uint32_t));
    orr_surface_free(&cube);
    orr_surface_free(&box);
    orr_jobs_destroy(jobs);
}

static void noise_is_closed_in_all_256_cases_for_any_number_of_threads(void **state)
{
    (void)state;
    const orr_marching_function function = {.values = noise_values, .colours = position_as_colour};
    orr_surface first = {0};
    for (int threads = 1; threads <= 3; threads++) {
        orr_jobs *jobs = make_jobs(threads);
        orr_surface s;
        assert_ok(orr_marching_cubes(&function, jobs, (int[3]){16, 16, 16}, &s, &error));
        assert_closed(&s);
        assert_finite(&s);
        assert_int_equal(s.colours[3], 255);
        if (threads == 1) {
            first = s;
        } else {
            size_t vertices = (size_t)first.vertex_count * 3 * sizeof(float);
            assert_int_equal(s.vertex_count, first.vertex_count);
            assert_int_equal(s.triangle_count, first.triangle_count);
            assert_memory_equal(s.positions, first.positions, vertices);
            assert_memory_equal(s.normals, first.normals, vertices);
            assert_memory_equal(s.indices, first.indices, (size_t)s.triangle_count * 3 * sizeof(uint32_t));
            orr_surface_free(&s);
        }
        orr_jobs_destroy(jobs);
    }
    orr_surface_free(&first);
}

static void surfaces_are_written_as_ply_obj_and_glb(void **state)
{
    (void)state;
    orr_jobs *jobs = make_jobs(1);
    float radius = 0.4f;
    const orr_marching_function function = {.context = &radius,
                                            .values = sphere_values,
                                            .gradients = sphere_gradients,
                                            .colours = position_as_colour};
    orr_surface s;
    assert_ok(orr_marching_cubes(&function, jobs, (int[3]){12, 12, 12}, &s, &error));
    const float twice[12] = {2, 0, 0, -1, 0, 2, 0, -1, 0, 0, 2, -1};
    orr_surface_transform(&s, twice);
    static const char *const names[] = {"sphere.ply", "sphere.obj", "sphere.glb"};
    for (int i = 0; i < 3; i++) {
        const char *path = scratch_path(names[i]);
        assert_true(orr_surface_writable(path));
        assert_ok(orr_surface_save(&s, path, &error));
        orr_mesh *mesh;
        assert_ok(orr_mesh_load(path, &mesh, &error));
        assert_int_equal(mesh->index_count, 3 * s.triangle_count);
        for (int k = 0; k < 3; k++) {
            // 12 cells: the poles are a chord's bend inside the radius of 0.8
            assert_true(fabsf(mesh->low[k] + 0.8f) < 0.01f && fabsf(mesh->high[k] - 0.8f) < 0.01f);
        }
        const orr_mesh_vertex *v = &mesh->vertices[mesh->indices[0]];
        float dot = 0.0f, length = 0.0f;
        for (int k = 0; k < 3; k++) {
            dot += v->position[k] * v->normal[k];
            length += v->position[k] * v->position[k];
        }
        assert_true(dot > 0.999f * sqrtf(length));
        orr_mesh_destroy(mesh);
    }
    orr_error why;
    assert_false(orr_surface_writable("sphere.stl"));
    assert_int_equal(orr_surface_save(&s, scratch_path("sphere.stl"), &why), ORR_ERROR_FORMAT);
    orr_surface_free(&s);
    assert_int_equal(orr_marching_cubes(&function, jobs, (int[3]){1, 1, 1}, &s, &why), ORR_ERROR_ARGUMENT);
    orr_jobs_destroy(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sphere_is_closed_round_and_faces_outwards),
        cmocka_unit_test(a_shape_that_leaves_the_cube_is_closed_at_its_walls),
        cmocka_unit_test(a_box_of_cells_is_a_part_of_the_cube),
        cmocka_unit_test(noise_is_closed_in_all_256_cases_for_any_number_of_threads),
        cmocka_unit_test(surfaces_are_written_as_ply_obj_and_glb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
