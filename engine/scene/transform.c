#include "engine/scene/transform.h"

#include "engine/maths/camera.h"
#include "engine/maths/rotation.h"

#include <math.h>
#include <string.h>

// [scene units] Two transforms of this size, one inside the other, stay finite.
static const float TRANSFORM_MAX = 1e15f;

// in double: a legal quaternion may be as short as 1e-30
static void normalise(double q[4], float out[4])
{
    bool zero = !(quat_normalise(q) > 0.0);
    for (int i = 0; i < 4; i++) {
        out[i] = zero ? (float)(i == 0) : (float)q[i];
    }
}

orr_transform orr_transform_of(const double position[3], const double rotation[4])
{
    orr_transform t = {.scale = 1.0f};
    for (int i = 0; i < 4; i++) {
        t.rotation[i] = (float)rotation[i];
        if (i < 3) {
            t.position[i] = (float)position[i];
        }
    }
    return t;
}

orr_result orr_transform_resolve(const orr_transform *transform, orr_transform *out, orr_error *error)
{
    float matrix[12];
    ORR_TRY(orr_affine_from_transform(transform, matrix, error));
    *out = transform ? *transform : (orr_transform){0};
    const float most = fmaxf(fmaxf(fabsf(out->position[0]), fabsf(out->position[1])),
                             fmaxf(fabsf(out->position[2]), out->scale));
    if (most > TRANSFORM_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a transform with %g: expected at most %g", (double)most,
                        (double)TRANSFORM_MAX);
    }
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
    quat_multiply(p, q, q);
    normalise(q, product.rotation);
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
    affine_apply_to_direction(m, direction, out);
}
