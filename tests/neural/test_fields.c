// Tests of what fields are trained on, and of drawing them: against shapes whose distances are known.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/image/picture.h"
#include "engine/maths/rng.h"
#include "neural/fields/density_cloud.h"
#include "neural/fields/draw.h"
#include "neural/fields/mesh_distance.h"
#include "neural/fields/mesh_tree.h"
#include "neural/training/field_trainer.h"
#include "neural/training/image_samples.h"
#include "neural/training/sdf_samples.h"
#include "neural/training/volume_samples.h"
#include "orr_features.h"
#include "render/mesh.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A ball of longitude and latitude around (0.5, 0.5, 0.5); `rows` x 2 `rows` quads, the last `missing` of
// them left out.
static orr_mesh ball_mesh(float radius, int rows, int missing)
{
    enum { ROWS_MAX = 64 };
    static orr_mesh_vertex vertices[(ROWS_MAX + 1) * 2 * ROWS_MAX];
    static uint32_t corners[ROWS_MAX * 2 * ROWS_MAX * 6];
    int columns = 2 * rows;
    for (int i = 0; i < (rows + 1) * columns; i++) {
        float latitude = 3.14159265f * (float)(i / columns) / (float)rows;
        float longitude = 6.2831853f * (float)(i % columns) / (float)columns;
        const float normal[3] = {sinf(latitude) * cosf(longitude), sinf(latitude) * sinf(longitude),
                                 cosf(latitude)};
        for (int k = 0; k < 3; k++) {
            vertices[i].normal[k] = normal[k];
            vertices[i].position[k] = 0.5f + radius * normal[k];
        }
    }
    int quads = rows * columns - missing;
    for (int i = 0; i < quads; i++) {
        uint32_t a = (uint32_t)i, below = a + (uint32_t)columns,
                 row = a / (uint32_t)columns * (uint32_t)columns;
        uint32_t b = row + (a + 1) % (uint32_t)columns, c = b + (uint32_t)columns;
        const uint32_t quad[6] = {a, below, c, a, c, b};
        memcpy(corners + 6 * i, quad, sizeof quad);
    }
    orr_mesh mesh = {.vertices = vertices, .indices = corners, .vertex_count = (rows + 1) * columns};
    mesh.index_count = 6 * quads;
    for (int k = 0; k < 3; k++) {
        mesh.low[k] = 0.5f - radius;
        mesh.high[k] = 0.5f + radius;
    }
    return mesh;
}

// jobs: NULL: this thread builds it
static orr_mesh_distance *make_ball_by(orr_jobs *jobs, float radius, int rows, int missing)
{
    orr_mesh ball = ball_mesh(radius, rows, missing);
    float *positions = orr_alloc((size_t)ball.vertex_count * 3, sizeof *positions);
    assert_non_null(positions);
    for (int64_t i = 0; i < 3 * ball.vertex_count; i++) {
        positions[i] = ball.vertices[i / 3].position[i % 3];
    }
    orr_mesh_distance *mesh;
    assert_ok(orr_mesh_distance_create(positions, ball.vertex_count, ball.indices, ball.index_count / 3, jobs,
                                       "ball", &mesh, &error));
    orr_free(positions);
    return mesh;
}

static orr_mesh_distance *make_ball(float radius, int rows, int missing)
{
    return make_ball_by(NULL, radius, rows, missing);
}

static void random_position(uint32_t i, float position[3])
{
    orr_rng rng = {.seed = 9, .stream = i};
    for (int k = 0; k < 3; k++) {
        position[k] = orr_rng_uniform(&rng);
    }
}

