#include "render/splat_cloud.h"

#include "engine/core/memory.h"
#include "engine/core/sized.h"

#include <math.h>
#include <string.h>

orr_result orr_splats_create(int64_t count, int sh_degree, orr_splats **out, orr_error *error)
{
    *out = NULL;
    if (count < 0 || count > INT32_MAX || sh_degree < 0 || sh_degree > 3) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%lld splats of SH degree %d: expected 0 to 2^31 - 1 splats of degree 0 to 3",
                        (long long)count, sh_degree);
    }
    size_t n = (size_t)count;
    orr_splats *splats = orr_alloc_zero(1, sizeof *splats);
    if (splats) {
        splats->data = (orr_splats_view){
            .count = count,
            .sh_degree = sh_degree,
            .position = orr_alloc_zero(n, 3 * sizeof(float)),
            .log_scale = orr_alloc_zero(n, 3 * sizeof(float)),
            .rotation = orr_alloc_zero(n, 4 * sizeof(float)),
            .opacity = orr_alloc_zero(n, sizeof(float)),
            .colour = orr_alloc_zero(n, 3 * sizeof(float)),
            .harmonics =
                sh_degree ? orr_alloc_zero(n, 3 * sizeof(float) * (size_t)orr_sh_rest(sh_degree)) : NULL,
        };
    }
    const orr_splats_view *d = splats ? &splats->data : NULL;
    if (!d || !d->position || !d->log_scale || !d->rotation || !d->opacity || !d->colour ||
        (sh_degree && !d->harmonics)) {
        orr_splats_destroy(splats);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld splats", (long long)count);
    }
    for (size_t i = 0; i < n; i++) {
        d->rotation[4 * i] = 1.0f;
    }
    *out = splats;
    return ORR_OK;
}

void orr_splats_destroy(orr_splats *splats)
{
    if (!splats) {
        return;
    }
    orr_splats_view *d = &splats->data;
    orr_free(d->position);
    orr_free(d->log_scale);
    orr_free(d->rotation);
    orr_free(d->opacity);
    orr_free(d->colour);
    orr_free(d->harmonics);
    orr_free(splats);
}

void orr_splats_data_sized(const orr_splats *splats, orr_splats_view *view, size_t view_size)
{
    orr_sized_write(&splats->data, sizeof splats->data, view, view_size);
}

static bool is_finite(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}

// index of the first value that is not finite, or -1
static int64_t first_broken(const float *values, int64_t count)
{
    enum { BLOCK = 1024 }; // without an early exit inside, so that the compiler vectorises it
    for (int64_t first = 0; first < count; first += BLOCK) {
        int64_t end = count - first < BLOCK ? count : first + BLOCK;
        int broken = 0;
        for (int64_t i = first; i < end; i++) {
            broken += !is_finite(values[i]);
        }
        for (int64_t i = first; broken && i < end; i++) {
            if (!is_finite(values[i])) {
                return i;
            }
        }
    }
    return -1;
}

orr_result orr_splats_check(orr_splats *splats, const char *name, orr_error *error)
{
    const orr_splats_view *d = &splats->data;
    const struct {
        const char *member;
        const float *values;
        int per_splat;
    } members[] = {
        {"position", d->position, 3}, {"scale", d->log_scale, 3},
        {"rotation", d->rotation, 4}, {"opacity", d->opacity, 1},
        {"colour", d->colour, 3},     {"harmonics", d->harmonics, 3 * orr_sh_rest(d->sh_degree)},
    };
    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
        int64_t broken = first_broken(members[m].values, d->count * members[m].per_splat);
        if (broken >= 0) {
            return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: splat %lld: %s is not finite", name,
                            (long long)(broken / members[m].per_splat), members[m].member);
        }
    }
    for (int64_t i = 0; i < d->count; i++) {
        float *q = d->rotation + 4 * i;
        // in double, because a legal file may hold a quaternion of length 1e-30
        double length = sqrt((double)q[0] * (double)q[0] + (double)q[1] * (double)q[1] +
                             (double)q[2] * (double)q[2] + (double)q[3] * (double)q[3]);
        if (length == 0.0) {
            return orr_fail(error, ORR_CODE_FILE_VALUE,
                            "%s: splat %lld: rotation is zero, expected a quaternion", name, (long long)i);
        }
        for (int k = 0; k < 4; k++) {
            q[k] = (float)((double)q[k] / length);
        }
    }
    return ORR_OK;
}
