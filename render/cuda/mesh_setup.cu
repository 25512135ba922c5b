// From meshes to records: place, points, count, records.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/cuda/mesh_stages.h"
}
#include "render/cuda/mesh_find_device.h"
#include "render/mesh_formula.h"

enum : uint32_t {
    THREADS = 128,
    SMALL = 64 // pixels in the box of a triangle that one thread draws
};

// --- place ------------------------------------------------------------------------------------------------------------

// a x b for 3 x 4 affine maps
static __device__ void multiply(const double a[12], const double b[12], double out[12])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            double sum = j == 3 ? a[4 * i + 3] : 0.0;
            for (int k = 0; k < 3; k++) {
                sum += a[4 * i + k] * b[4 * k + j];
            }
            out[4 * i + j] = sum;
        }
    }
}

static __device__ void widen(const float from[12], double to[12])
{
    for (int i = 0; i < 12; i++) {
        to[i] = (double)from[i];
    }
}

static __device__ double member(const orr_draw_bodies *bodies, const void *array, int32_t i)
{
    size_t at = (size_t)i * (size_t)bodies->stride;
    return bodies->double_precision ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static __device__ void place_of_body(const orr_draw_bodies *bodies, int32_t body, double out[12])
{
    double w = member(bodies, bodies->rotation, 4 * body), x = member(bodies, bodies->rotation, 4 * body + 1),
           y = member(bodies, bodies->rotation, 4 * body + 2),
           z = member(bodies, bodies->rotation, 4 * body + 3);
    out[0] = 1.0 - 2.0 * (y * y + z * z);
    out[1] = 2.0 * (x * y - w * z);
    out[2] = 2.0 * (x * z + w * y);
    out[4] = 2.0 * (x * y + w * z);
    out[5] = 1.0 - 2.0 * (x * x + z * z);
    out[6] = 2.0 * (y * z - w * x);
    out[8] = 2.0 * (x * z - w * y);
    out[9] = 2.0 * (y * z + w * x);
    out[10] = 1.0 - 2.0 * (x * x + y * y);
    for (int k = 0; k < 3; k++) {
        out[4 * k + 3] = member(bodies, bodies->position, 3 * body + k);
    }
}

static __global__ void place(orr_cuda_mesh_scene s, float *to_camera)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= s.instance_count) {
        return;
    }
    const orr_cuda_mesh_instance *instance = &s.instances[i];
    double view[12], model[12], result[12];
    widen(s.lens.view, view);
    widen(instance->model, model);
    multiply(view, model, result);
    if (instance->bodies.position) {
        double body[12], at[12], posed[12];
        place_of_body(&instance->bodies, instance->body, body);
        widen(instance->at, at);
        multiply(result, body, posed);
        multiply(posed, at, result);
    }
    for (int k = 0; k < 12; k++) {
        to_camera[12 * i + k] = (float)result[k];
    }
}

// --- points -----------------------------------------------------------------------------------------------------------

static __global__ void points(orr_cuda_mesh_scene s)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= s.point_count) {
        return;
    }
    uint32_t of = find_run(s.point_firsts, s.instance_count, i);
    const orr_cuda_mesh_instance *instance = &s.instances[of];
    const float *m = s.to_camera + 12 * of, *p = instance->vertices[i - s.point_firsts[of]].position;
    affine to_camera = {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11]};
    const orr_lens *lens = &s.lens;
    const mesh_view view = {
        lens->focal[0],     lens->focal[1],      lens->centre[0],  lens->centre[1],
        (float)lens->width, (float)lens->height, lens->near_plane, lens->orthographic ? 1.0f : 0.0f,
        MESH_GUARD,         MESH_SUBPIXELS};
    real3 seen_from = affine_point(to_camera, make_real3(p[0], p[1], p[2]));
    mesh_seen seen = mesh_see(view, seen_from);
    int32_t out = (seen.near_plane ? MESH_OUT_NEAR : 0) | (seen.left ? MESH_OUT_LEFT : 0) |
                  (seen.right ? MESH_OUT_RIGHT : 0) | (seen.top ? MESH_OUT_TOP : 0) |
                  (seen.bottom ? MESH_OUT_BOTTOM : 0) | (seen.guard ? MESH_OUT_GUARD : 0);
    mesh_point point = {seen_from.x, seen_from.y, seen_from.z, (int32_t)seen.x, (int32_t)seen.y, out};
    s.points[i] = point;
}

// --- records ----------------------------------------------------------------------------------------------------------

