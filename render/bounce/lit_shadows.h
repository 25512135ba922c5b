// What captured walls, and clouds that move, keep off of what rays of grids meet: the maps that frames use,
// looked up in the world's space.
#pragma once

#include "engine/core/memory.h"
#include "render/cloud_shadow/cloud_shadow_maps.h"
#include "render/shadow/self_shadow.h"

enum { ORR_LIT_LIGHTS = ORR_DRAW_LIGHTS + 1 }; // of orr_draw_light_up

typedef struct orr_lit_shadows {
    orr_isa isa;
    orr_shadow_values walls[ORR_LIT_LIGHTS]; // of each light; size 0: nothing is kept off
    const float *texels[ORR_LIT_LIGHTS];     // of the list's self_shadow
    orr_cloud_shadows clouds;
    orr_arena arena; // of their maps
    uint64_t of;     // a hash of what these show, and in which light
} orr_lit_shadows;

// Of a list whose `view` is that of the world. Maps of clouds are drawn where they differ from those that are
// held. ORR_ERROR_MEMORY, after which there are none of clouds.
orr_result orr_lit_shadows_hold(orr_lit_shadows *shadows, orr_jobs *jobs, orr_isa isa,
                                const orr_draw_list *list, orr_error *error);
void orr_lit_shadows_free(orr_lit_shadows *shadows); // zero is empty

// The part of a light of orr_draw_light_up that reaches a point of a mesh past them. normal: unit, on the lit
// side
float orr_lit_shadows_left(const orr_lit_shadows *shadows, int light, const float position[3],
                           const float normal[3]);

// ---- its lanes ----

float orr_lit_left_baseline(const orr_lit_shadows *shadows, int light, const float position[3],
                            const float normal[3]);
float orr_lit_left_avx2(const orr_lit_shadows *shadows, int light, const float position[3],
                        const float normal[3]);
float orr_lit_left_avx512(const orr_lit_shadows *shadows, int light, const float position[3],
                          const float normal[3]);
