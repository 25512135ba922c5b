#include "samples/orrery/view/edit/sun_angles.h"

#include <math.h>

static const double DEGREE = 3.14159265358979323846 / 180.0;
static const double PER_HEIGHT = 180.0; // [deg] that a drag over the window's height turns the sun
static const double LOWEST = -5.0, HIGHEST = 89.0;

void sun_angles(const double axes[9], const float direction[3], double *azimuth, double *elevation)
{
    double along[3] = {0.0};
    for (int axis = 0; axis < 3; axis++) {
        for (int k = 0; k < 3; k++) {
            along[axis] += axes[3 * k + axis] * (double)direction[k];
        }
    }
    const double level = hypot(along[0], along[2]);
    *azimuth = level > 1e-6 ? atan2(along[0], along[2]) / DEGREE : 0.0;
    *elevation = atan2(along[1], level) / DEGREE;
}

void sun_direction(const double axes[9], double azimuth, double elevation, float direction[3])
{
    const double level = cos(elevation * DEGREE);
    const double along[3] = {level * sin(azimuth * DEGREE), sin(elevation * DEGREE),
                             level * cos(azimuth * DEGREE)};
    for (int k = 0; k < 3; k++) {
        direction[k] =
            (float)(axes[3 * k] * along[0] + axes[3 * k + 1] * along[1] + axes[3 * k + 2] * along[2]);
    }
}

void sun_turn(double right, double down, double *azimuth, double *elevation)
{
    *azimuth = remainder(*azimuth + PER_HEIGHT * right, 360.0);
    *elevation = fmin(fmax(*elevation - PER_HEIGHT * down, LOWEST), HIGHEST);
}
