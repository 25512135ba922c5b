// What pixels show besides: a thread per pixel, after the picture. The counterpart on the CPU is
// ../cpu/mesh_seen_cpu.h and ../cpu/cloud_seen.c.
#include "engine/device/cuda_kernel.h"
#include "engine/maths/vector.h"

extern "C" {
#include "render/seen/cuda_seen_kernel.h"
}
#include "render/cuda/meshes/mesh_find_device.h"
#include "render/cuda/meshes/mesh_triangle_device.h"
#include "render/seen/seen_inputs.h"

enum : uint32_t { THREADS = 128, NO_TAKER = 0xffffffffu };

// Which cloud a pixel shows; -1: none.
static __device__ int32_t cloud_at(const orr_cuda_see *see, uint32_t at)
{
    const uint32_t taker = see->takers ? see->takers[at] : NO_TAKER;
    return taker == NO_TAKER ? -1 : (int32_t)find_run(see->cloud_firsts, (uint32_t)see->cloud_count, taker);
}

// The nearest record at a pixel; NULL: none, or the backdrop.
static __device__ const mesh_record *record_at(const orr_cuda_mesh_scene *s, const orr_cuda_see *see,
                                               uint32_t at)
{
    const uint64_t key = see->has_meshes ? s->nearest[at] : ~(uint64_t)0;
    return (uint32_t)(key >> 32) == 0xffffffffu ? NULL : &s->records[(uint32_t)key];
}

// ---- meshes ----

// Where a vertex was, in the space of the camera before.
static __device__ real3 corner_before(const orr_cuda_item_before *before, const orr_mesh_vertex *vertices,
                                      uint32_t index)
{
    const float *p = before->positions ? before->positions + 3 * (size_t)index : vertices[index].position;
    return affine_point(affine_of(before->matrix), make_real3(p[0], p[1], p[2]));
}

static __device__ real2 flow_of_mesh(const orr_cuda_mesh_scene *s, const orr_cuda_see *see,
                                     const mesh_record *record, const shaded_triangle *t, real2 w)
{
    const orr_cuda_mesh_surface *surface = &s->surfaces[record->surface];
    const orr_cuda_item_before *was = &see->instances_before[surface->instance];
    if (!was->known) {
        return make_real2(0.0f, 0.0f);
    }
    const orr_mesh_vertex *vertices = s->instances[surface->instance].vertices;
    const uint32_t *index = surface->indices + 3 * (size_t)record->triangle;
    const mesh_triangle before =
        mesh_triangle_of(corner_before(was, vertices, index[0]), corner_before(was, vertices, index[1]),
                         corner_before(was, vertices, index[2]));
    return seen_flow(seen_lens_of(&see->lens), mesh_position(t->plane, w), seen_lens_of(&see->lens_before),
                     mesh_position(before, w));
}

static __device__ void see_mesh(const orr_cuda_mesh_scene *s, const orr_cuda_see *see,
                                const mesh_record *record, float x, float y, real3 *normal, real2 *flow)
{
    const orr_cuda_mesh_surface *surface = &s->surfaces[record->surface];
    const mesh_view view = mesh_view_of(&s->lens);
    const shaded_triangle t = find_triangle(s, surface, record->triangle);
    const real2 w = mesh_weights_inside(mesh_weights(view, t.plane, x, y));
    *normal = mesh_light_point(view.orthographic, mesh_position(t.plane, w), normal_at(s, surface, &t, w),
                               t.plane.a, t.plane.normal)
                  .normal;
    if (see->instances_before) {
        *flow = flow_of_mesh(s, see, record, &t, w);
    }
}

// ---- clouds ----

static __device__ real3 point_of(const orr_cuda_see *see, int32_t x, int32_t y)
{
    return seen_point(seen_lens_of(&see->lens), (float)x + 0.5f, (float)y + 0.5f,
                      see->depth[(size_t)y * (size_t)see->lens.width + (size_t)x]);
}

