// The capture's folder: photos, masks, points and transforms.json; the COLMAP model is written by model.c.
#include "engine/registration/registration.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/loop/engine.h"
#include "engine/registration/undistort.h"
#include "engine/scene/camera_file.h"
#include "neural/capture/world_fit.h"

#include <stdio.h>
#include <string.h>

typedef struct photo_writer {
    orr_registration *r;
    int first;             // of this round of photos
    char **names, **masks; // in the capture, one for each photo; a mask NULL: none
    uint32_t *ids;         // IMAGE_ID of each photo
    orr_result *results;
    orr_error *errors;
} photo_writer;

// ---- one photo ----

static orr_result out_of_memory(const char *name, orr_error *error)
{
    return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", name);
}

static orr_result write_undistorted(const orr_photo_lens *lens, const orr_photo_lens *pinhole,
                                    const char *from, const char *to, orr_error *error)
{
    orr_image8 image;
    ORR_TRY(orr_image8_load(from, &image, error));
    uint8_t *drawn = orr_alloc((size_t)image.width * (size_t)image.height, 4);
    orr_result result = drawn ? ORR_OK : out_of_memory(from, error);
    if (result == ORR_OK && (image.width != (int)lens->size[0] || image.height != (int)lens->size[1])) {
        result =
            orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: %d x %d pixels: expected %.0f x %.0f, as in its camera",
                     from, image.width, image.height, lens->size[0], lens->size[1]);
    }
    if (result == ORR_OK) {
        orr_undistort(lens, pinhole, 4, image.rgba, drawn);
        result = orr_png_save(to, drawn, image.width, image.height, error);
    }
    orr_free(drawn);
    orr_image8_free(&image);
    return result;
}

static orr_result write_mask(const orr_registration *r, const orr_photo_lens *lens,
                             const orr_photo_lens *pinhole, const char *name, const char *to,
                             orr_error *error)
{
    int width = (int)lens->size[0], height = (int)lens->size[1];
    size_t pixels = (size_t)width * (size_t)height;
    uint8_t *mask, *drawn = orr_alloc(pixels, 1), *rgba = orr_alloc(pixels, 4);
    orr_result result = orr_registration_mask(r, name, width, height, &mask, error);
    if (result == ORR_OK && !(drawn && rgba && mask)) {
        result = out_of_memory(name, error);
    }
    if (result == ORR_OK) {
        if (pinhole) {
            orr_undistort(lens, pinhole, 1, mask, drawn);
        } else {
            memcpy(drawn, mask, pixels);
        }
        for (size_t i = 0; i < pixels; i++) {
            memset(rgba + 4 * i, drawn[i], 3);
            rgba[4 * i + 3] = 255;
        }
        result = orr_png_save(to, rgba, width, height, error);
    }
    orr_free(mask);
    orr_free(drawn);
    orr_free(rgba);
    return result;
}

static orr_result write_photo(const photo_writer *w, int i, orr_error *error)
{
    const orr_registration *r = w->r;
    orr_photo *photo = &r->list.photos[i];
    orr_photo_lens *lens = &photo->lens, pinhole = orr_pinhole_within(lens);
    bool undistort = r->desc.undistort && orr_photo_lens_distorted(lens);
    char *from = orr_path_join(r->folder, photo->file), *to = orr_path_join(r->result, w->names[i]);
    orr_result result = from && to ? ORR_OK : out_of_memory(photo->file, error);
    if (result == ORR_OK) {
        result =
            undistort ? write_undistorted(lens, &pinhole, from, to, error) : orr_file_copy(from, to, error);
    }
    orr_free(to);
    to = result == ORR_OK && w->masks[i] ? orr_path_join(r->result, w->masks[i]) : NULL;
    if (to) {
        result = write_mask(r, lens, undistort ? &pinhole : NULL, photo->file, to, error);
    } else if (result == ORR_OK && w->masks[i]) {
        result = out_of_memory(photo->file, error);
    }
    orr_free(to);
    orr_free(from);
    if (result == ORR_OK && undistort) {
        *lens = pinhole;
    }
    return result;
}