static void distances_to_a_ball_are_those_of_a_sphere(void **state)
{
    (void)state;
    orr_mesh_distance *ball = make_ball(0.3f, 60, 0);
    for (uint32_t i = 0; i < 3000; i++) {
        float position[3], square = 0.0f;
        random_position(i, position);
        for (int k = 0; k < 3; k++) {
            square += (position[k] - 0.5f) * (position[k] - 0.5f);
        }
        float expected = sqrtf(square) - 0.3f;
        // facets of 3 degrees are up to 0.3 (1 - cos 2.1 degrees) = 2e-4 inside the sphere
        float distance;
        orr_mesh_distance_signed(ball, position, 1, &distance);
        assert_true(fabsf(distance - expected) < 2.5e-4f);
        float exact = orr_mesh_distance_to(ball, position, INFINITY);
        assert_true(fabsf(orr_mesh_distance_to(ball, position, exact * 1.5f + 0.01f) - exact) < 1e-6f);
        float winding = orr_mesh_winding(ball, position);
        if (fabsf(expected) > 1e-3f) { // dipoles of far triangles: off by a percent or two
            assert_true(fabsf(winding - (expected < 0.0f ? 1.0f : 0.0f)) < 0.05f);
        }
    }
    orr_mesh_distance_destroy(ball);
}

// The least square of the distances to a triangle's sides and, where the point is over it, to its plane.
static double square_to_triangle(const float t[9], const float point[3])
{
    double corner[3][3], normal[3], square = INFINITY;
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++) {
            corner[c][k] = (double)t[3 * c + k] - (double)point[k];
        }
    }
    double side[3][3], over[3];
    bool within = true;
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++) {
            side[c][k] = corner[(c + 1) % 3][k] - corner[c][k];
        }
    }
    vec3_cross(side[0], side[1], normal);
    for (int c = 0; c < 3; c++) {
        double along = -vec3_dot(corner[c], side[c]) / vec3_dot(side[c], side[c]), away[3];
        along = fmin(fmax(along, 0.0), 1.0);
        for (int k = 0; k < 3; k++) {
            away[k] = corner[c][k] + along * side[c][k];
        }
        square = fmin(square, vec3_dot(away, away));
        vec3_cross(corner[c], side[c], over);
        within = within && vec3_dot(over, normal) >= 0.0;
    }
    double height = vec3_dot(corner[0], normal);
    return within ? height * height / vec3_dot(normal, normal) : square;
}

// Of triangles of many shapes that cross each other; by every instruction set, with the same bits.
static void distances_are_to_the_nearest_of_all_triangles(void **state)
{
    (void)state;
    enum { TRIANGLES = 700, POINTS = 1500 };
#define KERNEL(isa) orr_nearest_square_##isa
    static const orr_nearest_fn kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(KERNEL);
#undef KERNEL
    static float corners[TRIANGLES][9];
    static uint32_t indices[3 * TRIANGLES];
    for (uint32_t i = 0; i < 3 * TRIANGLES; i++) {
        float middle[3], offset[3];
        random_position(i / 3, middle);
        random_position(10000 + i, offset);
        for (int k = 0; k < 3; k++) {
            corners[i / 3][3 * (i % 3) + (uint32_t)k] = middle[k] + 0.2f * offset[k] * offset[(k + 1) % 3];
        }
        indices[i] = i;
    }
    for (int count = 1; count <= TRIANGLES; count += count < 40 ? 13 : 653) {
        orr_mesh_distance *mesh;
        assert_ok(
            orr_mesh_distance_create(corners[0], 3 * count, indices, count, NULL, "some", &mesh, &error));
        for (uint32_t i = 0; i < POINTS; i++) {
            float point[3];
            double least = INFINITY;
            random_position(100000 + i, point);
            for (int t = 0; t < count; t++) {
                least = fmin(least, square_to_triangle(corners[t], point));
            }
            const float distance = orr_mesh_distance_to(mesh, point, INFINITY);
            assert_true(fabs((double)distance - sqrt(least)) < 2e-6);
            for (int isa = 0; isa < ORR_ISA_COUNT; isa++) {
                if (orr_isa_is_available((orr_isa)isa)) {
                    mesh->find_nearest = kernels[isa];
                    assert_true(orr_mesh_distance_to(mesh, point, INFINITY) == distance);
                    assert_true(orr_mesh_distance_to(mesh, point, 1.01f * distance + 1e-3f) == distance);
                }
            }
        }
        orr_mesh_distance_destroy(mesh);
    }
}

