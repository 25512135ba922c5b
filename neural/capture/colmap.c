#include "neural/capture/colmap.h"

#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "neural/capture/colmap_cursor.h"
#include "neural/capture/world_fit.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MAX = 8, IMAGES_MAX = ORR_COLMAP_COUNT_MAX };

static const struct lens_model {
    const char *name;
    int focals, radial, tangential; // parameters, with the centre behind the focal lengths; 0: a lens we do
                                    // not read
    bool fisheye;
} models[] = {
    {"SIMPLE_PINHOLE", 1, 0, 0, false},
    {"PINHOLE", 2, 0, 0, false},
    {"SIMPLE_RADIAL", 1, 1, 0, false},
    {"RADIAL", 1, 2, 0, false},
    {"OPENCV", 2, 2, 2, false},
    {"OPENCV_FISHEYE", 2, 4, 0, true},
    {"FULL_OPENCV", 0, 0, 0, false},
    {"FOV", 0, 0, 0, false},
    {"SIMPLE_RADIAL_FISHEYE", 1, 1, 0, true},
    {"RADIAL_FISHEYE", 1, 2, 0, true},
    {"THIN_PRISM_FISHEYE", 0, 0, 0, false},
    {"RAD_TAN_THIN_PRISM_FISHEYE", 0, 0, 0, false},
};
enum { MODELS = sizeof models / sizeof models[0] };

typedef struct colmap_camera {
    uint32_t id;
    orr_photo_lens lens;
} colmap_camera;

typedef struct colmap_cameras {
    colmap_camera *items;
    int count;
} colmap_cameras;

// ---- cameras ----

static int parameters_of(int model)
{
    const struct lens_model *m = &models[model];
    return m->focals + 2 + m->radial + m->tangential;
}

static orr_result make_lens(const orr_cursor *in, int model, uint64_t width, uint64_t height, const double *p,
                            orr_photo_lens *lens, orr_error *error)
{
    const struct lens_model *m = &models[model];
    const double *rest = p + m->focals + 2;
    for (int i = 0; i < parameters_of(model); i++) {
        if (!isfinite((float)p[i])) {
            return orr_cursor_fail(in, error, "finite lens parameters");
        }
    }
    if (width < 1 || height < 1 || width > 16384 || height > 16384) {
        return orr_cursor_fail(in, error, "a camera of 1 to 16384 pixels a side");
    }
    *lens = (orr_photo_lens){.size = {(double)width, (double)height},
                             .focal = {p[0], p[m->focals - 1]},
                             .centre = {p[m->focals], p[m->focals + 1]},
                             .fisheye = m->fisheye};
    if (!(lens->focal[0] > 0.0) || !(lens->focal[1] > 0.0)) {
        return orr_cursor_fail(in, error, "a focal length above 0");
    }
    memcpy(lens->radial, rest, (size_t)m->radial * sizeof *rest);
    memcpy(lens->tangential, rest + m->radial, (size_t)m->tangential * sizeof *rest);
    return ORR_OK;
}

static orr_result check_model(const orr_cursor *in, int model, orr_error *error)
{
    char expected[192];
    if (model >= 0 && model < MODELS && models[model].focals > 0) {
        return ORR_OK;
    }
    snprintf(expected, sizeof expected,
             "a lens of SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV, OPENCV_FISHEYE, "
             "SIMPLE_RADIAL_FISHEYE or RADIAL_FISHEYE, not %s",
             model >= 0 && model < MODELS ? models[model].name : "another");
    return orr_cursor_fail(in, error, expected);
}

static orr_result read_camera_binary(orr_cursor *in, colmap_camera *camera, orr_error *error)
{
    int32_t model;
    uint64_t size[2];
    double parameters[PARAMETERS_MAX];
    if (!orr_cursor_take(in, &camera->id, 4) || !orr_cursor_take(in, &model, 4) ||
        !orr_cursor_take(in, size, 16)) {
        return orr_cursor_fail(in, error, "a whole camera: the file is cut short");
    }
    ORR_TRY(check_model(in, model, error));
    if (!orr_cursor_take(in, parameters, 8 * (size_t)parameters_of(model))) {
        return orr_cursor_fail(in, error, "a whole camera: the file is cut short");
    }
    return make_lens(in, model, size[0], size[1], parameters, &camera->lens, error);
}

