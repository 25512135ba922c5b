#include "neural/capture/transforms_file.h"

#include "engine/core/json.h"
#include "engine/core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static orr_result read_focal(const orr_json *json, int axis, orr_photo_lens *lens, orr_error *error)
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

// Lens models: a pinhole camera with OpenCV's distortion at most, or its fisheye. A frame that says nothing
// has the file's.
static orr_result read_model(const orr_json *json, bool *fisheye, orr_error *error)
{
    static const char *const pinholes[] = {"PINHOLE", "SIMPLE_PINHOLE", "PERSPECTIVE",
                                           "OPENCV",  "SIMPLE_RADIAL",  "RADIAL"};
    static const char *const fisheyes[] = {"OPENCV_FISHEYE", "FISHEYE", "SIMPLE_RADIAL_FISHEYE",
                                           "RADIAL_FISHEYE"};
    static const char *const others[] = {"latlong", "equirectangular", "orthographic", "from_mitsuba"};
    const char *model = NULL;
    ORR_TRY(orr_json_string(json, "camera_model", &model, error));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        bool set = false;
        ORR_TRY(orr_json_bool(json, others[i], &set, error));
        if (set) {
            return orr_json_expected(json, others[i], error, "a pinhole camera or a fisheye");
        }
    }
    if (orr_json_has(json, "ftheta_p0")) {
        return orr_json_expected(json, "ftheta_p0", error, "a pinhole camera, not an F-Theta lens");
    }
    bool known = !model;
    for (size_t i = 0; model && i < sizeof pinholes / sizeof pinholes[0]; i++) {
        if (strcmp(model, pinholes[i]) == 0) {
            *fisheye = false;
            known = true;
        }
    }
    for (size_t i = 0; model && i < sizeof fisheyes / sizeof fisheyes[0]; i++) {
        if (strcmp(model, fisheyes[i]) == 0) {
            *fisheye = known = true;
        }
    }
    if (!known) {
        return orr_json_expected(json, "camera_model", error,
                                 "a pinhole camera (PINHOLE, OPENCV, RADIAL ...) or OPENCV_FISHEYE");
    }
    bool set = *fisheye;
    ORR_TRY(orr_json_bool(json, "is_fisheye", &set, error));
    *fisheye = set || (model && *fisheye); // instant-ngp's files have no camera_model
    return ORR_OK;
}

static orr_result read_lens(const orr_json *json, orr_photo_lens *lens, orr_error *error)
{
    static const char *const radial[4] = {"k1", "k2", "k3", "k4"};
    ORR_TRY(read_model(json, &lens->fisheye, error));
    ORR_TRY(read_focal(json, 0, lens, error));
    ORR_TRY(read_focal(json, 1, lens, error));
    ORR_TRY(orr_json_number(json, "cx", &lens->centre[0], error));
    ORR_TRY(orr_json_number(json, "cy", &lens->centre[1], error));
    ORR_TRY(read_size(json, "w", &lens->size[0], error));
    ORR_TRY(read_size(json, "h", &lens->size[1], error));
    for (int i = 0; i < 4; i++) {
        ORR_TRY(orr_json_number(json, radial[i], &lens->radial[i], error));
    }
    ORR_TRY(orr_json_number(json, "p1", &lens->tangential[0], error));
    ORR_TRY(orr_json_number(json, "p2", &lens->tangential[1], error));
    for (int i = 0; lens->fisheye && i < 2; i++) {
        if (lens->tangential[i] != 0.0) {
            return orr_json_expected(json, i ? "p2" : "p1", error, "0: a fisheye has k1 to k4 alone");
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
    if (orr_json_has(frame, "transform_matrix_start")) {
        return orr_json_expected(frame, "transform_matrix_start", error,
                                 "one transform_matrix: cameras that move during a frame are not read");
    }
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
    double rows[4][4], rotation[3][3], off, determinant;
    ORR_TRY(read_matrix(frame, rows, error));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) { // y up and z backward become y down and z forward
            rotation[i][j] = j == 0 ? rows[i][j] : -rows[i][j];
        }
    }
    if (!orr_rotation_straighten(rotation, &off, &determinant)) {
        return orr_json_expected(frame, "transform_matrix", error,
                                 "a rotation without scale or mirroring (off by %.3g, determinant %.3g)", off,
                                 determinant);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            pose[4 * i + j] = (float)rotation[i][j];
        }
        pose[4 * i + 3] = (float)rows[i][3];
    }
    return ORR_OK;
}

