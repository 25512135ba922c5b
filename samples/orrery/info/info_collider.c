// orrery info: colliders.
#include "physics/grid/collider_file.h"
#include "samples/orrery/info/info.h"

#include <stdio.h>

orr_result info_collider(const char *path, cJSON *json, orr_error *error)
{
    orr_distance_grid *grid;
    ORR_TRY(orr_distance_grid_load(path, &grid, error));
    float low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = (float)grid->origin[k];
        high[k] = (float)(grid->origin[k] + grid->cell * ORR_GRID_BRICK * grid->bricks[k]);
    }
    double megabytes = (double)grid->brick_count * ORR_GRID_SAMPLES * sizeof(float) * 1e-6;
    if (json) {
        cJSON_AddStringToObject(json, "kind", "collider");
        cJSON_AddNumberToObject(json, "cell", grid->cell);
        cJSON_AddItemToObject(json, "bricks", cJSON_CreateIntArray(grid->bricks, 3));
        cJSON_AddNumberToObject(json, "bricks_with_distances", grid->brick_count);
        cJSON_AddNumberToObject(json, "megabytes", megabytes);
        info_add_bounds(json, "bounds", low, high);
    } else {
        printf("%s: a collider\n  cell        %g\n  bricks      %d x %d x %d of 8^3 cells\n", path,
               grid->cell, grid->bricks[0], grid->bricks[1], grid->bricks[2]);
        printf("  distances   in %d bricks, %.1f MB\n", grid->brick_count, megabytes);
        info_print_bounds("bounds", low, high);
    }
    orr_distance_grid_destroy(grid);
    return ORR_OK;
}
