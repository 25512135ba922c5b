// Pictures of a training while it runs: numbered ones in a folder, or one file that always shows the last.
#define _GNU_SOURCE
#include "samples/orrery/train/train.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_picture(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".png") == 0;
}

orr_result train_preview_check(const char *path, orr_error *error)
{
    orr_output *output;
    if (is_picture(path)) {
        ORR_TRY(orr_output_create(&(orr_output_desc){.path = path, .count = 1}, &output, error));
        orr_output_destroy(output);
        char folder[4096];
        snprintf(folder, sizeof folder, "%s", path);
        char *end = strrchr(folder, '/');
        strcpy(end ? end + (end == folder) : folder, end ? "" : ".");
        return access(folder, W_OK) == 0
                   ? ORR_OK
                   : orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: %s", path, strerror(errno));
    }
    return mkdir(path, 0777) == 0 || access(path, W_OK) == 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write into this folder", path);
}

static orr_result write_picture(const char *path, const float *rgba, int width, int height, orr_error *error)
{
    orr_output *output;
    ORR_TRY(orr_output_create(&(orr_output_desc){.path = path, .count = 1}, &output, error));
    orr_result result = orr_output_put(output, 0, rgba, width, height, error);
    if (result == ORR_OK) {
        result = orr_output_finish(output, error);
    }
    orr_output_destroy(output);
    return result;
}

orr_result train_preview_save(training *t, orr_error *error)
{
    char path[4096];
    orr_train_picture picture;
    snprintf(path, sizeof path, "%s", t->preview);
    if (!is_picture(path)) {
        snprintf(path, sizeof path, "%s/%s_%04d.png", t->preview, t->kind->name, t->previews++);
    }
    ORR_TRY(orr_trainer_picture(t->trainer, &picture, error));
    const size_t values = 4 * (size_t)picture.width * (size_t)picture.height;
    float *opaque = malloc(values * sizeof *opaque);
    if (!opaque) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    for (size_t i = 0; i < values; i++) { // over white
        const float alpha = picture.rgba[i / 4 * 4 + 3];
        opaque[i] = i % 4 == 3 ? 1.0f : picture.rgba[i] + 1.0f - alpha;
    }
    orr_result result = write_picture(path, opaque, picture.width, picture.height, error);
    free(opaque);
    return result;
}
