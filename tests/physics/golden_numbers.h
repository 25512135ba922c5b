// Files of doubles that a script recorded from an oracle, read in order.
#pragma once

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "tests/support/support.h"

#include <stdio.h>

typedef struct golden_numbers {
    double *numbers, *next, *behind;
} golden_numbers;

// name: below tests/golden, without its extension
static inline golden_numbers golden_numbers_load(const char *name)
{
    orr_bytes bytes;
    assert_ok(orr_file_read(source_path("tests/golden/%s.f64", name), &bytes, &error));
    double *numbers = (double *)(void *)bytes.data;
    return (golden_numbers){numbers, numbers, numbers + bytes.size / sizeof(double)};
}

static inline double *golden_numbers_take(golden_numbers *g, int count)
{
    double *taken = g->next;
    g->next += count;
    assert_true(g->next <= g->behind);
    return taken;
}
