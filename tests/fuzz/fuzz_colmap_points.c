// Points of COLMAP models from memory, as text and as binary.
#include "neural/capture/colmap_points.h"
#include "tests/fuzz/fuzz_target.h"

static void try_points(uint8_t *bytes, size_t size, bool text)
{
    orr_colmap_points points;
    orr_error error = {0};
    orr_result result = orr_colmap_points_parse("points3D", (orr_bytes){bytes, size}, text, &points, &error);
    fuzz_expect(result, points.position != NULL, &error);
    orr_colmap_points_free(&points);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = (uint8_t *)fuzz_text(data, size);
    try_points(copy, size, true);
    try_points(copy, size, false);
    free(copy);
    return 0;
}
