#include "render/splat/splat_cloud.h"

#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

orr_result orr_splats_create(int64_t count, int sh_degree, orr_splats **out, orr_error *error)
{
    ORR_REQUIRE(out, error);
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
    const orr_splats_view none = {0};
    if (view) {
        orr_sized_write(splats ? &splats->data : &none, sizeof none, view, view_size);
    }
}

static bool is_finite(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}

// is every value finite?
static bool all_finite(const float *values, int64_t count)
{
    enum { BLOCK = 1024 }; // without an early exit inside, so that the compiler vectorises it
    for (int64_t first = 0; first < count; first += BLOCK) {
        int64_t end = count - first < BLOCK ? count : first + BLOCK;
        int broken = 0;
        for (int64_t i = first; i < end; i++) {
            broken += !is_finite(values[i]);
        }
        if (broken) {
            return false;
        }
    }
    return true;
}

void orr_splats_warn(orr_splats *splats, const char *format, ...)
{
    size_t used = strlen(splats->warning);
    if (used > 0 && used + 3 < sizeof splats->warning) {
        memcpy(splats->warning + used, "; ", 3);
        used += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(splats->warning + used, sizeof splats->warning - used, format, arguments);
    va_end(arguments);
    splats->data.warning = splats->warning;
}

// ---- broken splats ----

typedef struct member {
    const char *name;
    float *values;
    int per_splat;
} member;

enum { MEMBERS = 6 };

static void list_members(const orr_splats_view *d, member members[MEMBERS])
{
    const member list[MEMBERS] = {
        {"position", d->position, 3}, {"scale", d->log_scale, 3},
        {"rotation", d->rotation, 4}, {"opacity", d->opacity, 1},
        {"colour", d->colour, 3},     {"harmonics", d->harmonics, 3 * orr_sh_rest(d->sh_degree)},
    };
    memcpy(members, list, sizeof list);
}

// Values that trainers and converters write, and that are limits of those of a valid splat.
static void replace_infinities(const orr_splats_view *d)
{
    const float opaque = 40.0f; // its sigmoid is 1 in float, and that of -40 cannot be seen
    for (int64_t i = 0; i < d->count; i++) {
        if (!is_finite(d->opacity[i]) && !isnan(d->opacity[i])) {
            d->opacity[i] = copysignf(opaque, d->opacity[i]);
        }
    }
    for (int64_t i = 0; i < 3 * d->count; i++) {
        if (d->log_scale[i] < -FLT_MAX) {
            d->log_scale[i] = logf(FLT_MIN);
        }
    }
}

// Makes every rotation a unit quaternion, one that has no direction NAN; true: there is such a one.
static bool normalise_rotations(const orr_splats_view *d)
{
    bool broken = false;
    for (int64_t i = 0; i < d->count; i++) {
        float *q = d->rotation + 4 * i;
        // in double, because a legal file may hold a quaternion of length 1e-30
        double length = sqrt((double)q[0] * (double)q[0] + (double)q[1] * (double)q[1] +
                             (double)q[2] * (double)q[2] + (double)q[3] * (double)q[3]);
        if (length == 0.0) {
            q[0] = NAN;
            broken = true;
            continue;
        }
        for (int k = 0; k < 4; k++) {
            q[k] = (float)((double)q[k] / length);
        }
    }
    return broken;
}

// The member of splat i with a value that is not finite; NULL: none.
static const char *broken_member(const member members[MEMBERS], int64_t i)
{
    for (int m = 0; m < MEMBERS; m++) {
        const int values = members[m].per_splat;
        for (int k = 0; k < values; k++) {
            if (!is_finite(members[m].values[values * i + k])) {
                return members[m].name;
            }
        }
    }
    return NULL;
}

void orr_splats_move(const orr_splats_view *d, int64_t from, int64_t to)
{
    member members[MEMBERS];
    list_members(d, members);
    for (int m = 0; m < MEMBERS && to != from; m++) {
        const int values = members[m].per_splat;
        if (values > 0) {
            memcpy(members[m].values + values * to, members[m].values + values * from,
                   sizeof(float) * (size_t)values);
        }
    }
}

// Closes the gaps that broken splats leave.
static void drop_broken(orr_splats *splats, const member members[MEMBERS])
{
    orr_splats_view *d = &splats->data;
    const char *first_member = NULL;
    int64_t kept = 0, first = 0;
    for (int64_t i = 0; i < d->count; i++) {
        const char *broken = broken_member(members, i);
        if (broken) {
            first = first_member ? first : i;
            first_member = first_member ? first_member : broken;
            continue;
        }
        orr_splats_move(d, i, kept);
        kept++;
    }
    d->dropped = d->count - kept;
    if (d->dropped > 0) {
        orr_splats_warn(splats,
                        "%lld of %lld splats are left out, the first is splat %lld, whose %s is not valid",
                        (long long)d->dropped, (long long)d->count, (long long)first, first_member);
    }
    d->count = kept;
}

orr_result orr_splats_clean(orr_splats *splats, const char *name, orr_error *error)
{
    const orr_splats_view *d = &splats->data;
    member members[MEMBERS];
    list_members(d, members);
    replace_infinities(d);
    bool broken = normalise_rotations(d);
    for (int m = 0; m < MEMBERS; m++) {
        broken = broken || !all_finite(members[m].values, d->count * members[m].per_splat);
    }
    if (broken) {
        drop_broken(splats, members);
    }
    if (d->count == 0 && d->dropped > 0) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: %s", name, splats->warning);
    }
    return ORR_OK;
}

orr_result orr_splats_check(const orr_splats *splats, const char *name, orr_error *error)
{
    const orr_splats_view *d = &splats->data;
    member members[MEMBERS];
    list_members(d, members);
    bool finite = true;
    for (int m = 0; m < MEMBERS; m++) {
        finite = finite && all_finite(members[m].values, d->count * members[m].per_splat);
    }
    for (int64_t i = 0; i < d->count; i++) {
        const float *q = d->rotation + 4 * i;
        const char *broken = finite ? NULL : broken_member(members, i);
        if (!broken && q[0] == 0.0f && q[1] == 0.0f && q[2] == 0.0f && q[3] == 0.0f) {
            broken = "rotation";
        }
        if (broken) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: splat %lld: %s: expected finite numbers, and a rotation that is not zero",
                            name, (long long)i, broken);
        }
    }
    return ORR_OK;
}
