// Nodes of merged splats to records: a thread for each. The lanes' counterpart is project_nodes of
// ../cpu/splat_project_cpu.c.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/cuda/splats.h"
#include "render/splat_detail/splat_detail.h"
}
#include "render/cuda/project_device.h"
#include "render/formula_inputs.h"
#include "render/splat_detail/splat_cut_formula.h"

enum : uint32_t { THREADS = 256 };

// node: of a level above the first, counted from the first of those
static __device__ merged_splat load_merged(const float *merged, uint32_t node, float density)
{
    const float *m = merged + member_at(node, ORR_DETAIL_MERGED);
    merged_splat splat;
    splat.density = density;
    splat.crowd = m[0];
    splat.breadth = m[ORR_PACK_BLOCK];
    splat.opacity = m[2 * ORR_PACK_BLOCK];
    return splat;
}

template <int degree>
static __global__ void project_nodes(orr_cuda_levels levels, const uint32_t *nodes, uint32_t count,
                                     splat_lens lens, clip_plane clip, projected to,
                                     orr_cuda_control *control)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    bool visible = false;
    if (i < count) {
        const uint32_t node = nodes[i];
        const stored_splat g = load_splat(levels.geometry, node);
        splat_screen s;
        if (node < levels.whole) {
            s = splat_project(lens, g.mean, g.axes, g.opacity);
        } else {
            s = merged_project(lens, g.mean, g.axes,
                               load_merged(levels.merged, node - levels.whole, g.opacity));
        }
        visible = s.visible && clip_height(clip, g.mean) >= 0.0f;
        put_key(to, i, visible, s.depth);
        if (visible) {
            put_record(to, i, s, splat_colour<degree>(levels.harmonics, node, splat_direction(lens, g.mean)));
        }
    }
    count_visible(visible, control);
}

void orr_cuda_splats_project_nodes(cudaStream_t stream, const orr_cuda_levels *levels, const uint32_t *nodes,
                                   size_t count, const splat_lens_values *lens, const float clip[4],
                                   uint32_t first, orr_cuda_records records, uint32_t *keys, uint32_t *order,
                                   orr_cuda_control *control)
{
    const auto project = levels->sh_degree == 0   ? project_nodes<0>
                         : levels->sh_degree == 1 ? project_nodes<1>
                         : levels->sh_degree == 2 ? project_nodes<2>
                                                  : project_nodes<3>;
    ORR_LAUNCH(project, orr_cuda_blocks(count, THREADS), THREADS, 0, stream, *levels, nodes, (uint32_t)count,
               splat_lens_of(lens), clip_plane_of(clip), projected_of(records, first, keys, order), control);
}
