// COLMAP at work: features, matches and poses, each a child process.
#include "engine/registration/registration.h"

#include "engine/core/child.h"
#include "engine/core/clock.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/loop/engine.h"
#include "neural/capture/colmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARGUMENTS_MAX = 32,
    MATCH_BLOCK = 10, // photos: small blocks, so that progress is seen
    NEIGHBOURS = 10,  // of a photo in order; COLMAP adds those at 2, 4, 8 ... 512 photos
    MODELS_MAX = 50   // COLMAP's own limit
};

typedef struct step {
    const orr_registration *r;
    const char *stage;
    int64_t done, total;
    uint64_t asked; // when [ns]
    orr_result interrupted;
    const char *arguments[ARGUMENTS_MAX];
    int argument_count;
    void (*read)(struct step *step, const char *text);
} step;

static void add(step *s, const char *name, const char *value)
{
    assert(s->argument_count + 3 <= ARGUMENTS_MAX);
    s->arguments[s->argument_count++] = name;
    if (value) {
        s->arguments[s->argument_count++] = value;
    }
    s->arguments[s->argument_count] = NULL;
}

// Reads a number that stands behind `before` at *at, and goes behind it.
static bool read_count(const char **at, const char *before, int64_t *value)
{
    const size_t length = strlen(before);
    char *end;
    if (!*at || strncmp(*at, before, length) != 0) {
        return false;
    }
    *value = strtol(*at + length, &end, 10);
    const bool found = end != *at + length;
    *at = end;
    return found;
}

// "Processed file [3/50]"
static void read_feature(step *s, const char *text)
{
    int64_t done, total;
    const char *at = strstr(text, "Processed file [");
    if (read_count(&at, "Processed file [", &done) && read_count(&at, "/", &total)) {
        s->done = done;
        s->total = total;
    }
}

// "Matching block [1/5, 2/5]" as it begins, or "Matching image [3/50]"
static void read_match(step *s, const char *text)
{
    int64_t row, rows, column, columns;
    const char *at = strstr(text, "Matching "), *image = at;
    if (read_count(&at, "Matching block [", &row) && read_count(&at, "/", &rows) &&
        read_count(&at, ", ", &column) && read_count(&at, "/", &columns)) {
        s->done = (row - 1) * columns + column;
        s->total = rows * columns;
    } else if (read_count(&image, "Matching image [", &row) && read_count(&image, "/", &rows)) {
        s->done = row;
        s->total = rows;
    }
}

// "Registering image #12 (5)": the fifth
static void read_pose(step *s, const char *text)
{
    int64_t image, done;
    const char *at = strstr(text, "Registering image #");
    if (read_count(&at, "Registering image #", &image) && read_count(&at, " (", &done)) {
        s->done = done;
    }
}

static void read_line(void *user, const char *text)
{
    step *s = user;
    s->read(s, text);
}

static bool go_on(void *user)
{
    step *s = user;
    uint64_t now = orr_clock_nanoseconds();
    if (now - s->asked >= UINT64_C(100000000)) {
        s->asked = now;
        s->interrupted = orr_registration_progress(s->r, s->stage, s->done, s->total, NULL);
    }
    return s->interrupted == ORR_OK;
}

static orr_result run_step(step *s, orr_error *error)
{
    ORR_TRY(orr_registration_progress(s->r, s->stage, 0, s->total, error));
    const orr_child_desc desc = {.arguments = s->arguments, .line = read_line, .go_on = go_on, .user = s};
    orr_error why = {0};
    orr_result result = orr_child_run(&desc, &why);
    if (result == ORR_ERROR_INTERRUPTED) {
        return orr_fail(error, ORR_CODE_INTERRUPTED, "%s: stopped", s->r->desc.source);
    }
    return result == ORR_OK ? ORR_OK
                            : orr_fail(error, (orr_code)why.code, "%s: %s (%s)", s->r->desc.source,
                                       why.message, s->arguments[1]);
}

