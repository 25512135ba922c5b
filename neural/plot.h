// Plots of figures over time, as PNG: one panel per line, one above the other, over a common axis of x.
#pragma once

#include "engine/core/result.h"

typedef struct orr_plot_line {
    const char *name;
    const double *x, *y; // count; x ascending. Values that are not finite are left out
    int count;
    bool logarithmic; // values of 0 and less are left out
} orr_plot_line;

enum { ORR_PLOT_LINES_MAX = 4 };

// lines: 1 .. ORR_PLOT_LINES_MAX
orr_result orr_plot_save(const char *path, const char *title, const char *x_name, const orr_plot_line *lines,
                         int line_count, orr_error *error);
