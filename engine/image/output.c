#include "engine/image/output.h"

#include "engine/core/entry.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/image/image.h"
#include "engine/image/video.h"

#include <stdio.h>
#include <string.h>

enum { SIDE_MAX = 16384 }; // [px]
static const double FRAMES_PER_SECOND = 30.0, FRAMES_PER_SECOND_MIN = 0.1, FRAMES_PER_SECOND_MAX = 1000.0;

typedef enum output_kind { OUTPUT_PNG = 1, OUTPUT_EXR, OUTPUT_NPY, OUTPUT_MP4 } output_kind;

struct orr_output {
    orr_output_desc desc; // path is our own copy; defaults filled in
    char *path;
    output_kind kind;
    bool numbered;
    bool finished;
    // of a video
    orr_video *video;
    uint8_t *video_bytes; // one frame
    int video_width, video_height;
    int64_t next; // index of the picture that has to come
};

// height x width x channels floats, rows from the top
typedef struct picture_values {
    const float *values;
    int width, height;
} picture_values;

// ---- numbered names ----

// Reads the %0Nd at `text` (a percent sign); returns its length, or 0 when it is no number. Digits: 0 for %d.
static size_t read_number(const char *text, int *digits)
{
    *digits = 0;
    if (text[1] == 'd') {
        return 2;
    }
    if (text[1] == '0' && text[2] >= '1' && text[2] <= '9' && text[3] == 'd') {
        *digits = text[2] - '0';
        return 4;
    }
    return 0;
}

static orr_result fail_pattern(const char *path, orr_error *error)
{
    return orr_fail(
        error, ORR_CODE_ARGUMENT,
        "%s: expected one %%d or %%0Nd (N 1 to 9) where the picture's number goes, and %%%% for a "
        "percent sign",
        path);
}

// whether the path has a number; a percent sign that is neither a number nor doubled is an error
static orr_result find_number(const char *path, bool *numbered, orr_error *error)
{
    *numbered = false;
    for (const char *p = path; *p; p++) {
        if (*p == '%') {
            int digits;
            size_t length = p[1] == '%' ? 2 : read_number(p, &digits);
            if (length == 0 || (p[1] != '%' && *numbered)) {
                return fail_pattern(path, error);
            }
            *numbered = *numbered || p[1] != '%';
            p += length - 1;
        }
    }
    return ORR_OK;
}

orr_result orr_output_file_name(const char *path, bool numbered, int64_t index, char **name, orr_error *error)
{
    *name = NULL;
    bool has_number;
    ORR_TRY(find_number(path, &has_number, error));
    if (has_number != numbered) {
        return fail_pattern(path, error);
    }
    size_t capacity = strlen(path) + 24; // a number takes at most 20
    char *text;
    ORR_ALLOC(text, capacity, "a file name", error);
    char *to = text;
    for (const char *p = path; *p; p++) {
        if (*p != '%') {
            *to++ = *p;
        } else if (p[1] == '%') {
            *to++ = *p++;
        } else {
            int digits;
            p += read_number(p, &digits) - 1;
            to += snprintf(to, capacity - (size_t)(to - text), "%0*lld", digits, (long long)index);
        }
    }
    *to = 0;
    *name = text;
    return ORR_OK;
}

// ---- outputs ----

static output_kind kind_of(const char *path)
{
    static const struct {
        const char *ending;
        output_kind kind;
    } kinds[] = {{".png", OUTPUT_PNG}, {".exr", OUTPUT_EXR}, {".npy", OUTPUT_NPY}, {".mp4", OUTPUT_MP4}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (orr_path_has_ending(path, kinds[i].ending)) {
            return kinds[i].kind;
        }
    }
    return 0;
}