// Signs that follow the segments from point to point are those of every point by itself; `missing` as for
// ball_mesh.
static int count_other_signs(int missing)
{
    enum { COUNT = 4096 };
    static float positions[3 * COUNT], together[COUNT];
    orr_mesh_distance *ball = make_ball(0.3f, 40, missing);
    for (int i = 0; i < COUNT; i++) {
        float position[3];
        random_position((uint32_t)i, position);
        for (int k = 0; k < 3; k++) {
            positions[k * COUNT + i] = position[k];
        }
    }
    orr_mesh_distance_signed(ball, positions, COUNT, together);
    int other = 0;
    for (int i = 0; i < COUNT; i++) {
        const float position[3] = {positions[i], positions[COUNT + i], positions[2 * COUNT + i]};
        float alone;
        orr_mesh_distance_signed(ball, position, 1, &alone);
        assert_true(fabsf(fabsf(alone) - fabsf(together[i])) < 1e-6f);
        other += (alone < 0.0f) != (together[i] < 0.0f) && fabsf(alone) > 1e-5f;
    }
    orr_mesh_distance_destroy(ball);
    return other;
}

static void signs_along_a_segment_are_those_of_its_points(void **state)
{
    (void)state;
    assert_int_equal(count_other_signs(0), 0);
    assert_int_equal(count_other_signs(70), 0); // with a hole that segments go through
}

static void a_hole_is_closed_by_what_is_around_it(void **state)
{
    (void)state;
    orr_mesh_distance *ball = make_ball(0.3f, 20, 40); // without its southern cap
    int wrong = 0, count = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        float position[3], square = 0.0f;
        random_position(i, position);
        for (int k = 0; k < 3; k++) {
            square += (position[k] - 0.5f) * (position[k] - 0.5f);
        }
        float expected = sqrtf(square) - 0.3f;
        if (fabsf(expected) > 0.02f) {
            float distance;
            orr_mesh_distance_signed(ball, position, 1, &distance);
            wrong += (distance < 0.0f) != (expected < 0.0f);
            count++;
        }
    }
    assert_true(count > 2000 && wrong * 1000 <= count);
    orr_mesh_distance_destroy(ball);
    orr_error why;
    const float flat[9] = {0};
    const uint32_t corners[3] = {0, 1, 2};
    assert_int_equal(orr_mesh_distance_create(flat, 3, corners, 1, NULL, "flat.obj", &ball, &why),
                     ORR_ERROR_FORMAT);
    assert_null(ball);
}

// Marks what is below a node.
static void visit(const orr_mesh_distance *m, int32_t node, uint8_t *nodes, uint8_t *triangles)
{
    const orr_tree_node *n = &m->nodes[node];
    nodes[node]++;
    if (n->count == 0) {
        visit(m, n->first, nodes, triangles);
        visit(m, n->first + 1, nodes, triangles);
        return;
    }
    for (int32_t i = n->first; i < n->first + n->count; i++) {
        triangles[i]++;
    }
}

static void assert_once(const uint8_t *seen, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(seen[i], 1);
    }
    assert_int_equal(seen[count], 0);
}

// Every node and triangle has its place. From 10,000 triangles on threads build the tree.
static void trees_of_meshes_are_the_same_for_any_threads(void **state)
{
    (void)state;
    enum { MOST = 20000 };
    static uint8_t seen[2][MOST];
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(3, NULL, NULL, &jobs, &error));
    for (int missing = 0; missing < 80; missing++) {
        const int rows = missing % 20 == 19 ? 64 : 4 + missing % 5;
        orr_mesh_distance *alone = make_ball(0.3f, rows, missing % 20),
                          *together = make_ball_by(jobs, 0.3f, rows, missing % 20);
        memset(seen, 0, sizeof seen);
        visit(together, 0, seen[0], seen[1]);
        assert_once(seen[0], together->node_count);
        assert_once(seen[1], together->triangle_count);
        const size_t nodes = (size_t)alone->node_count, triangles = (size_t)alone->triangle_count;
        assert_int_equal(together->node_count, alone->node_count);
        assert_memory_equal(together->nodes, alone->nodes, nodes * sizeof *alone->nodes);
        assert_memory_equal(together->moments, alone->moments, nodes * sizeof *alone->moments);
        assert_memory_equal(together->corners, alone->corners, triangles * sizeof *alone->corners);
        orr_mesh_distance_destroy(alone);
        orr_mesh_distance_destroy(together);
    }
    orr_jobs_destroy(jobs);
}

// ---- open meshes ----

