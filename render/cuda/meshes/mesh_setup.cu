// From meshes to records: transform, points, count, records.
#include "engine/device/cuda_kernel.h"
#include "engine/maths/vector.h"

extern "C" {
#include "render/cuda/meshes/mesh_stages.h"
}
#include "render/cuda/meshes/mesh_find_device.h"
#include "render/formula_inputs.h"

enum : uint32_t {
    THREADS = 128,
    SMALL = 64 // pixels in the box of a triangle that one thread draws
};

// ---- transform ----

static __device__ double member(const orr_draw_bodies *bodies, const void *array, int32_t i)
{
    size_t at = (size_t)i * (size_t)bodies->stride;
    return bodies->double_precision ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static __device__ void pose_of_body(const orr_draw_bodies *bodies, int32_t body, double out[12])
{
    double q[4], rotation[9];
    for (int k = 0; k < 4; k++) {
        q[k] = member(bodies, bodies->rotation, 4 * body + k);
    }
    quaternion_to_matrix(q, 2.0, rotation);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[4 * i + j] = rotation[3 * i + j];
        }
        out[4 * i + 3] = member(bodies, bodies->position, 3 * body + i);
    }
}

static __global__ void transform(orr_cuda_mesh_scene s, float *to_camera)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= s.instance_count) {
        return;
    }
    const orr_cuda_mesh_instance *instance = &s.instances[i];
    double view[12], model[12], result[12];
    affine_widen(s.lens.view, view);
    affine_widen(instance->model, model);
    affine_product(view, model, result);
    if (instance->bodies.position) {
        double body[12], at[12], posed[12];
        pose_of_body(&instance->bodies, instance->body, body);
        affine_widen(instance->at, at);
        affine_product(result, body, posed);
        affine_product(posed, at, result);
    }
    for (int k = 0; k < 12; k++) {
        to_camera[12 * i + k] = (float)result[k];
    }
}

// ---- points ----

static __global__ void points(orr_cuda_mesh_scene s)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= s.point_count) {
        return;
    }
    uint32_t of = find_run(s.point_firsts, s.instance_count, i);
    const orr_cuda_mesh_instance *instance = &s.instances[of];
    const float *p = instance->vertices[i - s.point_firsts[of]].position;
    real3 in_camera = affine_point(affine_of(s.to_camera + 12 * of), make_real3(p[0], p[1], p[2]));
    mesh_seen seen = mesh_see(mesh_view_of(&s.lens), in_camera);
    const bool clipped = clip_height(clip_plane_of(s.lens.clip), in_camera) < 0.0f;
    int32_t out = (clipped ? MESH_OUT_CLIP : 0) | (seen.near_plane ? MESH_OUT_NEAR : 0) |
                  (seen.left ? MESH_OUT_LEFT : 0) | (seen.right ? MESH_OUT_RIGHT : 0) |
                  (seen.top ? MESH_OUT_TOP : 0) | (seen.bottom ? MESH_OUT_BOTTOM : 0) |
                  (seen.guard ? MESH_OUT_GUARD : 0);
    mesh_point point = {in_camera.x, in_camera.y, in_camera.z, (int32_t)seen.x, (int32_t)seen.y, out};
    s.points[i] = point;
}

// ---- records ----

// The records of a triangle that crosses the near plane or the guard band. A function of its own, because
// other triangles need few registers.
static __noinline__ __device__ uint32_t set_up_cut(const orr_lens *lens, bool two_sided, bool sampled,
                                                   const mesh_point corners[3], const mesh_record *plane,
                                                   mesh_record *pieces)
{
    int32_t x[MESH_CORNERS + 1], y[MESH_CORNERS + 1];
    int32_t count = mesh_cut(lens, corners, x, y);
    uint32_t made = 0;
    for (int32_t i = 2; i < count; i++) {
        const int32_t piece_x[3] = {x[0], x[i - 1], x[i]}, piece_y[3] = {y[0], y[i - 1], y[i]};
        pieces[made] = *plane;
        made += mesh_set_corners(lens, two_sided, sampled, piece_x, piece_y, &pieces[made]) ? 1u : 0u;
    }
    return made;
}

// Writes the records of a triangle; returns how many.
static __device__ uint32_t set_up(const orr_cuda_mesh_scene *s, uint32_t triangle,
                                  mesh_record pieces[MESH_PIECES])
{
    uint32_t of = find_run(s->triangle_firsts, s->surface_count, triangle);
    const orr_cuda_mesh_surface *surface = &s->surfaces[of];
    if (s->only_casters && !surface->casts) {
        return 0;
    }
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
    bool two_sided = s->only_casters || surface->two_sided; // backs keep light off, too
    mesh_record plane;
    plane.triangle = within;
    plane.surface = (int32_t)of;
    if (outside) {
        return 0;
    }
    if (broken & MESH_OUT_CUT) {
        return mesh_set_plane(&s->lens, corners, &plane)
                   ? set_up_cut(&s->lens, two_sided, s->smooth != 0, corners, &plane, pieces)
                   : 0;
    }
    if (!mesh_set_corners(&s->lens, two_sided, s->smooth != 0, x, y, &plane) ||
        !mesh_set_plane(&s->lens, corners, &plane)) {
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
static __device__ uint32_t tiles_of(const orr_cuda_mesh_scene *s, const mesh_record *record)
{
    const int32_t tile = ORR_CUDA_MESH_TILE;
    mesh_box b = mesh_box_of(record->x, record->y, s->lens.width, s->lens.height, s->smooth != 0);
    if ((int64_t)(b.right - b.left + 1) * (b.bottom - b.top + 1) <= SMALL) {
        return 0;
    }
    return (uint32_t)((b.right / tile - b.left / tile + 1) * (b.bottom / tile - b.top / tile + 1));
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
        s.tile_firsts[k] = tiles_of(&s, &pieces[k - first]);
        tiles += s.tile_firsts[k];
    }
    if (tiles > 0) {
        atomicAdd((unsigned long long *)&s.control->tiles_needed, (unsigned long long)tiles);
    }
}

// ---- launches ----

void orr_cuda_meshes_transform(cudaStream_t stream, const orr_cuda_mesh_scene *scene, float *to_camera)
{
    ORR_LAUNCH(transform, orr_cuda_blocks(scene->instance_count, THREADS), THREADS, 0, stream, *scene,
               to_camera);
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
