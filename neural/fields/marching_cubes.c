#include "neural/fields/marching_cubes.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "neural/fields/marching_table.h"

#include <math.h>
#include <string.h>

static const float BORDER =
    1e-6f; // outside, however little: a shape that leaves the cube is closed at its wall
static const float VERTEX_LOW =
    1e-3f; // vertices keep away from lattice points, where triangles would collapse

typedef struct marcher {
    const orr_marching_function *function;
    orr_jobs *jobs;
    orr_surface *surface;
    int cells[3], side[3]; // points along an axis: cells + 1
    int longest;           // of cells
    int64_t vertex_capacity, triangle_capacity;
    orr_cell_triangles cases[256];
    int layer;             // z of the newer slice
    float *values[2];      // slices at layer - 1 and at layer
    uint32_t *edges[2][2]; // vertices on edges along x and along y: [axis][slice]
    uint32_t *rising;      // vertices on edges along z between the slices
} marcher;

static int64_t slice_points(const marcher *m)
{
    return (int64_t)m->side[0] * m->side[1];
}

// ---- values ----

static void evaluate_block(void *context, int block, int worker)
{
    const marcher *m = context;
    _Alignas(ORR_ALIGNMENT) float points[3 * ORR_SAMPLES], values[ORR_SAMPLES];
    int64_t first = (int64_t)block * ORR_SAMPLES, count = slice_points(m);
    float step = 1.0f / (float)m->longest;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        int64_t at = first + i < count ? first + i : count - 1;
        points[i] = (float)(at % m->side[0]) * step;
        points[ORR_SAMPLES + i] = (float)(at / m->side[0]) * step;
        points[2 * ORR_SAMPLES + i] = (float)m->layer * step;
    }
    m->function->values(m->function->context, worker, points, values);
    for (int i = 0; i < ORR_SAMPLES && first + i < count; i++) {
        int x = (int)((first + i) % m->side[0]), y = (int)((first + i) / m->side[0]);
        bool border = x == 0 || y == 0 || m->layer == 0 || x == m->cells[0] || y == m->cells[1] ||
                      m->layer == m->cells[2];
        float value = isfinite(values[i]) ? values[i] : BORDER;
        m->values[1][first + i] = border ? fmaxf(value, BORDER) : value;
    }
}

// ---- vertices ----

// capacity for one more of `count` items of `size` bytes
static orr_result grow(void **items, size_t size, int64_t count, int64_t *capacity, orr_error *error)
{
    if (count < *capacity) {
        return ORR_OK;
    }
    int64_t wider = *capacity ? 2 * *capacity : 1 << 12;
    void *memory = orr_alloc((size_t)wider, size);
    if (!memory) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a surface of %lld pieces",
                        (long long)count);
    }
    if (count > 0) {
        memcpy(memory, *items, (size_t)count * size);
    }
    orr_free(*items);
    *items = memory;
    *capacity = wider;
    return ORR_OK;
}

// The vertex between lattice point (x, y, z) of value a and its neighbour along `axis` of value b, when there
// is one.
static orr_result add_vertex(marcher *m, const int point[3], int axis, float a, float b, uint32_t *vertex,
                             orr_error *error)
{
    if ((a < 0.0f) == (b < 0.0f)) {
        return ORR_OK;
    }
    orr_surface *s = m->surface;
    if (s->vertex_count == UINT32_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY, "surface: expected at most 2^32 - 1 vertices");
    }
    ORR_TRY(grow((void **)&s->positions, 3 * sizeof(float), s->vertex_count, &m->vertex_capacity, error));
    float along = fminf(fmaxf(a / (a - b), VERTEX_LOW), 1.0f - VERTEX_LOW);
    float *position = s->positions + 3 * s->vertex_count;
    for (int k = 0; k < 3; k++) {
        position[k] = ((float)point[k] + (k == axis ? along : 0.0f)) / (float)m->longest;
    }
    *vertex = (uint32_t)s->vertex_count++;
    return ORR_OK;
}

