// New lamps (lights_captured of the draw list's lights) on what neural fields show: planes of a picture that
// were marched, and whose colours have the light of the capture, become those in the light of the lamps as
// well.
#pragma once

#include "render/cloud_shadow/cloud_shadow_maps.h"
#include "render/cpu/shadow_maps.h"
#include "render/field_light/field_lamps.h"
#include "render/field_pass.h"

// What keeps light off, as the CPU has drawn it for the list.
typedef struct orr_field_light_maps {
    const orr_shadow_maps *shadows;  // nullable, of meshes
    const orr_cloud_shadows *clouds; // nullable, of clouds that move
} orr_field_light_maps;

// Lights the planes of a pass that is done, once, by rows over its jobs; where its list has no such lamps,
// nothing is done. maps NULL: they are drawn here, in the pass's arena. ORR_ERROR_MEMORY.
orr_result orr_field_light(orr_field_pass *pass, orr_isa isa, const orr_field_light_maps *maps,
                           orr_error *error);

// ---- for its lanes ----

typedef struct orr_field_light_job {
    const orr_field_lamps *lamps;
    const float *captured; // depths of the list's self_shadow
    orr_field_light_maps maps;
    const float *depth; // planes of orr_field_pass
    float *colour;
} orr_field_light_job;

void orr_field_light_row_baseline(const orr_field_light_job *job, int row);
void orr_field_light_row_avx2(const orr_field_light_job *job, int row);
void orr_field_light_row_avx512(const orr_field_light_job *job, int row);
