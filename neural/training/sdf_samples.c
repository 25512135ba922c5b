#include "neural/training/sdf_samples.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 3, BATCHES_KEPT = 32, STEPS_PER_BATCH = 12 };
// streams of random numbers besides those of batches
enum { STREAM_INSIDE = 0x40000000, STREAM_SURFACE };

static const float MESH_SIDE = 0.9f;        // of the unit cube
static const float PAIR_DISTANCE = 0.0015f; // less than half a cell of the finest level
static const float SLOPE_WEIGHT = 1.0f;

// ---- the shape ----

static double area_of(const float t[9])
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        int u = (k + 1) % 3, v = (k + 2) % 3;
        double area = (double)(t[3 + u] - t[u]) * (double)(t[6 + v] - t[v]) -
                      (double)(t[3 + v] - t[v]) * (double)(t[6 + u] - t[u]);
        square += area * area;
    }
    return sqrt(square);
}

// Six times the volume inside, negative for a mesh that is turned inside out.
static double volume_of(const float (*corners)[9], int64_t count)
{
    double volume = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const float *t = corners[i];
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            volume +=
                (double)t[k] * ((double)t[3 + u] * (double)t[6 + v] - (double)t[3 + v] * (double)t[6 + u]);
        }
    }
    return volume;
}

// Triangles and normals of a mesh that is turned inside out are turned back: the sign of distances minds
// neither.
static void turn_outward(orr_sdf_shape *s)
{
    bool inward = volume_of((const float(*)[9])s->corners, s->triangle_count) < 0.0;
    for (int64_t i = 0; inward && i < s->triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            float corner = s->corners[i][k], normal = s->normals[i][k];
            s->corners[i][k] = s->corners[i][3 + k];
            s->corners[i][3 + k] = corner;
            s->normals[i][k] = -s->normals[i][3 + k];
            s->normals[i][3 + k] = -normal;
            s->normals[i][6 + k] = -s->normals[i][6 + k];
        }
    }
}

typedef struct edge {
    int32_t ends[6]; // positions to a millionth of the cube, the lesser end first
    int direction;   // 1: as the triangle goes, -1: against it
} edge;

static int compare_edges(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(int32_t[6]));
}

static void set_edge(const float from[3], const float to[3], edge *e)
{
    int32_t ends[2][3];
    for (int k = 0; k < 3; k++) {
        ends[0][k] = (int32_t)lrintf(from[k] * 0x1p20f);
        ends[1][k] = (int32_t)lrintf(to[k] * 0x1p20f);
    }
    int first = memcmp(ends[0], ends[1], sizeof ends[0]) <= 0 ? 0 : 1;
    e->direction = first == 0 ? 1 : -1;
    memcpy(e->ends, ends[first], sizeof ends[0]);
    memcpy(e->ends + 3, ends[1 - first], sizeof ends[0]);
}

// Edges that no other triangle has in the opposite direction, between vertices at the same positions: holes,
// and triangles turned against their neighbours.
static orr_result count_open_edges(orr_sdf_shape *s, const char *name, orr_error *error)
{
    edge *edges;
    int64_t count = 3 * s->triangle_count;
    ORR_ALLOC(edges, count, name, error);
    for (int64_t i = 0; i < count; i++) {
        const float *t = s->corners[i / 3];
        set_edge(t + 3 * (i % 3), t + 3 * ((i + 1) % 3), &edges[i]);
    }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    for (int64_t i = 0, next; i < count; i = next) {
        int balance = 0;
        bool point = memcmp(edges[i].ends, edges[i].ends + 3, sizeof(int32_t[3])) == 0;
        for (next = i; next < count && compare_edges(&edges[i], &edges[next]) == 0; next++) {
            balance += edges[next].direction;
        }
        s->open_edges += point ? 0 : abs(balance);
    }
    orr_free(edges);
    return ORR_OK;
}

