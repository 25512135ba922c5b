#include "neural/capture/capture_file.h"

#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "neural/capture/colmap.h"
#include "neural/capture/transforms_file.h"

#include <stdio.h>
#include <string.h>

static orr_result out_of_memory(const char *path, orr_error *error)
{
    return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
}

// The first of `names` in `folder` that is there; *path NULL: none is.
static orr_result find_in(const char *folder, const char *const *names, bool (*exists)(const char *),
                          char **path, orr_error *error)
{
    for (; *names; names++) {
        *path = orr_path_join(folder, *names);
        if (!*path) {
            return out_of_memory(folder, error);
        }
        if (exists(*path)) {
            return ORR_OK;
        }
        orr_free(*path);
    }
    *path = NULL;
    return ORR_OK;
}

static orr_result read_transforms(orr_capture_file *file, orr_error *error)
{
    orr_bytes bytes;
    file->folder = orr_path_beside(file->name, "");
    if (!file->folder) {
        return out_of_memory(file->name, error);
    }
    ORR_TRY(orr_file_read(file->name, &bytes, error));
    orr_result result = orr_transforms_parse((const char *)bytes.data, file->name, &file->list, error);
    orr_free(bytes.data);
    if (result == ORR_OK && file->list.points) {
        file->points = orr_path_beside(file->name, file->list.points);
        result = file->points ? ORR_OK : out_of_memory(file->name, error);
    }
    return result;
}

// The images are in the capture's folder, in the model's, or up to two folders above it.
static orr_result read_colmap(const char *folder, orr_capture_file *file, orr_error *error)
{
    static const char *const folders[] = {"images", "../images", "../../images", NULL};
    char *model = orr_path_beside(file->name, "");
    orr_result result = model ? find_in(folder, folders, orr_path_is_folder, &file->folder, error)
                              : out_of_memory(folder, error);
    if (result == ORR_OK && !file->folder) {
        result = find_in(model, folders, orr_path_is_folder, &file->folder, error);
    }
    if (result == ORR_OK && !file->folder) {
        result = orr_fail(error, ORR_CODE_FILE_OPEN,
                          "%s: expected a folder of images beside the COLMAP model", folder);
    }
    if (result == ORR_OK) {
        const bool text = orr_path_has_ending(file->name, ".txt");
        const char *const points[] = {text ? "points3D.txt" : "points3D.bin", NULL};
        result = find_in(model, points, orr_path_is_file, &file->points, error);
        result = result == ORR_OK ? orr_colmap_read(model, text, &file->list, error) : result;
    }
    orr_free(model);
    return result;
}

static orr_result read_folder(const char *folder, orr_capture_file *file, orr_error *error)
{
    static const char *const transforms[] = {"transforms.json", "transforms_train.json", NULL};
    static const char *const models[] = {"sparse/0/cameras.bin",
                                         "sparse/0/cameras.txt",
                                         "sparse/cameras.bin",
                                         "sparse/cameras.txt",
                                         "colmap/sparse/0/cameras.bin",
                                         "colmap/sparse/0/cameras.txt",
                                         "cameras.bin",
                                         "cameras.txt",
                                         NULL};
    ORR_TRY(find_in(folder, transforms, orr_path_is_file, &file->name, error));
    if (file->name) {
        return read_transforms(file, error);
    }
    ORR_TRY(find_in(folder, models, orr_path_is_file, &file->name, error));
    if (file->name) {
        return read_colmap(folder, file, error);
    }
    return orr_fail(error, ORR_CODE_FILE_OPEN,
                    "%s: not a capture: expected transforms.json, transforms_train.json or a COLMAP model "
                    "(sparse/0/cameras.bin)",
                    folder);
}

static orr_result read_any(const char *path, orr_capture_file *file, orr_error *error)
{
    if (orr_path_is_folder(path)) {
        return read_folder(path, file, error);
    }
    file->name = orr_path_join("", path);
    return file->name ? read_transforms(file, error) : out_of_memory(path, error);
}

orr_result orr_capture_file_read(const char *path, orr_capture_file *file, orr_error *error)
{
    *file = (orr_capture_file){0};
    orr_result result = read_any(path, file, error);
    if (result != ORR_OK) {
        orr_capture_file_free(file);
    }
    return result;
}

void orr_capture_file_free(orr_capture_file *file)
{
    orr_photo_list_free(&file->list);
    orr_free(file->name);
    orr_free(file->folder);
    orr_free(file->points);
    *file = (orr_capture_file){0};
}

orr_result orr_capture_file_test(const char *path, char **test, orr_error *error)
{
    static const char name[] = "transforms_test.json";
    *test = orr_path_is_folder(path) ? orr_path_join(path, name) : orr_path_beside(path, name);
    if (!*test) {
        return out_of_memory(path, error);
    }
    if (orr_path_is_file(*test) && strcmp(orr_path_name(path), name) != 0) {
        return ORR_OK;
    }
    orr_free(*test);
    *test = NULL;
    return orr_fail(error, ORR_CODE_FILE_OPEN,
                    "%s: no photos for testing: expected %s with the capture, or test_filenames in it", path,
                    name);
}

// NULL when out of memory
static char *with_ending(const char *name, const char *ending)
{
    size_t size = strlen(name) + strlen(ending) + 1;
    char *whole = orr_alloc(size, 1);
    if (whole) {
        snprintf(whole, size, "%s%s", name, ending);
    }
    return whole;
}

static orr_result find_photo(const orr_capture_file *file, const char *photo, char **path, orr_error *error)
{
    static const char *const endings[] = {"", ".png", ".jpg", ".jpeg", ".PNG", ".JPG", ".JPEG"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *name = with_ending(photo, endings[i]);
        *path = name ? orr_path_join(photo[0] == '/' ? "" : file->folder, name) : NULL;
        orr_free(name);
        if (!*path) {
            return out_of_memory(photo, error);
        }
        if (orr_path_is_file(*path)) {
            return ORR_OK;
        }
        orr_free(*path);
    }
    *path = NULL;
    return ORR_OK;
}

orr_result orr_capture_file_photo(const orr_capture_file *file, const char *photo, char **path,
                                  orr_error *error)
{
    ORR_TRY(find_photo(file, photo, path, error));
    if (*path || !strchr(photo, '\\')) {
        return ORR_OK;
    }
    char *name = with_ending(photo, ""); // the file was written on Windows
    if (!name) {
        return out_of_memory(photo, error);
    }
    for (char *at = name; (at = strchr(at, '\\'));) {
        *at = '/';
    }
    orr_result result = find_photo(file, name, path, error);
    orr_free(name);
    return result;
}

bool orr_capture_readable(const char *path)
{
    orr_bytes bytes;
    if (orr_path_is_folder(path) || !orr_path_has_ending(path, ".json")) {
        return orr_path_is_folder(path);
    }
    if (orr_file_read(path, &bytes, NULL) != ORR_OK) {
        return false;
    }
    orr_json root;
    bool lists_photos =
        orr_json_parse((const char *)bytes.data, path, ORR_CODE_CAMERA_FILE, &root, NULL) == ORR_OK &&
        cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root.node, "frames"));
    orr_json_free(&root);
    orr_free(bytes.data);
    return lists_photos;
}
