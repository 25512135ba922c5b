// Opacity maps of clouds (../cloud_shadow): what a light sees of a cloud, in tiles as pictures are.
#include "engine/device/cuda_kernel.h"

#include <float.h>

extern "C" {
#include "render/cuda/splats.h"
}
#include "render/cloud_shadow/cloud_shadow_formula.h"
#include "render/cuda/splats_device.h"
#include "render/formula_inputs.h"
#include "render/splat/deform_formula.h"

enum : uint32_t { THREADS = 256, TEXELS = ORR_CUDA_TILE * ORR_CUDA_TILE };

template <bool deformed>
static __global__ void project_shapes(const float *geometry, const int32_t *piece_of,
                                      const splat_deformation *pieces, uint32_t count, splat_lens lens,
                                      float4 *centres, float4 *shapes, float *depths, uint32_t *order)
{
    const uint32_t splat = blockIdx.x * THREADS + threadIdx.x;
    if (splat >= count) {
        return;
    }
    stored_splat g = load_splat(geometry, splat);
    if (deformed) {
        const splat_deformation deformation = pieces[piece_of[splat]];
        g.mean = deform_mean(deformation, g.mean);
        g.axes = deform_axes(deformation, g.axes);
    }
    const splat_screen s = splat_project(lens, g.mean, g.axes, g.opacity);
    order[splat] = splat;
    depths[splat] = s.depth;
    if (s.visible) {
        centres[splat] = make_float4(s.centre.x, s.centre.y, s.shape.sharp_x, s.shape.lean);
        shapes[splat] = make_float4(s.shape.sharp_y, s.log2_opacity, s.half_size.x, s.half_size.y);
    } else { // of a negative size: the last row of tiles is before the first one
        centres[splat] = make_float4(0.0f, 0.0f, 1.0f, 0.0f);
        shapes[splat] = make_float4(1.0f, 0.0f, -FLT_MAX, -FLT_MAX);
    }
}

// A batch of a tile's splats.
typedef struct map_batch {
    float4 centres[TEXELS], shapes[TEXELS];
    float depths[TEXELS];
} map_batch;

// All threads of the block take part.
static __device__ __forceinline__ void load_batch(map_batch *batch, const float4 *centres,
                                                  const float4 *shapes, const float *depths,
                                                  const uint32_t *pair_splats, uint32_t first, uint32_t end)
{
    const uint32_t mine = first + threadIdx.x;
    __syncthreads(); // no thread reads the last batch any more
    if (mine < end) {
        const uint32_t splat = pair_splats[mine];
        batch->centres[threadIdx.x] = centres[splat];
        batch->shapes[threadIdx.x] = shapes[splat];
        batch->depths[threadIdx.x] = depths[splat];
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(TEXELS)
    draw_map(const float4 *centres, const float4 *shapes, const float *depths, const uint32_t *ranges,
             const uint32_t *pair_splats, int size, float *texels)
{
    __shared__ map_batch batch;
    const int x = (int)blockIdx.x * ORR_CUDA_TILE + (int)(threadIdx.x % ORR_CUDA_TILE);
    const int y = (int)blockIdx.y * ORR_CUDA_TILE + (int)(threadIdx.x / ORR_CUDA_TILE);
    const uint32_t *range = ranges + 2 * (blockIdx.y * gridDim.x + blockIdx.x);
    cloud_texel t = cloud_texel_begin(FLT_MAX);
    for (int pass = 0; pass < 2; pass++) { // the depths that they span; what they leave of the light
        for (uint32_t first = range[0]; first < range[1]; first += TEXELS) {
            load_batch(&batch, centres, shapes, depths, pair_splats, first, range[1]);
            const int count = (int)min(range[1] - first, (uint32_t)TEXELS);
            for (int k = 0; k < count; k++) {
                const splat_footprint s = footprint_of(batch.centres[k], batch.shapes[k]);
                const real2 d = {(float)x + 0.5f - s.centre.x, (float)y + 0.5f - s.centre.y};
                const float alpha = splat_alpha(s.log2_opacity, d, s.shape);
                t = pass == 0 ? cloud_texel_span(t, alpha, batch.depths[k])
                              : cloud_texel_add(t, cloud_texel_depths(t), alpha, batch.depths[k]);
            }
        }
    }
    float *texel = texels + (size_t)ORR_CLOUD_TEXEL * ((size_t)y * (size_t)size + (size_t)x);
    texel[0] = t.first;
    texel[1] = t.last;
    texel[2] = t.a;
    texel[3] = t.b;
    texel[4] = t.c;
    texel[5] = t.d;
}

// ---- launches ----

void orr_cuda_splats_project_shapes(cudaStream_t stream, const orr_cuda_cloud *cloud,
                                    const splat_lens_values *lens, const orr_affine_piece *pieces,
                                    orr_cuda_records records, float *depths, uint32_t *order)
{
    static_assert(sizeof(splat_deformation) == sizeof *pieces, "the same members in the same order");
    const auto project = pieces ? project_shapes<true> : project_shapes<false>;
    ORR_LAUNCH(project, orr_cuda_blocks((size_t)cloud->count, THREADS), THREADS, 0, stream, cloud->geometry,
               cloud->piece_of, (const splat_deformation *)pieces, (uint32_t)cloud->count,
               splat_lens_of(lens), (float4 *)records.centres, (float4 *)records.shapes, depths, order);
}

void orr_cuda_splats_draw_map(cudaStream_t stream, orr_cuda_records records, const float *depths,
                              const uint32_t *ranges, const uint32_t *pair_splats, int size, float *texels)
{
    // maps are made of whole tiles: their sides are powers of two
    static_assert(ORR_SHADOW_SIZE_MIN % ORR_CUDA_TILE == 0, "and no smaller than this");
    const dim3 tiles((unsigned int)(size / ORR_CUDA_TILE), (unsigned int)(size / ORR_CUDA_TILE));
    ORR_LAUNCH(draw_map, tiles, TEXELS, 0, stream, (const float4 *)records.centres,
               (const float4 *)records.shapes, depths, ranges, pair_splats, size, texels);
}
