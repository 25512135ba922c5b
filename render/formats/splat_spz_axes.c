// The coordinate systems of .spz.
#include "render/formats/splat_spz.h"

orr_spz_axes orr_spz_axes_of(int system)
{
    const int bits = system - 1;
    const bool turned = bits & 8;
    const float right = bits & 1 ? 1.0f : -1.0f, down = bits & 2 ? -1.0f : 1.0f;
    // of the eight systems with an upright z, those with the bit look back along y
    const float forward = ((bits & 4) != 0) != turned ? 1.0f : -1.0f;
    const float x = right, y = turned ? forward : down, z = turned ? -down : forward;
    return (orr_spz_axes){
        .position = {x, y, z},
        .rotation = {y * z, x * z, x * y},
        .harmonics = {y, z, x, x * y, y * z, 1, x * z, 1, y, x * y * z, y, z, x, z, x},
        .turned = turned,
    };
}

// Coefficients 1 .. 15 of one channel, `step` floats apart, after the turn: f'(x, y, z) = f(x, z, -y), with
// each basis function written as a sum of those of its degree.
static void turn_harmonics(float *c, int step, int degree)
{
    const float half3 = sqrtf(3.0f) / 2.0f, quarter15 = sqrtf(15.0f) / 4.0f;
    const float a = sqrtf(5.0f / 8.0f), b = sqrtf(3.0f / 8.0f);
    float in[15] = {0};
    const int count = orr_sh_rest(degree);
    for (int k = 0; k < count; k++) {
        in[k] = c[k * step];
    }
    const float out[15] = {
        in[1],
        -in[0],
        in[2],
        in[6],
        -in[4],
        -0.5f * in[5] - half3 * in[7],
        -in[3],
        -half3 * in[5] + 0.5f * in[7],
        -a * in[11] + b * in[13],
        -in[9],
        -b * in[11] - a * in[13],
        a * in[8] + b * in[10],
        -0.25f * in[12] - quarter15 * in[14],
        -b * in[8] + a * in[10],
        -quarter15 * in[12] + 0.25f * in[14],
    };
    for (int k = 0; k < count; k++) {
        c[k * step] = out[k];
    }
}

void orr_spz_turn(const orr_splats_view *d)
{
    const int rest = orr_sh_rest(d->sh_degree);
    for (int64_t i = 0; i < d->count; i++) {
        float *p = d->position + 3 * i, *q = d->rotation + 4 * i;
        const float y = p[1], w = q[0], s = sqrtf(0.5f);
        const float i0 = q[1], j = q[2], k = q[3];
        p[1] = -p[2];
        p[2] = y;
        q[0] = s * (w - i0);
        q[1] = s * (w + i0);
        q[2] = s * (j - k);
        q[3] = s * (j + k);
        for (int channel = 0; channel < 3 && rest > 0; channel++) {
            turn_harmonics(d->harmonics + 3 * rest * i + channel, 3, d->sh_degree);
        }
    }
}
