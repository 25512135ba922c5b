#include "engine/scene/camera_file.h"

#include "engine/core/entry.h"
#include "engine/core/file.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/maths/camera.h"
#include "neural/capture/capture_file.h"
#include "neural/capture/transforms_file.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Sizes the file leaves out are the caller's, but then nothing may be in pixels.
static orr_result make_camera(orr_photo *photo, const char *name, int index, int width, int height,
                              orr_camera *camera, orr_error *error)
{
    orr_photo_lens *lens = &photo->lens;
    bool sized = lens->size[0] > 0.0 && lens->size[1] > 0.0;
    bool in_pixels = lens->focal[0] > 0.0 || lens->focal[1] > 0.0 || !isnan(lens->centre[0]) ||
                     !isnan(lens->centre[1]) || lens->size[0] > 0.0 || lens->size[1] > 0.0;
    bool centred = isnan(lens->centre[0]) && isnan(lens->centre[1]);
    const char *expected = !sized && in_pixels ? "w and h beside values in pixels (fl_x, fl_y, cx, cy)"
                                               : orr_photo_lens_resolve(lens, width, height);
    if (expected) {
        return orr_fail(error, ORR_CODE_CAMERA_FILE, "%s: frames[%d]: expected %s", name, index, expected);
    }
    *camera = (orr_camera){.model = lens->fisheye ? ORR_CAMERA_FISHEYE : ORR_CAMERA_PERSPECTIVE,
                           .width = (int)lens->size[0],
                           .height = (int)lens->size[1]};
    for (int i = 0; i < 2; i++) {
        camera->focal[i] = (float)lens->focal[i];
        camera->centre[i] = centred ? 0.0f : (float)lens->centre[i];
        camera->tangential[i] = (float)lens->tangential[i];
    }
    for (int i = 0; i < 4; i++) {
        camera->radial[i] = (float)lens->radial[i];
    }
    memcpy(camera->pose, photo->pose, sizeof camera->pose);
    orr_lens resolved;
    orr_error why = {0};
    if (orr_camera_resolve(camera, &resolved, &why) != ORR_OK) {
        return orr_fail(error, ORR_CODE_CAMERA_FILE,
                        "%s: frames[%d]: expected a camera that can draw, not %s", name, index, why.message);
    }
    return ORR_OK;
}

static orr_result make_cameras(const orr_photo_list *photos, const char *name, int width, int height,
                               orr_camera_list *list, orr_error *error)
{
    ORR_TRY(orr_camera_list_reserve(list, photos->count, error));
    for (int i = 0; i < photos->count; i++) {
        const char *picture = photos->photos[i].file ? photos->photos[i].file : "";
        orr_camera camera;
        list->distorted = list->distorted || orr_photo_lens_distorted(&photos->photos[i].lens);
        ORR_TRY(make_camera(&photos->photos[i], name, i, width, height, &camera, error));
        ORR_TRY(orr_camera_list_append(list, &camera, picture, error));
    }
    return ORR_OK;
}

orr_result orr_camera_file_parse(const char *text, const char *name, int width, int height,
                                 orr_camera_list *list, orr_error *error)
{
    *list = (orr_camera_list){0};
    orr_photo_list photos;
    ORR_TRY(orr_transforms_parse(text, name, &photos, error));
    orr_result result = make_cameras(&photos, name, width, height, list, error);
    orr_photo_list_free(&photos);
    if (result != ORR_OK) {
        orr_camera_list_free(list);
    }
    return result;
}

// Sizes that the file leaves out are those of the photos that are there.
static orr_result size_photos(orr_capture_file *file, orr_error *error)
{
    for (int i = 0; i < file->list.count; i++) {
        orr_photo *photo = &file->list.photos[i];
        char *path = NULL;
        int width = 0, height = 0;
        if (!photo->file || (photo->lens.size[0] > 0.0 && photo->lens.size[1] > 0.0)) {
            continue;
        }
        ORR_TRY(orr_capture_file_photo(file, photo->file, &path, error));
        if (path && orr_image8_size(path, &width, &height, NULL) == ORR_OK) {
            photo->lens.size[0] = width;
            photo->lens.size[1] = height;
        }
        orr_free(path);
    }
    return ORR_OK;
}

