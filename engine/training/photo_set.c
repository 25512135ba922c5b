#include "engine/training/photo_set.h"

#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "engine/scene/camera_file.h"
#include "neural/capture/capture_file.h"

#include <math.h>
#include <string.h>

static const double VARIANCE_LEAST = 1e-9; // of a photo of one colour, by rounding

static orr_result add_test_photos(const char *path, orr_jobs *jobs, orr_log log, orr_capture *capture,
                                  orr_error *error)
{
    char *test;
    orr_capture *photos;
    ORR_TRY(orr_capture_file_test(path, &test, error));
    orr_result result = orr_capture_load(test, jobs, log, &photos, error);
    orr_free(test);
    ORR_TRY(result);
    result = orr_capture_append(capture, photos, error);
    orr_capture_destroy(photos);
    return result;
}

static orr_result load(const char *path, int holdout, orr_jobs *jobs, orr_log log, orr_photo_set *set,
                       orr_error *error)
{
    set->path = orr_path_join("", path);
    if (!set->path) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    }
    ORR_TRY(orr_capture_load(path, jobs, log, &set->capture, error));
    const int listed = set->capture->count;
    if (holdout == ORR_HOLDOUT_TEST) {
        ORR_ALLOC(set->images, listed, "a list of photos", error);
        set->train_count = orr_capture_split_by_parts(set->capture, set->images, &set->held_out_count);
        if (set->held_out_count > 0) {
            return ORR_OK;
        }
        orr_free(set->images);
        set->images = NULL;
        ORR_TRY(add_test_photos(path, jobs, log, set->capture, error));
        holdout = 0;
    }
    const int count = set->capture->count;
    ORR_ALLOC(set->images, count, "a list of photos", error);
    set->train_count = orr_capture_split(listed, holdout, set->images);
    set->held_out_count = count - set->train_count;
    for (int i = listed; i < count; i++) {
        set->images[i] = i;
    }
    return ORR_OK;
}

orr_result orr_photo_set_load(const char *path, int holdout, orr_jobs *jobs, orr_log log, orr_photo_set *set,
                              orr_error *error)
{
    *set = (orr_photo_set){0};
    orr_result result = load(path, holdout, jobs, log, set, error);
    if (result != ORR_OK) {
        orr_photo_set_free(set);
    }
    return result;
}

void orr_photo_set_free(orr_photo_set *set)
{
    orr_capture_destroy(set->capture);
    orr_free(set->path);
    orr_free(set->images);
    *set = (orr_photo_set){0};
}

int orr_photo_set_shown(const orr_photo_set *set)
{
    return set->images[set->held_out_count > 0 ? set->train_count : 0];
}

double orr_photo_set_constant_psnr(const orr_photo_set *set, int image)
{
    const orr_capture_image *photo = &set->capture->images[image];
    const int64_t pixels = (int64_t)photo->width * photo->height;
    double sum[3] = {0.0}, squares[3] = {0.0}, count = 0.0, variance = 0.0;
    for (int64_t i = 0; i < pixels; i++) {
        float colour[3];
        if (photo->mask && photo->mask[i] == 0) {
            continue;
        }
        orr_capture_over_white(photo, i, colour);
        for (int k = 0; k < 3; k++) {
            sum[k] += (double)colour[k];
            squares[k] += (double)colour[k] * (double)colour[k];
        }
        count++;
    }
    for (int k = 0; k < 3 && count > 0.0; k++) {
        variance += (squares[k] - sum[k] * sum[k] / count) / (3.0 * count);
    }
    return variance > VARIANCE_LEAST ? -10.0 * log10(variance) : INFINITY;
}

orr_result orr_photo_set_add_cameras(const orr_photo_set *set, orr_scene *scene, orr_error *error)
{
    const orr_capture *capture = set->capture;
    ORR_TRY(orr_camera_list_reserve(&scene->cameras, capture->count, error));
    for (int i = 0; i < capture->count; i++) {
        const orr_capture_image *image = &capture->images[i];
        orr_camera camera = {.model = image->fisheye ? ORR_CAMERA_FISHEYE : ORR_CAMERA_PERSPECTIVE,
                             .width = image->width,
                             .height = image->height};
        memcpy(camera.pose, image->pose, sizeof camera.pose);
        memcpy(camera.focal, image->focal, sizeof camera.focal);
        memcpy(camera.centre, image->centre, sizeof camera.centre);
        memcpy(camera.radial, image->radial, sizeof camera.radial);
        memcpy(camera.tangential, image->tangential, sizeof camera.tangential);
        ORR_TRY(orr_camera_list_append(&scene->cameras, &camera, orr_path_name(image->path), error));
    }
    return ORR_OK;
}
