#include "render/cpu/mesh_raster_stages.h"

enum { FRAGMENTS = INT32_MAX / 8 }; // lanes gather with 32-bit offsets in words

orr_result orr_mesh_allocate_fragments(mesh_raster *raster, orr_arena *arena, orr_error *error)
{
    size_t pixels = (size_t)raster->lens.width * (size_t)raster->lens.height;
    uint64_t sum = 0;
    for (size_t i = 0; i < pixels; i++) {
        uint32_t count = raster->fragment_starts[i];
        raster->fragment_starts[i] = (uint32_t)sum;
        sum += count;
        if (sum > FRAGMENTS) {
            return orr_fail(error, ORR_CODE_CAPACITY,
                            "meshes: over %d fragments of transparent surfaces in view: expected less",
                            FRAGMENTS);
        }
    }
    raster->fragment_starts[pixels] = (uint32_t)sum;
    size_t capacity = sum > 0 ? (size_t)sum : 1; // lanes that have none read the first
    raster->fragments = orr_arena_take(arena, capacity, sizeof *raster->fragments);
    raster->sources = orr_arena_take(arena, capacity, sizeof *raster->sources);
    return raster->fragments && raster->sources
               ? ORR_OK
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY,
                          "out of memory: %llu fragments of transparent surfaces", (unsigned long long)sum);
}
