#include "tests/physics/golden_model.h"

#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Recorded with 9 digits: 1e-6 of the value, or 1e-6 where the value is small.
static const double tolerance = 1e-6;

typedef struct array_view {
    const char *name;
    int rows, columns;
    const double *real;
    const float *single;
    const int32_t *integer;
    const uint8_t *byte;
} array_view;

#define VIEW(p)                                                                                              \
    .real = _Generic((p), double *: (p), const double *: (p), default: NULL),                        \
    .single = _Generic((p), float *: (p), default: NULL),                                                  \
    .integer = _Generic((p), int32_t *: (p), const int32_t *: (p), default: NULL),                   \
    .byte = _Generic((p), uint8_t *: (p), char *: (const uint8_t *)(const void *)(p), default: NULL)

static bool find_size(const orr_model *m, const char *name, int *value)
{
#define SIZE(size)                                                                                           \
    if (strcmp(name, #size) == 0) {                                                                          \
        *value = m->size;                                                                                    \
        return true;                                                                                         \
    }
    ORR_MODEL_SIZES(SIZE)
#undef SIZE
    return false;
}

static bool find_array(const orr_model *m, const char *name, array_view *view)
{
#define ARRAY(type, array, row_count, column_count)                                                          \
    if (strcmp(name, #array) == 0) {                                                                         \
        *view = (array_view){.name = name, .rows = (row_count), .columns = (column_count), VIEW(m->array)};  \
        return true;                                                                                         \
    }
    ORR_MODEL_ARRAYS(ARRAY)
#undef ARRAY
#define MEMBER(kind, member, label, count)                                                                   \
    if (strcmp(name, #kind "." label) == 0) {                                                                \
        *view = (array_view){.name = name, .rows = 1, .columns = (count), VIEW(member)};                     \
        return true;                                                                                         \
    }
    const orr_model_option *opt = &m->opt;
    const orr_model_statistic *stat = &m->stat;
    MEMBER(opt, &opt->timestep, "timestep", 1)
    MEMBER(opt, &opt->impratio, "impratio", 1)
    MEMBER(opt, &opt->tolerance, "tolerance", 1)
    MEMBER(opt, &opt->ls_tolerance, "ls_tolerance", 1)
    MEMBER(opt, &opt->noslip_tolerance, "noslip_tolerance", 1)
    MEMBER(opt, &opt->ccd_tolerance, "ccd_tolerance", 1)
    MEMBER(opt, &opt->sleep_tolerance, "sleep_tolerance", 1)
    MEMBER(opt, &opt->gravity[0], "gravity", 3)
    MEMBER(opt, &opt->wind[0], "wind", 3)
    MEMBER(opt, &opt->magnetic[0], "magnetic", 3)
    MEMBER(opt, &opt->density, "density", 1)
    MEMBER(opt, &opt->viscosity, "viscosity", 1)
    MEMBER(opt, &opt->o_margin, "o_margin", 1)
    MEMBER(opt, &opt->o_solref[0], "o_solref", 2)
    MEMBER(opt, &opt->o_solimp[0], "o_solimp", 5)
    MEMBER(opt, &opt->o_friction[0], "o_friction", 5)
    MEMBER(opt, &opt->integrator, "integrator", 1)
    MEMBER(opt, &opt->cone, "cone", 1)
    MEMBER(opt, &opt->jacobian, "jacobian", 1)
    MEMBER(opt, &opt->solver, "solver", 1)
    MEMBER(opt, &opt->iterations, "iterations", 1)
    MEMBER(opt, &opt->ls_iterations, "ls_iterations", 1)
    MEMBER(opt, &opt->noslip_iterations, "noslip_iterations", 1)
    MEMBER(opt, &opt->ccd_iterations, "ccd_iterations", 1)
    MEMBER(opt, &opt->sdf_iterations, "sdf_iterations", 1)
    MEMBER(opt, &opt->sdf_initpoints, "sdf_initpoints", 1)
    MEMBER(opt, &opt->disableflags, "disableflags", 1)
    MEMBER(opt, &opt->enableflags, "enableflags", 1)
    MEMBER(opt, &opt->disableactuator, "disableactuator", 1)
    MEMBER(stat, &stat->meaninertia, "meaninertia", 1)
    MEMBER(stat, &stat->meanmass, "meanmass", 1)
    MEMBER(stat, &stat->meansize, "meansize", 1)
    MEMBER(stat, &stat->extent, "extent", 1)
    MEMBER(stat, &stat->centre[0], "center", 3)
#undef MEMBER
    return false;
}

static double element(const array_view *a, int at)
{
    return a->real      ? a->real[at]
           : a->single  ? (double)a->single[at]
           : a->integer ? (double)a->integer[at]
                        : (double)a->byte[at];
}

static int differences; // over all arrays of one model

static void compare(const char *name, int row, int column, double got, double expected)
{
    bool same = got == expected; // ends of ranges that have none, too
    if (!same && !(fabs(got - expected) <= tolerance * fmax(1.0, fabs(expected)))) {
        if (differences++ < 40) {
            print_error("%s[%d][%d]: %.9g, MuJoCo has %.9g\n", name, row, column, got, expected);
        }
    }
}

static void next_line(FILE *file, const char *name, char *line, int size)
{
    if (!fgets(line, size, file)) {
        fail_msg("%s: a row is missing in the golden file", name);
    }
}

static int compare_array(FILE *file, const array_view *a, char *line, char *last, int size)
{
    for (int row = 0; row < a->rows; row++) {
        next_line(file, a->name, line, size);
        if (line[0] == '=') {
            strcpy(line, last);
        }
        strcpy(last, line);
        char *at = line;
        for (int column = 0; column < a->columns; column++) {
            compare(a->name, row, column, element(a, row * a->columns + column), strtod(at, &at));
        }
    }
    return a->rows * a->columns;
}

// Mean and standard deviation of a texture's bytes.
static void compare_texture(const orr_model *m, int id, const char *line)
{
    char *at;
    double mean = strtod(line, &at), deviation = strtod(at, NULL), sum = 0.0, squares = 0.0;
    int count = m->tex_height[id] * m->tex_width[id] * m->tex_nchannel[id];
    for (int i = 0; i < count; i++) {
        double value = (double)m->tex_data[m->tex_adr[id] + i];
        sum += value;
        squares += value * value;
    }
    sum /= count;
    double own = sqrt(fmax(0.0, squares / count - sum * sum));
    if (fabs(sum - mean) > 1e-6 || fabs(own - deviation) > 1e-6) {
        differences++;
        print_error("texture %d: mean %.9g, deviation %.9g, MuJoCo has %.9g, %.9g\n", id, sum, own, mean,
                    deviation);
    }
}

int assert_golden_model(const orr_model *m, const char *golden)
{
    enum { LINE = 1 << 16 };
    FILE *file = fopen(golden, "r");
    if (!file) {
        fail_msg("%s: cannot open this golden file", golden);
    }
    char *line = malloc(LINE), *last = malloc(LINE);
    assert_true(line && last);
    int agreed = 0;
    differences = 0;
    while (fgets(line, LINE, file)) {
        char name[64];
        int rows, columns, expected, got;
        array_view view = {0};
        if (line[0] == '#') {
            continue;
        }
        if (sscanf(line, "texture %d", &rows) == 1) {
            next_line(file, "texture", line, LINE);
            compare_texture(m, rows, line);
        } else if (sscanf(line, "%63s %dx%d", name, &rows, &columns) == 3) {
            if (!find_array(m, name, &view) || view.rows != rows || view.columns != columns) {
                fail_msg("%s: %s: expected %d x %d", golden, name, rows, columns);
            }
            agreed += compare_array(file, &view, line, last, LINE);
        } else if (sscanf(line, "%63s %d", name, &expected) == 2 && find_size(m, name, &got)) {
            compare(name, 0, 0, got, expected);
            agreed++;
        } else {
            fail_msg("%s: this line is not understood: %.60s", golden, line);
        }
    }
    fclose(file);
    free(line);
    free(last);
    if (differences) {
        fail_msg("%s: %d numbers differ", golden, differences);
    }
    return agreed;
}
