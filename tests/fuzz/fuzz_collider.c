// Colliders from memory.
#include "physics/grid/collider_file.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_distance_grid *grid;
    orr_error error = {0};
    orr_result result = orr_distance_grid_read(data, size, "fuzz.collider", &grid, &error);
    fuzz_expect(result, grid != NULL, &error);
    if (grid) {
        double gradient[3];
        const double point[3] = {grid->origin[0] + 1.5 * grid->cell, grid->origin[1], grid->origin[2] - 1.0};
        (void)orr_distance_grid_at(grid, point, gradient);
    }
    orr_distance_grid_destroy(grid);
    return 0;
}
