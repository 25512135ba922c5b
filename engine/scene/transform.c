#include "engine/scene/transform.h"

#include "engine/core/camera.h"

#include <math.h>
#include <string.h>

// in double: a legal quaternion may be as short as 1e-30
static void normalise(double q[4], float out[4])
{
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
        out[i] = length > 0.0 ? (float)(q[i] / length) : (float)(i == 0);
    }
}

orr_result orr_transform_resolve(const orr_transform *transform, orr_transform *out, orr_error *error)
{
    float matrix[12];
    ORR_TRY(orr_affine_from_transform(transform, matrix, error));
    *out = transform ? *transform : (orr_transform){0};
    if (out->scale == 0.0f) {
        out->scale = 1.0f;
    }
    double q[4];
    for (int i = 0; i < 4; i++) {
        q[i] = (double)out->rotation[i];
    }
    normalise(q, out->rotation);
    return ORR_OK;
}

orr_transform orr_transform_multiply(const orr_transform *a, const orr_transform *b)
{
    float matrix[12];
    orr_result valid = orr_affine_from_transform(a, matrix, NULL);
    assert(valid == ORR_OK);
    (void)valid;
    orr_transform product = {.scale = a->scale * b->scale};
    for (int i = 0; i < 3; i++) {
        double sum = (double)matrix[4 * i + 3];
        for (int k = 0; k < 3; k++) {
            sum += (double)matrix[4 * i + k] * (double)b->position[k];
        }
        product.position[i] = (float)sum;
    }
    double p[4], q[4];
    for (int i = 0; i < 4; i++) {
        p[i] = (double)a->rotation[i];
        q[i] = (double)b->rotation[i];
    }
    double pq[4] = {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                    p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                    p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                    p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
    normalise(pq, product.rotation);
    return product;
}

void orr_transform_direction(const float rotation[4], const float direction[3], float out[3])
{
    orr_transform turn = {.scale = 1.0f};
    float m[12];
    memcpy(turn.rotation, rotation, sizeof turn.rotation);
    orr_result valid = orr_affine_from_transform(&turn, m, NULL);
    assert(valid == ORR_OK);
    (void)valid;
    for (int k = 0; k < 3; k++) {
        const float *row = m + 4 * k;
        out[k] = row[0] * direction[0] + row[1] * direction[1] + row[2] * direction[2];
    }
}