static void photo_body(void *context, int i, int worker)
{
    (void)worker;
    const photo_writer *w = context;
    int index = w->first + i;
    w->results[index] = write_photo(w, index, &w->errors[index]);
}

// ---- all photos ----

static orr_result name_photo(photo_writer *w, int i, orr_error *error)
{
    const orr_registration *r = w->r;
    orr_photo *photo = &r->list.photos[i];
    const char *dot = strrchr(photo->file, '.');
    int stem = dot ? (int)(dot - photo->file) : (int)strlen(photo->file);
    char *path = orr_path_join(r->folder, photo->file);
    int width = 0, height = 0;
    orr_result result =
        path ? orr_image8_size(path, &width, &height, error) : out_of_memory(photo->file, error);
    orr_free(path);
    ORR_TRY(result);
    const char *expected = orr_photo_lens_resolve(&photo->lens, width, height);
    if (expected) {
        return orr_fail(error, ORR_CODE_CAMERA_FILE, "%s: expected %s", photo->file, expected);
    }
    bool redrawn = r->desc.undistort && orr_photo_lens_distorted(&photo->lens);
    ORR_TRY(orr_registration_text(&w->names[i], error, "images/%.*s%s",
                                  redrawn ? stem : (int)strlen(photo->file), photo->file,
                                  redrawn ? ".png" : ""));
    uint8_t *mask;
    ORR_TRY(orr_registration_mask(r, photo->file, width, height, &mask, error));
    if (mask) {
        orr_free(mask);
        return orr_registration_text(&w->masks[i], error, "masks/%s.png", orr_path_name(w->names[i]));
    }
    return ORR_OK;
}

static orr_result write_photos(photo_writer *w, orr_error *error)
{
    orr_registration *r = w->r;
    int round = 2 * orr_jobs_workers(r->engine->jobs), count = r->list.count;
    for (w->first = 0; w->first < count; w->first += round) {
        ORR_TRY(orr_registration_progress(r, "photos written", w->first, count, error));
        int left = count - w->first, now = left < round ? left : round;
        orr_jobs_for(r->engine->jobs, now, photo_body, w);
        for (int i = w->first; i < w->first + now; i++) {
            if (w->results[i] != ORR_OK) {
                if (error) {
                    *error = w->errors[i];
                }
                return w->results[i];
            }
        }
    }
    return ORR_OK;
}

// ---- points and cameras ----

static orr_result write_points(const orr_registration *r, const char *path, orr_error *error)
{
    orr_file_writer writer;
    char header[320];
    int length = snprintf(header, sizeof header,
                          "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\n"
                          "property float y\nproperty float z\nproperty uchar red\nproperty uchar green\n"
                          "property uchar blue\nend_header\n",
                          r->points.count);
    ORR_TRY(orr_file_begin(&writer, path, error));
    orr_file_put(&writer, header, (size_t)length);
    for (int i = 0; i < r->points.count; i++) {
        orr_file_put(&writer, r->points.position + 3 * (size_t)i, 3 * sizeof(float));
        orr_file_put(&writer, r->points.colour + 3 * (size_t)i, 3);
    }
    return orr_file_commit(&writer, error);
}

static orr_camera camera_of(const orr_photo *photo)
{
    const orr_photo_lens *lens = &photo->lens;
    orr_camera camera = {.model = lens->fisheye ? ORR_CAMERA_FISHEYE : ORR_CAMERA_PERSPECTIVE,
                         .width = (int)lens->size[0],
                         .height = (int)lens->size[1]};
    memcpy(camera.pose, photo->pose, sizeof camera.pose);
    for (int k = 0; k < 2; k++) {
        camera.focal[k] = (float)lens->focal[k];
        camera.centre[k] = (float)lens->centre[k];
        camera.tangential[k] = (float)lens->tangential[k];
    }
    for (int k = 0; k < 4; k++) {
        camera.radial[k] = (float)lens->radial[k];
    }
    return camera;
}

