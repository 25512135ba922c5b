// The photos of a folder, and their masks.
#include "engine/registration/registration.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "neural/capture/capture.h"

#include <stdio.h>
#include <string.h>

static bool is_photo(const char *name)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png", ".bmp"};
    bool photo = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        photo = photo || orr_path_has_ending(name, endings[i]);
    }
    return photo && strncmp(name, "dynamic_mask_", 13) != 0;
}

// Keeps the names of photos that can be opened.
static orr_result choose(orr_registration *r, orr_error *error)
{
    int kept = 0, first[2] = {0, 0};
    r->same_size = true;
    for (int i = 0; i < r->names.count; i++) {
        char *name = r->names.items[i], *path = orr_path_join(r->folder, name);
        int width = 0, height = 0;
        if (!path) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", name);
        }
        bool photo = is_photo(name);
        bool readable = photo && orr_image8_size(path, &width, &height, NULL) == ORR_OK;
        orr_free(path);
        if (photo && !readable) {
            ORR_TRY(orr_registration_leave_out(r, "unreadable: ", name, error));
        }
        if (!readable) {
            continue;
        }
        first[0] = kept ? first[0] : width;
        first[1] = kept ? first[1] : height;
        r->same_size = r->same_size && width == first[0] && height == first[1];
        r->names.items[i] = r->names.items[kept];
        r->names.items[kept++] = name;
    }
    for (int i = kept; i < r->names.count; i++) {
        orr_free(r->names.items[i]);
    }
    r->names.count = kept;
    return ORR_OK;
}

static orr_result list_photos(orr_registration *r, const char *folder, orr_error *error)
{
    orr_names_free(&r->names);
    orr_free(r->folder);
    r->folder = orr_path_join("", folder);
    if (!r->folder) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", folder);
    }
    ORR_TRY(orr_folder_list(folder, &r->names, error));
    return choose(r, error);
}

// "masks" in the photos' folder, or beside it when that is called "images".
static orr_result find_masks(orr_registration *r, orr_error *error)
{
    if (r->desc.masks) {
        r->masks = orr_path_join("", r->desc.masks);
        if (r->masks && !orr_path_is_folder(r->masks)) {
            return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: expected a folder of masks", r->masks);
        }
        return r->masks ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: masks");
    }
    static const char *const places[] = {"masks", "../masks"};
    size_t count = strcmp(orr_path_name(r->folder), "images") == 0 ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        r->masks = orr_path_join(r->folder, places[i]);
        if (!r->masks) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: masks");
        }
        if (orr_path_is_folder(r->masks)) {
            return ORR_OK;
        }
        orr_free(r->masks);
        r->masks = NULL;
    }
    return ORR_OK;
}

orr_result orr_registration_find_photos(orr_registration *r, const char *folder, orr_error *error)
{
    ORR_TRY(list_photos(r, folder, error));
    char *images = orr_path_join(folder, "images");
    orr_result result =
        images ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", folder);
    if (result == ORR_OK && r->names.count == 0 && orr_path_is_folder(images)) {
        result = list_photos(r, images, error);
    }
    orr_free(images);
    ORR_TRY(result);
    if (r->names.count < 3) {
        return orr_fail(error, ORR_CODE_FILE_OPEN,
                        "%s: %d photos that can be read: expected at least 3 (.jpg, .jpeg, .png, .bmp)",
                        folder, r->names.count);
    }
    r->in_order = r->desc.sequential;
    return find_masks(r, error);
}

// ---- masks ----

// The file of a photo's mask, and whether black leaves out; *path NULL: there is none.
static orr_result mask_path(const orr_registration *r, const char *name, char **path, bool *black_is_out,
                            orr_error *error)
{
    const char *dot = strrchr(name, '.');
    int stem = dot ? (int)(dot - name) : (int)strlen(name);
    *black_is_out = true;
    for (int form = 0; form < 3; form++) {
        if (form == 2) {
            ORR_TRY(orr_registration_text(path, error, "%s/dynamic_mask_%.*s.png", r->folder, stem, name));
        } else if (r->masks) {
            ORR_TRY(orr_registration_text(path, error, "%s/%.*s.png", r->masks,
                                          form == 0 ? (int)strlen(name) : stem, name));
        } else {
            continue;
        }
        if (orr_path_is_file(*path)) {
            *black_is_out = form < 2;
            return ORR_OK;
        }
        orr_free(*path);
    }
    *path = NULL;
    return ORR_OK;
}

orr_result orr_registration_mask(const orr_registration *r, const char *name, int width, int height,
                                 uint8_t **mask, orr_error *error)
{
    char *path;
    bool black_is_out;
    *mask = NULL;
    ORR_TRY(mask_path(r, name, &path, &black_is_out, error));
    if (!path) {
        return ORR_OK;
    }
    orr_result result = orr_mask_load(path, black_is_out, width, height, mask, error);
    orr_free(path);
    return result;
}
