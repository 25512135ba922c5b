#include "engine/loop/camera_file.h"

#include "engine/core/file.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "render/camera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// What the file says about the lens; a frame's own words come over the file's. 0, and NAN for the centre: it
// says nothing.
typedef struct intrinsics {
    double focal[2]; // [px]
    double angle[2]; // [rad]
    double centre[2];
    double size[2];
} intrinsics;

static orr_result read_focal(const orr_json *json, int axis, intrinsics *lens, orr_error *error)
{
    static const char *const focal_keys[2] = {"fl_x", "fl_y"};
    static const char *const angle_keys[2] = {"camera_angle_x", "camera_angle_y"};
    const char *focal = focal_keys[axis], *angle = angle_keys[axis];
    if (orr_json_has(json, focal) || orr_json_has(json, angle)) {
        lens->focal[axis] = lens->angle[axis] = 0.0;
    }
    ORR_TRY(orr_json_positive(json, focal, &lens->focal[axis], error));
    ORR_TRY(orr_json_positive(json, angle, &lens->angle[axis], error));
    return lens->angle[axis] < pi ? ORR_OK
                                  : orr_json_expected(json, angle, error, "an angle below pi, in radians");
}

static orr_result read_size(const orr_json *json, const char *key, double *size, orr_error *error)
{
    ORR_TRY(orr_json_positive(json, key, size, error));
    return *size == floor(*size) && *size <= 16384.0
               ? ORR_OK
               : orr_json_expected(json, key, error, "a whole number of pixels, 1 to 16384");
}

// Lens models that are a pinhole camera, with distortion at most.
static orr_result check_model(const orr_json *json, orr_error *error)
{
    static const char *const pinholes[] = {"PINHOLE", "SIMPLE_PINHOLE", "PERSPECTIVE",
                                           "OPENCV",  "SIMPLE_RADIAL",  "RADIAL"};
    const char *model = pinholes[0];
    bool fisheye = false;
    ORR_TRY(orr_json_string(json, "camera_model", &model, error));
    ORR_TRY(orr_json_bool(json, "is_fisheye", &fisheye, error));
    if (fisheye) {
        return orr_json_expected(json, "is_fisheye", error, "a pinhole camera");
    }
    for (size_t i = 0; i < sizeof pinholes / sizeof pinholes[0]; i++) {
        if (strcmp(model, pinholes[i]) == 0) {
            return ORR_OK;
        }
    }
    return orr_json_expected(json, "camera_model", error, "a pinhole camera (PINHOLE, OPENCV, RADIAL ...)");
}

static orr_result read_intrinsics(const orr_json *json, intrinsics *lens, bool *distorted, orr_error *error)
{
    ORR_TRY(check_model(json, error));
    ORR_TRY(read_focal(json, 0, lens, error));
    ORR_TRY(read_focal(json, 1, lens, error));
    ORR_TRY(orr_json_number(json, "cx", &lens->centre[0], error));
    ORR_TRY(orr_json_number(json, "cy", &lens->centre[1], error));
    ORR_TRY(read_size(json, "w", &lens->size[0], error));
    ORR_TRY(read_size(json, "h", &lens->size[1], error));
    static const char *const distortions[] = {"k1", "k2", "k3", "k4", "p1", "p2"};
    for (size_t i = 0; i < sizeof distortions / sizeof distortions[0]; i++) {
        double value = 0.0;
        ORR_TRY(orr_json_number(json, distortions[i], &value, error));
        *distorted = *distorted || value != 0.0;
    }
    return ORR_OK;
}

static double focal_of(const intrinsics *lens, int axis)
{
    return lens->focal[axis] > 0.0   ? lens->focal[axis]
           : lens->angle[axis] > 0.0 ? 0.5 * lens->size[axis] / tan(0.5 * lens->angle[axis])
                                     : 0.0;
}

