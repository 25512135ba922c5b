// Formulas of engine/core and render on arrays, for every machine this computer can be: lanes of each
// instruction set, one float at a time, and the reference in double. tests/core/formula_machine.c is
// compiled once for each.
#pragma once

#include <stddef.h>

typedef enum formula_name {
    FORMULA_EXP2,
    FORMULA_LOG2,
    FORMULA_EXPONENT,
    FORMULA_EXP2_WHOLE,
    FORMULA_FLOOR,
    FORMULA_SQRT,
    FORMULA_ABS,
    FORMULA_MIN,       // a, b
    FORMULA_MAX,       // a, b
    FORMULA_SEL,       // a, b: a < b ? a : -b
    FORMULA_FMA,       // a, b, c
    FORMULA_AXES,      // quaternion xyzw, scale xyz -> axes a, b, c
    FORMULA_PROJECT,   // mean xyz, axes (9), opacity -> see formula_screen
    FORMULA_ALPHA,     // log2 opacity, d xy, ellipse (3) -> alpha
    FORMULA_BAND,      // ellipse (3), reach, half size xy, low, high -> left, right
    FORMULA_HARMONICS, // unit direction xyz -> 16 values, degrees 0 to 3
    FORMULA_DECODE,    // sRGB -> linear
    FORMULA_ENCODE,    // linear -> sRGB
    FORMULA_BLEND,     // transmittance, alpha, colour, depth -> transmittance, colour and depth added to 0
    FORMULA_TRIANGLE,  // origin from the first corner, direction, two edges, xyz each -> distance, u, v, hit
    FORMULA_COUNT
} formula_name;

enum { FORMULA_INPUTS_MAX = 13, FORMULA_OUTPUTS_MAX = 16 };

// places of the projection's outputs
enum formula_screen {
    SCREEN_CENTRE_X,
    SCREEN_CENTRE_Y,
    SCREEN_SHARP_X,
    SCREEN_LEAN,
    SCREEN_SHARP_Y,
    SCREEN_LOG2_OPACITY,
    SCREEN_DEPTH,
    SCREEN_REACH,
    SCREEN_HALF_WIDTH,
    SCREEN_HALF_HEIGHT,
    SCREEN_VISIBLE,
    SCREEN_OUTPUTS
};

// inputs[k * count + i] holds value k of element i, each a float that double holds exactly; outputs likewise.
// count is a multiple of 16. The camera of FORMULA_PROJECT is formula_test_lens.
typedef void formula_machine(formula_name name, int count, const double *inputs, double *outputs);

formula_machine formula_machine_baseline, formula_machine_avx2, formula_machine_avx512,
    formula_machine_scalar, formula_machine_reference;

// the camera of the projection
typedef struct formula_test_lens {
    float view[12];
    float focal, width, height;
    float near_plane, far_plane;
    float slope_x, slope_y; // bound of |x / z| and |y / z|
} formula_test_lens;

extern const formula_test_lens formula_lens;

// What only lanes have: loads, gathers, masks. Returns NULL, or the name of the first thing that is wrong.
typedef const char *lanes_check(void);
lanes_check lanes_check_baseline, lanes_check_avx2, lanes_check_avx512;
