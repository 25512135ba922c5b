// Integrals over all directions of the highlights of bsdf_formula.h, which have no closed form. They were
// computed by summing up 512 x 512 directions drawn as bsdf_draw of render/reference does; test_path_tracer
// computes them anew.
#pragma once

enum { ORR_BSDF_TABLE = 24 }; // BSDF_TABLE of bsdf_formula.h

// [roughness][cosine to the eye], both from 0 to 1 (a cosine of 0 as 0.01); members as in bsdf_integrals.
typedef struct orr_bsdf_table {
    float highlight[ORR_BSDF_TABLE * ORR_BSDF_TABLE];
    float grazing[ORR_BSDF_TABLE * ORR_BSDF_TABLE];
    float dull[ORR_BSDF_TABLE]; // the same for every roughness
} orr_bsdf_table;

extern const orr_bsdf_table orr_bsdf_integrals;