static orr_result check(const orr_output_desc *desc, output_kind kind, bool numbered, orr_error *error)
{
    if (desc->channels < 1 || desc->channels > 4) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "%s: %d channels: expected 4, 3 for normals, 2 for flow or segmentation, or 1 for depth",
            desc->path, desc->channels);
    }
    if (desc->count < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %lld pictures: expected 0 or more", desc->path,
                        (long long)desc->count);
    }
    // written so that NaN fails
    if (!(desc->frames_per_second >= FRAMES_PER_SECOND_MIN &&
          desc->frames_per_second <= FRAMES_PER_SECOND_MAX)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %g frames per second: expected 0.1 to 1000",
                        desc->path, desc->frames_per_second);
    }
    if (!kind) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected a name that ends in .png, .exr, .npy or .mp4",
                        desc->path);
    }
    static const char *const numbers[] = {"depth", "flow or segmentation", "normals"};
    if (desc->channels < 4 && kind != OUTPUT_EXR && kind != OUTPUT_NPY) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s: expected a name that ends in .exr or .npy",
                        desc->path, numbers[desc->channels - 1]);
    }
    if (desc->transparent && kind == OUTPUT_MP4) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a video has no alpha: expected .png, .exr or .npy",
                        desc->path);
    }
    if (numbered && kind == OUTPUT_MP4) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a video is one file: expected a name without %%d",
                        desc->path);
    }
    if (desc->count != 1 && !numbered && kind != OUTPUT_MP4) {
        char many[32] = "any number of";
        if (desc->count > 1) {
            snprintf(many, sizeof many, "%lld", (long long)desc->count);
        }
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: %s pictures: expected a numbered name such as frame_%%04d%s, or .mp4",
                        desc->path, many, strrchr(desc->path, '.'));
    }
    return ORR_OK;
}

orr_result orr_output_create_sized(const orr_output_desc *given, size_t desc_size, orr_output **out,
                                   orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    orr_output_desc desc;
    ORR_TRY(orr_sized_read(&desc, sizeof desc, given, desc_size, "orr_output_desc", error));
    if (!desc.path) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a file for pictures: expected its path");
    }
    desc.channels = desc.channels ? desc.channels : 4;
    desc.frames_per_second = desc.frames_per_second == 0.0 ? FRAMES_PER_SECOND : desc.frames_per_second;
    bool numbered;
    ORR_TRY(find_number(desc.path, &numbered, error));
    output_kind kind = kind_of(desc.path);
    ORR_TRY(check(&desc, kind, numbered, error));
    char *path = NULL; // the path of a video is final, that of stills stays a pattern
    if (kind == OUTPUT_MP4) {
        ORR_TRY(orr_output_file_name(desc.path, false, 0, &path, error));
    } else {
        path = orr_path_beside("", desc.path);
    }
    orr_output *output = orr_alloc_zero(1, sizeof *output);
    if (!output || !path) {
        orr_free(output);
        orr_free(path);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", desc.path);
    }
    desc.path = path;
    *output = (orr_output){.desc = desc, .path = path, .kind = kind, .numbered = numbered};
    *out = output;
    return ORR_OK;
}

bool orr_output_in_order(const orr_output *output)
{
    return output->kind == OUTPUT_MP4;
}

// display bytes: over black, or with straight alpha
static void quantise(const float *rgba, int64_t pixels, bool transparent, uint8_t *bytes)
{
    orr_image_quantise(rgba, pixels, bytes);
    for (int64_t i = 0; i < pixels; i++) {
        float alpha = rgba[4 * i + 3];
        if (!transparent) {
            bytes[4 * i + 3] = 255;
        } else if (alpha > 0.0f && alpha < 1.0f) {
            float straight[4] = {rgba[4 * i] / alpha, rgba[4 * i + 1] / alpha, rgba[4 * i + 2] / alpha,
                                 alpha};
            orr_image_quantise(straight, 1, bytes + 4 * i);
        }
    }
}

static orr_result put_png(const char *name, picture_values picture, bool transparent, orr_error *error)
{
    int64_t pixels = (int64_t)picture.width * picture.height;
    uint8_t *bytes;
    ORR_ALLOC(bytes, 4 * pixels, "a picture", error);
    quantise(picture.values, pixels, transparent, bytes);
    orr_result result = orr_png_save(name, bytes, picture.width, picture.height, error);
    orr_free(bytes);
    return result;
}

