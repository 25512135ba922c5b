#include "neural/capture/photo_list.h"

#include "engine/core/memory.h"

#include <math.h>

void orr_photo_list_free(orr_photo_list *list)
{
    for (int i = 0; i < list->count; i++) {
        orr_free(list->photos[i].file);
        orr_free(list->photos[i].mask);
    }
    orr_free(list->photos);
    orr_free(list->points);
    *list = (orr_photo_list){0};
}

const char *orr_photo_lens_resolve(orr_photo_lens *lens, int width, int height)
{
    if (lens->size[0] == 0.0 || lens->size[1] == 0.0) {
        lens->size[0] = width;
        lens->size[1] = height;
    }
    for (int i = 0; i < 2; i++) {
        if (lens->focal[i] == 0.0 && lens->angle[i] > 0.0) {
            lens->focal[i] = 0.5 * lens->size[i] / tan(0.5 * lens->angle[i]);
        }
        if (isnan(lens->centre[i])) {
            lens->centre[i] = 0.5 * lens->size[i];
        }
    }
    if (lens->focal[0] == 0.0 && lens->focal[1] == 0.0) {
        return "fl_x or camera_angle_x, in the file or in the frame";
    }
    for (int i = 0; i < 2; i++) { // square pixels when one axis is not given
        lens->focal[i] = lens->focal[i] > 0.0 ? lens->focal[i] : lens->focal[1 - i];
    }
    return NULL;
}

bool orr_photo_lens_distorted(const orr_photo_lens *lens)
{
    return lens->fisheye || lens->radial[0] != 0.0 || lens->radial[1] != 0.0 || lens->radial[2] != 0.0 ||
           lens->radial[3] != 0.0 || lens->tangential[0] != 0.0 || lens->tangential[1] != 0.0;
}

void orr_unit_map(double scale, const double offset[3], float to_unit[12])
{
    for (int i = 0; i < 3; i++) {
        int from = (i + 1) % 3;
        for (int j = 0; j < 3; j++) {
            to_unit[4 * i + j] = j == from ? (float)scale : 0.0f;
        }
        to_unit[4 * i + 3] = (float)offset[from];
    }
}

// The largest entry of R'R - 1: 0 for a rotation or a reflection.
static double deviation(double m[3][3])
{
    double largest = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double dot = m[0][i] * m[0][j] + m[1][i] * m[1][j] + m[2][i] * m[2][j];
            largest = fmax(largest, fabs(dot - (i == j)));
        }
    }
    return largest;
}

// inverse transpose times determinant, which it returns
static double cofactors(double m[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            out[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
    }
    return m[0][0] * out[0][0] + m[0][1] * out[0][1] + m[0][2] * out[0][2];
}

// Files hold rotations to a few digits. Those good to float precision stay as they are; others become the
// nearest rotation, the polar factor, by Newton's iteration R <- (R + R^-T) / 2, which squares its error:
// four steps from 1e-2 reach the last digit.
bool orr_rotation_straighten(double m[3][3], double *off, double *determinant)
{
    double c[3][3];
    *determinant = cofactors(m, c);
    *off = deviation(m);
    if (!(*off <= 1e-2) || *determinant < 0.0) {
        return false;
    }
    for (int step = 0; step < 4 && *off > 1e-6; step++) {
        double d = cofactors(m, c);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                m[i][j] = 0.5 * (m[i][j] + c[i][j] / d);
            }
        }
    }
    return true;
}
