#include "neural/capture/world_fit.h"

#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static void normalise(double v[3])
{
    double length = vec3_length(v);
    for (int i = 0; i < 3; i++) {
        v[i] = length > 1e-9 ? v[i] / length : i == 2;
    }
}

void orr_world_mean_up(const orr_photo_list *list, double up[3])
{
    up[0] = up[1] = up[2] = 0.0;
    for (int i = 0; i < list->count; i++) {
        for (int k = 0; k < 3; k++) {
            up[k] -= (double)list->photos[i].pose[4 * k + 1];
        }
    }
    normalise(up);
}

// Three axes, the third along `up`.
static void level_axes(const double up[3], double axes[3][3])
{
    double *x = axes[0], *y = axes[1], *z = axes[2];
    memcpy(z, up, 3 * sizeof(double));
    int least =
        fabs(z[0]) < fabs(z[1]) ? (fabs(z[0]) < fabs(z[2]) ? 0 : 2) : (fabs(z[1]) < fabs(z[2]) ? 1 : 2);
    for (int k = 0; k < 3; k++) {
        x[k] = (k == least) - z[least] * z[k];
    }
    normalise(x);
    vec3_cross(z, x, y);
}

// The point nearest to all photos' axes by least squares, drawn a little to the photos' middle so that
// parallel axes have one too.
static void middle_of_attention(const orr_photo_list *list, double middle[3])
{
    double a[3][4] = {{0}};
    for (int n = 0; n < list->count; n++) {
        const float *m = list->photos[n].pose;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double weight = (1.0 + 1e-3) * (i == j) - (double)m[4 * i + 2] * (double)m[4 * j + 2];
                a[i][j] += weight;
                a[i][3] += weight * (double)m[4 * j + 3];
            }
        }
    }
    for (int i = 0; i < 3; i++) { // symmetric and positive: no pivots needed
        for (int k = i + 1; k < 3; k++) {
            double factor = a[k][i] / a[i][i];
            for (int j = i; j < 4; j++) {
                a[k][j] -= factor * a[i][j];
            }
        }
    }
    for (int i = 2; i >= 0; i--) {
        double sum = a[i][3];
        for (int j = i + 1; j < 3; j++) {
            sum -= a[i][j] * middle[j];
        }
        middle[i] = sum / a[i][i];
    }
}

orr_world_frame orr_world_frame_of(const orr_photo_list *list, const double up[3])
{
    orr_world_frame frame = {.distance = 0.0};
    level_axes(up, frame.axes);
    middle_of_attention(list, frame.middle);
    for (int n = 0; n < list->count; n++) {
        const float *m = list->photos[n].pose;
        double d[3] = {(double)m[3] - frame.middle[0], (double)m[7] - frame.middle[1],
                       (double)m[11] - frame.middle[2]};
        frame.distance += vec3_length(d) / list->count;
    }
    return frame;
}

void orr_world_fit(orr_photo_list *list, const double up[3])
{
    const orr_world_frame frame = orr_world_frame_of(list, up);
    double scale =
        ORR_WORLD_SCALE * (frame.distance > 1e-9 ? (double)ORR_WORLD_DISTANCE / frame.distance : 1.0);
    for (int i = 0; i < 3; i++) {
        const double *axis = frame.axes[(i + 1) % 3]; // cycled, as orr_unit_map does
        double offset = 0.0;
        for (int j = 0; j < 3; j++) {
            list->to_unit[4 * i + j] = (float)(scale * axis[j]);
            offset += axis[j] * frame.middle[j];
        }
        list->to_unit[4 * i + 3] = (float)(0.5 - scale * offset);
    }
    list->aabb_scale = ORR_WORLD_AABB_SCALE;
}
