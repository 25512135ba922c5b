// The opacity maps of a frame, one after the other, with the memory of the splat stages: splats are projected
// and cut into tiles as for a picture, but neither coloured nor sorted by depth.
#include "render/cuda/stages.h"

static orr_result draw_map(orr_cuda_stages *s, const orr_cuda_frame *frame, const orr_cloud_map *map,
                           orr_cuda_control *control, orr_error *error)
{
    cudaStream_t stream = s->cuda->stream;
    const orr_cuda_seen_cloud *seen = &frame->clouds[map->layer];
    const orr_cuda_records records = {s->centres.memory, s->shapes.memory, s->colours.memory};
    const int tiles = map->size / ORR_CUDA_TILE;
    float *texels = (float *)s->cloud_texels.memory + (size_t)ORR_CLOUD_TEXEL * (size_t)map->first;
    orr_cuda_splats_project_shapes(stream, &seen->cloud, &map->lens, seen->pieces, records, s->keys.memory,
                                   s->order.memory);
    ORR_CUDA_LAUNCHED();
    ORR_CUDA_TRY(
        cudaMemsetAsync(s->ranges.memory, 0, 2 * (size_t)tiles * (size_t)tiles * sizeof(uint32_t), stream));
    ORR_TRY(orr_cuda_stages_bin(s, records, control, (size_t)seen->cloud.count, tiles, tiles, error));
    orr_cuda_splats_draw_map(stream, records, s->keys.memory, s->ranges.memory, s->pair_splats.memory,
                             map->size, texels);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

orr_result orr_cuda_cloud_maps_draw(orr_cuda_stages *s, const orr_cuda_frame *frame, orr_error *error)
{
    const orr_cuda_cloud_shadows *shadows = &frame->cloud_shadows;
    const orr_cloud_map *maps = shadows->found.maps;
    const int map_count = shadows->found.map_count;
    orr_cuda_cloud_staged *staged = shadows->staged, *device = shadows->memory.memory;
    for (int i = 0; i < map_count; i++) { // every splat of the cloud has a record
        const uint32_t splats = (uint32_t)frame->clouds[maps[i].layer].cloud.count;
        staged->counted[i] = (orr_cuda_control){.splats = splats, .visible = splats};
    }
    const size_t counts = (size_t)map_count * sizeof *staged->counted;
    ORR_CUDA_TRY(cudaMemcpyAsync(device, staged, sizeof staged->table + counts, cudaMemcpyHostToDevice,
                                 s->cuda->stream));
    for (int i = 0; i < map_count; i++) {
        ORR_TRY(draw_map(s, frame, &maps[i], &device->counted[i], error));
    }
    ORR_CUDA_TRY(
        cudaMemcpyAsync(staged->counted, device->counted, counts, cudaMemcpyDeviceToHost, s->cuda->stream));
    return ORR_OK;
}
