#include "neural/capture/capture.h"

#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "engine/image/exif.h"
#include "engine/image/image.h"
#include "neural/capture/capture_file.h"
#include "neural/capture/fisheye.h"

#include <stdio.h>
#include <string.h>

typedef struct photo_job {
    orr_capture_file *file;
    orr_photo **photos; // those that are there
    orr_capture_image *images;
    orr_error *errors;
    orr_result *results;
} photo_job;

static orr_result out_of_memory(const char *path, orr_error *error)
{
    return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
}

// ---- one photo ----

static orr_result check_size(const photo_job *job, const orr_photo *photo, const char *path, int width,
                             int height, orr_error *error)
{
    const double *size = photo->lens.size;
    if (size[0] > 0.0 && size[1] > 0.0 && (size[0] != width || size[1] != height)) {
        const bool turned = size[0] == height && size[1] == width && orr_exif_orientation_of(path) >= 5;
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: %d x %d pixels%s: expected %.0f x %.0f as in %s",
                        path, width, height, turned ? ", stored on its side with an EXIF orientation" : "",
                        size[0], size[1], job->file->name);
    }
    return ORR_OK;
}

// The stored colours, by the file's flags.
static void apply_flags(const orr_photo_list *list, uint8_t *rgba, int64_t pixels)
{
    for (int64_t i = 0; i < pixels; i++) {
        uint8_t *p = rgba + 4 * i;
        bool white = p[0] == 255 && p[1] == 255 && p[2] == 255, black = p[0] == 0 && p[1] == 0 && p[2] == 0;
        if ((white && list->white_transparent) || (black && list->black_transparent)) {
            p[3] = 0;
        }
        for (int k = 0; k < 3 && list->premultiplied && p[3] > 0; k++) {
            int colour = (p[k] * 255 + p[3] / 2) / p[3];
            p[k] = (uint8_t)(colour < 255 ? colour : 255);
        }
    }
}

static bool all_opaque(const uint8_t *rgba, int64_t pixels)
{
    for (int64_t i = 0; i < pixels; i++) {
        if (rgba[4 * i + 3] != 255) {
            return false;
        }
    }
    return true;
}

// Opaque photos are stored without alpha: a quarter of a capture's memory.
static orr_result keep_pixels(orr_image8 *decoded, orr_capture_image *image, orr_error *error)
{
    int64_t pixels = (int64_t)decoded->width * decoded->height;
    image->channels = all_opaque(decoded->rgba, pixels) ? 3 : 4;
    size_t channels = (size_t)image->channels;
    ORR_ALLOC(image->pixels, (size_t)pixels * channels, "a photo", error);
    for (int64_t i = 0; i < pixels; i++) {
        memcpy(image->pixels + channels * (size_t)i, decoded->rgba + 4 * i, channels);
    }
    return ORR_OK;
}

orr_result orr_mask_load(const char *path, bool black_is_out, int width, int height, uint8_t **out,
                         orr_error *error)
{
    orr_image8 image;
    *out = NULL;
    ORR_TRY(orr_image8_load(path, &image, error));
    orr_result result = ORR_OK;
    int64_t pixels = (int64_t)width * height, kept = 0;
    uint8_t *mask = NULL;
    if (image.width != width || image.height != height) {
        result = orr_fail(error, ORR_CODE_IMAGE_FILE,
                          "%s: a mask of %d x %d pixels: expected %d x %d, as in its photo", path,
                          image.width, image.height, width, height);
    } else if (!(mask = orr_alloc((size_t)pixels, 1))) {
        result = out_of_memory(path, error);
    }
    for (int64_t i = 0; result == ORR_OK && i < pixels; i++) {
        const uint8_t *p = image.rgba + 4 * i;
        bool black = p[0] == 0 && p[1] == 0 && p[2] == 0;
        mask[i] = black == black_is_out ? 0 : 255;
        kept += mask[i] != 0;
    }
    orr_image8_free(&image);
    if (result == ORR_OK && kept == 0) {
        result =
            orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: an empty mask: expected pixels to learn from", path);
    }
    if (result != ORR_OK) {
        orr_free(mask);
        return result;
    }
    *out = mask;
    return ORR_OK;
}

// NULL when out of memory; the file may not be there
static char *dynamic_mask_path(const char *path)
{
    const char *name = orr_path_name(path), *dot = strrchr(name, '.');
    size_t stem = dot ? (size_t)(dot - name) : strlen(name), size = strlen(path) + 32;
    char *mask = orr_alloc(size, 1);
    if (mask) {
        snprintf(mask, size, "%.*sdynamic_mask_%.*s.png", (int)(name - path), path, (int)stem, name);
    }
    return mask;
}

