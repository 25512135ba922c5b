// orrery info: what is in a file. This file finds out of which kind each is; info_*.c describe one kind each.
#include "samples/orrery/info/info.h"

#include "engine/core/file.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "neural/ingp/ingp.h"
#include "physics/grid/collider_file.h"
#include "render/formats/splat_formats.h"
#include "render/mesh.h"

#include <stdio.h>

typedef enum file_kind {
    KIND_SPLATS,
    KIND_MESH,
    KIND_FIELD,
    KIND_CAMERAS,
    KIND_MODEL,
    KIND_COLLIDER,
    KIND_POLICY,
    KIND_SCENE
} file_kind;

// A .json file may be a cloud's (SOG), a camera file or a scene file: the content decides.
static orr_result find_json_kind(const char *path, file_kind *kind, orr_error *error)
{
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = ORR_OK;
    *kind = KIND_SPLATS;
    if (!orr_splat_format_of((orr_splat_source){path, bytes.data, bytes.size})) {
        orr_json root;
        result = orr_json_parse((const char *)bytes.data, path, ORR_CODE_SCENE_FILE, &root, error);
        if (result == ORR_OK) {
            *kind = orr_json_has(&root, "frames") ? KIND_CAMERAS : KIND_SCENE;
            orr_json_free(&root);
        }
    }
    orr_free(bytes.data);
    return result;
}

static orr_result find_kind(const char *path, file_kind *kind, orr_error *error)
{
    if (orr_path_has_ending(path, ".json")) {
        return find_json_kind(path, kind, error);
    }
    if (orr_field_model_readable(path)) {
        *kind = KIND_FIELD;
        return ORR_OK;
    }
    if (orr_collider_readable(path)) {
        *kind = KIND_COLLIDER;
        return ORR_OK;
    }
    if (orr_path_has_ending(path, ".policy")) {
        *kind = KIND_POLICY;
        return ORR_OK;
    }
    if (orr_path_has_ending(path, ".xml") || orr_path_has_ending(path, ".urdf")) {
        *kind = KIND_MODEL;
        return ORR_OK;
    }
    bool mesh = orr_mesh_readable(path);
    *kind = mesh ? KIND_MESH : KIND_SPLATS;
    return ORR_OK;
}

static orr_result describe(const char *path, const common_options *common, cJSON *json, orr_error *error)
{
    file_kind kind;
    ORR_TRY(find_kind(path, &kind, error));
    switch (kind) {
    case KIND_SPLATS:
        return info_splats(path, json, error);
    case KIND_MESH:
        return info_mesh(path, json, error);
    case KIND_FIELD:
        return info_field(path, json, error);
    case KIND_CAMERAS:
        return info_cameras(path, common, json, error);
    case KIND_MODEL:
        return info_model(path, json, error);
    case KIND_COLLIDER:
        return info_collider(path, json, error);
    case KIND_POLICY:
        return info_policy(path, json, error);
    case KIND_SCENE:
        break;
    }
    return info_scene(path, common, json, error);
}

static orr_result describe_all(const char *path, const common_options *common, bool sun, cJSON *json,
                               orr_error *error)
{
    orr_sun_estimate estimate;
    if (sun) {
        ORR_TRY(info_find_sun(path, common, &estimate, error));
    }
    ORR_TRY(describe(path, common, json, error));
    if (sun) {
        info_describe_sun(&estimate, json);
    }
    return ORR_OK;
}

void info_print_bounds(const char *label, const float low[3], const float high[3])
{
    printf("  %-12s", label); // + 0.0: no minus before a zero
    for (int i = 0; i < 3; i++) {
        printf("%s%c %.4g .. %.4g", i ? ", " : "", "xyz"[i], (double)low[i] + 0.0, (double)high[i] + 0.0);
    }
    printf("\n");
}

void info_add_bounds(cJSON *json, const char *name, const float low[3], const float high[3])
{
    cJSON *bounds = cJSON_AddObjectToObject(json, name);
    cJSON_AddItemToObject(bounds, "low", cJSON_CreateFloatArray(low, 3));
    cJSON_AddItemToObject(bounds, "high", cJSON_CreateFloatArray(high, 3));
}

int command_info(int argc, char **argv)
{
    common_options common = {0};
    bool sun = false;
    const option list[] = {
        {.name = "--sun",
         .kind = OPTION_FLAG,
         .value = &sun,
         .help = "also estimate the sun that lights clouds and radiance fields, alone or in scene files"}};
    const command_usage usage = {.name = "info",
                                 .operands = "FILE...",
                                 .purpose = "Prints what splat clouds, meshes, trained fields (.ingp), "
                                            "robots (.xml .urdf), colliders,\n"
                                            "policies, scene files and camera files (transforms.json) "
                                            "contain.",
                                 .operand_min = 1,
                                 .operand_max = argc,
                                 .options = list,
                                 .option_count = sizeof list / sizeof list[0],
                                 .common = &common,
                                 .common_used = COMMON_THREADS | COMMON_SIZE | COMMON_JSON};
    int operand_count, exit_code;
    if (!options_read(&usage, argc, argv, &operand_count, &exit_code)) {
        return exit_code;
    }
    cJSON *json = common.json ? cJSON_CreateObject() : NULL;
    cJSON *files = cJSON_AddArrayToObject(json, "files");
    for (int i = 0; i < operand_count; i++) {
        cJSON *file = common.json ? cJSON_CreateObject() : NULL;
        cJSON_AddStringToObject(file, "file", argv[i]);
        orr_error error;
        orr_result result = describe_all(argv[i], &common, sun, file, &error);
        if (result == ORR_OK) {
            cJSON_AddItemToArray(files, file);
        } else { // the other files are still described
            cJSON_Delete(file);
            int code = command_fail(result, &error);
            exit_code = code > exit_code ? code : exit_code;
        }
    }
    int print_code = common.json ? command_print_json(json) : 0;
    return exit_code ? exit_code : print_code;
}