static orr_result read_camera_text(orr_cursor *line, colmap_camera *camera, orr_error *error)
{
    uint64_t id, size[2];
    char name[64];
    double parameters[PARAMETERS_MAX];
    int model = 0;
    if (!orr_cursor_whole(line, UINT32_MAX, &id) || !orr_cursor_word(line, name, sizeof name) ||
        !orr_cursor_whole(line, 16384, &size[0]) || !orr_cursor_whole(line, 16384, &size[1])) {
        return orr_cursor_fail(line, error, "CAMERA_ID MODEL WIDTH HEIGHT PARAMETERS");
    }
    while (model < MODELS && strcmp(models[model].name, name) != 0) {
        model++;
    }
    ORR_TRY(check_model(line, model, error));
    for (int i = 0; i < parameters_of(model); i++) {
        if (!orr_cursor_number(line, &parameters[i])) {
            return orr_cursor_fail(line, error, "all parameters of the lens");
        }
    }
    camera->id = (uint32_t)id;
    return make_lens(line, model, size[0], size[1], parameters, &camera->lens, error);
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const colmap_camera *)a)->id, y = ((const colmap_camera *)b)->id;
    return (x > y) - (x < y);
}

static orr_result read_cameras(orr_cursor *in, colmap_cameras *cameras, orr_error *error)
{
    int count = 0;
    if (in->text) {
        orr_cursor lines = *in, line;
        while (orr_cursor_line(&lines, false, &line)) {
            count++;
        }
    } else {
        ORR_TRY(orr_cursor_count(in, 24, IMAGES_MAX, &count, error));
    }
    ORR_ALLOC(cameras->items, count, "cameras", error);
    for (int i = 0; i < count; i++) {
        orr_cursor line;
        if (in->text) {
            orr_cursor_line(in, false, &line);
            ORR_TRY(read_camera_text(&line, &cameras->items[i], error));
        } else {
            ORR_TRY(read_camera_binary(in, &cameras->items[i], error));
        }
    }
    cameras->count = count;
    qsort(cameras->items, (size_t)count, sizeof *cameras->items, by_id);
    return ORR_OK;
}

// ---- images ----

// q: world to camera, w x y z; t: likewise
static orr_result make_photo(const orr_cursor *in, const double q[4], const double t[3], uint32_t camera,
                             const colmap_cameras *cameras, const char *name, size_t length, orr_photo *photo,
                             orr_error *error)
{
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), r[9];
    bool finite = fabs(t[0]) < 1e12 && fabs(t[1]) < 1e12 && fabs(t[2]) < 1e12;
    if (!(fabs(norm - 1.0) < 1e-2) || !finite) {
        return orr_cursor_fail(in, error, "a pose: a unit quaternion and a finite translation");
    }
    const double unit[4] = {q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm};
    quaternion_to_matrix(unit, 2.0, r);
    for (int i = 0; i < 3; i++) { // the inverse, whose axes are right, down, forward already
        for (int j = 0; j < 3; j++) {
            photo->pose[4 * i + j] = (float)r[3 * j + i];
        }
        photo->pose[4 * i + 3] = (float)-(r[i] * t[0] + r[3 + i] * t[1] + r[6 + i] * t[2]);
    }
    colmap_camera key = {.id = camera};
    const colmap_camera *found = bsearch(&key, cameras->items, (size_t)cameras->count, sizeof key, by_id);
    if (!found) {
        return orr_cursor_fail(in, error, "images that name a camera of the camera file");
    }
    if (length == 0) {
        return orr_cursor_fail(in, error, "the name of an image");
    }
    photo->lens = found->lens;
    photo->sharpness = 1.0;
    ORR_ALLOC(photo->file, length + 1, "a file name", error);
    memcpy(photo->file, name, length);
    photo->file[length] = 0;
    return ORR_OK;
}

static orr_result read_image_binary(orr_cursor *in, const colmap_cameras *cameras, orr_photo *photo,
                                    orr_error *error)
{
    static const char cut_short[] = "a whole image: the file is cut short";
    uint32_t id, camera;
    double q[4], t[3];
    uint64_t points;
    if (!orr_cursor_take(in, &id, 4) || !orr_cursor_take(in, q, sizeof q) ||
        !orr_cursor_take(in, t, sizeof t) || !orr_cursor_take(in, &camera, 4)) {
        return orr_cursor_fail(in, error, cut_short);
    }
    const char *name = (const char *)in->at;
    const uint8_t *stop = memchr(in->at, 0, (size_t)(in->end - in->at));
    if (!stop) {
        return orr_cursor_fail(in, error, cut_short);
    }
    size_t length = (size_t)(stop - in->at);
    in->at = stop + 1;
    if (!orr_cursor_take(in, &points, sizeof points) || points > (size_t)(in->end - in->at) / 24) {
        return orr_cursor_fail(in, error, cut_short);
    }
    in->at += 24 * points; // where it saw which point: x, y, number
    photo->id = id;
    return make_photo(in, q, t, camera, cameras, name, length, photo, error);
}

// IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME; the name may hold spaces
static orr_result read_image_text(orr_cursor *line, const colmap_cameras *cameras, orr_photo *photo,
                                  orr_error *error)
{
    uint64_t id, camera;
    double v[7];
    bool good = orr_cursor_whole(line, UINT32_MAX, &id);
    for (int i = 0; i < 7; i++) {
        good = good && orr_cursor_number(line, &v[i]);
    }
    if (!good || !orr_cursor_whole(line, UINT32_MAX, &camera)) {
        return orr_cursor_fail(line, error, "IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME");
    }
    while (line->at < line->end && isspace(*line->at)) {
        line->at++;
    }
    photo->id = (uint32_t)id;
    return make_photo(line, v, v + 4, (uint32_t)camera, cameras, (const char *)line->at,
                      (size_t)(line->end - line->at), photo, error);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const orr_photo *)a)->file, ((const orr_photo *)b)->file);
}

static orr_result read_images(orr_cursor *in, const colmap_cameras *cameras, orr_photo_list *list,
                              orr_error *error)
{
    int count = 0;
    orr_cursor lines = *in, line;
    if (in->text) { // two lines each; the second has points and may be empty
        while (orr_cursor_line(&lines, false, &line) && count < IMAGES_MAX) {
            orr_cursor_line(&lines, true, &line);
            count++;
        }
    } else {
        ORR_TRY(orr_cursor_count(in, 73, IMAGES_MAX, &count, error));
    }
    if (count == 0) {
        return orr_cursor_fail(in, error, "at least one image");
    }
    list->photos = orr_alloc_zero((size_t)count, sizeof *list->photos);
    if (!list->photos) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for %d images", in->name, count);
    }
    list->count = count;
    for (int i = 0; i < count; i++) {
        if (in->text) {
            orr_cursor points;
            orr_cursor_line(in, false, &line);
            ORR_TRY(read_image_text(&line, cameras, &list->photos[i], error));
            orr_cursor_line(in, true, &points);
        } else {
            ORR_TRY(read_image_binary(in, cameras, &list->photos[i], error));
        }
    }
    qsort(list->photos, (size_t)count, sizeof *list->photos, by_name);
    return ORR_OK;
}

orr_result orr_colmap_parse(const orr_colmap_source *source, orr_photo_list *list, orr_error *error)
{
    *list = (orr_photo_list){0};
    const uint8_t *c = source->cameras.data, *i = source->images.data;
    orr_cursor camera_file = {source->cameras_name, c, c + source->cameras.size, source->text, 0};
    orr_cursor image_file = {source->images_name, i, i + source->images.size, source->text, 0};
    colmap_cameras cameras = {0};
    orr_result result = read_cameras(&camera_file, &cameras, error);
    if (result == ORR_OK) {
        result = read_images(&image_file, &cameras, list, error);
    }
    orr_free(cameras.items);
    if (result == ORR_OK) {
        double up[3];
        orr_world_mean_up(list, up);
        orr_world_fit(list, up);
    } else {
        orr_photo_list_free(list);
    }
    return result;
}

orr_result orr_colmap_read(const char *model, bool text, orr_photo_list *list, orr_error *error)
{
    *list = (orr_photo_list){0};
    orr_colmap_source source = {.text = text};
    char *cameras = orr_path_join(model, text ? "cameras.txt" : "cameras.bin");
    char *images = orr_path_join(model, text ? "images.txt" : "images.bin");
    orr_result result = cameras && images
                            ? orr_file_read(cameras, &source.cameras, error)
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", model);
    if (result == ORR_OK) {
        result = orr_file_read(images, &source.images, error);
    }
    if (result == ORR_OK) {
        source.cameras_name = cameras;
        source.images_name = images;
        result = orr_colmap_parse(&source, list, error);
    }
    orr_free(source.cameras.data);
    orr_free(source.images.data);
    orr_free(cameras);
    orr_free(images);
    return result;
}