static orr_result add_triangles(orr_sdf_shape *s, const orr_triangle_view *mesh, const float *positions,
                                const char *name, orr_error *error)
{
    s->triangle_count = mesh->index_count / 3;
    ORR_ALLOC(s->corners, s->triangle_count, name, error);
    ORR_ALLOC(s->normals, s->triangle_count, name, error);
    ORR_ALLOC(s->area_below, s->triangle_count, name, error);
    double below = 0.0;
    for (int64_t i = 0; i < s->triangle_count; i++) {
        for (int corner = 0; corner < 3; corner++) {
            uint32_t vertex = mesh->indices[3 * i + corner];
            memcpy(s->corners[i] + 3 * corner, positions + 3 * (size_t)vertex, 3 * sizeof(float));
            memcpy(s->normals[i] + 3 * corner, mesh->normals + vertex * mesh->stride, 3 * sizeof(float));
        }
        below += area_of(s->corners[i]);
        s->area_below[i] = below;
    }
    turn_outward(s);
    return count_open_edges(s, name, error);
}

orr_result orr_sdf_shape_create(const orr_triangle_view *mesh, const char *name, uint32_t seed,
                                orr_jobs *jobs, orr_sdf_shape *shape, orr_error *error)
{
    *shape = (orr_sdf_shape){.seed = seed};
    float side = 0.0f;
    for (int k = 0; k < 3; k++) {
        side = fmaxf(side, mesh->high[k] - mesh->low[k]);
    }
    if (!(side > 0.0f) || !isfinite(side)) {
        return orr_fail(error, ORR_CODE_MESH_FILE, "%s: expected a mesh with a size", name);
    }
    shape->size = side / MESH_SIDE;
    float *positions;
    ORR_ALLOC(positions, 3 * mesh->vertex_count, name, error);
    for (int k = 0; k < 3; k++) {
        shape->origin[k] = 0.5f * (mesh->low[k] + mesh->high[k] - shape->size);
        for (int64_t i = 0; i < mesh->vertex_count; i++) {
            positions[3 * i + k] =
                (mesh->positions[(size_t)i * mesh->stride + (size_t)k] - shape->origin[k]) / shape->size;
        }
    }
    orr_result result = orr_mesh_distance_create(positions, mesh->vertex_count, mesh->indices,
                                                 mesh->index_count / 3, jobs, name, &shape->mesh, error);
    if (result == ORR_OK) {
        result = add_triangles(shape, mesh, positions, name, error);
    }
    orr_free(positions);
    if (result != ORR_OK) {
        orr_sdf_shape_free(shape);
    }
    return result;
}

void orr_sdf_shape_free(orr_sdf_shape *shape)
{
    orr_mesh_distance_destroy(shape->mesh);
    orr_free(shape->corners);
    orr_free(shape->normals);
    orr_free(shape->area_below);
    *shape = (orr_sdf_shape){0};
}

// ---- positions ----