static orr_result load_masks(const orr_photo *photo, orr_capture_image *image, orr_error *error)
{
    if (photo->mask) {
        return orr_mask_load(photo->mask, true, image->width, image->height, &image->mask, error);
    }
    char *beside = dynamic_mask_path(image->path);
    if (!beside) {
        return out_of_memory(image->path, error);
    }
    orr_result result = ORR_OK;
    if (orr_path_is_file(beside)) {
        result = orr_mask_load(beside, false, image->width, image->height, &image->mask, error);
    }
    orr_free(beside);
    return result;
}

static orr_result set_lens(const photo_job *job, orr_photo *photo, orr_capture_image *image, orr_error *error)
{
    orr_photo_lens *lens = &photo->lens;
    const char *expected = orr_photo_lens_resolve(lens, image->width, image->height);
    if (expected) {
        return orr_fail(error, ORR_CODE_CAMERA_FILE, "%s: %s: expected %s", job->file->name, photo->file,
                        expected);
    }
    for (int i = 0; i < 2; i++) {
        image->focal[i] = (float)lens->focal[i];
        image->centre[i] = (float)lens->centre[i];
        image->tangential[i] = (float)lens->tangential[i];
    }
    for (int i = 0; i < 4; i++) {
        image->radial[i] = (float)lens->radial[i];
    }
    image->fisheye = lens->fisheye;
    image->sharpness = (float)photo->sharpness;
    image->id = photo->id;
    image->part = photo->part;
    memcpy(image->pose, photo->pose, sizeof image->pose);
    return ORR_OK;
}

static orr_result load_photo(const photo_job *job, orr_photo *photo, orr_capture_image *image,
                             orr_error *error)
{
    orr_image8 decoded;
    ORR_TRY(orr_image8_load(image->path, &decoded, error));
    image->width = decoded.width;
    image->height = decoded.height;
    orr_result result = check_size(job, photo, image->path, decoded.width, decoded.height, error);
    if (result == ORR_OK) {
        apply_flags(&job->file->list, decoded.rgba, (int64_t)decoded.width * decoded.height);
        result = keep_pixels(&decoded, image, error);
    }
    orr_image8_free(&decoded);
    ORR_TRY(result);
    ORR_TRY(load_masks(photo, image, error));
    ORR_TRY(set_lens(job, photo, image, error));
    return orr_fisheye_mask(image, error);
}

static void photo_body(void *context, int i, int worker)
{
    (void)worker;
    photo_job *job = context;
    job->results[i] = load_photo(job, job->photos[i], &job->images[i], &job->errors[i]);
}

// ---- all photos ----

static orr_result name_mask(const char *source, orr_photo *photo, orr_error *error)
{
    if (photo->mask) {
        char *path = orr_path_beside(source, photo->mask);
        if (!path) {
            return out_of_memory(photo->mask, error);
        }
        orr_free(photo->mask);
        photo->mask = path;
    }
    return ORR_OK;
}

// Gives the photos that are there an image each; one line of warning about the others.
static orr_result find_photos(photo_job *job, orr_log log, orr_capture *capture, orr_error *error)
{
    const char *source = job->file->name;
    orr_photo_list *list = &job->file->list;
    const char *first_absent = NULL;
    for (int i = 0; i < list->count; i++) {
        orr_photo *photo = &list->photos[i];
        if (!photo->file) {
            return orr_fail(error, ORR_CODE_CAMERA_FILE,
                            "%s: frames[%d].file_path: expected the name of an image", source, i);
        }
        char *path;
        ORR_TRY(orr_capture_file_photo(job->file, photo->file, &path, error));
        if (!path) {
            first_absent = first_absent ? first_absent : photo->file;
            capture->absent++;
            continue;
        }
        ORR_TRY(name_mask(source, photo, error));
        capture->images[capture->count].path = path;
        job->photos[capture->count++] = photo;
    }
    if (capture->count == 0) {
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: none of its %d photos is there: expected %s in %s",
                        source, list->count, first_absent, job->file->folder);
    }
    if (first_absent) {
        orr_log_line(log, ORR_LOG_WARNING, ORR_CODE_IGNORED,
                     "%s: %d of %d photos are absent, the first is %s", source, capture->absent, list->count,
                     first_absent);
    }
    if (list->ignored[0]) {
        orr_log_line(log, ORR_LOG_WARNING, ORR_CODE_IGNORED, "%s: %s is not used", source, list->ignored);
    }
    return ORR_OK;
}

static bool has_visible_pixel(const orr_capture_image *image)
{
    if (image->channels == 3) {
        return true;
    }
    int64_t pixels = (int64_t)image->width * image->height;
    for (int64_t i = 0; i < pixels; i++) {
        if (image->pixels[4 * i + 3] != 0) {
            return true;
        }
    }
    return false;
}

static orr_result check_capture(const photo_job *job, const orr_capture *capture, orr_error *error)
{
    for (int i = 0; i < capture->count; i++) { // the first one that failed, on any number of threads
        if (job->results[i] != ORR_OK) {
            if (error) {
                *error = job->errors[i];
            }
            return job->results[i];
        }
    }
    for (int i = 0; i < capture->count; i++) {
        if (has_visible_pixel(&capture->images[i])) {
            return ORR_OK;
        }
    }
    return orr_fail(error, ORR_CODE_IMAGE_FILE,
                    "%s: every photo is fully transparent: expected one that is not", job->file->name);
}