static orr_result apply_intrinsics(const orr_json *frame, intrinsics lens, int width, int height,
                                   orr_camera *camera, orr_error *error)
{
    bool sized = lens.size[0] > 0.0 && lens.size[1] > 0.0;
    bool in_pixels = lens.focal[0] > 0.0 || lens.focal[1] > 0.0 || !isnan(lens.centre[0]) ||
                     !isnan(lens.centre[1]) || lens.size[0] > 0.0 || lens.size[1] > 0.0;
    if (!sized && in_pixels) {
        return orr_json_expected(frame, NULL, error, "w and h beside values in pixels (fl_x, fl_y, cx, cy)");
    }
    if (!sized) {
        lens.size[0] = width;
        lens.size[1] = height;
    }
    camera->width = (int)lens.size[0];
    camera->height = (int)lens.size[1];
    double focal[2] = {focal_of(&lens, 0), focal_of(&lens, 1)};
    if (focal[0] == 0.0 && focal[1] == 0.0) {
        return orr_json_expected(frame, NULL, error, "fl_x or camera_angle_x, in the file or in the frame");
    }
    for (int i = 0; i < 2; i++) { // square pixels when one axis says nothing
        camera->focal[i] = (float)(focal[i] > 0.0 ? focal[i] : focal[1 - i]);
    }
    if (!isnan(lens.centre[0]) || !isnan(lens.centre[1])) {
        for (int i = 0; i < 2; i++) {
            camera->centre[i] = (float)(isnan(lens.centre[i]) ? 0.5 * lens.size[i] : lens.centre[i]);
        }
    }
    return ORR_OK;
}

// The largest entry of R'R - 1: 0 for a rotation or a reflection.
static double deviation(double m[3][3])
{
    double largest = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double dot = m[0][i] * m[0][j] + m[1][i] * m[1][j] + m[2][i] * m[2][j];
            largest = fmax(largest, fabs(dot - (i == j)));
        }
    }
    return largest;
}

// inverse transpose times determinant
static void cofactors(double m[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            out[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
    }
}

// Files hold rotations to a few digits. Those good to float precision stay as they are; others become the
// nearest rotation, the polar factor, by Newton's iteration R <- (R + R^-T) / 2, which squares its error: four steps from 1e-2 reach
// the last digit.
static orr_result straighten(const orr_json *frame, double m[3][3], orr_error *error)
{
    double c[3][3];
    cofactors(m, c);
    double determinant = m[0][0] * c[0][0] + m[0][1] * c[0][1] + m[0][2] * c[0][2];
    double off = deviation(m);
    if (!(off <= 1e-2) || determinant < 0.0) {
        return orr_json_expected(frame, "transform_matrix", error,
                                 "a rotation without scale or mirroring (off by %.3g, determinant %.3g)", off,
                                 determinant);
    }
    for (int step = 0; step < 4 && off > 1e-6; step++) {
        cofactors(m, c);
        determinant = m[0][0] * c[0][0] + m[0][1] * c[0][1] + m[0][2] * c[0][2];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                m[i][j] = 0.5 * (m[i][j] + c[i][j] / determinant);
            }
        }
    }
    return ORR_OK;
}

// Rows of 4 numbers: 3, or 4 of which the last is 0 0 0 1.
static orr_result read_matrix(const orr_json *frame, double rows[4][4], orr_error *error)
{
    static const char expected[] = "a matrix of 3 or 4 rows of 4 numbers, the fourth 0 0 0 1";
    const cJSON *row;
    int count;
    ORR_TRY(orr_json_array(frame, "transform_matrix", &row, &count, error));
    bool good = count == 3 || count == 4;
    for (int i = 0; good && i < count; i++, row = row->next) {
        good = cJSON_IsArray(row) && cJSON_GetArraySize(row) == 4;
        const cJSON *number = good ? row->child : NULL;
        for (int j = 0; good && j < 4; j++, number = number->next) {
            good = cJSON_IsNumber(number) && isfinite((float)number->valuedouble);
            rows[i][j] = number->valuedouble;
        }
    }
    for (int j = 0; good && count == 4 && j < 4; j++) {
        good = rows[3][j] == (j == 3 ? 1.0 : 0.0);
    }
    return good ? ORR_OK : orr_json_expected(frame, "transform_matrix", error, expected);
}

static orr_result read_pose(const orr_json *frame, float pose[12], orr_error *error)
{
    double rows[4][4], rotation[3][3];
    ORR_TRY(read_matrix(frame, rows, error));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) { // y up and z backward become y down and z forward
            rotation[i][j] = j == 0 ? rows[i][j] : -rows[i][j];
        }
    }
    ORR_TRY(straighten(frame, rotation, error));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            pose[4 * i + j] = (float)rotation[i][j];
        }
        pose[4 * i + 3] = (float)rows[i][3];
    }
    return ORR_OK;
}

static orr_result read_frame(const orr_json *frame, intrinsics lens, int width, int height,
                             orr_camera *camera, bool *distorted, orr_error *error)
{
    *camera = (orr_camera){0};
    ORR_TRY(read_intrinsics(frame, &lens, distorted, error));
    ORR_TRY(apply_intrinsics(frame, lens, width, height, camera, error));
    ORR_TRY(read_pose(frame, camera->pose, error));
    orr_lens resolved;
    orr_error why = {0};
    if (orr_camera_resolve(camera, &resolved, &why) != ORR_OK) {
        return orr_json_expected(frame, NULL, error, "a camera that can draw, not %s", why.message);
    }
    return ORR_OK;
}

