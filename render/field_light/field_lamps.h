// The lamps of a picture that light what neural fields show in it, as lanes and kernels take them.
#pragma once

#include "render/shadow/self_shadow.h"

typedef struct orr_field_lamps {
    orr_captured_lamps lamps;
    int32_t captured_of[ORR_DRAW_LIGHTS];          // of the lamps: which of these maps; -1: it has none
    orr_shadow_values captured[ORR_SHADOW_LIGHTS]; // what the list's self_shadow keeps off
    int32_t captured_firsts[ORR_SHADOW_LIGHTS];    // texels at which they begin
    orr_shadow_eye eye;
    int32_t width, height;
    int32_t stride; // [px] between the depths that say how a surface lies
} orr_field_lamps;

// False: the list has no such lamps.
bool orr_field_lamps_find(const orr_draw_list *list, orr_field_lamps *lamps);
