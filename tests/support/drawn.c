#include "tests/support/drawn.h"

#include "render/cpu/splats_cpu.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

drawn drawn_make(const orr_draw_list *list)
{
    drawn d = {.pixels = (int64_t)list->lens.width * list->lens.height};
    d.rgba = malloc((size_t)d.pixels * 4 * sizeof(float));
    d.depth = malloc((size_t)d.pixels * sizeof(float));
    memset(d.rgba, 0xff, (size_t)d.pixels * 4 * sizeof(float));
    memset(d.depth, 0xff, (size_t)d.pixels * sizeof(float));
    return d;
}

drawn drawn_on_cpu(orr_jobs *jobs, const orr_draw_list *list)
{
    drawn d = drawn_make(list);
    orr_isa isa;
    orr_arena arena = {0};
    orr_profile profile;
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(
        orr_draw_cpu(jobs, isa, &arena, list, NULL, &(orr_picture){d.rgba, d.depth}, NULL, &profile, &error));
    orr_arena_destroy(&arena);
    return d;
}

void drawn_free(drawn *d)
{
    free(d->rgba);
    free(d->depth);
}

double differing_share(const float *a, const float *b, int64_t count, double tolerance)
{
    int64_t differing = 0;
    for (int64_t i = 0; i < count; i++) {
        differing += !(fabs((double)a[i] - (double)b[i]) <= tolerance);
    }
    return (double)differing / (double)count;
}
