// Edges of opaque meshes: the parts that need no lanes.
#include "render/cpu/mesh_raster_stages.h"

uint32_t orr_mesh_number_edges(const mesh_raster *raster)
{
    const size_t words = (size_t)raster->columns * (size_t)raster->lens.height;
    uint32_t count = 0; // a picture has less than 2^31 pixels
    for (size_t i = 0; i < words; i++) {
        raster->edge_firsts[i] = count;
        count += (uint32_t)__builtin_popcountll(raster->edge_bits[i]);
    }
    return count;
}
