// Tests of colliders: distances to clouds, fields and meshes whose geometry is known; which side is free; bad
// input; files.
#include "engine/collider/collider.h"
#include "engine/collider/convex_parts.h"
#include "engine/collider/grid_surface.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/maths/rng.h"
#include "engine/scene/layer_collider.h"
#include "neural/fields/mesh_distance.h"
#include "physics/grid/collider_file.h"
#include "tests/support/scenes/mesh_cloud.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static orr_jobs *jobs;

static int open_jobs(void **state)
{
    (void)state;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    return 0;
}

static int close_jobs(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    return 0;
}

// ---- shapes ----

typedef struct shape {
    float *positions;
    uint32_t *indices;
    int64_t vertex_count, triangle_count;
} shape;

static void free_shape(shape *s)
{
    orr_free(s->positions);
    orr_free(s->indices);
}

// Boxes, of which the first is turned inside out where it is a room: low x, y, z, high x, y, z each.
static shape boxes(const float (*box)[6], int count, bool room)
{
    static const uint8_t sides[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    shape s = {orr_alloc((size_t)count * 24, sizeof(float)), orr_alloc((size_t)count * 36, sizeof(uint32_t)),
               8 * (int64_t)count, 12 * (int64_t)count};
    assert_true(s.positions && s.indices);
    for (int b = 0; b < count; b++) {
        for (int corner = 0; corner < 8; corner++) {
            for (int k = 0; k < 3; k++) {
                s.positions[3 * (8 * b + corner) + k] = box[b][3 * (corner >> k & 1) + k];
            }
        }
        for (int i = 0; i < 36; i++) {
            static const uint8_t order[6] = {0, 1, 2, 0, 2, 3};
            int at = room && b == 0 ? 5 - i % 6 : i % 6;
            s.indices[36 * b + i] = (uint32_t)(8 * b + sides[i / 6][order[at]]);
        }
    }
    return s;
}

// A room of 2.4 x 1.6 x 2 with a wall into it, a table and its four legs; y down, the floor at y = 0.
static shape make_room(void)
{
    static const float box[][6] = {{0, -1.6f, 0, 2.4f, 0, 2},
                                   {1.5f, -1.6f, 0, 1.6f, 0, 1.1f},
                                   {0.3f, -0.75f, 0.6f, 1.1f, -0.65f, 1.4f},
                                   {0.32f, -0.65f, 0.62f, 0.4f, 0, 0.7f},
                                   {1.0f, -0.65f, 0.62f, 1.08f, 0, 0.7f},
                                   {0.32f, -0.65f, 1.3f, 0.4f, 0, 1.38f},
                                   {1.0f, -0.65f, 1.3f, 1.08f, 0, 1.38f}};
    return boxes(box, 7, true);
}

static shape mesh_shape(const orr_mesh *mesh, float scale, const float axes[3])
{
    shape s = {.vertex_count = mesh->vertex_count, .triangle_count = mesh->index_count / 3};
    s.positions = orr_alloc(3 * (size_t)s.vertex_count, sizeof(float));
    s.indices = orr_alloc((size_t)mesh->index_count, sizeof(uint32_t));
    assert_true(s.positions && s.indices);
    for (int64_t i = 0; i < 3 * s.vertex_count; i++) {
        s.positions[i] = mesh->vertices[i / 3].position[i % 3] * scale * axes[i % 3];
    }
    memcpy(s.indices, mesh->indices, (size_t)mesh->index_count * sizeof *s.indices);
    return s;
}

// ---- errors ----

typedef struct errors {
    double median, most95; // distances of the collider's surface from the shape [cells]
} errors;

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

enum { POINTS = 25000 }; // of a surface that are measured, spread evenly: more make no other percentiles

// lowest: points above this y are not counted, which a sheet's thickness is
static errors surface_errors(const orr_distance_grid *grid, const shape *s, float lowest)
{
    orr_mesh_distance *mesh;
    orr_surface surface;
    assert_ok(orr_mesh_distance_create(s->positions, s->vertex_count, s->indices, s->triangle_count, jobs,
                                       "test", &mesh, &error));
    assert_ok(orr_grid_surface(grid, jobs, &surface, &error));
    float *far = orr_alloc((size_t)surface.vertex_count, sizeof *far);
    assert_non_null(far);
    int64_t count = 0;
    for (int64_t i = 0; i < surface.vertex_count; i += 1 + surface.vertex_count / POINTS) {
        const float *point = surface.positions + 3 * i;
        if (point[1] <= lowest) {
            far[count++] = orr_mesh_distance_to(mesh, point, INFINITY);
        }
    }
    assert_true(count > 500);
    qsort(far, (size_t)count, sizeof *far, compare_floats);
    errors e = {(double)far[count / 2] / grid->cell, (double)far[count * 95 / 100] / grid->cell};
    print_message("cell %g: %lld points, median %.3f, 95 %% below %.3f cells\n", grid->cell, (long long)count,
                  e.median, e.most95);
    orr_free(far);
    orr_surface_free(&surface);
    orr_mesh_distance_destroy(mesh);
    return e;
}

// The bounds that a collider is held to: half a cell, and one and a half [cells].
static void assert_accurate(const orr_distance_grid *grid, const shape *s, float lowest)
{
    errors e = surface_errors(grid, s, lowest);
    assert_true(e.median < 0.5);
    assert_true(e.most95 < 1.5);
}

// Points of a box are inside and outside as the shape says, but for those within 1.5 cells of it.
static void assert_signs(const orr_distance_grid *grid, const shape *s, const float low[3],
                         const float high[3], bool room)
{
    orr_mesh_distance *mesh;
    assert_ok(orr_mesh_distance_create(s->positions, s->vertex_count, s->indices, s->triangle_count, jobs,
                                       "test", &mesh, &error));
    orr_rng rng = {.seed = 5};
    int wrong = 0, count = 0;
    for (int i = 0; i < 4000; i++) {
        float point[3], distance;
        for (int k = 0; k < 3; k++) {
            point[k] = orr_rng_range(&rng, low[k], high[k]);
        }
        const double at[3] = {(double)point[0], (double)point[1], (double)point[2]};
        distance = orr_mesh_distance_to(mesh, point, INFINITY);
        // a room's winding number is -1 where it is free, and 0 or 1 in what is solid
        float winding = orr_mesh_winding(mesh, point);
        bool solid = room ? winding > -0.5f : winding > 0.5f;
        if ((double)distance > 1.5 * grid->cell) {
            wrong += solid != (orr_distance_grid_at(grid, at, NULL) < 0.0);
            count++;
        }
    }
    print_message("%d of %d signs are wrong\n", wrong, count);
    assert_true(count > 1000);
    assert_true(wrong * 500 < count); // 0.2 %: crevices that are closed
    orr_mesh_distance_destroy(mesh);
}

// Distances grow with their slope: of the gradient in bricks with samples, whose length is 1 off edges.
static void assert_eikonal(const orr_distance_grid *grid)
{
    double sum = 0.0;
    int64_t count = 0;
    for (int32_t b = 0; b < grid->brick_count; b++) {
        const float *at = grid->sample + (size_t)b * ORR_GRID_SAMPLES;
        for (int z = 1; z < 8; z += 2) {
            for (int y = 1; y < 8; y += 2) {
                for (int x = 1; x < 8; x += 2) {
                    const float *p = at + (z * 9 + y) * 9 + x;
                    float dx = p[1] - p[-1], dy = p[9] - p[-9], dz = p[81] - p[-81];
                    sum += fabs(0.5 * sqrt((double)(dx * dx + dy * dy + dz * dz)) / grid->cell - 1.0);
                    count++;
                }
            }
        }
    }
    print_message("eikonal residual %.4f\n", sum / (double)count);
    assert_true(sum / (double)count < 0.05); // measured: 0.01 to 0.03, from edges and medial axes
}

static orr_distance_grid *make(const orr_collider_source *source, orr_collider_desc desc,
                               orr_collider_report *report)
{
    orr_distance_grid *grid;
    assert_ok(orr_collider_make(source, &desc, jobs, NULL, &grid, report, &error));
    assert_ok(orr_distance_grid_check(grid, source->name, &error));
    return grid;
}

// ---- clouds ----

static void a_room_is_free_inside_and_solid_behind_its_walls(void **state)
{
    (void)state;
    shape room = make_room();
    const mesh_cloud_desc cloud = {.count = 150000, .flatness = 0.1f, .noise = 0.1f, .floaters = 60};
    orr_splat_pack *pack = mesh_cloud(room.positions, room.indices, room.triangle_count, &cloud, jobs);
    const orr_collider_source source = {.name = "room", .splats = pack};
    const double cells[] = {0.05, 0.02};
    for (int i = 0; i < 2; i++) {
        orr_collider_report report;
        orr_distance_grid *grid = make(&source, (orr_collider_desc){.cell = cells[i]}, &report);
        assert_int_equal(report.side, ORR_COLLIDER_INSIDE);
        assert_true(report.islands > 0);
        assert_accurate(grid, &room, 1.0f);
        // up to 3 cells behind the walls
        float low[3], high[3], beyond = 3.0f * (float)cells[i];
        for (int k = 0; k < 3; k++) {
            low[k] = room.positions[k] - beyond;
            high[k] = room.positions[3 * 7 + k] + beyond;
        }
        assert_signs(grid, &room, low, high, true);
        assert_eikonal(grid);
        orr_distance_grid_destroy(grid);
    }
    orr_splat_pack_destroy(pack);
    free_shape(&room);
}

static void an_object_is_solid_inside(void **state)
{
    (void)state;
    const float box[2][6] = {{-0.5f, -0.1f, -0.3f, 0.1f, 0.3f, 0.3f}, {-0.2f, -0.6f, -0.2f, 0.05f, 0, 0.2f}};
    shape object = boxes(box, 2, false);
    const float low[3] = {-0.7f, -0.8f, -0.5f}, high[3] = {0.3f, 0.5f, 0.5f};
    const float flatness[] = {0.1f, 1.0f}; // balls have no normal of their own
    for (int i = 0; i < 2; i++) {
        const mesh_cloud_desc cloud = {.count = 60000, .flatness = flatness[i], .floaters = 30};
        orr_splat_pack *pack =
            mesh_cloud(object.positions, object.indices, object.triangle_count, &cloud, jobs);
        const orr_collider_source source = {.name = "object", .splats = pack};
        const orr_collider_desc desc = {.cell = 0.02, .side = ORR_COLLIDER_OUTSIDE};
        orr_distance_grid *grid = make(&source, desc, NULL);
        assert_accurate(grid, &object, 1.0f);
        assert_signs(grid, &object, low, high, false);
        orr_distance_grid_destroy(grid);
        orr_splat_pack_destroy(pack);
    }
    free_shape(&object);
}

// A floor without anything else: its upper side is where its splats are, and it is more than 2 cells thick.
static void a_floor_is_thick(void **state)
{
    (void)state;
    const float positions[12] = {-1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1};
    const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    const mesh_cloud_desc cloud = {.count = 30000, .flatness = 0.1f};
    orr_splat_pack *pack = mesh_cloud(positions, indices, 2, &cloud, jobs);
    const orr_collider_source source = {.name = "floor", .splats = pack};
    const double cell = 0.03;
    orr_distance_grid *grid = make(&source, (orr_collider_desc){.cell = cell}, NULL);
    for (int i = 0; i < 100; i++) {
        double x = -0.72 + 0.16 * (i % 10), z = -0.72 + 0.16 * (i / 10), gradient[3];
        const double on[3] = {x, 0.0, z}, above[3] = {x, -cell, z}, within[3] = {x, 2.05 * cell, z},
                     below[3] = {x, 5.0 * cell, z};
        assert_true(fabs(orr_distance_grid_at(grid, on, NULL)) < 0.25 * cell);
        assert_true(fabs(orr_distance_grid_at(grid, above, gradient) - cell) < 0.25 * cell);
        assert_true(gradient[1] < -0.9); // y is down
        assert_true(orr_distance_grid_at(grid, within, NULL) < 0.0);
        assert_true(orr_distance_grid_at(grid, below, NULL) > 0.0);
    }
    orr_distance_grid_destroy(grid);
    orr_splat_pack_destroy(pack);
}

// Eyes decide what is free: within a box that could be an object as well.
static void eyes_are_in_free_space(void **state)
{
    (void)state;
    const float box[1][6] = {{0, 0, 0, 1, 1, 1}}, within[3] = {0.5f, 0.5f, 0.5f},
                beyond[3] = {0.5f, 0.5f, -3};
    shape s = boxes(box, 1, false);
    const mesh_cloud_desc cloud = {.count = 20000, .flatness = 0.1f};
    orr_splat_pack *pack = mesh_cloud(s.positions, s.indices, s.triangle_count, &cloud, jobs);
    const orr_collider_source source = {.name = "box", .splats = pack};
    const double middle[3] = {0.5, 0.5, 0.5};
    for (int i = 0; i < 2; i++) {
        const orr_collider_desc desc = {.cell = 0.04, .eyes = i ? beyond : within, .eye_count = 1};
        orr_distance_grid *grid = make(&source, desc, NULL);
        assert_true((orr_distance_grid_at(grid, middle, NULL) < 0.0) == (i == 1));
        orr_distance_grid_destroy(grid);
    }
    orr_splat_pack_destroy(pack);
    free_shape(&s);
}

static void the_orrery_is_accurate(void **state)
{
    (void)state;
    static const float axes[3] = {1, -1, -1};
    orr_splats *splats;
    orr_splat_pack *pack;
    orr_mesh *mesh;
    assert_ok(orr_mesh_load(made_asset("orrery.glb"), &mesh, &error));
    assert_ok(orr_splats_load(made_asset("orrery.spz"), &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    assert_ok(orr_splat_pack_create(jobs, &view, NULL, &pack, &error));
    shape s = mesh_shape(mesh, 1.0f, axes);
    const orr_collider_source source = {.name = "orrery", .splats = pack};
    static const double cells[] = {0.01, 0.02};
    for (int i = 0; i < 2; i++) {
        orr_distance_grid *grid = make(&source, (orr_collider_desc){.cell = cells[i]}, NULL);
        assert_accurate(grid, &s, 0.002f); // the table is a sheet, and thick below
        orr_distance_grid_destroy(grid);
    }
    orr_splat_pack_destroy(pack);
    orr_splats_destroy(splats);
    free_shape(&s);
    orr_mesh_destroy(mesh);
}

static void an_armadillo_is_accurate(void **state)
{
    (void)state;
    static const float axes[3] = {1, 1, 1};
    const char *path = needed_shared_data("sdf/armadillo.obj");
    orr_mesh *mesh;
    assert_ok(orr_mesh_load(path, &mesh, &error));
    float size = 0.0f;
    for (int k = 0; k < 3; k++) {
        size = fmaxf(size, mesh->high[k] - mesh->low[k]);
    }
    shape s = mesh_shape(mesh, 1.0f / size, axes);
    const mesh_cloud_desc cloud = {.count = 200000, .flatness = 0.15f, .noise = 0.2f};
    orr_splat_pack *pack = mesh_cloud(s.positions, s.indices, s.triangle_count, &cloud, jobs);
    const orr_collider_source source = {.name = "armadillo", .splats = pack};
    const double cells[] = {0.05, 0.02, 0.01};
    for (int i = 0; i < 3; i++) {
        orr_distance_grid *grid = make(&source, (orr_collider_desc){.cell = cells[i]}, NULL);
        assert_accurate(grid, &s, 10.0f);
        float low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = mesh->low[k] / size - 0.05f;
            high[k] = mesh->high[k] / size + 0.05f;
        }
        assert_signs(grid, &s, low, high, false);
        orr_distance_grid_destroy(grid);
    }
    orr_splat_pack_destroy(pack);
    free_shape(&s);
    orr_mesh_destroy(mesh);
}

// ---- meshes ----

static orr_mesh mesh_of(const shape *s)
{
    orr_mesh mesh = {
        .vertex_count = s->vertex_count, .index_count = 3 * s->triangle_count, .indices = s->indices};
    mesh.vertices = orr_alloc_zero((size_t)s->vertex_count, sizeof *mesh.vertices);
    assert_non_null(mesh.vertices);
    for (int k = 0; k < 3; k++) {
        mesh.low[k] = INFINITY;
        mesh.high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < 3 * s->vertex_count; i++) {
        mesh.vertices[i / 3].position[i % 3] = s->positions[i];
        mesh.low[i % 3] = fminf(mesh.low[i % 3], s->positions[i]);
        mesh.high[i % 3] = fmaxf(mesh.high[i % 3], s->positions[i]);
    }
    return mesh;
}

static void a_mesh_gives_exact_distances(void **state)
{
    (void)state;
    const float box[1][6] = {{0, 0, 0, 0.5f, 0.25f, 0.75f}};
    shape s = boxes(box, 1, false);
    orr_mesh mesh = mesh_of(&s);
    const orr_collider_source source = {.name = "box", .mesh = &mesh};
    orr_distance_grid *grid = make(&source, (orr_collider_desc){.cell = 0.025}, NULL);
    const double points[][4] = {{0.25, 0.125, 0.76, 0.01},
                                {0.25, 0.24, 0.3, -0.01},
                                {-0.02, 0.1, 0.3, 0.02},
                                {0.25, 0.125, 0.3, -0.125},
                                {0.25, 0.125, 1.75, 1.0}};
    for (int i = 0; i < 5; i++) {
        double at = orr_distance_grid_at(grid, points[i], NULL);
        assert_true(fabs(at - points[i][3]) < (i < 3 ? 1e-5 : 0.02)); // the last two from coarse corners
    }
    orr_distance_grid_destroy(grid);
    orr_free(mesh.vertices);
    free_shape(&s);
}

// A ring around z, of this radius and of a tube of that.
static shape make_ring(float radius, float tube)
{
    enum { ROUND = 64, ACROSS = 32, VERTICES = ROUND * ACROSS };
    shape s = {orr_alloc(3 * VERTICES, sizeof(float)), orr_alloc(6 * VERTICES, sizeof(uint32_t)), VERTICES,
               2 * VERTICES};
    assert_true(s.positions && s.indices);
    for (int i = 0; i < VERTICES; i++) {
        const int u = i / ACROSS, v = i % ACROSS, next_u = (u + 1) % ROUND * ACROSS,
                  next_v = (v + 1) % ACROSS;
        const float a = 6.2831853f * (float)u / ROUND, b = 6.2831853f * (float)v / ACROSS;
        const uint32_t corner = (uint32_t)i, along = (uint32_t)(next_u + v),
                       over = (uint32_t)(next_u + next_v), up = (uint32_t)(u * ACROSS + next_v);
        const uint32_t corners[6] = {corner, along, over, corner, over, up};
        s.positions[3 * i] = (radius + tube * cosf(b)) * cosf(a);
        s.positions[3 * i + 1] = (radius + tube * cosf(b)) * sinf(a);
        s.positions[3 * i + 2] = tube * sinf(b);
        memcpy(s.indices + 6 * i, corners, sizeof corners);
    }
    return s;
}

// Voxels are 1/64 of the grid's longest side. Corners of parts are on the surface, or inside where parts
// meet; along every direction the farthest is nearly as far as the ring.
static void convex_parts_follow_a_curved_surface(void **state)
{
    (void)state;
    enum { WAYS = 300 };
    const double radius = 0.3, tube = 0.08;
    shape s = make_ring((float)radius, (float)tube);
    orr_mesh mesh = mesh_of(&s);
    const orr_collider_source source = {.name = "ring", .mesh = &mesh};
    orr_distance_grid *grid = make(&source, (orr_collider_desc){.cell = 0.76 / 128.0}, NULL);
    const double voxel = grid->cell * ORR_GRID_BRICK * grid->bricks[0] / 64.0;
    orr_convex_parts parts;
    assert_ok(orr_convex_parts_make(grid, 16, 0.03, false, "ring", &parts, &error));
    double most = 0.0, worst = 0.0, lowest = 0.0;
    const float *points = parts.points;
    const int count = parts.start[parts.count];
    for (int i = 0; i < count; i++) {
        const float *p = points + (ptrdiff_t)3 * i;
        most = fmax(most, hypot(hypot(p[0], p[1]) - radius, p[2]) - tube);
        lowest = fmin(lowest, p[2]);
    }
    for (int d = 0; d < WAYS; d++) {
        double z = 1.0 - (2.0 * d + 1.0) / WAYS, r = sqrt(1.0 - z * z), reach = 0.0;
        for (int i = 0; i < count; i++) {
            const float *p = points + (ptrdiff_t)3 * i;
            reach = fmax(reach, p[0] * r * cos(2.4 * d) + p[1] * r * sin(2.4 * d) + p[2] * z);
        }
        worst = fmax(worst, radius * r + tube - reach);
    }
    print_message("%d parts, %d points: at most %.3f voxels outside, short of %.3f, below of %.3f\n",
                  parts.count, count, most / voxel, worst / voxel, (lowest + tube) / voxel);
    assert_true(most < 0.2 * voxel);
    assert_true(worst < 0.3 * voxel);
    assert_true(fabs(lowest + tube) < 0.1 * voxel);
    orr_convex_parts_free(&parts);
    orr_distance_grid_destroy(grid);
    orr_free(mesh.vertices);
    free_shape(&s);
}

static float wave(float x)
{
    return 0.15f * cosf(6.2831853f * x);
}

// Waves along x, 1 x 1, seen counter-clockwise from above: hills at x = 0 and 1, a valley at 1/2.
static shape make_waves(void)
{
    enum { EDGE = 32, VERTICES = (EDGE + 1) * (EDGE + 1) };
    shape s = {orr_alloc(3 * VERTICES, sizeof(float)), orr_alloc(6 * EDGE * EDGE, sizeof(uint32_t)), VERTICES,
               2 * EDGE * EDGE};
    assert_true(s.positions && s.indices);
    for (int i = 0; i < VERTICES; i++) {
        s.positions[3 * i] = (float)(i % (EDGE + 1)) / EDGE;
        s.positions[3 * i + 1] = (float)(i / (EDGE + 1)) / EDGE;
        s.positions[3 * i + 2] = wave(s.positions[3 * i]);
    }
    for (int i = 0; i < EDGE * EDGE; i++) {
        uint32_t a = (uint32_t)(i / EDGE * (EDGE + 1) + i % EDGE), c = a + EDGE + 1;
        const uint32_t corners[6] = {a, a + 1, c + 1, a, c + 1, c};
        memcpy(s.indices + 6 * i, corners, sizeof corners);
    }
    return s;
}

// A terrain has no inside: it holds what is above it, on hills and in valleys, and is solid for 2.25 cells
// below.
static void a_sheet_is_a_slab(void **state)
{
    (void)state;
    shape s = make_waves();
    orr_mesh mesh = mesh_of(&s);
    const orr_collider_source source = {.name = "waves", .mesh = &mesh};
    const double cell = 0.0125;
    orr_distance_grid *grid = make(&source, (orr_collider_desc){.cell = cell}, NULL);
    for (int i = 0; i < 21; i++) {
        const double x = 0.1 + 0.04 * i, y = 0.3 + 0.02 * i, z = (double)wave((float)x);
        const double steep = 0.15 * 6.2831853 * sin(6.2831853 * x), across = 1.0 / sqrt(1.0 + steep * steep);
        static const double heights[] = {3.0, 1.0, -0.5, -4.0}; // cells along the normal, and what they are
        static const double expected[] = {3.0, 1.0, -0.5, 1.75};
        for (int h = 0; h < 4; h++) {
            const double up = heights[h] * cell;
            const double point[3] = {x + up * steep * across, y, z + up * across};
            // facets and cells bend less than the waves do
            assert_true(fabs(orr_distance_grid_at(grid, point, NULL) / cell - expected[h]) < 0.25);
        }
    }
    orr_distance_grid_destroy(grid);
    orr_free(mesh.vertices);
    free_shape(&s);
}

// ---- the same bits, hashes and files ----

static bool same_grids(const orr_distance_grid *a, const orr_distance_grid *b)
{
    size_t coarse = (size_t)a->bricks[0] * (size_t)a->bricks[1] * (size_t)a->bricks[2],
           corners = (size_t)(a->bricks[0] + 1) * (size_t)(a->bricks[1] + 1) * (size_t)(a->bricks[2] + 1);
    return a->brick_count == b->brick_count && memcmp(a->bricks, b->bricks, sizeof a->bricks) == 0 &&
           memcmp(a->origin, b->origin, sizeof a->origin) == 0 && a->cell == b->cell &&
           a->source == b->source && memcmp(a->brick, b->brick, coarse * sizeof *a->brick) == 0 &&
           memcmp(a->corner, b->corner, corners * sizeof *a->corner) == 0 &&
           memcmp(a->sample, b->sample, (size_t)a->brick_count * ORR_GRID_SAMPLES * sizeof *a->sample) == 0;
}

static void threads_files_and_hashes(void **state)
{
    (void)state;
    shape room = make_room();
    const mesh_cloud_desc cloud = {.count = 40000, .flatness = 0.1f};
    orr_splat_pack *pack = mesh_cloud(room.positions, room.indices, room.triangle_count, &cloud, jobs);
    const orr_collider_source source = {.name = "room", .splats = pack};
    orr_collider_desc desc = {.cell = 0.06};
    orr_distance_grid *grid = make(&source, desc, NULL), *other;

    orr_jobs *two = jobs;
    assert_ok(orr_jobs_create(5, NULL, NULL, &jobs, &error));
    other = make(&source, desc, NULL);
    assert_true(same_grids(grid, other));
    orr_distance_grid_destroy(other);
    orr_jobs_destroy(jobs);
    jobs = two;

    const char *path = scratch_path("room.collider");
    assert_ok(orr_distance_grid_save(grid, path, &error));
    assert_true(orr_collider_file_source(path) == grid->source);
    uint64_t start = orr_clock_nanoseconds();
    assert_ok(orr_distance_grid_load(path, &other, &error));
    print_message("loaded in %.2f ms\n", (double)(orr_clock_nanoseconds() - start) * 1e-6);
    assert_true(same_grids(grid, other));
    orr_distance_grid_destroy(other);

    uint64_t hash, changed;
    assert_ok(orr_collider_hash(&source, &desc, &hash, &error));
    assert_true(hash == grid->source);
    desc.gap = 0.5;
    assert_ok(orr_collider_hash(&source, &desc, &changed, &error));
    assert_true(hash != changed);
    desc.gap = 0.0;
    static const float ups[][3] = {{6e-8f, -0.9999999f, 0.0f}, {0.0f, -2.0f, -0.0f}, {0.0f, -1.0f, 0.1f}};
    for (int i = 0; i < 3; i++) { // the rounding of a rotation is no other direction
        memcpy(desc.up, ups[i], sizeof desc.up);
        assert_ok(orr_collider_hash(&source, &desc, &changed, &error));
        assert_int_equal(hash != changed, i == 2);
    }
    memset(desc.up, 0, sizeof desc.up);
    pack->geometry[3]++;
    assert_ok(orr_collider_hash(&source, &desc, &changed, &error));
    assert_true(hash != changed);

    // neighbouring bricks store the same numbers on the faces that they share
    int shared = 0;
    for (int32_t z = 0; z < grid->bricks[2]; z++) {
        for (int32_t y = 0; y < grid->bricks[1]; y++) {
            for (int32_t x = 0; x + 1 < grid->bricks[0]; x++) {
                int32_t brick = (z * grid->bricks[1] + y) * grid->bricks[0] + x, a = grid->brick[brick],
                        b = grid->brick[brick + 1];
                for (int i = 0; i < 81 && a >= 0 && b >= 0; i++, shared++) {
                    assert_true(grid->sample[(size_t)a * 729 + (size_t)i * 9 + 8] ==
                                grid->sample[(size_t)b * 729 + (size_t)i * 9]);
                }
            }
        }
    }
    assert_true(shared > 1000);
    orr_distance_grid_destroy(grid);
    orr_splat_pack_destroy(pack);
    free_shape(&room);
}

static void broken_files_are_refused(void **state)
{
    (void)state;
    orr_distance_grid *grid;
    assert_ok(orr_distance_grid_create((const int32_t[3]){2, 1, 1}, 1, &grid, &error));
    grid->cell = 1.0;
    grid->brick[1] = 0;
    const char *path = scratch_path("small.collider");
    assert_ok(orr_distance_grid_save(grid, path, &error));
    orr_distance_grid_destroy(grid);
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    static const struct {
        size_t at;
        uint32_t number;
        orr_code code;
    } changes[] = {{0, 1, ORR_CODE_FILE_HEADER},        {8, 2, ORR_CODE_FILE_VERSION},
                   {48, 0, ORR_CODE_CAPACITY},          {48, 1 << 30, ORR_CODE_CAPACITY},
                   {60, 1 << 20, ORR_CODE_FILE_HEADER}, {60, 2, ORR_CODE_FILE_COMPRESSION},
                   {76, 1, ORR_CODE_FILE_TRUNCATED},    {44, 0x80000000, ORR_CODE_ARGUMENT},
                   {88, 4, ORR_CODE_FILE_HEADER}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        orr_error why = {0};
        uint32_t kept;
        memcpy(&kept, bytes.data + changes[i].at, sizeof kept);
        memcpy(bytes.data + changes[i].at, &changes[i].number, sizeof kept);
        assert_true(orr_distance_grid_read(bytes.data, bytes.size, "x", &grid, &why) != ORR_OK && !grid);
        if (why.code != (int)changes[i].code) {
            fail_msg("byte %zu: %d: %s", changes[i].at, why.code, why.message);
        }
        memcpy(bytes.data + changes[i].at, &kept, sizeof kept);
    }
    for (size_t size = 0; size < bytes.size; size++) {
        orr_error why = {0};
        assert_true(orr_distance_grid_read(bytes.data, size, "x", &grid, &why) != ORR_OK && why.message[0]);
    }
    orr_free(bytes.data);
}

// ---- bad input ----

static void expect_failure(const orr_collider_source *source, orr_collider_desc desc, const char *text)
{
    orr_distance_grid *grid;
    orr_error why = {0};
    assert_true(orr_collider_make(source, &desc, jobs, NULL, &grid, NULL, &why) != ORR_OK && !grid);
    if (!strstr(why.message, text) || strchr(why.message, '\n')) {
        fail_msg("\"%s\": expected \"%s\"", why.message, text);
    }
}

static void bad_input_is_one_line(void **state)
{
    (void)state;
    const float box[1][6] = {{0, 0, 0, 1, 1, 1}};
    shape s = boxes(box, 1, false);
    const mesh_cloud_desc cloud = {.count = 2000, .flatness = 0.1f};
    orr_splat_pack *pack = mesh_cloud(s.positions, s.indices, s.triangle_count, &cloud, jobs);
    const orr_collider_source source = {.name = "box", .splats = pack};
    expect_failure(&source, (orr_collider_desc){.cell = -1.0}, "cell -1");
    expect_failure(&source, (orr_collider_desc){.cell = NAN}, "cell");
    expect_failure(&source, (orr_collider_desc){.cell = 1e-4}, "use larger cells");
    expect_failure(&source, (orr_collider_desc){.cell = 3.0},
                   "cells of 3: expected at most its longest side");
    expect_failure(&source, (orr_collider_desc){.opacity = 1.0}, "opacity 1");
    for (int64_t i = 0; i < pack->blocks; i++) { // transparent
        memset(pack->geometry + (i * ORR_PACK_GEOMETRY + 12) * ORR_PACK_BLOCK, 0,
               ORR_PACK_BLOCK * sizeof(float));
    }
    expect_failure(&source, (orr_collider_desc){.cell = 0.1}, "not transparent");
    for (int64_t i = 0; i < pack->blocks * ORR_PACK_BLOCK; i++) { // and hardly opaque
        pack->geometry[(i / ORR_PACK_BLOCK * ORR_PACK_GEOMETRY + 12) * ORR_PACK_BLOCK + i % ORR_PACK_BLOCK] =
            i < pack->count ? 0.005f : 0.0f;
    }
    expect_failure(&source, (orr_collider_desc){.cell = 0.1}, "opaque enough");
    orr_splat_pack_destroy(pack);

    s.triangle_count = 4; // one side of the box, seen from both
    for (int i = 0; i < 6; i++) {
        s.indices[6 + i] = s.indices[5 - i];
    }
    orr_mesh mesh = mesh_of(&s);
    const orr_collider_source flat = {.name = "flat", .mesh = &mesh};
    expect_failure(&flat, (orr_collider_desc){.cell = 0.05},
                   "at cells of 0.05: expected triangles that enclose");
    expect_failure(&flat, (orr_collider_desc){.cell = 1e-5}, "use larger cells");
    orr_free(mesh.vertices);
    free_shape(&s);
}

// Splats without end cost no minutes: those that are too large are left out.
static void huge_splats_are_haze(void **state)
{
    (void)state;
    shape room = make_room();
    const mesh_cloud_desc cloud = {.count = 30000, .flatness = 0.1f};
    orr_splat_pack *pack = mesh_cloud(room.positions, room.indices, room.triangle_count, &cloud, jobs);
    for (int64_t i = 0; i < 20000; i += 5) { // scaled to many times the room
        float *g =
            pack->geometry + i / ORR_PACK_BLOCK * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK + i % ORR_PACK_BLOCK;
        for (int k = 3; k < 12; k++) {
            g[k * ORR_PACK_BLOCK] *= 1e4f;
        }
        g[12 * ORR_PACK_BLOCK] = 0.02f;
    }
    const orr_collider_source source = {.name = "room", .splats = pack};
    orr_collider_report report;
    uint64_t start = orr_clock_nanoseconds();
    orr_distance_grid *grid = make(&source, (orr_collider_desc){.cell = 0.05}, &report);
    print_message("%lld of 4000 left out, %.1f s\n", (long long)report.haze,
                  (double)(orr_clock_nanoseconds() - start) * 1e-9);
    assert_true(report.haze >= 3900);
    orr_distance_grid_destroy(grid);
    orr_splat_pack_destroy(pack);
    free_shape(&room);
}

// ---- layers ----

static const char box_file[] =
    "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\n"
    "property float z\nelement face 6\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n"
    "4 0 2 3 1\n4 4 5 7 6\n4 0 1 5 4\n4 2 6 7 3\n4 0 4 6 2\n4 1 3 7 5\n";

static void a_layer_keeps_its_collider_beside_its_file(void **state)
{
    (void)state;
    char path[512], beside[600], coarser[600];
    snprintf(path, sizeof path, "%s", scratch_path("box.ply"));
    snprintf(beside, sizeof beside, "%s.0.05.collider", path);
    snprintf(coarser, sizeof coarser, "%s.0.1.collider", path);
    assert_ok(orr_file_write(path, box_file, strlen(box_file), &error));
    orr_engine *engine;
    orr_scene *scene;
    assert_ok(orr_engine_create(&(orr_engine_desc){.threads = 2, .device = ORR_DEVICE_CPU}, &engine, &error));
    assert_ok(orr_scene_load(engine, path, &scene, &error));
    orr_distance_grid *made, *loaded, *other;
    const orr_collider_desc fine = {.cell = 0.05}, coarse = {.cell = 0.1};
    assert_ok(orr_collider_of_layer(scene, &scene->layers[0], &fine, &made, &error));
    assert_true(orr_collider_file_source(beside) == made->source);
    made->corner[0] += 1.0f; // what is in the file is recognised
    assert_ok(orr_distance_grid_save(made, beside, &error));
    assert_ok(orr_collider_of_layer(scene, &scene->layers[0], &fine, &loaded, &error));
    assert_true(same_grids(made, loaded));
    assert_ok(orr_collider_of_layer(scene, &scene->layers[0], &coarse, &other, &error)); // in another file
    assert_true(other->cell == 0.1 && orr_collider_file_source(coarser) == other->source);
    assert_true(orr_collider_file_source(beside) == made->source);
    orr_distance_grid_destroy(made);
    orr_distance_grid_destroy(loaded);
    orr_distance_grid_destroy(other);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

// The door of programs: made, described, in a file, asked for distances, and seen.
static bool take_name(void *user, const char *path, const char *stage, double share)
{
    (void)stage, (void)share;
    snprintf(user, 64, "%s", path);
    return true;
}

static void programs_make_and_ask_colliders(void **state)
{
    (void)state;
    char path[512], kept[600], seen[600];
    snprintf(path, sizeof path, "%s", scratch_path("cube.ply"));
    snprintf(kept, sizeof kept, "%s", scratch_path("kept.collider"));
    snprintf(seen, sizeof seen, "%s", scratch_path("seen.ply"));
    assert_ok(orr_file_write(path, box_file, strlen(box_file), &error));
    orr_error why = {0};
    orr_engine *engine;
    orr_scene *scene;
    char told[64] = "";
    const orr_engine_desc own = {
        .threads = 2, .device = ORR_DEVICE_CPU, .progress = take_name, .progress_user = told};
    assert_ok(orr_engine_create(&own, &engine, &error));
    assert_ok(orr_scene_load(engine, path, &scene, &error));
    orr_layer cube = orr_scene_layer(scene, 0), surface;
    orr_collider *made, *loaded;
    assert_ok(orr_scene_make_collider(scene, cube, &(orr_collider_desc){.cell = 0.05}, &made, &error));
    assert_string_equal(told, "cube.ply"); // what it is of, which is no file that is being loaded
    assert_ok(orr_collider_save(made, kept, &error));
    assert_ok(orr_collider_load(kept, &loaded, &error));
    orr_collider_info info;
    assert_ok(orr_collider_describe(loaded, &info, &error));
    assert_true(info.cell == 0.05 && info.bricks > 8 && info.low[0] < 0.0 && info.high[2] > 1.0);

    // above a face, inside near one, and beyond the grid: [scene units]
    static const double points[9] = {0.5, 0.5, 1.06, 0.02, 0.5, 0.5, 0.5, -3.0, 0.5};
    static const double expected[3] = {0.06, -0.02, 3.0};
    static const double away[9] = {0, 0, 1, -1, 0, 0, 0, -1, 0};
    double distances[3], gradients[9], again[3];
    assert_ok(orr_collider_distance(made, points, 3, distances, gradients, &error));
    assert_ok(orr_collider_distance(loaded, points, 3, again, NULL, &error));
    for (int i = 0; i < 9;
         i++) { // faces are planes, but coarse corners far off know their nearest points only
        assert_true(fabs(distances[i / 3] - expected[i / 3]) < (i < 6 ? 1e-6 : 0.05));
        assert_true(fabs(gradients[i] - away[i]) < (i < 6 ? 1e-5 : 0.05));
        assert_true(again[i / 3] == distances[i / 3]);
    }
    const double nowhere[3] = {0.0, NAN, 0.0};
    assert_true(orr_collider_distance(made, nowhere, 1, distances, NULL, &why) == ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "point 0"));

    // the surface, as a layer and as a file
    static const float colour[4] = {0.1f, 0.6f, 0.2f, 0.5f};
    assert_ok(orr_scene_add_collider(scene, "cube.collider", made, colour, NULL, &surface, &error));
    assert_ok(orr_collider_save(made, seen, &error));
    assert_ok(orr_scene_add_file(scene, seen, NULL, NULL, &error));
    for (int i = 1; i < 3; i++) {
        orr_layer_info layer;
        assert_ok(orr_scene_layer_info(scene, orr_scene_layer(scene, i), &layer, &error));
        assert_true(fabsf(layer.low[0]) < 1e-3f && fabsf(layer.high[1] - 1.0f) < 1e-3f);
    }
    assert_true(orr_collider_save(made, "cube.txt", &why) != ORR_OK && strstr(why.message, ".collider"));
    orr_collider *refused;
    const orr_collider_desc wrong = {.eye_count = 1};
    assert_true(orr_scene_make_collider(scene, cube, &wrong, &refused, &why) == ORR_ERROR_ARGUMENT &&
                !refused);
    orr_collider_destroy(made);
    orr_collider_destroy(loaded);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_room_is_free_inside_and_solid_behind_its_walls),
        cmocka_unit_test(an_object_is_solid_inside),
        cmocka_unit_test(a_floor_is_thick),
        cmocka_unit_test(eyes_are_in_free_space),
        cmocka_unit_test(the_orrery_is_accurate),
        cmocka_unit_test(an_armadillo_is_accurate),
        cmocka_unit_test(a_mesh_gives_exact_distances),
        cmocka_unit_test(convex_parts_follow_a_curved_surface),
        cmocka_unit_test(a_sheet_is_a_slab),
        cmocka_unit_test(threads_files_and_hashes),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(bad_input_is_one_line),
        cmocka_unit_test(a_layer_keeps_its_collider_beside_its_file),
        cmocka_unit_test(programs_make_and_ask_colliders),
        cmocka_unit_test(huge_splats_are_haze),
    };
    return cmocka_run_group_tests(tests, open_jobs, close_jobs);
}
