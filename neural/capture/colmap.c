#include "neural/capture/colmap.h"

#include "engine/core/memory.h"
#include "engine/core/number.h"
#include "engine/core/vector.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MAX = 8, IMAGES_MAX = 1 << 20 };

static const struct lens_model {
    const char *name;
    int parameters; // 0: a lens we do not read
} models[] = {
    {"SIMPLE_PINHOLE", 3},
    {"PINHOLE", 4},
    {"SIMPLE_RADIAL", 4},
    {"RADIAL", 5},
    {"OPENCV", 8},
    {"OPENCV_FISHEYE", 0},
    {"FULL_OPENCV", 0},
    {"FOV", 0},
    {"SIMPLE_RADIAL_FISHEYE", 0},
    {"RADIAL_FISHEYE", 0},
    {"THIN_PRISM_FISHEYE", 0},
    {"RAD_TAN_THIN_PRISM_FISHEYE", 0},
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

// A position in one file. Text is read line by line, and numbers of a line one by one.
typedef struct cursor {
    const char *name;
    const uint8_t *at, *end;
    bool text;
    int line; // text: for messages
} cursor;

static orr_result bad(const cursor *in, orr_error *error, const char *expected)
{
    if (in->text) {
        return orr_fail(error, ORR_CODE_CAMERA_FILE, "%s: line %d: expected %s", in->name, in->line,
                        expected);
    }
    return orr_fail(error, ORR_CODE_CAMERA_FILE, "%s: expected %s", in->name, expected);
}

// ---- binary ----

static bool take(cursor *in, void *value, size_t size)
{
    if ((size_t)(in->end - in->at) < size) {
        return false;
    }
    memcpy(value, in->at, size); // little endian, as this machine
    in->at += size;
    return true;
}

static orr_result take_count(cursor *in, size_t smallest, int *count, orr_error *error)
{
    uint64_t value;
    if (!take(in, &value, sizeof value)) {
        return bad(in, error, "a count of 8 bytes: the file is cut short");
    }
    if (value > IMAGES_MAX || value * smallest > (size_t)(in->end - in->at)) {
        return bad(in, error, "as many entries as its count says: the file is cut short");
    }
    *count = (int)value;
    return ORR_OK;
}

// ---- text ----

// The next line that is neither a comment nor, unless requested, empty. False: the file ends.
static bool next_line(cursor *in, bool empty_too, cursor *line)
{
    while (in->at < in->end) {
        const uint8_t *start = in->at, *stop = memchr(start, '\n', (size_t)(in->end - start));
        stop = stop ? stop : in->end;
        in->at = stop < in->end ? stop + 1 : stop;
        in->line++;
        *line = (cursor){in->name, start, stop, true, in->line};
        while (line->at < line->end && isspace(*line->at)) {
            line->at++;
        }
        while (line->end > line->at && isspace(line->end[-1])) {
            line->end--;
        }
        if (start < stop && *start == '#') {
            continue;
        }
        if (empty_too || line->at < line->end) {
            return true;
        }
    }
    return false;
}

static bool next_word(cursor *line, char *word, size_t size)
{
    while (line->at < line->end && isspace(*line->at)) {
        line->at++;
    }
    size_t length = 0;
    while (line->at < line->end && !isspace(*line->at)) {
        if (length + 1 >= size) {
            return false;
        }
        word[length++] = (char)*line->at++;
    }
    word[length] = 0;
    return length > 0;
}

static bool next_number(cursor *line, double *value)
{
    char word[64];
    const char *stop;
    if (!next_word(line, word, sizeof word)) {
        return false;
    }
    *value = orr_number_parse(word, &stop);
    return *stop == 0 && isfinite(*value);
}

static bool next_whole(cursor *line, uint64_t limit, uint64_t *value)
{
    double number;
    if (!next_number(line, &number) || !(number >= 0.0) || number > (double)limit ||
        number != floor(number)) {
        return false;
    }
    *value = (uint64_t)number;
    return true;
}

// ---- cameras ----

static orr_result make_lens(const cursor *in, int model, uint64_t width, uint64_t height, const double *p,
                            orr_photo_lens *lens, orr_error *error)
{
    int focals = model == 1 || model == 4 ? 2 : 1; // PINHOLE and OPENCV have one for each axis
    const double *rest = p + focals + 2;
    for (int i = 0; i < models[model].parameters; i++) {
        if (!isfinite((float)p[i])) {
            return bad(in, error, "finite lens parameters");
        }
    }
    if (width < 1 || height < 1 || width > 16384 || height > 16384) {
        return bad(in, error, "a camera of 1 to 16384 pixels a side");
    }
    *lens = (orr_photo_lens){.size = {(double)width, (double)height},
                             .focal = {p[0], p[focals - 1]},
                             .centre = {p[focals], p[focals + 1]}};
    if (!(lens->focal[0] > 0.0) || !(lens->focal[1] > 0.0)) {
        return bad(in, error, "a focal length above 0");
    }
    if (model >= 2) {
        lens->radial[0] = rest[0];
        lens->radial[1] = model >= 3 ? rest[1] : 0.0;
    }
    if (model == 4) {
        lens->tangential[0] = rest[2];
        lens->tangential[1] = rest[3];
    }
    return ORR_OK;
}

static orr_result check_model(const cursor *in, int model, orr_error *error)
{
    char expected[128];
    if (model >= 0 && model < MODELS && models[model].parameters > 0) {
        return ORR_OK;
    }
    snprintf(expected, sizeof expected,
             "a lens of SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL or OPENCV, not %s",
             model >= 0 && model < MODELS ? models[model].name : "another");
    return bad(in, error, expected);
}

static orr_result read_camera_binary(cursor *in, colmap_camera *camera, orr_error *error)
{
    int32_t model;
    uint64_t size[2];
    double parameters[PARAMETERS_MAX];
    if (!take(in, &camera->id, 4) || !take(in, &model, 4) || !take(in, size, 16)) {
        return bad(in, error, "a whole camera: the file is cut short");
    }
    ORR_TRY(check_model(in, model, error));
    if (!take(in, parameters, 8 * (size_t)models[model].parameters)) {
        return bad(in, error, "a whole camera: the file is cut short");
    }
    return make_lens(in, model, size[0], size[1], parameters, &camera->lens, error);
}

static orr_result read_camera_text(cursor *line, colmap_camera *camera, orr_error *error)
{
    uint64_t id, size[2];
    char name[64];
    double parameters[PARAMETERS_MAX];
    int model = 0;
    if (!next_whole(line, UINT32_MAX, &id) || !next_word(line, name, sizeof name) ||
        !next_whole(line, 16384, &size[0]) || !next_whole(line, 16384, &size[1])) {
        return bad(line, error, "CAMERA_ID MODEL WIDTH HEIGHT PARAMETERS");
    }
    while (model < MODELS && strcmp(models[model].name, name) != 0) {
        model++;
    }
    ORR_TRY(check_model(line, model, error));
    for (int i = 0; i < models[model].parameters; i++) {
        if (!next_number(line, &parameters[i])) {
            return bad(line, error, "all parameters of the lens");
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

static orr_result read_cameras(cursor *in, colmap_cameras *cameras, orr_error *error)
{
    int count = 0;
    if (in->text) {
        cursor lines = *in, line;
        while (next_line(&lines, false, &line)) {
            count++;
        }
    } else {
        ORR_TRY(take_count(in, 24, &count, error));
    }
    ORR_ALLOC(cameras->items, count, "cameras", error);
    for (int i = 0; i < count; i++) {
        cursor line;
        if (in->text) {
            next_line(in, false, &line);
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
static orr_result make_photo(const cursor *in, const double q[4], const double t[3], uint32_t camera,
                             const colmap_cameras *cameras, const char *name, size_t length, orr_photo *photo,
                             orr_error *error)
{
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), r[9];
    bool finite = fabs(t[0]) < 1e12 && fabs(t[1]) < 1e12 && fabs(t[2]) < 1e12;
    if (!(fabs(norm - 1.0) < 1e-2) || !finite) {
        return bad(in, error, "a pose: a unit quaternion and a finite translation");
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
        return bad(in, error, "images that name a camera of the camera file");
    }
    if (length == 0) {
        return bad(in, error, "the name of an image");
    }
    photo->lens = found->lens;
    photo->sharpness = 1.0;
    ORR_ALLOC(photo->file, length + 1, "a file name", error);
    memcpy(photo->file, name, length);
    photo->file[length] = 0;
    return ORR_OK;
}

static orr_result read_image_binary(cursor *in, const colmap_cameras *cameras, orr_photo *photo,
                                    orr_error *error)
{
    static const char cut_short[] = "a whole image: the file is cut short";
    uint32_t id, camera;
    double q[4], t[3];
    uint64_t points;
    if (!take(in, &id, 4) || !take(in, q, sizeof q) || !take(in, t, sizeof t) || !take(in, &camera, 4)) {
        return bad(in, error, cut_short);
    }
    const char *name = (const char *)in->at;
    const uint8_t *stop = memchr(in->at, 0, (size_t)(in->end - in->at));
    if (!stop) {
        return bad(in, error, cut_short);
    }
    size_t length = (size_t)(stop - in->at);
    in->at = stop + 1;
    if (!take(in, &points, sizeof points) || points > (size_t)(in->end - in->at) / 24) {
        return bad(in, error, cut_short);
    }
    in->at += 24 * points; // where it saw which point: x, y, number
    return make_photo(in, q, t, camera, cameras, name, length, photo, error);
}

// IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME; the name may hold spaces
static orr_result read_image_text(cursor *line, const colmap_cameras *cameras, orr_photo *photo,
                                  orr_error *error)
{
    uint64_t id, camera;
    double v[7];
    bool good = next_whole(line, UINT32_MAX, &id);
    for (int i = 0; i < 7; i++) {
        good = good && next_number(line, &v[i]);
    }
    if (!good || !next_whole(line, UINT32_MAX, &camera)) {
        return bad(line, error, "IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME");
    }
    while (line->at < line->end && isspace(*line->at)) {
        line->at++;
    }
    return make_photo(line, v, v + 4, (uint32_t)camera, cameras, (const char *)line->at,
                      (size_t)(line->end - line->at), photo, error);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const orr_photo *)a)->file, ((const orr_photo *)b)->file);
}

static orr_result read_images(cursor *in, const colmap_cameras *cameras, orr_photo_list *list,
                              orr_error *error)
{
    int count = 0;
    cursor lines = *in, line;
    if (in->text) { // two lines each; the second has points and may be empty
        while (next_line(&lines, false, &line) && count < IMAGES_MAX) {
            next_line(&lines, true, &line);
            count++;
        }
    } else {
        ORR_TRY(take_count(in, 73, &count, error));
    }
    if (count == 0) {
        return bad(in, error, "at least one image");
    }
    list->photos = orr_alloc_zero((size_t)count, sizeof *list->photos);
    if (!list->photos) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for %d images", in->name, count);
    }
    list->count = count;
    for (int i = 0; i < count; i++) {
        if (in->text) {
            cursor points;
            next_line(in, false, &line);
            ORR_TRY(read_image_text(&line, cameras, &list->photos[i], error));
            next_line(in, true, &points);
        } else {
            ORR_TRY(read_image_binary(in, cameras, &list->photos[i], error));
        }
    }
    qsort(list->photos, (size_t)count, sizeof *list->photos, by_name);
    return ORR_OK;
}

// ---- the world ----

static void normalise(double v[3])
{
    double length = vec3_length(v);
    for (int i = 0; i < 3; i++) {
        v[i] = length > 1e-9 ? v[i] / length : i == 2;
    }
}

// Three axes, the third along the photos' mean up.
static void level_axes(const orr_photo_list *list, double axes[3][3])
{
    double *x = axes[0], *y = axes[1], *z = axes[2];
    memset(axes, 0, 9 * sizeof(double));
    for (int i = 0; i < list->count; i++) {
        for (int k = 0; k < 3; k++) {
            z[k] -= (double)list->photos[i].pose[4 * k + 1];
        }
    }
    normalise(z);
    int least =
        fabs(z[0]) < fabs(z[1]) ? (fabs(z[0]) < fabs(z[2]) ? 0 : 2) : (fabs(z[1]) < fabs(z[2]) ? 1 : 2);
    for (int k = 0; k < 3; k++) {
        x[k] = (k == least) - z[least] * z[k];
    }
    normalise(x);
    vec3_cross(z, x, y);
}

// The point nearest to all photos' axes by least squares, drawn a little to the photos' middle so that
// parallel axes have one too.
static void middle_of_attention(const orr_photo_list *list, double middle[3])
{
    double a[3][4] = {{0}};
    for (int n = 0; n < list->count; n++) {
        const float *m = list->photos[n].pose;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double weight = (1.0 + 1e-3) * (i == j) - (double)m[4 * i + 2] * (double)m[4 * j + 2];
                a[i][j] += weight;
                a[i][3] += weight * (double)m[4 * j + 3];
            }
        }
    }
    for (int i = 0; i < 3; i++) { // symmetric and positive: no pivots needed
        for (int k = i + 1; k < 3; k++) {
            double factor = a[k][i] / a[i][i];
            for (int j = i; j < 4; j++) {
                a[k][j] -= factor * a[i][j];
            }
        }
    }
    for (int i = 2; i >= 0; i--) {
        double sum = a[i][3];
        for (int j = i + 1; j < 3; j++) {
            sum -= a[i][j] * middle[j];
        }
        middle[i] = sum / a[i][i];
    }
}

