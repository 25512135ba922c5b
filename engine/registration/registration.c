// The steps of a registration in their order, and what programs ask of it.
#define _GNU_SOURCE
#include "engine/registration/registration.h"

#include "engine/core/entry.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/engine.h"
#include "neural/capture/capture_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 150, FEATURES = 2048, FEATURE_SIDE = 1600 };

orr_result orr_registration_text(char **text, orr_error *error, const char *format, ...)
{
    va_list arguments;
    *text = NULL;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    ORR_ALLOC(*text, length + 1, "a name", error);
    va_start(arguments, format);
    vsnprintf(*text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return ORR_OK;
}

orr_result orr_registration_progress(const orr_registration *r, const char *stage, int64_t done,
                                     int64_t total, orr_error *error)
{
    return !r->desc.progress || r->desc.progress(r->desc.progress_user, stage, done, total)
               ? ORR_OK
               : orr_fail(error, ORR_CODE_INTERRUPTED, "%s: stopped", r->desc.source);
}

orr_result orr_registration_leave_out(orr_registration *r, const char *prefix, const char *name,
                                      orr_error *error)
{
    ORR_GROW(r->left_out, r->left_out_capacity, r->left_out_count + 1, "names of photos", error);
    ORR_TRY(orr_registration_text(&r->left_out[r->left_out_count], error, "%s%s", prefix, name));
    r->left_out_count++;
    return ORR_OK;
}

// ---- arguments ----

static bool within(double value, double low, double high)
{
    return value == 0.0 || (value >= low && value <= high);
}

static orr_result check(orr_registration_desc *desc, orr_error *error)
{
    ORR_REQUIRE(desc->source, error);
    ORR_REQUIRE(desc->output, error);
    if (!within(desc->frames, 3, 10000) || !within(desc->features, 100, 100000) ||
        !within(desc->feature_side, 200, 16384)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%d frames, %d features, side %d: expected 3 to 10000, 100 to 100000 and 200 to "
                        "16384, or 0",
                        desc->frames, desc->features, desc->feature_side);
    }
    bool metric = desc->scale_from || desc->scale_to || desc->scale_metres != 0.0;
    if (metric &&
        !(desc->scale_from && desc->scale_to && desc->scale_metres > 0.0 && desc->scale_metres <= 1e6)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "scale: expected the names of two photos and a distance of 0 to 1e6 m");
    }
    desc->frames = desc->frames ? desc->frames : FRAMES;
    desc->features = desc->features ? desc->features : FEATURES;
    desc->feature_side = desc->feature_side ? desc->feature_side : FEATURE_SIDE;
    if (!orr_folder_free(desc->output)) {
        return orr_fail(error, ORR_CODE_FILE_WRITE,
                        "%s: is there already: expected a new name or an empty folder", desc->output);
    }
    return ORR_OK;
}

// ---- the folder that the work is done in ----

// `output` without slashes at its end
static size_t trimmed(const char *output)
{
    size_t length = strlen(output);
    while (length > 1 && output[length - 1] == '/') {
        length--;
    }
    return length;
}

static orr_result open_work(orr_registration *r, orr_error *error)
{
    char *output = NULL, *beside = NULL;
    ORR_TRY(orr_registration_text(&output, error, "%.*s", (int)trimmed(r->desc.output), r->desc.output));
    orr_result result = orr_registration_text(&beside, error, ".%s.part-XXXXXX", orr_path_name(output));
    char *work = result == ORR_OK ? orr_path_beside(output, beside) : NULL;
    if (result == ORR_OK && !work) {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", output);
    } else if (result == ORR_OK && !mkdtemp(work)) {
        result = orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: %s", output, strerror(errno));
        orr_free(work);
        work = NULL;
    }
    r->work = work;
    orr_free(beside);
    orr_free(output);
    ORR_TRY(result);
    ORR_TRY(orr_registration_text(&r->result, error, "%s/capture", r->work));
    return orr_folder_make(r->result, error);
}

// The output appears.
static orr_result commit(const orr_registration *r, orr_error *error)
{
    return rename(r->result, r->desc.output) == 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: %s", r->desc.output,
                          strerror(errno));
}

// ---- the steps ----

