#include "tests/support/scenes/mesh_cloud.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "tests/support/support.h"

#include <math.h>

static const float OPACITY = 0.9f;
static const float SIZE = 0.7f; // of a disc, in the distance between splats

typedef struct mesh_area {
    const float *positions;
    const uint32_t *indices;
    int64_t count;
    double *sums; // areas up to and with each triangle
} mesh_area;

static const float *corner_of(const mesh_area *m, int64_t triangle, int corner)
{
    return m->positions + 3 * (size_t)m->indices[3 * triangle + corner];
}

// Returns the triangle's area.
static double find_normal(const mesh_area *m, int64_t triangle, double normal[3])
{
    double sides[2][3];
    for (int k = 0; k < 3; k++) {
        for (int s = 0; s < 2; s++) {
            sides[s][k] = (double)corner_of(m, triangle, s + 1)[k] - (double)corner_of(m, triangle, 0)[k];
        }
    }
    vec3_cross(sides[0], sides[1], normal);
    return 0.5 * vec3_normalise(normal);
}

static int64_t pick_triangle(const mesh_area *m, double at)
{
    int64_t low = 0, high = m->count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (m->sums[middle] < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static float normal_noise(orr_rng *rng)
{
    float sum = 0.0f; // of twelve: nearly normal, variance 1
    for (int i = 0; i < 12; i++) {
        sum += orr_rng_uniform(rng);
    }
    return sum - 6.0f;
}

static void place_splat(const mesh_area *m, const mesh_cloud_desc *desc, float size, orr_rng *rng, int64_t i,
                        const orr_splats_view *view)
{
    double at = ((double)i + (double)orr_rng_uniform(rng)) / (double)desc->count * m->sums[m->count - 1],
           normal[3], x[3], y[3];
    int64_t triangle = pick_triangle(m, at);
    find_normal(m, triangle, normal);
    float u = sqrtf(orr_rng_uniform(rng)), v = orr_rng_uniform(rng) * u,
          off = desc->noise * size * normal_noise(rng);
    for (int k = 0; k < 3; k++) {
        view->position[3 * i + k] = corner_of(m, triangle, 0)[k] * (1.0f - u) +
                                    corner_of(m, triangle, 1)[k] * (u - v) +
                                    corner_of(m, triangle, 2)[k] * v + off * (float)normal[k];
        view->log_scale[3 * i + k] = logf(k == 2 ? size * desc->flatness : size);
    }
    const double other[3] = {fabs(normal[0]) < 0.5, fabs(normal[0]) >= 0.5, 0.0};
    vec3_cross(normal, other, x);
    vec3_normalise(x);
    vec3_cross(normal, x, y);
    double rotation[4];
    quat_from_axes(x, y, normal, rotation);
    for (int k = 0; k < 4; k++) {
        view->rotation[4 * i + k] = (float)rotation[k];
    }
    view->opacity[i] = logf(OPACITY / (1.0f - OPACITY));
}

static void place_floater(const orr_splat_pack *pack, float size, orr_rng *rng, int64_t i,
                          const orr_splats_view *view)
{
    for (int k = 0; k < 3; k++) {
        float edge = pack->high[k] - pack->low[k];
        view->position[3 * i + k] = orr_rng_range(rng, pack->low[k] - edge, pack->high[k] + edge);
        view->log_scale[3 * i + k] = logf(size);
    }
    view->rotation[4 * i] = 1.0f;
    view->opacity[i] = logf(OPACITY / (1.0f - OPACITY));
}

orr_splat_pack *mesh_cloud(const float *positions, const uint32_t *indices, int64_t triangle_count,
                           const mesh_cloud_desc *desc, orr_jobs *jobs)
{
    mesh_area m = {positions, indices, triangle_count, orr_alloc((size_t)triangle_count, sizeof(double))};
    assert_non_null(m.sums);
    double normal[3], sum = 0.0;
    orr_splat_pack bounds = {.low = {1e30f, 1e30f, 1e30f}, .high = {-1e30f, -1e30f, -1e30f}};
    for (int64_t t = 0; t < triangle_count; t++) {
        m.sums[t] = sum += find_normal(&m, t, normal);
        for (int k = 0; k < 9; k++) {
            float at = corner_of(&m, t, k / 3)[k % 3];
            bounds.low[k % 3] = fminf(bounds.low[k % 3], at);
            bounds.high[k % 3] = fmaxf(bounds.high[k % 3], at);
        }
    }
    float size = SIZE * (float)sqrt(sum / (double)desc->count);
    orr_splats *splats;
    assert_ok(orr_splats_create(desc->count + desc->floaters, 0, &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    orr_rng rng = {.seed = (uint32_t)desc->seed + 1};
    for (int64_t i = 0; i < desc->count; i++) {
        place_splat(&m, desc, size, &rng, i, &view);
    }
    for (int64_t i = 0; i < desc->floaters; i++) {
        place_floater(&bounds, size, &rng, desc->count + i, &view);
    }
    orr_splat_pack *pack;
    assert_ok(orr_splat_pack_create(jobs, &view, NULL, &pack, &error));
    orr_splats_destroy(splats);
    orr_free(m.sums);
    return pack;
}