static orr_result read_frames(const orr_json *root, int width, int height, orr_camera_list *list,
                              orr_error *error)
{
    intrinsics lens = {.centre = {NAN, NAN}};
    ORR_TRY(read_intrinsics(root, &lens, &list->distorted, error));
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(root, "frames", &node, &count, error));
    if (count == 0) {
        return orr_json_expected(root, "frames", error, "an array of at least one frame");
    }
    ORR_ALLOC(list->cameras, count, "cameras", error);
    list->count = count;
    for (int i = 0; i < count; i++, node = node->next) {
        orr_json frame;
        ORR_TRY(orr_json_element(root, "frames", i, node, &frame, error));
        ORR_TRY(read_frame(&frame, lens, width, height, &list->cameras[i], &list->distorted, error));
    }
    return ORR_OK;
}

orr_result orr_camera_file_parse(const char *text, const char *name, int width, int height,
                                 orr_camera_list *list, orr_error *error)
{
    *list = (orr_camera_list){0};
    orr_json root;
    ORR_TRY(orr_json_parse(text, name, ORR_CODE_CAMERA_FILE, &root, error));
    orr_result result = read_frames(&root, width, height, list, error);
    orr_json_free(&root);
    if (result != ORR_OK) {
        orr_camera_list_free(list);
    }
    return result;
}

orr_result orr_camera_file_load(const char *path, int width, int height, orr_camera_list *list,
                                orr_error *error)
{
    *list = (orr_camera_list){0};
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = orr_camera_file_parse((const char *)bytes.data, path, width, height, list, error);
    orr_free(bytes.data);
    return result;
}

void orr_camera_list_free(orr_camera_list *list)
{
    orr_free(list->cameras);
    *list = (orr_camera_list){0};
}

// ---- writing ----

static bool add_intrinsics(cJSON *object, const orr_camera *camera)
{
    bool centred = camera->centre[0] == 0.0f && camera->centre[1] == 0.0f;
    double cx = centred ? 0.5 * camera->width : (double)camera->centre[0];
    double cy = centred ? 0.5 * camera->height : (double)camera->centre[1];
    return cJSON_AddNumberToObject(object, "w", camera->width) &&
           cJSON_AddNumberToObject(object, "h", camera->height) &&
           cJSON_AddNumberToObject(object, "fl_x", (double)camera->focal[0]) &&
           cJSON_AddNumberToObject(object, "fl_y", (double)camera->focal[1]) &&
           cJSON_AddNumberToObject(object, "cx", cx) && cJSON_AddNumberToObject(object, "cy", cy);
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
           a->focal[1] == b->focal[1] && a->centre[0] == b->centre[0] && a->centre[1] == b->centre[1];
}

// The whole file as a tree, or NULL when memory is out. Intrinsics all frames share stand once.
static cJSON *describe(const orr_camera *cameras, int count)
{
    bool shared = true;
    for (int i = 1; i < count; i++) {
        shared = shared && same_intrinsics(&cameras[0], &cameras[i]);
    }
    cJSON *root = cJSON_CreateObject();
    bool good = root && (!shared || add_intrinsics(root, &cameras[0]));
    cJSON *frames = good ? cJSON_AddArrayToObject(root, "frames") : NULL;
    good = good && frames;
    for (int i = 0; good && i < count; i++) {
        char picture[32];
        snprintf(picture, sizeof picture, "%04d.png", i);
        cJSON *frame = cJSON_CreateObject();
        good = frame && cJSON_AddItemToArray(frames, frame);
        good = good && cJSON_AddStringToObject(frame, "file_path", picture);
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
        if (cameras[i].model != ORR_CAMERA_PERSPECTIVE) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: camera %d is orthographic: a transforms.json holds perspective cameras",
                            path, i);
        }
    }
    return ORR_OK;
}

orr_result orr_camera_file_save(const char *path, const orr_camera *cameras, int count, orr_error *error)
{
    ORR_TRY(check_cameras(path, cameras, count, error));
    cJSON *root = describe(cameras, count);
    char *text = root ? cJSON_Print(root) : NULL; // whatever the locale says about decimal points
    cJSON_Delete(root);
    if (!text) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for %d cameras", path, count);
    }
    orr_result result = orr_file_write(path, text, strlen(text), error);
    cJSON_free(text);
    return result;
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
