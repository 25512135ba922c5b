// What `orrery info` finds in one file: printed as text, or added to a JSON object when that is given.
#pragma once

#include "samples/orrery/commands.h"

#include <cjson/cJSON.h>

orr_result info_splats(const char *path, cJSON *json, orr_error *error);
orr_result info_mesh(const char *path, cJSON *json, orr_error *error);
orr_result info_field(const char *path, cJSON *json, orr_error *error);
orr_result info_cameras(const char *path, const common_options *common, cJSON *json, orr_error *error);
orr_result info_model(const char *path, cJSON *json, orr_error *error);
orr_result info_collider(const char *path, cJSON *json, orr_error *error);
// Loads everything the scene file names.
orr_result info_scene(const char *path, const common_options *common, cJSON *json, orr_error *error);

void info_print_bounds(const char *label, const float low[3], const float high[3]);
void info_add_bounds(cJSON *json, const char *name, const float low[3], const float high[3]);