// A folder with a COLMAP model: its cameras are taken. *found false: it has none.
static orr_result take_model(orr_registration *r, bool *found, orr_error *error)
{
    orr_capture_file file;
    orr_error why = {0};
    *found = false;
    orr_result result = orr_capture_file_read(r->desc.source, &file, &why);
    if (result != ORR_OK && why.code == ORR_CODE_FILE_OPEN) {
        return ORR_OK; // no capture
    }
    if (result == ORR_OK && orr_path_has_ending(file.name, ".json")) {
        result = orr_fail(&why, ORR_CODE_ARGUMENT,
                          "%s: cameras are known: expected photos; orrery train takes this capture as it is",
                          file.name);
        orr_capture_file_free(&file);
    }
    if (result != ORR_OK) {
        if (error) {
            *error = why;
        }
        return result;
    }
    *found = true;
    char *model = orr_path_beside(file.name, "");
    result = model ? orr_registration_read_points(r, model, orr_path_has_ending(file.name, ".txt"), error)
                   : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", file.name);
    orr_free(model);
    if (result == ORR_OK) {
        result = orr_registration_find_photos(r, file.folder, error);
    }
    if (result == ORR_OK) {
        r->list = file.list;
        file.list = (orr_photo_list){0};
        r->info.models = 1;
    }
    orr_capture_file_free(&file);
    return result;
}

static orr_result find_poses(orr_registration *r, orr_error *error)
{
    bool found = false;
    if (orr_path_is_folder(r->desc.source)) {
        ORR_TRY(take_model(r, &found, error));
        if (found) {
            return ORR_OK;
        }
        ORR_TRY(orr_registration_find_colmap(error));
        ORR_TRY(orr_registration_find_photos(r, r->desc.source, error));
    } else {
        ORR_TRY(orr_registration_find_colmap(error)); // before minutes of decoding
        ORR_TRY(orr_registration_take_frames(r, error));
    }
    return orr_registration_run_colmap(r, error);
}

static bool listed(const orr_photo_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++) {
        if (list->photos[i].file && strcmp(list->photos[i].file, name) == 0) {
            return true;
        }
    }
    return false;
}

static orr_result count_photos(orr_registration *r, orr_error *error)
{
    r->info.photos = r->names.count + r->left_out_count;
    for (int i = 0; i < r->names.count; i++) {
        if (!listed(&r->list, r->names.items[i])) {
            ORR_TRY(orr_registration_leave_out(r, "", r->names.items[i], error));
        }
    }
    r->info.registered = r->list.count;
    r->info.points = r->points.count;
    r->info.reprojection_error = r->points.mean_error;
    r->info.photos_per_point = r->points.mean_photos;
    return ORR_OK;
}

static orr_result run(orr_registration *r, orr_error *error)
{
    char *picture = NULL;
    ORR_TRY(open_work(r, error));
    ORR_TRY(find_poses(r, error));
    ORR_TRY(count_photos(r, error));
    ORR_TRY(orr_registration_level(r, error));
    ORR_TRY(orr_registration_write(r, error));
    ORR_TRY(orr_registration_progress(r, "picture", 0, 1, error));
    ORR_TRY(orr_registration_text(&picture, error, "%s/cameras.png", r->result));
    orr_result result = orr_registration_draw(r, picture, error);
    orr_free(picture);
    ORR_TRY(result);
    return commit(r, error);
}

// What is only needed while it works.
static void close_work(orr_registration *r)
{
    if (r->work) {
        orr_folder_remove(r->work);
    }
    orr_free(r->work);
    orr_free(r->result);
    orr_free(r->folder);
    orr_free(r->masks);
    r->work = r->result = r->folder = r->masks = NULL;
    orr_names_free(&r->names);
    orr_photo_list_free(&r->list);
    orr_colmap_points_free(&r->points);
    r->desc = (orr_registration_desc){0}; // its texts are the caller's
}

orr_result orr_registration_create_sized(orr_engine *engine, const orr_registration_desc *desc,
                                         size_t desc_size, orr_registration **out, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    ORR_TRY(orr_engine_check(engine, error));
    ORR_REQUIRE(desc, error);
    orr_registration *r = orr_alloc_zero(1, sizeof *r);
    if (!r) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a registration");
    }
    r->engine = engine;
    orr_result result =
        orr_sized_read(&r->desc, sizeof r->desc, desc, desc_size, "orr_registration_desc", error);
    result = result == ORR_OK ? check(&r->desc, error) : result;
    result = result == ORR_OK ? run(r, error) : result;
    close_work(r);
    if (result != ORR_OK) {
        orr_registration_destroy(r);
        return result;
    }
    *out = r;
    return ORR_OK;
}

orr_result orr_registration_describe_sized(const orr_registration *registration, orr_registration_info *info,
                                           size_t info_size, orr_error *error)
{
    ORR_REQUIRE(registration, error);
    ORR_REQUIRE(info, error);
    orr_sized_write(&registration->info, sizeof registration->info, info, info_size);
    return ORR_OK;
}

const char *orr_registration_left_out(const orr_registration *registration, int index)
{
    return registration && index >= 0 && index < registration->left_out_count ? registration->left_out[index]
                                                                              : NULL;
}

void orr_registration_destroy(orr_registration *registration)
{
    if (!registration) {
        return;
    }
    for (int i = 0; i < registration->left_out_count; i++) {
        orr_free(registration->left_out[i]);
    }
    orr_free(registration->left_out);
    orr_free(registration);
}