// The step to the next pixel of the same cloud along an axis.
static __device__ seen_step step_along(const orr_cuda_see *see, int32_t cloud, int32_t x, int32_t y,
                                       int32_t axis)
{
    const real3 here = point_of(see, x, y);
    seen_step step = seen_no_step();
    for (int32_t side = -1; side <= 1; side += 2) {
        const int32_t column = x + (axis == 0 ? side : 0), row = y + (axis == 1 ? side : 0);
        if (column >= 0 && row >= 0 && column < see->lens.width && row < see->lens.height) {
            const uint32_t at = (uint32_t)row * (uint32_t)see->lens.width + (uint32_t)column;
            step =
                seen_step_to(step, cloud_at(see, at) == cloud, (float)side, here, point_of(see, column, row));
        }
    }
    return step;
}

static __device__ real2 flow_of_cloud(const orr_cuda_see *see, const orr_cuda_item_before *was, real3 now)
{
    const float at[3] = {now.x, now.y, now.z};
    float then[3];
    affine_apply_to_point(was->matrix, at, then);
    return seen_flow(seen_lens_of(&see->lens), now, seen_lens_of(&see->lens_before),
                     make_real3(then[0], then[1], then[2]));
}

static __device__ void see_cloud(const orr_cuda_see *see, int32_t cloud, int32_t x, int32_t y, real3 *normal,
                                 real2 *flow)
{
    const real3 here = point_of(see, x, y);
    if (see->normals) {
        *normal = seen_cloud_normal(seen_lens_of(&see->lens), step_along(see, cloud, x, y, 0),
                                    step_along(see, cloud, x, y, 1), here);
    }
    if (see->clouds_before && see->clouds_before[cloud].known) {
        *flow = flow_of_cloud(see, &see->clouds_before[cloud], here);
    }
}

// ---- pixels ----

static __global__ void see_pixels(orr_cuda_mesh_scene s, orr_cuda_see see)
{
    const uint32_t at = blockIdx.x * THREADS + threadIdx.x, width = (uint32_t)see.lens.width;
    if (at >= width * (uint32_t)see.lens.height) {
        return;
    }
    const uint32_t x = at % width, y = at / width;
    const int32_t cloud = cloud_at(&see, at);
    const mesh_record *record = cloud < 0 ? record_at(&s, &see, at) : NULL;
    real3 normal = make_real3(0.0f, 0.0f, 0.0f);
    real2 flow = make_real2(0.0f, 0.0f);
    if (see.segmentation) {
        orr_item_name name = {-1, -1};
        if (cloud >= 0) {
            name = see.clouds[cloud];
        } else if (record) {
            name = see.instances[s.surfaces[record->surface].instance];
        }
        see.segmentation[2 * (size_t)at] = name.layer;
        see.segmentation[2 * (size_t)at + 1] = name.geom;
    }
    if (!see.normals && !see.flow) {
        return;
    }
    if (cloud >= 0) {
        see_cloud(&see, cloud, (int32_t)x, (int32_t)y, &normal, &flow);
    } else if (record) {
        see_mesh(&s, &see, record, (float)x + 0.5f, (float)y + 0.5f, &normal, &flow);
    }
    if (see.normals) {
        float *to = see.normals + 3 * (size_t)at;
        to[0] = normal.x;
        to[1] = normal.y;
        to[2] = normal.z;
    }
    if (see.flow) {
        float *to = see.flow + 2 * (size_t)at;
        to[0] = flow.x;
        to[1] = flow.y;
    }
}

void orr_cuda_seen_launch(cudaStream_t stream, const orr_cuda_mesh_scene *scene, const orr_cuda_see *see)
{
    const size_t pixels = (size_t)see->lens.width * (size_t)see->lens.height;
    ORR_LAUNCH(see_pixels, orr_cuda_blocks(pixels, THREADS), THREADS, 0, stream, *scene, *see);
}
