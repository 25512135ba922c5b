// What a format does not keep of a cloud.
#include "render/formats/splat_bytes.h"

#include <stdarg.h>
#include <stdio.h>

// a line that grows and is cut where it is full
typedef struct text {
    char *line;
    size_t size, used;
} text;

static __attribute__((format(printf, 2, 3))) void add(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->line + t->used, t->size - t->used, format, arguments);
    va_end(arguments);
    size_t left = t->size - t->used - 1;
    t->used += length < 0 ? 0 : (size_t)length < left ? (size_t)length : left;
}

// How many splats have one of their `per_splat` values outside low .. high.
static int64_t count_outside(const float *values, int64_t count, int per_splat, float low, float high)
{
    int64_t outside = 0;
    for (int64_t i = 0; i < count; i++) {
        bool inside = true;
        for (int k = 0; k < per_splat; k++) {
            inside = inside && values[per_splat * i + k] >= low && values[per_splat * i + k] <= high;
        }
        outside += !inside;
    }
    return outside;
}

static void add_clamped(text *t, int64_t count, const char *name, bool *first)
{
    if (count > 0) {
        add(t, "%s%s of %lld splats", *first ? "; out of range and clamped: " : ", ", name, (long long)count);
        *first = false;
    }
}

bool orr_splats_losses(const orr_splats_view *d, const orr_splat_format *format, char *line, size_t size)
{
    const orr_splat_limits *l = &format->limits;
    line[0] = 0;
    if (!l->rounded) {
        return false;
    }
    text t = {line, size, 0};
    add(&t, "rounded: ");
    bool first = true;
    float reach = FLT_MAX;
    if (l->position_bits) {
        const int bits = l->position_bits(d);
        reach = ldexpf(8388607.0f, -bits);
        add(&t, "positions to %.3g units, ", ldexp(1.0, -bits));
    }
    add(&t, "%s", l->rounded);
    const float colour = l->colour > 0.0f ? l->colour : FLT_MAX;
    add_clamped(&t, count_outside(d->position, d->count, 3, -reach, reach), "positions", &first);
    add_clamped(&t, count_outside(d->log_scale, d->count, 3, l->log_scale_low, l->log_scale_high), "scales",
                &first);
    add_clamped(&t, count_outside(d->colour, d->count, 3, -colour, colour), "colours", &first);
    if (l->sh_degree >= d->sh_degree) {
        const int values = 3 * orr_sh_rest(d->sh_degree);
        add_clamped(&t, count_outside(d->harmonics, d->count, values, -l->harmonics, l->harmonics), "SH",
                    &first);
    }
    const bool sh = d->sh_degree > l->sh_degree, flag = d->antialiased && !l->antialiased;
    if (sh || flag) {
        add(&t, "; dropped: ");
    }
    if (sh) {
        add(&t, "SH above degree %d", l->sh_degree);
    }
    if (flag) {
        add(&t, "%sthe flag of antialiased training", sh ? ", " : "");
    }
    return true;
}
