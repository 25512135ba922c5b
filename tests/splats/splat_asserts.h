// What the tests of splat formats compare with. Include after tests/support/support.h.
#pragma once

#include "render/formats/splat_formats.h"

#include <math.h>
#include <string.h>

static inline double opacity_of(float logit)
{
    return 1.0 / (1.0 + exp(-(double)logit));
}

static inline double angle_between(const float *a, const float *b)
{
    double plus = 0.0, minus = 0.0;
    for (int k = 0; k < 4; k++) {
        plus += ((double)a[k] + (double)b[k]) * ((double)a[k] + (double)b[k]);
        minus += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
    }
    return 4.0 * asin(fmin(1.0, sqrt(fmin(plus, minus)) / 2.0));
}

static inline void assert_near(double a, double b, double limit, const char *member, int64_t i)
{
    if (!(fabs(a - b) <= limit)) {
        fail_msg("splat %lld: %s is %.9g, expected %.9g within %g", (long long)i, member, b, a, limit);
    }
}

// Reads the bytes with the reader for their content, and expects a line that names the file and has
// `expected` in it.
static inline void assert_refused(const char *text, size_t size, const char *expected)
{
    orr_splats *cloud = (orr_splats *)1;
    orr_error error = {0};
    orr_splat_source source = {"broken.ply", (const uint8_t *)text, size};
    const orr_splat_format *format = orr_splat_format_of(source);
    orr_result result = format->read(source, &cloud, &error);
    if (result == ORR_OK || cloud) {
        fail_msg("accepted: expected an error about %s", expected);
    }
    if (!strstr(error.message, expected) || strstr(error.message, "broken.ply: ") != error.message) {
        fail_msg("'%s' should say: %s", error.message, expected);
    }
}