orr_result orr_registration_find_colmap(orr_error *error)
{
    const char *const arguments[] = {"colmap", "help", NULL};
    const orr_child_desc desc = {.arguments = arguments};
    orr_error why = {0};
    orr_result result = orr_child_run(&desc, &why);
    if (result == ORR_ERROR_UNSUPPORTED) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "colmap: not found on PATH: expected COLMAP (Debian: colmap)");
    }
    return result == ORR_OK ? ORR_OK : orr_fail(error, (orr_code)why.code, "%s", why.message);
}

// ---- what it reads ----

static orr_result write_list(const orr_registration *r, const char *path, orr_error *error)
{
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, path, error));
    for (int i = 0; i < r->names.count; i++) {
        orr_file_put(&writer, r->names.items[i], strlen(r->names.items[i]));
        orr_file_put(&writer, "\n", 1);
    }
    return orr_file_commit(&writer, error);
}

static orr_result write_mask(orr_registration *r, const char *folder, const char *name, orr_error *error)
{
    char *photo = orr_path_join(r->folder, name), *path = NULL;
    int width = 0, height = 0;
    uint8_t *mask = NULL, *rgba = NULL;
    orr_result result = photo ? orr_image8_size(photo, &width, &height, error)
                              : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", name);
    if (result == ORR_OK) {
        result = orr_registration_mask(r, name, width, height, &mask, error);
    }
    if (result == ORR_OK && mask) {
        result = orr_registration_text(&path, error, "%s/%s.png", folder, name);
        rgba = result == ORR_OK ? orr_alloc((size_t)width * (size_t)height, 4) : NULL;
        for (int64_t i = 0; rgba && i < (int64_t)width * height; i++) {
            memset(rgba + 4 * i, mask[i], 3);
            rgba[4 * i + 3] = 255;
        }
        result = rgba               ? orr_png_save(path, rgba, width, height, error)
                 : result == ORR_OK ? orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", name)
                                    : result;
        r->info.masks += result == ORR_OK;
    }
    orr_free(rgba);
    orr_free(mask);
    orr_free(path);
    orr_free(photo);
    return result;
}

// Masks as COLMAP names them: a photo's name and ".png".
static orr_result write_masks(orr_registration *r, const char *folder, orr_error *error)
{
    ORR_TRY(orr_folder_make(folder, error));
    for (int i = 0; i < r->names.count; i++) {
        ORR_TRY(write_mask(r, folder, r->names.items[i], error));
    }
    return ORR_OK;
}

// ---- the steps ----

typedef struct colmap_paths {
    char *database, *list, *masks, *sparse;
} colmap_paths;

static void free_paths(colmap_paths *paths)
{
    orr_free(paths->database);
    orr_free(paths->list);
    orr_free(paths->masks);
    orr_free(paths->sparse);
}

static orr_result make_paths(orr_registration *r, colmap_paths *paths, orr_error *error)
{
    ORR_TRY(orr_registration_text(&paths->database, error, "%s/database.db", r->work));
    ORR_TRY(orr_registration_text(&paths->list, error, "%s/photos.txt", r->work));
    ORR_TRY(orr_registration_text(&paths->masks, error, "%s/masks", r->work));
    ORR_TRY(orr_registration_text(&paths->sparse, error, "%s/sparse", r->work));
    ORR_TRY(orr_folder_make(paths->sparse, error));
    ORR_TRY(write_list(r, paths->list, error));
    return write_masks(r, paths->masks, error);
}

static orr_result find_features(const orr_registration *r, const colmap_paths *paths, const char *threads,
                                orr_error *error)
{
    char features[16], side[16];
    snprintf(features, sizeof features, "%d", r->desc.features);
    snprintf(side, sizeof side, "%d", r->desc.feature_side);
    step s = {.r = r, .stage = "photos with features", .total = r->names.count, .read = read_feature};
    add(&s, "colmap", "feature_extractor");
    add(&s, "--database_path", paths->database);
    add(&s, "--image_path", r->folder);
    add(&s, "--image_list_path", paths->list);
    add(&s, "--ImageReader.camera_model", "OPENCV");
    add(&s, "--ImageReader.single_camera", r->same_size ? "1" : "0");
    if (r->info.masks > 0) {
        add(&s, "--ImageReader.mask_path", paths->masks);
    }
    add(&s, "--SiftExtraction.use_gpu", "0");
    add(&s, "--SiftExtraction.max_image_size", side);
    add(&s, "--SiftExtraction.max_num_features", features);
    add(&s, "--SiftExtraction.num_threads", threads);
    return run_step(&s, error);
}

