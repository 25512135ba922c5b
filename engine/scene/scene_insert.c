// A further layer in a scene file.
#define _GNU_SOURCE
#include "engine/core/entry.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/scene/scene_file.h"
#include "engine/scene/transform.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static orr_result out_of_memory(const char *path, orr_error *error)
{
    return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
}

orr_result orr_scene_file_rename(const char *room, const char *file, const char *path, char **name,
                                 orr_error *error)
{
    *name = NULL;
    char *found = orr_path_beside(room, file), *folder = orr_path_beside(path, ".");
    char *whole = found ? realpath(found, NULL) : NULL, *base = folder ? realpath(folder, NULL) : NULL;
    orr_result result = found && folder ? ORR_OK : out_of_memory(path, error);
    if (result == ORR_OK && !whole) {
        result = orr_fail(error, ORR_CODE_FILE_OPEN, "%s: cannot open", found);
    } else if (result == ORR_OK && !base) {
        result = orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: no such folder", path);
    }
    if (result == ORR_OK) {
        size_t length = strlen(base);
        bool below = strncmp(whole, base, length) == 0 && whole[length] == '/';
        *name = orr_path_beside("", below ? whole + length + 1 : whole);
        result = *name ? ORR_OK : out_of_memory(path, error);
    }
    free(whole);
    free(base);
    orr_free(found);
    orr_free(folder);
    return result;
}

// The member `key`, a file.
static orr_result rename_member(cJSON *object, const char *key, const char *room, const char *path,
                                orr_error *error)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    char *name;
    if (!cJSON_IsString(member)) {
        return ORR_OK;
    }
    ORR_TRY(orr_scene_file_rename(room, member->valuestring, path, &name, error));
    cJSON *text = cJSON_CreateString(name);
    orr_free(name);
    return text && cJSON_ReplaceItemInObjectCaseSensitive(object, key, text) ? ORR_OK
                                                                             : out_of_memory(path, error);
}

static bool add_numbers(cJSON *layer, const char *key, const float *numbers, int count)
{
    return cJSON_AddItemToObject(layer, key, cJSON_CreateFloatArray(numbers, count));
}

static orr_result add_layer(cJSON *layers, const char *file, const char *name, const orr_transform *at,
                            const char *path, orr_error *error)
{
    cJSON *layer = cJSON_CreateObject();
    char *own = NULL;
    orr_result result = orr_scene_file_rename("", file, path, &own, error);
    if (result == ORR_OK) {
        bool good = layer && cJSON_AddStringToObject(layer, "file", own) &&
                    (!name || cJSON_AddStringToObject(layer, "name", name)) &&
                    (!at || (add_numbers(layer, "position", at->position, 3) &&
                             add_numbers(layer, "rotation", at->rotation, 4) &&
                             cJSON_AddNumberToObject(layer, "scale", (double)at->scale))) &&
                    cJSON_AddItemToArray(layers, layer);
        result = good ? ORR_OK : out_of_memory(path, error);
    }
    if (result != ORR_OK) {
        cJSON_Delete(layer);
    }
    orr_free(own);
    return result;
}

// The layers and all else of a scene file, with the files renamed.
static orr_result take_room(const char *room, const char *path, cJSON **root, orr_error *error)
{
    orr_bytes bytes;
    orr_scene_file file;
    ORR_TRY(orr_file_read(room, &bytes, error));
    orr_result result = orr_scene_file_parse((const char *)bytes.data, room, &file, error);
    *root = result == ORR_OK ? cJSON_Parse((const char *)bytes.data) : NULL;
    orr_free(bytes.data);
    ORR_TRY(result);
    orr_scene_file_free(&file);
    if (!*root) {
        return out_of_memory(room, error);
    }
    ORR_TRY(rename_member(*root, "cameras_file", room, path, error));
    cJSON *environment = cJSON_GetObjectItemCaseSensitive(*root, "environment");
    ORR_TRY(environment ? rename_member(environment, "file", room, path, error) : ORR_OK);
    cJSON *layer = cJSON_GetObjectItemCaseSensitive(*root, "layers")->child;
    for (; layer; layer = layer->next) {
        ORR_TRY(rename_member(layer, "file", room, path, error));
    }
    return ORR_OK;
}

static orr_result build(const char *room, const char *object, const char *name, const orr_transform *at,
                        const char *path, cJSON **root, orr_error *error)
{
    if (orr_path_has_ending(room, ".json")) {
        ORR_TRY(take_room(room, path, root, error));
    } else {
        *root = cJSON_CreateObject();
        cJSON *layers = *root && cJSON_AddNumberToObject(*root, "orrery", 1)
                            ? cJSON_AddArrayToObject(*root, "layers")
                            : NULL;
        if (!layers) {
            return out_of_memory(path, error);
        }
        ORR_TRY(add_layer(layers, room, NULL, NULL, path, error));
    }
    return add_layer(cJSON_GetObjectItemCaseSensitive(*root, "layers"), object, name, at, path, error);
}

orr_result orr_scene_file_insert(const char *room, const char *object, const char *name,
                                 const orr_transform *transform, const char *path, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(room, error);
    ORR_REQUIRE(object, error);
    ORR_REQUIRE(path, error);
    orr_transform at;
    cJSON *root = NULL;
    ORR_TRY(orr_transform_resolve(transform, &at, error));
    orr_result result = build(room, object, name, &at, path, &root, error);
    char *text = result == ORR_OK ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    ORR_TRY(result);
    result = text ? orr_file_write(path, text, strlen(text), error) : out_of_memory(path, error);
    cJSON_free(text);
    return result;
}