static orr_result read_name(const orr_json *frame, const char *key, char **name, orr_error *error)
{
    const char *text = NULL;
    ORR_TRY(orr_json_string(frame, key, &text, error));
    if (text) {
        ORR_ALLOC(*name, strlen(text) + 1, "a file name", error);
        memcpy(*name, text, strlen(text) + 1);
    }
    return ORR_OK;
}

static orr_result read_id(const orr_json *frame, uint32_t *id, orr_error *error)
{
    double number = 0.0;
    ORR_TRY(orr_json_number(frame, "colmap_im_id", &number, error));
    if (!(number >= 0.0 && number <= UINT32_MAX && number == floor(number))) {
        return orr_json_expected(frame, "colmap_im_id", error, "a whole number, 0 to 4294967295");
    }
    *id = (uint32_t)number;
    return ORR_OK;
}

// A file of COLMAP's says more than a .ply: which photo sees which point.
static orr_result read_points(const orr_json *root, char **points, orr_error *error)
{
    return orr_json_has(root, "points3D_path") ? read_name(root, "points3D_path", points, error)
                                               : read_name(root, "ply_file_path", points, error);
}

static orr_result read_frame(const orr_json *frame, const orr_photo_lens *lens, orr_photo *photo,
                             orr_error *error)
{
    photo->lens = *lens;
    photo->sharpness = 1.0;
    ORR_TRY(read_name(frame, "file_path", &photo->file, error));
    ORR_TRY(read_name(frame, "mask_path", &photo->mask, error));
    ORR_TRY(read_id(frame, &photo->id, error));
    ORR_TRY(read_lens(frame, &photo->lens, error));
    ORR_TRY(orr_json_number(frame, "sharpness", &photo->sharpness, error));
    return read_pose(frame, photo->pose, error);
}

// The box of "aabb" fills the unit cube; else scale and offset, whose defaults are instant-ngp's.
static orr_result read_world(const orr_json *root, orr_photo_list *list, orr_error *error)
{
    double scale = 0.33, offset[3] = {0.5, 0.5, 0.5}, aabb_scale = 1.0;
    ORR_TRY(orr_json_positive(root, "scale", &scale, error));
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(root->node, "offset");
    if (cJSON_IsNumber(node)) {
        ORR_TRY(orr_json_number(root, "offset", &offset[0], error));
        offset[1] = offset[2] = offset[0];
    } else {
        ORR_TRY(orr_json_numbers(root, "offset", 3, offset, error));
    }
    node = cJSON_GetObjectItemCaseSensitive(root->node, "aabb");
    if (node) {
        double corners[2][3], longest = 0.0;
        bool good = cJSON_IsArray(node) && cJSON_GetArraySize(node) == 2;
        for (int i = 0; good && i < 2; i++) {
            const cJSON *corner = cJSON_GetArrayItem(node, i);
            good = cJSON_IsArray(corner) && cJSON_GetArraySize(corner) == 3;
            for (int k = 0; good && k < 3; k++) {
                const cJSON *number = cJSON_GetArrayItem(corner, k);
                good = cJSON_IsNumber(number) && isfinite((float)number->valuedouble);
                corners[i][k] = number->valuedouble;
            }
        }
        for (int k = 0; good && k < 3; k++) {
            longest = fmax(longest, fabs(corners[1][k] - corners[0][k]));
        }
        if (!good || !(longest >= 1e-6)) {
            return orr_json_expected(root, "aabb", error, "two corners of three numbers that are apart");
        }
        scale = 1.0 / longest;
        for (int k = 0; k < 3; k++) {
            offset[k] = 0.5 - 0.5 * (corners[0][k] + corners[1][k]) * scale;
        }
    }
    orr_unit_map(scale, offset, list->to_unit);
    ORR_TRY(orr_json_positive(root, "aabb_scale", &aabb_scale, error));
    list->aabb_scale = (int)fmin(aabb_scale, 1024.0);
    bool power = (double)list->aabb_scale == aabb_scale && (list->aabb_scale & (list->aabb_scale - 1)) == 0;
    if (!power || list->aabb_scale > 128) {
        return orr_json_expected(root, "aabb_scale", error, "1, 2, 4, 8, 16, 32, 64 or 128");
    }
    ORR_TRY(orr_json_bool(root, "white_transparent", &list->white_transparent, error));
    ORR_TRY(orr_json_bool(root, "black_transparent", &list->black_transparent, error));
    ORR_TRY(orr_json_bool(root, "fix_premult", &list->premultiplied, error));
    static const char *const unused[] = {"rolling_shutter", "enable_depth_loading", "enable_ray_loading",
                                         "envmap", "sharpen"};
    for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++) {
        size_t used = strlen(list->ignored);
        if (orr_json_has(root, unused[i])) {
            snprintf(list->ignored + used, sizeof list->ignored - used, "%s%s", used ? ", " : "", unused[i]);
        }
    }
    return ORR_OK;
}