static orr_result add_layer_vertices(marcher *m, orr_error *error)
{
    const float *below = m->values[0], *here = m->values[1];
    for (int y = 0; y < m->side[1]; y++) {
        for (int x = 0; x < m->side[0]; x++) {
            int64_t at = (int64_t)y * m->side[0] + x;
            const int point[3] = {x, y, m->layer}, under[3] = {x, y, m->layer - 1};
            if (x < m->cells[0]) {
                ORR_TRY(add_vertex(m, point, 0, here[at], here[at + 1], &m->edges[0][1][at], error));
            }
            if (y < m->cells[1]) {
                ORR_TRY(add_vertex(m, point, 1, here[at], here[at + m->side[0]], &m->edges[1][1][at], error));
            }
            if (m->layer > 0) {
                ORR_TRY(add_vertex(m, under, 2, below[at], here[at], &m->rising[at], error));
            }
        }
    }
    return ORR_OK;
}

// ---- triangles ----

static uint32_t vertex_of(const marcher *m, int64_t at, int edge)
{
    int axis = edge / 4, corner = orr_cell_edge_corner(edge);
    at += (corner & 1) + (int64_t)(corner >> 1 & 1) * m->side[0];
    return axis == 2 ? m->rising[at] : m->edges[axis][corner >> 2][at];
}

static orr_result add_triangles(marcher *m, orr_error *error)
{
    orr_surface *s = m->surface;
    for (int y = 0; y < m->cells[1]; y++) {
        for (int x = 0; x < m->cells[0]; x++) {
            int64_t at = (int64_t)y * m->side[0] + x;
            int inside = 0;
            for (int c = 0; c < 8; c++) {
                float value = m->values[c >> 2][at + (c & 1) + (int64_t)(c >> 1 & 1) * m->side[0]];
                inside |= (value < 0.0f) << c;
            }
            const orr_cell_triangles *cell = &m->cases[inside];
            for (int i = 0; i < cell->count; i++) {
                ORR_TRY(grow((void **)&s->indices, 3 * sizeof(uint32_t), s->triangle_count,
                             &m->triangle_capacity, error));
                for (int k = 0; k < 3; k++) {
                    s->indices[3 * s->triangle_count + k] = vertex_of(m, at, cell->edges[i][k]);
                }
                s->triangle_count++;
            }
        }
    }
    return ORR_OK;
}

static void swap_slices(marcher *m)
{
    float *values = m->values[0];
    m->values[0] = m->values[1];
    m->values[1] = values;
    for (int axis = 0; axis < 2; axis++) {
        uint32_t *edges = m->edges[axis][0];
        m->edges[axis][0] = m->edges[axis][1];
        m->edges[axis][1] = edges;
    }
}

static orr_result march(marcher *m, orr_error *error)
{
    int64_t points = slice_points(m);
    for (int slice = 0; slice < 2; slice++) {
        ORR_ALLOC(m->values[slice], points, "a slice of values", error);
        ORR_ALLOC(m->edges[0][slice], points, "a slice of vertices", error);
        ORR_ALLOC(m->edges[1][slice], points, "a slice of vertices", error);
    }
    ORR_ALLOC(m->rising, points, "a slice of vertices", error);
    orr_marching_table(m->cases);
    for (m->layer = 0; m->layer < m->side[2]; m->layer++) {
        swap_slices(m);
        orr_jobs_for(m->jobs, orr_blocks(points, ORR_SAMPLES), evaluate_block, m);
        ORR_TRY(add_layer_vertices(m, error));
        if (m->layer > 0) {
            ORR_TRY(add_triangles(m, error));
        }
    }
    return ORR_OK;
}

// ---- normals and colours ----

// area-weighted means of the triangles around each vertex
static void sum_triangle_normals(orr_surface *s)
{
    memset(s->normals, 0, (size_t)s->vertex_count * 3 * sizeof(float));
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const uint32_t *corner = &s->indices[3 * t];
        const float *a = s->positions + 3 * (size_t)corner[0], *b = s->positions + 3 * (size_t)corner[1];
        const float *c = s->positions + 3 * (size_t)corner[2];
        float ab[3], ac[3], area[3];
        vec3f_subtract(b, a, ab);
        vec3f_subtract(c, a, ac);
        vec3f_cross(ab, ac, area);
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) {
                s->normals[3 * (size_t)corner[i] + (size_t)k] += area[k];
            }
        }
    }
}

static bool normalise(const float v[3], float out[3])
{
    float length = sqrtf(vec3f_dot(v, v));
    if (!(length > 0.0f) || !isfinite(length)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        out[k] = v[k] / length;
    }
    return true;
}