static orr_result write_cameras(const photo_writer *w, const char *path, orr_error *error)
{
    orr_registration *r = w->r;
    orr_camera *cameras;
    ORR_ALLOC(cameras, r->list.count, "cameras", error);
    for (int i = 0; i < r->list.count; i++) {
        cameras[i] = camera_of(&r->list.photos[i]);
    }
    r->info.camera = cameras[0];
    const orr_camera_file_notes notes = {.masks = (const char *const *)w->masks,
                                         .points = r->points.count > 0 ? "points.ply" : NULL,
                                         .tracks = r->points.count > 0 ? "sparse/0/points3D.bin" : NULL,
                                         .ids = w->ids,
                                         .unit_scale = r->unit_scale,
                                         .aabb_scale = ORR_WORLD_AABB_SCALE,
                                         .metric = r->info.metric};
    orr_result result =
        orr_camera_file_write(path, cameras, (const char *const *)w->names, r->list.count, &notes, error);
    orr_free(cameras);
    return result;
}

static orr_result make_folders(photo_writer *w, orr_error *error)
{
    bool masked = false;
    for (int i = 0; i < w->r->list.count; i++) {
        ORR_TRY(name_photo(w, i, error));
        masked = masked || w->masks[i];
    }
    w->r->info.masks = 0;
    for (int i = 0; i < w->r->list.count; i++) {
        w->r->info.masks += w->masks[i] != NULL;
    }
    for (int i = 0; i < (masked ? 2 : 1); i++) {
        char *folder = orr_path_join(w->r->result, i ? "masks" : "images");
        orr_result result = folder ? orr_folder_make(folder, error) : out_of_memory("images", error);
        orr_free(folder);
        ORR_TRY(result);
    }
    return ORR_OK;
}

static orr_result write_file(const photo_writer *w, const char *name,
                             orr_result (*write)(const photo_writer *w, const char *path, orr_error *error),
                             orr_error *error)
{
    char *path = orr_path_join(w->r->result, name);
    orr_result result = path ? write(w, path, error) : out_of_memory(name, error);
    orr_free(path);
    return result;
}

static orr_result points_of(const photo_writer *w, const char *path, orr_error *error)
{
    return w->r->points.count > 0 ? write_points(w->r, path, error) : ORR_OK;
}

orr_result orr_registration_write(orr_registration *r, orr_error *error)
{
    size_t count = (size_t)r->list.count;
    photo_writer w = {.r = r,
                      .names = orr_alloc_zero(count, sizeof *w.names),
                      .masks = orr_alloc_zero(count, sizeof *w.masks),
                      .ids = orr_alloc_zero(count, sizeof *w.ids),
                      .results = orr_alloc_zero(count, sizeof *w.results),
                      .errors = orr_alloc_zero(count, sizeof *w.errors)};
    const bool there = w.names && w.masks && w.ids && w.results && w.errors;
    for (size_t i = 0; there && i < count; i++) {
        w.ids[i] = r->list.photos[i].id;
    }
    orr_result result = there ? make_folders(&w, error) : out_of_memory("photos", error);
    result = result == ORR_OK ? write_photos(&w, error) : result;
    result = result == ORR_OK ? write_file(&w, "points.ply", points_of, error) : result;
    result = result == ORR_OK ? write_file(&w, "transforms.json", write_cameras, error) : result;
    if (result == ORR_OK && r->points.count > 0) {
        result = orr_registration_write_model(r, (const char *const *)w.names, w.ids, error);
    }
    r->info.undistorted = r->desc.undistort;
    for (size_t i = 0; i < count; i++) {
        orr_free(w.names ? w.names[i] : NULL);
        orr_free(w.masks ? w.masks[i] : NULL);
    }
    orr_free(w.names);
    orr_free(w.masks);
    orr_free(w.ids);
    orr_free(w.results);
    orr_free(w.errors);
    return result;
}