static void fit_world(orr_photo_list *list)
{
    double axes[3][3], middle[3], distance = 0.0;
    level_axes(list, axes);
    middle_of_attention(list, middle);
    for (int n = 0; n < list->count; n++) {
        const float *m = list->photos[n].pose;
        double d[3] = {(double)m[3] - middle[0], (double)m[7] - middle[1], (double)m[11] - middle[2]};
        distance += vec3_length(d) / list->count;
    }
    double scale = 0.33 * (distance > 1e-9 ? 4.0 / distance : 1.0);
    for (int i = 0; i < 3; i++) {
        const double *axis = axes[(i + 1) % 3]; // cycled, as orr_unit_map does
        double offset = 0.0;
        for (int j = 0; j < 3; j++) {
            list->to_unit[4 * i + j] = (float)(scale * axis[j]);
            offset += axis[j] * middle[j];
        }
        list->to_unit[4 * i + 3] = (float)(0.5 - scale * offset);
    }
    list->aabb_scale = 16;
}

orr_result orr_colmap_parse(const orr_colmap_source *source, orr_photo_list *list, orr_error *error)
{
    *list = (orr_photo_list){0};
    const uint8_t *c = source->cameras.data, *i = source->images.data;
    cursor camera_file = {source->cameras_name, c, c + source->cameras.size, source->text, 0};
    cursor image_file = {source->images_name, i, i + source->images.size, source->text, 0};
    colmap_cameras cameras = {0};
    orr_result result = read_cameras(&camera_file, &cameras, error);
    if (result == ORR_OK) {
        result = read_images(&image_file, &cameras, list, error);
    }
    orr_free(cameras.items);
    if (result == ORR_OK) {
        fit_world(list);
    } else {
        orr_photo_list_free(list);
    }
    return result;
}