// Triangles by themselves.
typedef struct open_shape {
    const char *name;
    int triangle_count;
    float (*corners)[9];
} open_shape;

enum { SHEET_EDGE = 40, SOUP = 2000 };

static void sheet_point(int i, int j, float at[3])
{
    at[0] = 0.1f + 0.8f * (float)i / SHEET_EDGE;
    at[1] = 0.1f + 0.8f * (float)j / SHEET_EDGE;
    at[2] = 0.5f + 0.12f * sinf(9.0f * at[0]) * cosf(7.0f * at[1]);
}

static open_shape make_sheet(void)
{
    open_shape s = {"sheet", 2 * SHEET_EDGE * SHEET_EDGE, NULL};
    s.corners = orr_alloc((size_t)s.triangle_count, sizeof *s.corners);
    assert_non_null(s.corners);
    for (int i = 0; i < s.triangle_count; i++) {
        static const int ENDS[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
        for (int c = 0; c < 3; c++) {
            const int *end = ENDS[i % 2][c];
            sheet_point(i / 2 % SHEET_EDGE + end[0], i / 2 / SHEET_EDGE + end[1], s.corners[i] + 3 * c);
        }
    }
    return s;
}

static open_shape make_soup(void)
{
    open_shape s = {"soup", SOUP, NULL};
    s.corners = orr_alloc(SOUP, sizeof *s.corners);
    assert_non_null(s.corners);
    for (int i = 0; i < SOUP; i++) { // pieces of a sphere with gaps between them
        orr_rng rng = {.seed = 4, .stream = (uint32_t)i};
        float middle[3], length = 0.0f;
        while (length < 0.1f || length > 1.0f) {
            for (int k = 0; k < 3; k++) {
                middle[k] = orr_rng_range(&rng, -1.0f, 1.0f);
            }
            length = sqrtf(middle[0] * middle[0] + middle[1] * middle[1] + middle[2] * middle[2]);
        }
        for (int c = 0; c < 9; c++) {
            s.corners[i][c] = 0.5f + 0.35f * middle[c % 3] / length + orr_rng_range(&rng, -0.04f, 0.04f);
        }
        float area[3];
        orr_area_vector(s.corners[i], area);
        if (vec3f_dot(area, middle) < 0.0f) { // outward, so that much of the inside is near a half
            float kept[3];
            memcpy(kept, s.corners[i], sizeof kept);
            memcpy(s.corners[i], s.corners[i] + 3, sizeof kept);
            memcpy(s.corners[i] + 3, kept, sizeof kept);
        }
    }
    return s;
}

static open_shape make_cup(void) // a ball without its southern third
{
    orr_mesh ball = ball_mesh(0.4f, 30, 600);
    open_shape s = {"cup", (int)(ball.index_count / 3), NULL};
    s.corners = orr_alloc((size_t)s.triangle_count, sizeof *s.corners);
    assert_non_null(s.corners);
    for (int i = 0; i < 3 * s.triangle_count; i++) {
        memcpy(s.corners[i / 3] + 3 * (i % 3), ball.vertices[ball.indices[i]].position, 3 * sizeof(float));
    }
    return s;
}

static orr_mesh_distance *make_open(const open_shape *s)
{
    uint32_t *indices = orr_alloc((size_t)s->triangle_count, 3 * sizeof *indices);
    assert_non_null(indices);
    for (int i = 0; i < 3 * s->triangle_count; i++) {
        indices[i] = (uint32_t)i;
    }
    orr_mesh_distance *mesh;
    assert_ok(orr_mesh_distance_create(s->corners[0], 3 * s->triangle_count, indices, s->triangle_count, NULL,
                                       s->name, &mesh, &error));
    orr_free(indices);
    return mesh;
}

// The sum over all triangles in double precision, by another formula than the engine's: solid angles as sums
// of dihedral angles less pi (Girard), signed by the side.
static double all_triangles(const open_shape *s, const float point[3])
{
    double sum = 0.0;
    for (int i = 0; i < s->triangle_count; i++) {
        double v[3][3], n[3][3], cosine, excess = -3.14159265358979;
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                v[c][k] = (double)s->corners[i][3 * c + k] - (double)point[k];
            }
        }
        for (int c = 0; c < 3; c++) {
            vec3_cross(v[c], v[(c + 1) % 3], n[c]);
            vec3_normalise(n[c]);
        }
        for (int c = 0; c < 3; c++) {
            cosine = fmin(fmax(-vec3_dot(n[c], n[(c + 1) % 3]), -1.0), 1.0);
            excess += acos(cosine);
        }
        sum += vec3_dot(n[0], v[2]) > 0.0 ? excess : -excess;
    }
    return sum / (4.0 * 3.14159265358979);
}