// ---- parts ----

static int compare_files(const void *a, const void *b)
{
    return strcmp((*(orr_photo *const *)a)->file, (*(orr_photo *const *)b)->file);
}

static orr_photo *find_file(orr_photo **by_file, int count, const char *file)
{
    orr_photo key = {.file = (char *)file}, *wanted = &key; // is only compared
    orr_photo **found = bsearch(&wanted, by_file, (size_t)count, sizeof(orr_photo *), compare_files);
    return found ? *found : NULL;
}

// Names that are no frame's are told as not used: frames are often left out of a file by hand.
static orr_result read_part(const orr_json *root, const char *key, orr_photo_part part, orr_photo **by_file,
                            int named, orr_photo_list *list, orr_error *error)
{
    const cJSON *name;
    int count, unknown = 0;
    if (!orr_json_has(root, key)) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_array(root, key, &name, &count, error));
    for (int i = 0; i < count; i++, name = name->next) {
        if (!cJSON_IsString(name)) {
            return orr_json_expected(root, key, error, "an array of file names");
        }
        orr_photo *photo = find_file(by_file, named, name->valuestring);
        unknown += !photo;
        if (photo) {
            photo->part = part;
        }
    }
    const size_t used = strlen(list->ignored);
    if (unknown > 0) {
        snprintf(list->ignored + used, sizeof list->ignored - used, "%s%d of %d names of %s, no frame's,",
                 used ? " " : "", unknown, count, key);
    }
    return ORR_OK;
}

// Which photos nerfstudio learns from, and compares with.
static orr_result read_parts(const orr_json *root, orr_photo_list *list, orr_error *error)
{
    static const char *const keys[] = {"train_filenames", "val_filenames", "test_filenames"};
    orr_result result = ORR_OK;
    orr_photo **by_file;
    int named = 0;
    ORR_ALLOC(by_file, list->count, "photos by their names", error);
    for (int i = 0; i < list->count; i++) {
        if (list->photos[i].file) {
            by_file[named++] = &list->photos[i];
        }
    }
    qsort(by_file, (size_t)named, sizeof *by_file, compare_files);
    for (int i = 0; i < 3 && result == ORR_OK; i++) {
        result =
            read_part(root, keys[i], (orr_photo_part)(ORR_PHOTO_OF_TRAIN + i), by_file, named, list, error);
    }
    orr_free(by_file);
    return result;
}

static orr_result read_root(const orr_json *root, orr_photo_list *list, orr_error *error)
{
    orr_photo_lens lens = {.centre = {NAN, NAN}};
    ORR_TRY(read_lens(root, &lens, error));
    ORR_TRY(read_world(root, list, error));
    ORR_TRY(read_points(root, &list->points, error));
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(root, "frames", &node, &count, error));
    if (count == 0) {
        return orr_json_expected(root, "frames", error, "an array of at least one frame");
    }
    list->photos = orr_alloc_zero((size_t)count, sizeof *list->photos);
    if (!list->photos) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for %d frames", root->file, count);
    }
    list->count = count;
    for (int i = 0; i < count; i++, node = node->next) {
        orr_json frame;
        ORR_TRY(orr_json_element(root, "frames", i, node, &frame, error));
        ORR_TRY(read_frame(&frame, &lens, &list->photos[i], error));
    }
    return read_parts(root, list, error);
}

orr_result orr_transforms_parse(const char *text, const char *name, orr_photo_list *list, orr_error *error)
{
    *list = (orr_photo_list){0};
    orr_json root;
    ORR_TRY(orr_json_parse(text, name, ORR_CODE_CAMERA_FILE, &root, error));
    orr_result result = read_root(&root, list, error);
    orr_json_free(&root);
    if (result != ORR_OK) {
        orr_photo_list_free(list);
    }
    return result;
}
