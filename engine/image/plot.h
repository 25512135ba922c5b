// Plots of figures over time, as PNG: a panel for each line, one above the other, over a common axis of x;
// and bars, in rows of concurrent activities.
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

typedef enum orr_plot_colour {
    ORR_PLOT_BLUE,
    ORR_PLOT_RED,
    ORR_PLOT_GREEN,
    ORR_PLOT_VIOLET,
    ORR_PLOT_GREY
} orr_plot_colour;

typedef struct orr_plot_bar {
    int row;           // 0 at the top
    double begin, end; // what is outside the axis is left out
    const char *name;  // written in it where it fits
    orr_plot_colour colour;
} orr_plot_bar;

// From 0 to `length` of x. rows: their names, row_count 1 .. 1000; up to 16 letters are drawn.
orr_result orr_plot_bars_save(const char *path, const char *title, const char *x_name, double length,
                              const char *const *rows, int row_count, const orr_plot_bar *bars, int bar_count,
                              orr_error *error);