static int64_t find_triangle(const orr_sdf_shape *s, double share)
{
    int64_t low = 0, high = s->triangle_count - 1;
    double area = share * s->area_below[high];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (s->area_below[middle] > area) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// uniform over the surface, with the mesh's normal there and the triangle's (neither of unit length)
static void surface_point(const orr_sdf_shape *s, orr_rng *rng, float point[DIMS], float normal[DIMS],
                          float face[DIMS])
{
    int64_t triangle = find_triangle(s, (double)orr_rng_uniform(rng));
    const float *t = s->corners[triangle], *n = s->normals[triangle];
    float root = sqrtf(orr_rng_uniform(rng)), v = root * orr_rng_uniform(rng);
    for (int k = 0; k < DIMS; k++) {
        point[k] = t[k] + (root - v) * (t[3 + k] - t[k]) + v * (t[6 + k] - t[k]);
        normal[k] = n[k] + (root - v) * (n[3 + k] - n[k]) + v * (n[6 + k] - n[k]);
        int u = (k + 1) % 3, w = (k + 2) % 3;
        face[k] = (t[3 + u] - t[u]) * (t[6 + w] - t[w]) - (t[3 + w] - t[w]) * (t[6 + u] - t[u]);
    }
}

// normal distribution (Box and Muller 1958)
static float gaussian(orr_rng *rng)
{
    float radius = sqrtf(-2.0f * logf(1.0f - orr_rng_uniform(rng)));
    return radius * cosf(6.28318531f * orr_rng_uniform(rng));
}

// at `distance` from another position, in a random direction
static void step_aside(const float *other, float distance, orr_rng *rng, float position[DIMS])
{
    float offset[DIMS], square = 1e-20f;
    for (int k = 0; k < DIMS; k++) {
        offset[k] = gaussian(rng);
        square += offset[k] * offset[k];
    }
    for (int k = 0; k < DIMS; k++) {
        position[k] = fminf(fmaxf(other[k] + offset[k] * (distance / sqrtf(square)), 0.0f), 1.0f);
    }
}

// by pair: how far from the surface [sides of the cube]; negative: anywhere. None is on the surface itself:
// there distances are zero whatever their slope, and a field that is made to be zero at so many positions is
// flat between them.
static void draw_first(const orr_sdf_shape *s, int pair, orr_rng *rng, float position[DIMS])
{
    static const float spread[8] = {0.0005f, 0.0005f, 0.001f, 0.001f, 0.002f, 0.005f, 0.03f, -1.0f};
    float sigma = spread[pair % 8];
    if (sigma < 0.0f) {
        for (int k = 0; k < DIMS; k++) {
            position[k] = orr_rng_uniform(rng);
        }
        return;
    }
    float normal[DIMS], face[DIMS];
    surface_point(s, rng, position, normal, face);
    for (int k = 0; k < DIMS; k++) {
        position[k] = fminf(fmaxf(position[k] + sigma * gaussian(rng), 0.0f), 1.0f);
    }
}

static void draw(void *context, uint32_t batch, int first, int count, int total, float *positions)
{
    (void)total;
    enum { NUMBERS = 16 }; // random numbers kept for one sample
    assert(first % 2 == 0);
    for (int i = 0; i < count; i++) {
        const orr_sdf_shape *s = context;
        orr_rng rng = {s->seed, batch, (uint64_t)(first + i) * NUMBERS};
        float *position = positions + DIMS * i;
        if (i % 2 == 0) {
            draw_first(s, (first + i) / 2, &rng, position);
        } else {
            step_aside(position - DIMS, PAIR_DISTANCE, &rng, position);
        }
    }
}

static void truth(void *context, const float *positions, float *targets)
{
    const orr_sdf_shape *s = context;
    orr_mesh_distance_signed(s->mesh, positions, ORR_SAMPLES, targets);
}

orr_sample_source orr_sdf_source(orr_sdf_shape *shape)
{
    return (orr_sample_source){.context = shape,
                               .draw = draw,
                               .truth = truth,
                               .slope_weight = SLOPE_WEIGHT,
                               .batches_kept = BATCHES_KEPT,
                               .steps_per_batch = STEPS_PER_BATCH};
}

orr_result orr_sdf_training_config(orr_field_config *config, orr_error *error)
{
    ORR_TRY(orr_field_config_base(ORR_FIELD_SDF, config, error));
    config->encoding.levels = 8;
    config->encoding.features_per_level = 4;
    config->encoding.log2_hashmap_size = 18;
    config->encoding.per_level_scale = orr_grid_level_scale(&config->encoding, 256.0);
    config->optimizer.learning_rate = 3e-3;
    config->optimizer.decay_start = 1500;
    config->optimizer.decay_interval = 300;
    config->optimizer.decay_base = 0.7;
    return ORR_OK;
}

// ---- how good ----

typedef struct block_sums {
    int both, either;
    double degrees, smooth_degrees, error;
} block_sums;

typedef struct evaluation {
    const orr_field *field;
    const orr_sdf_shape *shape;
    float low[DIMS], high[DIMS]; // of the mesh in the unit cube
    float *scratch;              // per worker
    size_t scratch_floats;
    block_sums *sums; // per block
} evaluation;

static void compare_volume(const evaluation *e, int block, float *scratch, block_sums *sums)
{
    _Alignas(ORR_ALIGNMENT) float positions[DIMS * ORR_SAMPLES], values[ORR_SAMPLES];
    orr_rng rng = {e->shape->seed, STREAM_INSIDE, (uint64_t)block * DIMS * ORR_SAMPLES};
    for (int i = 0; i < DIMS * ORR_SAMPLES; i++) {
        int k = i / ORR_SAMPLES;
        positions[i] = orr_rng_range(&rng, e->low[k], e->high[k]);
    }
    orr_field_values(e->field, positions, scratch, values);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const float point[DIMS] = {positions[i], positions[ORR_SAMPLES + i], positions[2 * ORR_SAMPLES + i]};
        bool truly = fabsf(orr_mesh_winding(e->shape->mesh, point)) > 0.5f, said = values[i] < 0.0f;
        sums->both += truly && said;
        sums->either += truly || said;
    }
}

