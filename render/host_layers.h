// What the CPU has drawn of a frame for a device that draws the rest: fields that the device does not march,
// and surfaces that start rays. Of the picture and of what each of its mirrors shows, as their cameras see
// it.
#pragma once

#include "render/field_pass.h"
#include "render/mirror/mirror.h"

typedef struct orr_host_view {
    orr_field_pass *fields; // done, and not lit by lamps yet; NULL: there are none
    const float *traced;    // rgba of cpu/rays/traced.h; NULL: no surface starts rays
} orr_host_view;

typedef struct orr_host_layers {
    orr_host_view picture;
    orr_host_view mirrors[ORR_MIRRORS]; // in the order of orr_mirrors_find
} orr_host_layers;
