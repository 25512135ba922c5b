// What `orrery convert` does with colliders.
#pragma once

#include "engine/orrery.h"

#include <cjson/cJSON.h>

typedef struct collider_conversion {
    const char *from, *to;
    orr_collider_desc desc;
    const char *free_side; // auto, outside or inside
    int threads;
} collider_conversion;

// Makes a collider of a cloud, a mesh or a field, or writes the surface of one as a mesh. What it found goes
// to stderr and into `json` (NULL: not).
orr_result convert_to_collider(const collider_conversion *c, cJSON *json, orr_error *error);
orr_result convert_from_collider(const collider_conversion *c, cJSON *json, orr_error *error);
