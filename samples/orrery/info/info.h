// What `orrery info` finds in one file: printed as text, or added to a JSON object when that is given.
#pragma once

#include "samples/orrery/commands.h"

#include <cjson/cJSON.h>

orr_result info_splats(const char *path, cJSON *json, orr_error *error);
orr_result info_mesh(const char *path, cJSON *json, orr_error *error);
orr_result info_field(const char *path, cJSON *json, orr_error *error);
orr_result info_cameras(const char *path, const common_options *common, cJSON *json, orr_error *error);
orr_result info_model(const char *path, cJSON *json, orr_error *error);
orr_result info_policy(const char *path, cJSON *json, orr_error *error);
orr_result info_collider(const char *path, cJSON *json, orr_error *error);
// A scene file, or a file of one layer, for a command that draws nothing. The caller destroys both, which are
// NULL where they are not made.
orr_result info_load_scene(const char *path, const common_options *common, orr_engine **engine,
                           orr_scene **scene, orr_error *error);
// Loads everything the scene file names.
orr_result info_scene(const char *path, const common_options *common, cJSON *json, orr_error *error);

// The sun by which the clouds of a cloud's file or a scene are lit. ORR_CODE_ARGUMENT: it has no cloud.
orr_result info_find_sun(const char *path, const common_options *common, orr_sun_estimate *estimate,
                         orr_error *error);
void info_describe_sun(const orr_sun_estimate *estimate, cJSON *json);

void info_print_bounds(const char *label, const float low[3], const float high[3]);
void info_add_bounds(cJSON *json, const char *name, const float low[3], const float high[3]);