orr_result orr_output_name(const orr_output *output, int64_t index, char **name, orr_error *error)
{
    if (output->kind == OUTPUT_MP4) {
        *name = orr_path_beside("", output->path);
        return *name ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", output->path);
    }
    return orr_output_file_name(output->path, output->numbered, index, name, error);
}

static orr_result put_still(const orr_output *output, int64_t index, picture_values picture, orr_error *error)
{
    char *name;
    ORR_TRY(orr_output_name(output, index, &name, error));
    orr_result result = ORR_OK;
    switch (output->kind) {
    case OUTPUT_PNG:
        result = put_png(name, picture, output->desc.transparent, error);
        break;
    case OUTPUT_EXR:
        result =
            orr_exr_save(name, picture.values, picture.width, picture.height, output->desc.channels, error);
        break;
    case OUTPUT_NPY:
        result =
            orr_npy_save(name, picture.values, picture.height, picture.width, output->desc.channels, error);
        break;
    case OUTPUT_MP4:
        break;
    }
    orr_free(name);
    return result;
}

static orr_result put_frame(orr_output *output, picture_values picture, orr_error *error)
{
    int64_t pixels = (int64_t)picture.width * picture.height;
    if (!output->video) {
        ORR_TRY(orr_video_begin(output->path, picture.width, picture.height, output->desc.frames_per_second,
                                &output->video, error));
        ORR_ALLOC(output->video_bytes, 4 * pixels, "a video frame", error);
        output->video_width = picture.width;
        output->video_height = picture.height;
    }
    if (picture.width != output->video_width || picture.height != output->video_height) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a picture of %d x %d in a video of %d x %d: expected one size", output->path,
                        picture.width, picture.height, output->video_width, output->video_height);
    }
    quantise(picture.values, pixels, false, output->video_bytes);
    return orr_video_add(output->video, output->video_bytes, error);
}

static orr_result check_picture(const orr_output *output, int64_t index, picture_values picture,
                                orr_error *error)
{
    int64_t count = output->desc.count;
    if (!picture.values || picture.width < 1 || picture.width > SIDE_MAX || picture.height < 1 ||
        picture.height > SIDE_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a picture of %d x %d: expected values and sides of 1 to %d", output->path,
                        picture.width, picture.height, SIDE_MAX);
    }
    if (index < 0 || (count > 0 && index >= count)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: picture %lld: expected 0 to %lld", output->path,
                        (long long)index, count > 0 ? (long long)count - 1 : (long long)INT64_MAX);
    }
    if (orr_output_in_order(output) && index != output->next) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: picture %lld of a video: expected picture %lld",
                        output->path, (long long)index, (long long)output->next);
    }
    return output->finished ? orr_fail(error, ORR_CODE_ARGUMENT, "%s: it is finished", output->path) : ORR_OK;
}

orr_result orr_output_put(orr_output *output, int64_t index, const float *values, int width, int height,
                          orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(output, error);
    const picture_values picture = {values, width, height};
    ORR_TRY(check_picture(output, index, picture, error));
    if (!orr_output_in_order(output)) {
        return put_still(output, index, picture, error);
    }
    ORR_TRY(put_frame(output, picture, error));
    output->next++;
    return ORR_OK;
}

orr_result orr_output_finish(orr_output *output, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(output, error);
    orr_video *video = output->video;
    bool empty = orr_output_in_order(output) && !video && !output->finished;
    output->finished = true;
    output->video = NULL;
    if (empty) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a video without pictures: expected at least one",
                        output->path);
    }
    return video ? orr_video_commit(video, error) : ORR_OK;
}

void orr_output_destroy(orr_output *output)
{
    if (!output) {
        return;
    }
    orr_video_abort(output->video);
    orr_free(output->video_bytes);
    orr_free(output->path);
    orr_free(output);
}