orr_result orr_camera_file_load(const char *path, int width, int height, orr_camera_list *list,
                                orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(list, error);
    *list = (orr_camera_list){0};
    ORR_REQUIRE(path, error);
    orr_capture_file file;
    ORR_TRY(orr_capture_file_read(path, &file, error));
    orr_result result = size_photos(&file, error);
    if (result == ORR_OK) {
        result = make_cameras(&file.list, file.name, width, height, list, error);
    }
    orr_capture_file_free(&file);
    if (result != ORR_OK) {
        orr_camera_list_free(list);
    }
    return result;
}

orr_result orr_camera_list_reserve(orr_camera_list *list, int capacity, orr_error *error)
{
    *list = (orr_camera_list){0};
    ORR_ALLOC(list->cameras, capacity, "cameras", error);
    ORR_ALLOC(list->names, capacity, "names of cameras", error);
    return ORR_OK;
}

orr_result orr_camera_list_append(orr_camera_list *list, const orr_camera *camera, const char *name,
                                  orr_error *error)
{
    size_t size = strlen(name) + 1;
    char *copy;
    ORR_ALLOC(copy, size, "the name of a camera", error);
    memcpy(copy, name, size);
    list->cameras[list->count] = *camera;
    list->names[list->count++] = copy;
    return ORR_OK;
}

void orr_camera_list_free(orr_camera_list *list)
{
    if (!list) {
        return;
    }
    for (int i = 0; i < list->count; i++) {
        orr_free((char *)list->names[i]);
    }
    orr_free(list->names);
    orr_free(list->cameras);
    *list = (orr_camera_list){0};
}

// ---- writing ----

static bool add_intrinsics(cJSON *object, const orr_camera *camera)
{
    bool centred = camera->centre[0] == 0.0f && camera->centre[1] == 0.0f;
    double cx = centred ? 0.5 * camera->width : (double)camera->centre[0];
    double cy = centred ? 0.5 * camera->height : (double)camera->centre[1];
    static const char *const names[6] = {"k1", "k2", "k3", "k4", "p1", "p2"};
    bool good = cJSON_AddNumberToObject(object, "w", camera->width) &&
                cJSON_AddNumberToObject(object, "h", camera->height) &&
                cJSON_AddNumberToObject(object, "fl_x", (double)camera->focal[0]) &&
                cJSON_AddNumberToObject(object, "fl_y", (double)camera->focal[1]) &&
                cJSON_AddNumberToObject(object, "cx", cx) && cJSON_AddNumberToObject(object, "cy", cy);
    // nerfstudio reads the one, instant-ngp the other
    good = good && (camera->model != ORR_CAMERA_FISHEYE ||
                    (cJSON_AddStringToObject(object, "camera_model", "OPENCV_FISHEYE") &&
                     cJSON_AddBoolToObject(object, "is_fisheye", true)));
    for (int i = 0; i < 6 && good; i++) {
        float value = i < 4 ? camera->radial[i] : camera->tangential[i - 4];
        good = value == 0.0f || cJSON_AddNumberToObject(object, names[i], (double)value);
    }
    return good;
}

static bool add_matrix(cJSON *frame, const float pose[12])
{
    cJSON *matrix = cJSON_AddArrayToObject(frame, "transform_matrix");
    for (int i = 0; matrix && i < 4; i++) {
        double row[4] = {0.0, 0.0, 0.0, 1.0};
        for (int j = 0; i < 3 && j < 4; j++) {
            double value = (double)pose[4 * i + j];
            row[j] = j == 1 || j == 2 ? 0.0 - value : value; // 0 stays without a sign
        }
        if (!cJSON_AddItemToArray(matrix, cJSON_CreateDoubleArray(row, 4))) {
            return false;
        }
    }
    return matrix != NULL;
}

static bool same_intrinsics(const orr_camera *a, const orr_camera *b)
{
    return a->width == b->width && a->height == b->height && a->focal[0] == b->focal[0] &&
           a->focal[1] == b->focal[1] && a->centre[0] == b->centre[0] && a->centre[1] == b->centre[1] &&
           memcmp(a->radial, b->radial, sizeof a->radial) == 0 &&
           memcmp(a->tangential, b->tangential, sizeof a->tangential) == 0 && a->model == b->model;
}