static orr_result load_photos(orr_capture_file *file, orr_jobs *jobs, orr_log log, orr_capture *capture,
                              orr_error *error)
{
    capture->aabb_scale = file->list.aabb_scale;
    memcpy(capture->to_unit, file->list.to_unit, sizeof capture->to_unit);
    size_t count = (size_t)file->list.count;
    capture->images = orr_alloc_zero(count, sizeof *capture->images);
    photo_job job = {.file = file, .images = capture->images};
    job.photos = orr_alloc(count, sizeof *job.photos);
    job.errors = orr_alloc(count, sizeof *job.errors);
    job.results = orr_alloc(count, sizeof *job.results);
    orr_result result = capture->images && job.photos && job.errors && job.results
                            ? find_photos(&job, log, capture, error)
                            : out_of_memory(file->name, error);
    if (result == ORR_OK) {
        orr_jobs_for(jobs, capture->count, photo_body, &job);
        result = check_capture(&job, capture, error);
    }
    orr_free(job.photos);
    orr_free(job.errors);
    orr_free(job.results);
    return result;
}

orr_result orr_capture_load(const char *path, orr_jobs *jobs, orr_log log, orr_capture **capture,
                            orr_error *error)
{
    *capture = NULL;
    orr_capture *made = orr_alloc_zero(1, sizeof *made);
    if (!made) {
        return out_of_memory(path, error);
    }
    orr_capture_file file;
    orr_result result = orr_capture_file_read(path, &file, error);
    if (result == ORR_OK) {
        made->points = file.points;
        file.points = NULL;
        result = load_photos(&file, jobs, log, made, error);
        orr_capture_file_free(&file);
    }
    if (result != ORR_OK) {
        orr_capture_destroy(made);
        return result;
    }
    *capture = made;
    return ORR_OK;
}

void orr_capture_destroy(orr_capture *capture)
{
    for (int i = 0; capture && i < capture->count; i++) {
        orr_free(capture->images[i].path);
        orr_free(capture->images[i].pixels);
        orr_free(capture->images[i].mask);
    }
    if (capture) {
        orr_free(capture->images);
        orr_free(capture->points);
        orr_free(capture);
    }
}

orr_result orr_capture_append(orr_capture *to, orr_capture *from, orr_error *error)
{
    orr_capture_image *images;
    ORR_ALLOC(images, to->count + from->count, "photos", error);
    memcpy(images, to->images, (size_t)to->count * sizeof *images);
    memcpy(images + to->count, from->images, (size_t)from->count * sizeof *images);
    orr_free(to->images);
    to->images = images;
    to->count += from->count;
    to->absent += from->absent;
    from->count = 0;
    return ORR_OK;
}

size_t orr_capture_bytes(const orr_capture *capture)
{
    size_t bytes = sizeof *capture + (size_t)capture->count * sizeof *capture->images;
    for (int i = 0; i < capture->count; i++) {
        const orr_capture_image *image = &capture->images[i];
        size_t pixels = (size_t)image->width * (size_t)image->height;
        bytes += pixels * ((size_t)image->channels + (image->mask ? 1 : 0));
    }
    return bytes;
}

int orr_capture_split(int count, int holdout, int *indices)
{
    int train = 0, test = holdout > 0 ? count - (count + holdout - 1) / holdout : count;
    int train_count = test;
    for (int i = 0; i < count; i++) {
        bool for_testing = holdout > 0 && i % holdout == 0;
        indices[for_testing ? test++ : train++] = i;
    }
    return train_count;
}

static int take_part(const orr_capture *capture, orr_photo_part part, int *indices)
{
    int count = 0;
    for (int i = 0; i < capture->count; i++) {
        if (capture->images[i].part == part) {
            indices[count++] = i;
        }
    }
    return count;
}

int orr_capture_split_by_parts(const orr_capture *capture, int *indices, int *test_count)
{
    int count = take_part(capture, ORR_PHOTO_OF_TRAIN, indices);
    count = count > 0 ? count : take_part(capture, ORR_PHOTO_OF_NONE, indices);
    *test_count = take_part(capture, ORR_PHOTO_OF_TEST, indices + count);
    if (*test_count == 0) {
        *test_count = take_part(capture, ORR_PHOTO_OF_VAL, indices + count);
    }
    return count;
}

void orr_capture_over_white(const orr_capture_image *image, int64_t pixel, float colour[3])
{
    const uint8_t *bytes = image->pixels + pixel * image->channels;
    float alpha = image->channels == 4 ? (float)bytes[3] / 255.0f : 1.0f;
    for (int c = 0; c < 3; c++) {
        colour[c] = alpha * ((float)bytes[c] / 255.0f) + 1.0f - alpha;
    }
}
