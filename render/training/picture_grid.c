#define ORR_SCALAR
#include "render/training/picture_grid.h"

#include "neural/network/optimizer_formula.h"

#include <math.h>

#define BETA1 0.9f
#define BETA2 0.999f
#define EPSILON 1e-15f

static const float VARIATION = 10.0f; // weight in the loss, Wang et al. 2024

static float identity_of(int number)
{
    return number % ORR_GRID_MAP % 5 == 0 ? 1.0f : 0.0f; // numbers 0, 5 and 10 of a 3x4 map
}

void orr_photo_grid_begin(orr_photo_grid *grid)
{
    for (int i = 0; i < ORR_GRID; i++) {
        grid->value[i] = identity_of(i);
        grid->moments[0][i] = grid->moments[1][i] = 0.0f;
    }
}

double orr_photo_grid_step(orr_photo_grid *grid, float *gradient, int64_t steps, float rate)
{
    const double variation = grid_variation(grid->value, VARIATION, gradient);
    const float correction =
        (float)(sqrt(1.0 - pow((double)BETA2, (double)steps)) / (1.0 - pow((double)BETA1, (double)steps)));
    for (int i = 0; i < ORR_GRID; i++) {
        const float g = fabsf(gradient[i]) < 1e10f ? gradient[i] : 0.0f;
        const adam_moments m =
            adam_advance((adam_moments){grid->moments[0][i], grid->moments[1][i]}, g, BETA1, BETA2);
        grid->moments[0][i] = m.first;
        grid->moments[1][i] = m.second;
        grid->value[i] -= adam_step(m, correction, rate, EPSILON);
    }
    return variation;
}

void orr_photo_grids_centre(orr_photo_grid *grids, const int *images, int count)
{
    double excess[ORR_GRID_MAP] = {0};
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < ORR_GRID; i++) {
            excess[i % ORR_GRID_MAP] += (double)(grids[images[n]].value[i] - identity_of(i));
        }
    }
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < ORR_GRID; i++) {
            const double maps = (double)count * (ORR_GRID / ORR_GRID_MAP);
            grids[images[n]].value[i] -= (float)(excess[i % ORR_GRID_MAP] / maps);
        }
    }
}