static double degrees_between(const float a[DIMS], const float b[DIMS])
{
    double along = 0.0, square_a = 0.0, square_b = 0.0;
    for (int k = 0; k < DIMS; k++) {
        along += (double)a[k] * (double)b[k];
        square_a += (double)a[k] * (double)a[k];
        square_b += (double)b[k] * (double)b[k];
    }
    double lengths = sqrt(square_a * square_b), cosine = lengths > 0.0 ? along / lengths : 0.0;
    return acos(fmin(fmax(cosine, -1.0), 1.0)) * (180.0 / 3.14159265358979);
}

static void compare_surface(const evaluation *e, int block, float *scratch, block_sums *sums)
{
    _Alignas(ORR_ALIGNMENT) float positions[DIMS * ORR_SAMPLES], values[ORR_SAMPLES],
        gradients[DIMS * ORR_SAMPLES];
    float normals[ORR_SAMPLES][DIMS], faces[ORR_SAMPLES][DIMS];
    orr_rng rng = {e->shape->seed, STREAM_SURFACE, (uint64_t)block * 4 * ORR_SAMPLES};
    for (int i = 0; i < ORR_SAMPLES; i++) {
        float point[DIMS];
        surface_point(e->shape, &rng, point, normals[i], faces[i]);
        for (int k = 0; k < DIMS; k++) {
            positions[k * ORR_SAMPLES + i] = point[k];
        }
    }
    orr_field_gradients(e->field, positions, scratch, values, gradients);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const float gradient[DIMS] = {gradients[i], gradients[ORR_SAMPLES + i],
                                      gradients[2 * ORR_SAMPLES + i]};
        sums->degrees += degrees_between(gradient, faces[i]);
        sums->smooth_degrees += degrees_between(gradient, normals[i]);
        sums->error += (double)fabsf(values[i]);
    }
}

static void evaluate_block(void *context, int block, int worker)
{
    const evaluation *e = context;
    float *scratch = e->scratch + (size_t)worker * e->scratch_floats;
    e->sums[block] = (block_sums){0};
    compare_volume(e, block, scratch, &e->sums[block]);
    compare_surface(e, block, scratch, &e->sums[block]);
}

static void find_box(const orr_sdf_shape *s, float low[DIMS], float high[DIMS])
{
    for (int64_t i = 0; i < s->triangle_count; i++) {
        const float *t = s->corners[i];
        for (int k = 0; k < 3 * DIMS; k++) {
            low[k % DIMS] = fminf(low[k % DIMS], t[k]);
            high[k % DIMS] = fmaxf(high[k % DIMS], t[k]);
        }
    }
}

orr_result orr_sdf_evaluate(const orr_field *field, const orr_sdf_shape *shape, orr_jobs *jobs, int points,
                            orr_sdf_quality *quality, orr_error *error)
{
    evaluation e = {.field = field,
                    .shape = shape,
                    .low = {1.0f, 1.0f, 1.0f},
                    .scratch_floats = (orr_field_scratch_floats(field) + 15) / 16 * 16};
    find_box(shape, e.low, e.high);
    int blocks = orr_blocks(points, ORR_SAMPLES);
    e.scratch = orr_alloc((size_t)orr_jobs_workers(jobs) * e.scratch_floats, sizeof *e.scratch);
    e.sums = orr_alloc((size_t)blocks, sizeof *e.sums);
    orr_result result = ORR_OK;
    if (e.scratch && e.sums) {
        orr_jobs_for(jobs, blocks, evaluate_block, &e);
        double both = 0.0, either = 0.0, count = (double)blocks * ORR_SAMPLES;
        *quality = (orr_sdf_quality){0};
        for (int i = 0; i < blocks; i++) {
            both += e.sums[i].both;
            either += e.sums[i].either;
            quality->normal_degrees += e.sums[i].degrees / count;
            quality->smooth_normal_degrees += e.sums[i].smooth_degrees / count;
            quality->surface_error += e.sums[i].error / count;
        }
        quality->iou = either > 0.0 ? both / either : 1.0;
    } else {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: comparing a field with its mesh");
    }
    orr_free(e.scratch);
    orr_free(e.sums);
    return result;
}