static orr_result match(const orr_registration *r, const colmap_paths *paths, const char *threads,
                        orr_error *error)
{
    char count[16];
    snprintf(count, sizeof count, "%d", r->in_order ? NEIGHBOURS : MATCH_BLOCK);
    step s = {.r = r,
              .stage = r->in_order ? "photos matched" : "blocks of photos matched",
              .total = r->names.count,
              .read = read_match};
    add(&s, "colmap", r->in_order ? "sequential_matcher" : "exhaustive_matcher");
    add(&s, "--database_path", paths->database);
    add(&s, "--SiftMatching.use_gpu", "0");
    add(&s, "--SiftMatching.num_threads", threads);
    add(&s, r->in_order ? "--SequentialMatching.overlap" : "--ExhaustiveMatching.block_size", count);
    return run_step(&s, error);
}

static orr_result find_poses(const orr_registration *r, const colmap_paths *paths, const char *threads,
                             orr_error *error)
{
    step s = {.r = r, .stage = "photos registered", .total = r->names.count, .read = read_pose};
    add(&s, "colmap", "mapper");
    add(&s, "--database_path", paths->database);
    add(&s, "--image_path", r->folder);
    add(&s, "--output_path", paths->sparse);
    add(&s, "--Mapper.num_threads", threads);
    orr_error why = {0};
    orr_result result = run_step(&s, &why);
    if (result == ORR_ERROR_FILE && strstr(why.message, "failed to create sparse model")) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "%s: COLMAP finds no poses: expected photos that overlap and have texture, from "
                        "different positions",
                        r->desc.source);
    }
    if (result != ORR_OK && error) {
        *error = why;
    }
    return result;
}

// ---- what it has found ----

orr_result orr_registration_read_points(orr_registration *r, const char *model, bool text, orr_error *error)
{
    orr_bytes bytes;
    char *path = orr_path_join(model, text ? "points3D.txt" : "points3D.bin");
    if (!path) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", model);
    }
    orr_result result = ORR_OK;
    if (orr_path_is_file(path)) {
        result = orr_file_read(path, &bytes, error);
        if (result == ORR_OK) {
            result = orr_colmap_points_parse(path, bytes, text, &r->points, error);
            orr_free(bytes.data);
        }
    }
    orr_free(path);
    return result;
}

// The model with the most photos.
static orr_result read_models(orr_registration *r, const char *sparse, orr_error *error)
{
    char best[16] = "";
    for (int i = 0; i < MODELS_MAX; i++) {
        char number[16];
        orr_photo_list list;
        snprintf(number, sizeof number, "%d", i);
        char *model = orr_path_join(sparse, number);
        if (!model) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", sparse);
        }
        bool there = orr_path_is_folder(model);
        orr_result result = there ? orr_colmap_read(model, false, &list, error) : ORR_OK;
        orr_free(model);
        ORR_TRY(result);
        if (!there) {
            break;
        }
        r->info.models++;
        if (list.count > r->list.count) {
            orr_photo_list_free(&r->list);
            r->list = list;
            snprintf(best, sizeof best, "%s", number);
        } else {
            orr_photo_list_free(&list);
        }
    }
    if (!best[0]) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: COLMAP has written no model", r->desc.source);
    }
    char *model = orr_path_join(sparse, best);
    orr_result result = model ? orr_registration_read_points(r, model, false, error)
                              : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", sparse);
    orr_free(model);
    return result;
}

orr_result orr_registration_run_colmap(orr_registration *r, orr_error *error)
{
    colmap_paths paths = {0};
    char threads[16];
    snprintf(threads, sizeof threads, "%d", orr_jobs_workers(r->engine->jobs));
    orr_result result = make_paths(r, &paths, error);
    result = result == ORR_OK ? find_features(r, &paths, threads, error) : result;
    result = result == ORR_OK ? match(r, &paths, threads, error) : result;
    result = result == ORR_OK ? find_poses(r, &paths, threads, error) : result;
    result = result == ORR_OK ? read_models(r, paths.sparse, error) : result;
    free_paths(&paths);
    return result;
}
