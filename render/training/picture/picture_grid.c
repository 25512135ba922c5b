#define ORR_SCALAR
#include "render/training/picture/picture_grid.h"

#include "render/training/picture/picture_grid_formula.h"

#include <math.h>

void orr_photo_grid_begin(orr_photo_grid *grid)
{
    for (int i = 0; i < ORR_GRID; i++) {
        grid->value[i] = grid_identity(i);
        grid->moments[0][i] = grid->moments[1][i] = 0.0f;
    }
}

float orr_photo_grid_correction(int64_t steps)
{
    return (float)(sqrt(1.0 - pow((double)GRID_BETA2, (double)steps)) /
                   (1.0 - pow((double)GRID_BETA1, (double)steps)));
}

double orr_photo_grid_step(orr_photo_grid *grid, float *gradient, int64_t steps, float rate)
{
    const double variation = grid_variation(grid->value, GRID_VARIATION, gradient);
    const float correction = orr_photo_grid_correction(steps);
    for (int i = 0; i < ORR_GRID; i++) {
        const grid_number n = {grid->value[i], {grid->moments[0][i], grid->moments[1][i]}};
        const grid_number next = grid_advance(n, gradient[i], correction, rate);
        grid->value[i] = next.value;
        grid->moments[0][i] = next.moments.first;
        grid->moments[1][i] = next.moments.second;
    }
    return variation;
}

void orr_photo_grids_centre(orr_photo_grid *grids, const int *images, int count)
{
    double excess[ORR_GRID_MAP] = {0};
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < ORR_GRID; i++) {
            excess[i % ORR_GRID_MAP] += (double)(grids[images[n]].value[i] - grid_identity(i));
        }
    }
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < ORR_GRID; i++) {
            const double maps = (double)count * (ORR_GRID / ORR_GRID_MAP);
            grids[images[n]].value[i] -= (float)(excess[i % ORR_GRID_MAP] / maps);
        }
    }
}