static void finish_block(void *context, int block, int worker)
{
    const marcher *m = context;
    orr_surface *s = m->surface;
    _Alignas(ORR_ALIGNMENT) float points[3 * ORR_SAMPLES], gradients[3 * ORR_SAMPLES] = {0};
    int64_t first = (int64_t)block * ORR_SAMPLES;
    int count = (int)(s->vertex_count - first < ORR_SAMPLES ? s->vertex_count - first : ORR_SAMPLES);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        for (int k = 0; k < 3; k++) {
            points[k * ORR_SAMPLES + i] = s->positions[3 * (first + (i < count ? i : 0)) + k];
        }
    }
    if (m->function->gradients) {
        m->function->gradients(m->function->context, worker, points, gradients);
    }
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const float upwards[3] = {0.0f, 0.0f, 1.0f};
        float *normal = s->normals + 3 * (first + (i < count ? i : 0));
        const float g[3] = {gradients[i], gradients[ORR_SAMPLES + i], gradients[2 * ORR_SAMPLES + i]};
        bool found =
            i >= count || (m->function->gradients && normalise(g, normal)) || normalise(normal, normal);
        if (!found) {
            memcpy(normal, upwards, sizeof upwards); // of triangles without area
        }
        for (int k = 0; k < 3; k++) {
            gradients[k * ORR_SAMPLES + i] = normal[k];
        }
    }
    if (m->function->colours) {
        uint8_t colours[4 * ORR_SAMPLES];
        m->function->colours(m->function->context, worker, points, gradients, colours);
        memcpy(s->colours + 4 * first, colours, 4 * (size_t)count);
    }
}

orr_result orr_marching_cubes(const orr_marching_function *function, orr_jobs *jobs, const int cells[3],
                              orr_surface *surface, orr_error *error)
{
    *surface = (orr_surface){0};
    marcher m = {.function = function, .jobs = jobs, .surface = surface};
    for (int k = 0; k < 3; k++) {
        if (cells[k] < 2 || cells[k] > ORR_MARCHING_RESOLUTION_MAX) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "resolution %d: expected 2 to %d", cells[k],
                            ORR_MARCHING_RESOLUTION_MAX);
        }
        m.cells[k] = cells[k];
        m.side[k] = cells[k] + 1;
        m.longest = cells[k] > m.longest ? cells[k] : m.longest;
    }
    orr_result result = march(&m, error);
    for (int slice = 0; slice < 2; slice++) {
        orr_free(m.values[slice]);
        orr_free(m.edges[0][slice]);
        orr_free(m.edges[1][slice]);
    }
    orr_free(m.rising);
    surface->normals = orr_alloc((size_t)surface->vertex_count * 3, sizeof(float));
    surface->colours = function->colours ? orr_alloc((size_t)surface->vertex_count, 4) : NULL;
    if (result == ORR_OK && (!surface->normals || (function->colours && !surface->colours))) {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: normals of a surface");
    }
    if (result != ORR_OK) {
        orr_surface_free(surface);
        return result;
    }
    sum_triangle_normals(surface);
    orr_jobs_for(jobs, orr_blocks(surface->vertex_count, ORR_SAMPLES), finish_block, &m);
    return ORR_OK;
}

void orr_surface_free(orr_surface *surface)
{
    orr_free(surface->positions);
    orr_free(surface->normals);
    orr_free(surface->colours);
    orr_free(surface->indices);
    *surface = (orr_surface){0};
}

static void turn(const float m[12], const float v[3], float out[3])
{
    for (int row = 0; row < 3; row++) {
        out[row] = m[4 * row] * v[0] + m[4 * row + 1] * v[1] + m[4 * row + 2] * v[2];
    }
}

void orr_surface_transform(orr_surface *surface, const float m[12])
{
    for (int64_t i = 0; i < surface->vertex_count; i++) {
        float position[3], normal[3];
        turn(m, surface->positions + 3 * i, position);
        turn(m, surface->normals + 3 * i, normal);
        (void)normalise(normal, surface->normals + 3 * i); // not zero: a rotation and a scale
        for (int k = 0; k < 3; k++) {
            surface->positions[3 * i + k] = position[k] + m[4 * k + 3];
        }
    }
}