static void winding_numbers_are_those_of_all_triangles(const open_shape *s)
{
    orr_mesh_distance *mesh = make_open(s);
    double worst = 0.0, widest = 0.0;
    for (uint32_t i = 0; i < 100; i++) {
        float point[3];
        random_position(i, point);
        double exact = all_triangles(s, point), bound, found = orr_tree_winding(mesh, point, 1e-5, &bound);
        assert_true(fabs(found - exact) <= bound);
        assert_true(fabs((double)orr_mesh_winding(mesh, point) - exact) < 2e-5);
        worst = fmax(worst, fabs(found - exact));
        widest = fmax(widest, bound);
    }
    // what clusters leave out mostly cancels; their bounds add up, but say something
    assert_true(worst < 2e-4 && widest < 0.02);
    orr_mesh_distance_destroy(mesh);
}

// Signs in blocks of points as a distance grid has them, everywhere and so also at the rim.
static void signs_are_those_of_all_triangles(const open_shape *s)
{
    enum { EDGE = 5, BLOCK = EDGE * EDGE * EDGE };
    orr_mesh_distance *mesh = make_open(s);
    int wrong = 0, inside = 0;
    for (uint32_t i = 0; i < 14; i++) {
        float corner[3], points[3 * BLOCK], distances[BLOCK];
        random_position(i + 1000, corner);
        for (int p = 0; p < BLOCK; p++) {
            const int at[3] = {p % EDGE, p / EDGE % EDGE, p / EDGE / EDGE};
            for (int k = 0; k < 3; k++) {
                points[k * BLOCK + p] = 0.9f * corner[k] + 0.02f * (float)at[k];
            }
        }
        orr_mesh_distance_signed(mesh, points, BLOCK, distances);
        for (int p = 0; p < BLOCK; p++) {
            const float point[3] = {points[p], points[BLOCK + p], points[2 * BLOCK + p]};
            double winding = fabs(all_triangles(s, point));
            // nearer to a half, rounding of this sum decides
            wrong += (winding > 0.5) != (distances[p] < 0.0f) && fabs(winding - 0.5) > 3e-7;
            inside += winding > 0.5;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(inside > 50);

    orr_mesh_distance_destroy(mesh);
}

// Within 1e-5 of a half, away from triangles: between random points, by bisection.
static void signs_beside_a_half_are_exact(const open_shape *s)
{
    orr_mesh_distance *mesh = make_open(s);
    int tried = 0;
    for (uint32_t i = 0; i < 60; i++) {
        float low[3], high[3], point[3] = {0};
        random_position(2 * i, low);
        random_position(2 * i + 1, high);
        bool side = fabs(all_triangles(s, low)) > 0.5;
        double winding = 0.0;
        for (int step = 0; step < 24 && !(fabs(winding - 0.5) < 1e-5); step++) {
            for (int k = 0; k < 3; k++) {
                point[k] = 0.5f * (low[k] + high[k]);
            }
            winding = fabs(all_triangles(s, point));
            memcpy((winding > 0.5) == side ? low : high, point, sizeof point);
        }
        if (fabs(winding - 0.5) < 1e-5 && fabs(winding - 0.5) > 3e-7) { // less is rounding of this sum
            float distance;
            orr_mesh_distance_signed(mesh, point, 1, &distance);
            assert_true((distance < 0.0f) == (winding > 0.5));
            tried++;
        }
    }
    assert_true(tried > 5);
    orr_mesh_distance_destroy(mesh);
}

static void open_meshes_have_the_sides_of_all_their_triangles(void **state)
{
    (void)state;
    open_shape shapes[] = {make_cup(), make_sheet(), make_soup()};
    for (int i = 0; i < 3; i++) {
        winding_numbers_are_those_of_all_triangles(&shapes[i]);
        signs_are_those_of_all_triangles(&shapes[i]);
        signs_beside_a_half_are_exact(&shapes[i]);
        orr_free(shapes[i].corners);
    }
}

// In a ball that no triangle crosses, numbers vary by no more than the rim allows, and it allows less far
// away.
static void numbers_vary_by_the_rim(void **state)
{
    (void)state;
    open_shape cup = make_cup();
    orr_mesh_distance *mesh = make_open(&cup);
    int small = 0;
    for (uint32_t i = 0; i < 150; i++) {
        float centre[3];
        random_position(i, centre);
        float reach = 0.9f * orr_mesh_distance_to(mesh, centre, INFINITY);
        double most = orr_tree_variation(mesh, centre, reach), middle = all_triangles(&cup, centre);
        small += most < 0.1;
        for (int k = 0; k < 6; k++) {
            float end[3];
            memcpy(end, centre, sizeof end);
            end[k / 2] += k % 2 ? reach : -reach;
            assert_true(fabs(all_triangles(&cup, end) - middle) <= most);
        }
    }
    assert_true(small > 15);
    orr_mesh_distance_destroy(mesh);
    orr_free(cup.corners);
}

// ---- densities ----

static void a_cloud_fills_some_of_its_cube(void **state)
{
    (void)state;
    orr_density d;
    assert_ok(orr_density_cloud(24, 1, &d, &error));
    float greatest = 0.0f;
    int inside = 0;
    for (int i = 0; i < 24 * 24 * 24; i++) {
        assert_true(d.values[i] >= 0.0f && d.values[i] <= 1.0f);
        greatest = fmaxf(greatest, d.values[i]);
        inside += d.values[i] > 0.0f;
    }
    assert_true(greatest > 0.5f && inside > 200 && inside < 24 * 24 * 12);
    orr_volume_samples samples;
    assert_ok(orr_volume_samples_of(&d, 1, "cloud", &samples, &error));
    assert_true(fabsf(samples.scale * greatest - ORR_VOLUME_GREATEST) < 1e-4f);
    memset(d.values, 0, 24 * 24 * 24 * sizeof *d.values);
    orr_error why;
    assert_int_equal(orr_volume_samples_of(&d, 1, "nothing.npy", &samples, &why), ORR_ERROR_FORMAT);
    orr_density_free(&d);
}

// ---- pictures ----

static void pictures_are_sampled_between_the_middles_of_pixels(void **state)
{
    (void)state;
    const uint8_t bytes[2 * 4] = {0, 51, 255, 255, 255, 102, 255, 255};
    const char *path = scratch_path("two.png");
    assert_ok(orr_png_save(path, bytes, 2, 1, &error));
    orr_picture_file *picture;
    assert_ok(orr_picture_load(path, &picture, &error));
    float colour[3];
    orr_picture_sample(picture, 0.25f, 0.5f, colour);
    assert_true(colour[0] == 0.0f && fabsf(colour[1] - 0.2f) < 1e-6f && fabsf(colour[2] - 1.0f) < 1e-6f);
    orr_picture_sample(picture, 0.5f, 0.1f, colour);
    assert_true(fabsf(colour[0] - 0.5f) < 1e-6f && fabsf(colour[1] - 0.3f) < 1e-6f);
    orr_picture_sample(picture, 1.0f, 1.0f, colour);
    assert_true(fabsf(colour[0] - 1.0f) < 1e-6f);
    orr_picture_destroy(picture);
}

#if ORR_HAVE_EXR
static void an_exr_picture_becomes_display_colours(void **state)
{
    (void)state;
    const float linear[2 * 4] = {0.0f, 0.2140411f, 1.0f, 1.0f, 0.5f, 0.0f, 2.0f, 1.0f};
    const char *path = scratch_path("two.exr");
    orr_error why;
    assert_ok(orr_exr_save(path, linear, 2, 1, 4, &error));
    orr_picture_file *picture;
    assert_ok(orr_picture_load(path, &picture, &error));
    float colour[3];
    orr_picture_sample(picture, 0.25f, 0.5f, colour);
    assert_true(fabsf(colour[0]) < 1e-6f && fabsf(colour[1] - 0.5f) < 1e-5f &&
                fabsf(colour[2] - 1.0f) < 1e-5f);
    orr_picture_sample(picture, 0.75f, 0.5f, colour);
    assert_true(fabsf(colour[0] - 0.7353569f) < 1e-5f && colour[2] > 1.3f); // nothing is clipped
    orr_picture_destroy(picture);
    // one pixel that is no number would spread over the whole network
    const float broken[2 * 4] = {0.0f, 0.0f, 0.0f, NAN, 0.5f, 0.0f, NAN, 1.0f};
    assert_ok(orr_exr_save(path, broken, 2, 1, 4, &error));
    assert_int_equal(orr_picture_load(path, &picture, &why), ORR_ERROR_FORMAT);
    assert_null(picture);
    assert_non_null(strstr(why.message, "pixel (1, 0) from the top left: expected finite colours"));
}
#endif

// ---- drawing ----

// An sdf that is trained, for a moment, to be a ball.
static void a_trained_ball_is_drawn_where_it_is(void **state)
{
    (void)state;
    enum { SIDE = 33 };
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    orr_mesh ball = ball_mesh(3.0f, 20, 0); // becomes 0.45 of the unit cube
    orr_triangle_view triangles = orr_mesh_for_sdf(&ball);
    orr_sdf_shape shape;
    assert_ok(orr_sdf_shape_create(&triangles, "ball", 1, NULL, &shape, &error));
    assert_true(fabsf(shape.size - 6.0f / 0.9f) < 1e-4f);
    orr_field_desc field_desc = {.kind = ORR_FIELD_SDF, .seed = 1};
    assert_ok(orr_isa_choose(&field_desc.isa, &error));
    assert_ok(orr_sdf_training_config(&field_desc.config, &error));
    assert_ok(orr_field_config_parse("{\"encoding\": {\"n_levels\": 4, \"log2_hashmap_size\": 12}}", "test",
                                     &field_desc.config, &error));
    orr_field *field;
    assert_ok(orr_field_create(&field_desc, &field, &error));
    orr_field_config_free(&field_desc.config);
    const orr_field_trainer_desc desc = {
        .field = field, .jobs = jobs, .source = orr_sdf_source(&shape), .batch_size = 4096};
    orr_field_trainer *trainer;
    assert_ok(orr_field_trainer_create(&desc, &trainer, &error));
    for (int i = 0; i < 600; i++) {
        double loss;
        assert_ok(orr_field_trainer_step(trainer, &loss, &error));
    }
    assert_ok(orr_field_trainer_refresh(trainer, &error));
    orr_sdf_quality quality;
    assert_ok(orr_sdf_evaluate(field, &shape, jobs, 4096, &quality, &error));
    // 2.6 degrees; 4.4 when slopes are not compared
    assert_true(quality.iou > 0.99 && quality.normal_degrees < 3.5 && quality.surface_error < 1e-3);
    assert_true(fabs(quality.smooth_normal_degrees - quality.normal_degrees) < 2.0);

    const float eye[3] = {0.5f, 0.5f, -1.5f}, target[3] = {0.5f, 0.5f, 0.5f}, up[3] = {0.0f, 1.0f, 0.0f};
    const orr_camera camera = orr_camera_look_at(eye, target, up, 0.6f, SIDE, SIDE);
    orr_lens lens;
    assert_ok(orr_camera_resolve(&camera, &lens, &error));
    static float rgba[SIDE * SIDE * 4], depth[SIDE * SIDE], wall[SIDE * SIDE];
    orr_field_draw_desc draw = {.lens = &lens,
                                .to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                .to_sun = {0.0f, 0.0f, -1.0f},
                                .rgba = rgba,
                                .depth = depth};
    orr_arena arena = {0};
    assert_ok(orr_field_draw(field, jobs, &arena, &draw, &error));
    int middle = SIDE / 2 * SIDE + SIDE / 2;
    assert_true(fabsf(depth[middle] - 1.55f) < 0.02f && rgba[4 * middle + 3] == 1.0f);
    assert_true(rgba[0] == 0.0f && depth[0] == 0.0f && rgba[3] == 0.0f); // a corner sees past it
    // the disc of a ball of radius 0.45 at distance 2: tan(asin(0.225)) / tan(0.3) of half the picture
    int covered = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        covered += rgba[4 * i + 3] > 0.0f;
        wall[i] = 1.4f;
    }
    double radius = tan(asin(0.225)) / tan(0.3) * SIDE / 2.0, expected = 3.14159 * radius * radius;
    assert_true(fabs(covered - expected) < 0.06 * expected);
    // a lens that stretches by 1 + 2 r^2 puts the disc's rim, at r = tan(asin(0.225)), farther out
    double rim = tan(asin(0.225)), stretch = 1.0 + 2.0 * rim * rim;
    int stretched = 0;
    lens.distorted = true;
    lens.radial[0] = 2.0f;
    orr_arena_reset(&arena);
    assert_ok(orr_field_draw(field, jobs, &arena, &draw, &error));
    for (int i = 0; i < SIDE * SIDE; i++) {
        stretched += rgba[4 * i + 3] > 0.0f;
    }
    assert_true(fabs(stretched - stretch * stretch * expected) < 0.06 * expected);
    draw.far_depth = wall; // in front of all of it
    orr_arena_reset(&arena);
    assert_ok(orr_field_draw(field, jobs, &arena, &draw, &error));
    for (int i = 0; i < SIDE * SIDE; i++) {
        assert_true(rgba[4 * i + 3] == 0.0f);
    }
    orr_arena_destroy(&arena);
    orr_field_trainer_destroy(trainer);
    orr_field_destroy(field);
    orr_sdf_shape_free(&shape);
    orr_jobs_destroy(jobs);
}

static void holes_and_turned_meshes_are_noticed(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        orr_mesh ball = ball_mesh(3.0f, 20, 0);
        orr_triangle_view triangles = orr_mesh_for_sdf(&ball);
        for (int64_t i = 0; turned && i < triangles.index_count; i += 3) {
            uint32_t first = ball.indices[i];
            ball.indices[i] = ball.indices[i + 1];
            ball.indices[i + 1] = first;
        }
        orr_sdf_shape shape;
        assert_ok(orr_sdf_shape_create(&triangles, "ball", 1, NULL, &shape, &error));
        assert_int_equal(shape.open_edges, 0);
        for (int64_t i = 0; i < shape.triangle_count;
             i++) { // faces point away from the middle, turned or not
            const float *t = shape.corners[i];
            float face[3], outward = 0.0f, size = 0.0f;
            for (int k = 0; k < 3; k++) {
                int u = (k + 1) % 3, v = (k + 2) % 3;
                face[k] = (t[3 + u] - t[u]) * (t[6 + v] - t[v]) - (t[3 + v] - t[v]) * (t[6 + u] - t[u]);
                outward += face[k] * (t[k] - 0.5f);
                size += face[k] * face[k];
            }
            assert_true(outward > 0.0f || size < 1e-10f); // at the poles there are triangles without area
        }
        orr_sdf_shape_free(&shape);
        triangles.index_count -= 3; // the last triangle is gone
        assert_ok(orr_sdf_shape_create(&triangles, "ball", 1, NULL, &shape, &error));
        assert_in_range(shape.open_edges, 2, 3); // one at a pole has two edges
        orr_sdf_shape_free(&shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_meshes_are_the_same_for_any_threads),
        cmocka_unit_test(distances_to_a_ball_are_those_of_a_sphere),
        cmocka_unit_test(distances_are_to_the_nearest_of_all_triangles),
        cmocka_unit_test(holes_and_turned_meshes_are_noticed),
        cmocka_unit_test(signs_along_a_segment_are_those_of_its_points),
        cmocka_unit_test(a_hole_is_closed_by_what_is_around_it),
        cmocka_unit_test(open_meshes_have_the_sides_of_all_their_triangles),
        cmocka_unit_test(numbers_vary_by_the_rim),
        cmocka_unit_test(a_cloud_fills_some_of_its_cube),
        cmocka_unit_test(pictures_are_sampled_between_the_middles_of_pixels),
#if ORR_HAVE_EXR
        cmocka_unit_test(an_exr_picture_becomes_display_colours),
#endif
        cmocka_unit_test(a_trained_ball_is_drawn_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