// The records of a triangle that lies across the near plane or beyond the guard band; kept apart from the others, which need
// few registers.
static __noinline__ __device__ uint32_t set_up_cut(const orr_lens *lens, bool two_sided,
                                                   const mesh_point corners[3], const mesh_record *plane,
                                                   mesh_record *pieces)
{
    int32_t x[MESH_CORNERS + 1], y[MESH_CORNERS + 1];
    int32_t count = mesh_cut(lens, corners, x, y);
    uint32_t made = 0;
    for (int32_t i = 2; i < count; i++) {
        const int32_t piece_x[3] = {x[0], x[i - 1], x[i]}, piece_y[3] = {y[0], y[i - 1], y[i]};
        pieces[made] = *plane;
        made += mesh_set_corners(lens, two_sided, piece_x, piece_y, &pieces[made]) ? 1u : 0u;
    }
    return made;
}

// How many records a triangle becomes, and these.
static __device__ uint32_t set_up(const orr_cuda_mesh_scene *s, uint32_t triangle,
                                  mesh_record pieces[MESH_PIECES])
{
    uint32_t of = find_run(s->triangle_firsts, s->surface_count, triangle);
    const orr_cuda_mesh_surface *surface = &s->surfaces[of];
    uint32_t within = triangle - s->triangle_firsts[of];
    const uint32_t *indices = surface->indices + 3 * (size_t)within;
    const mesh_point *points = s->points + s->point_firsts[surface->instance];
    mesh_point corners[3];
    int32_t x[3], y[3], broken = 0, outside = MESH_OUT_GUARD - 1;
    for (int k = 0; k < 3; k++) {
        corners[k] = points[indices[k]];
        x[k] = corners[k].screen_x;
        y[k] = corners[k].screen_y;
        broken |= corners[k].out;
        outside &= corners[k].out;
    }
    bool two_sided = surface->material.two_sided;
    mesh_record plane;
    plane.triangle = within;
    plane.surface = (int32_t)of;
    if (outside) {
        return 0;
    }
    if (broken & MESH_OUT_CUT) {
        return mesh_set_plane(&s->lens, corners, &plane)
                   ? set_up_cut(&s->lens, two_sided, corners, &plane, pieces)
                   : 0;
    }
    if (!mesh_set_corners(&s->lens, two_sided, x, y, &plane) || !mesh_set_plane(&s->lens, corners, &plane)) {
        return 0;
    }
    pieces[0] = plane;
    return 1;
}

static __global__ void count(orr_cuda_mesh_scene s)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < s.triangle_count) {
        mesh_record pieces[MESH_PIECES];
        s.record_firsts[i] = set_up(&s, i, pieces);
    }
}

// Tiles of a record that a thread alone would draw for too long.
static __device__ uint32_t tiles_of(const orr_lens *lens, const mesh_record *record)
{
    int32_t left = mesh_first_pixel(mesh_lowest(record->x)), top = mesh_first_pixel(mesh_lowest(record->y));
    int32_t right = mesh_last_pixel(mesh_highest(record->x), lens->width),
            bottom = mesh_last_pixel(mesh_highest(record->y), lens->height);
    if ((int64_t)(right - left + 1) * (bottom - top + 1) <= SMALL) {
        return 0;
    }
    return (uint32_t)((right / ORR_CUDA_MESH_TILE - left / ORR_CUDA_MESH_TILE + 1) *
                      (bottom / ORR_CUDA_MESH_TILE - top / ORR_CUDA_MESH_TILE + 1));
}

static __global__ void records(orr_cuda_mesh_scene s)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i == 0) {
        s.control->records = min(s.control->records_needed, s.record_capacity);
    }
    if (i >= s.triangle_count) {
        return;
    }
    uint32_t first = s.record_firsts[i],
             end = i + 1 < s.triangle_count ? s.record_firsts[i + 1] : s.control->records_needed;
    if (first == end) {
        return;
    }
    mesh_record pieces[MESH_PIECES];
    set_up(&s, i, pieces);
    uint64_t tiles = 0;
    for (uint32_t k = first; k < end && k < s.record_capacity; k++) {
        s.records[k] = pieces[k - first];
        s.tile_firsts[k] = tiles_of(&s.lens, &pieces[k - first]);
        tiles += s.tile_firsts[k];
    }
    if (tiles > 0) {
        atomicAdd((unsigned long long *)&s.control->tiles_needed, (unsigned long long)tiles);
    }
}

// --- launches ---------------------------------------------------------------------------------------------------------

void orr_cuda_meshes_place(cudaStream_t stream, const orr_cuda_mesh_scene *scene, float *to_camera)
{
    ORR_LAUNCH(place, orr_cuda_blocks(scene->instance_count, THREADS), THREADS, 0, stream, *scene, to_camera);
}

void orr_cuda_meshes_points(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(points, orr_cuda_blocks(scene->point_count, THREADS), THREADS, 0, stream, *scene);
}

void orr_cuda_meshes_count(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(count, orr_cuda_blocks(scene->triangle_count, THREADS), THREADS, 0, stream, *scene);
}

void orr_cuda_meshes_records(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(records, orr_cuda_blocks(scene->triangle_count, THREADS), THREADS, 0, stream, *scene);
}