static bool add_notes(cJSON *root, const orr_camera_file_notes *notes)
{
    return (notes->unit_scale == 0.0 || cJSON_AddNumberToObject(root, "scale", notes->unit_scale)) &&
           (notes->aabb_scale == 0 || cJSON_AddNumberToObject(root, "aabb_scale", notes->aabb_scale)) &&
           (!notes->metric || cJSON_AddStringToObject(root, "unit", "metre")) &&
           (!notes->points || cJSON_AddStringToObject(root, "ply_file_path", notes->points)) &&
           (!notes->tracks || cJSON_AddStringToObject(root, "points3D_path", notes->tracks));
}

// The whole file as a tree, or NULL when memory is out. Intrinsics that all frames share are written once.
static cJSON *describe(const orr_camera *cameras, const char *const *names, int count,
                       const orr_camera_file_notes *notes)
{
    bool shared = true;
    for (int i = 1; i < count; i++) {
        shared = shared && same_intrinsics(&cameras[0], &cameras[i]);
    }
    cJSON *root = cJSON_CreateObject();
    bool good = root && (!shared || add_intrinsics(root, &cameras[0])) && (!notes || add_notes(root, notes));
    cJSON *frames = good ? cJSON_AddArrayToObject(root, "frames") : NULL;
    good = good && frames;
    for (int i = 0; good && i < count; i++) {
        char numbered[32];
        snprintf(numbered, sizeof numbered, "%04d.png", i);
        cJSON *frame = cJSON_CreateObject();
        good = frame && cJSON_AddItemToArray(frames, frame);
        good = good && cJSON_AddStringToObject(frame, "file_path",
                                               names && names[i] && names[i][0] ? names[i] : numbered);
        const char *mask = notes && notes->masks ? notes->masks[i] : NULL;
        good = good && (!mask || cJSON_AddStringToObject(frame, "mask_path", mask));
        good =
            good && (!notes || !notes->ids || cJSON_AddNumberToObject(frame, "colmap_im_id", notes->ids[i]));
        good = good && (shared || add_intrinsics(frame, &cameras[i]));
        good = good && add_matrix(frame, cameras[i].pose);
    }
    if (!good) {
        cJSON_Delete(root);
        return NULL;
    }
    return root;
}

static orr_result check_cameras(const char *path, const orr_camera *cameras, int count, orr_error *error)
{
    if (count < 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: no cameras: expected at least one", path);
    }
    for (int i = 0; i < count; i++) {
        orr_lens lens;
        orr_error why = {0};
        if (orr_camera_resolve(&cameras[i], &lens, &why) != ORR_OK) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: camera %d: %s", path, i, why.message);
        }
        if (cameras[i].model == ORR_CAMERA_ORTHOGRAPHIC) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: camera %d is orthographic: a transforms.json holds perspective cameras and "
                            "fisheyes",
                            path, i);
        }
    }
    return ORR_OK;
}

orr_result orr_camera_file_write(const char *path, const orr_camera *cameras, const char *const *names,
                                 int count, const orr_camera_file_notes *notes, orr_error *error)
{
    ORR_TRY(check_cameras(path, cameras, count, error));
    cJSON *root = describe(cameras, names, count, notes);
    char *text = root ? cJSON_Print(root) : NULL; // whatever the locale says about decimal points
    cJSON_Delete(root);
    if (!text) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for %d cameras", path, count);
    }
    orr_result result = orr_file_write(path, text, strlen(text), error);
    cJSON_free(text);
    return result;
}

orr_result orr_camera_file_save(const char *path, const orr_camera *cameras, const char *const *names,
                                int count, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(path, error);
    ORR_REQUIRE(cameras, error);
    return orr_camera_file_write(path, cameras, names, count, NULL, error);
}

orr_camera orr_camera_resize(const orr_camera *camera, int width, int height)
{
    orr_camera resized = *camera;
    float factor = (float)height / (float)camera->height;
    resized.width = width;
    resized.height = height;
    resized.focal[0] *= factor;
    resized.focal[1] *= factor;
    if (camera->centre[0] != 0.0f || camera->centre[1] != 0.0f) {
        resized.centre[0] = 0.5f * (float)width + (camera->centre[0] - 0.5f * (float)camera->width) * factor;
        resized.centre[1] = camera->centre[1] * factor;
    }
    return resized;
}
