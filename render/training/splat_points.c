#include "render/training/splat_points.h"

#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "neural/capture/colmap_points.h"
#include "render/formats/splat_bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static orr_result make(orr_splat_points *points, int64_t count, orr_error *error)
{
    ORR_ALLOC(points->position, 3 * count, "points of a capture", error);
    ORR_ALLOC(points->colour, 3 * count, "points of a capture", error);
    points->count = count;
    return ORR_OK;
}

// ---- which image sees which point ----

typedef struct numbered_image {
    uint32_t id; // COLMAP's
    int image;   // of the capture
} numbered_image;

static int by_id(const void *a, const void *b)
{
    const uint32_t x = ((const numbered_image *)a)->id, y = ((const numbered_image *)b)->id;
    return (x > y) - (x < y);
}

static int image_of(const numbered_image *images, int count, uint32_t id)
{
    const numbered_image key = {.id = id};
    const numbered_image *found = bsearch(&key, images, (size_t)count, sizeof key, by_id);
    return found ? found->image : -1; // of a photo that is absent
}

// The points of each image, in their order, from the photos of each point.
static void sort_by_image(const numbered_image *images, int count, const orr_colmap_points *found,
                          int64_t *next, orr_splat_points *points)
{
    memset(points->first, 0, (size_t)(count + 1) * sizeof *points->first);
    for (int64_t k = 0; k < found->first[found->count]; k++) {
        const int image = image_of(images, count, found->photos[k]);
        points->first[image + 1] += image >= 0;
    }
    for (int i = 0; i < count; i++) {
        points->first[i + 1] += points->first[i];
        next[i] = points->first[i];
    }
    for (int p = 0; p < found->count; p++) {
        for (int64_t k = found->first[p]; k < found->first[p + 1]; k++) {
            const int image = image_of(images, count, found->photos[k]);
            if (image >= 0) {
                points->seen[next[image]++] = (uint32_t)p;
            }
        }
    }
}

static orr_result find_seen(const orr_capture *capture, const orr_colmap_points *found,
                            orr_splat_points *points, orr_error *error)
{
    const int count = capture->count;
    ORR_ALLOC(points->first, count + 1, "points of a capture", error);
    ORR_ALLOC(points->seen, found->first[found->count], "points of a capture", error);
    numbered_image *images = orr_alloc((size_t)count, sizeof *images);
    int64_t *next = orr_alloc((size_t)count, sizeof *next);
    const bool good = images && next;
    for (int i = 0; good && i < count; i++) {
        images[i] = (numbered_image){capture->images[i].id, i};
    }
    if (good) {
        qsort(images, (size_t)count, sizeof *images, by_id);
        sort_by_image(images, count, found, next, points);
    }
    orr_free(images);
    orr_free(next);
    return good ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: points of a capture");
}

// ---- files ----

static orr_result read_colmap(const orr_capture *capture, orr_bytes bytes, orr_splat_points *points,
                              orr_error *error)
{
    const char *path = capture->points;
    orr_colmap_points found;
    ORR_TRY(orr_colmap_points_parse(path, bytes, orr_path_has_ending(path, ".txt"), &found, error));
    orr_result result = make(points, found.count, error);
    for (int64_t i = 0; result == ORR_OK && i < 3 * points->count; i++) {
        points->position[i] = found.position[i];
        points->colour[i] = (float)found.colour[i] / 255.0f;
    }
    if (result == ORR_OK) {
        result = find_seen(capture, &found, points, error);
    }
    orr_colmap_points_free(&found);
    return result;
}

static orr_result read_ply(const orr_capture *capture, orr_bytes bytes, orr_splat_points *points,
                           orr_error *error)
{
    const orr_splat_source source = {capture->points, bytes.data, bytes.size};
    orr_splats *found;
    ORR_TRY(orr_read_ply(source, &found, error));
    orr_result result = make(points, found->data.count, error);
    for (int64_t i = 0; result == ORR_OK && i < 3 * points->count; i++) {
        points->position[i] = found->data.position[i];
        points->colour[i] = fminf(fmaxf(0.5f + ORR_SH_C0 * found->data.colour[i], 0.0f), 1.0f);
    }
    orr_splats_destroy(found);
    return result;
}

orr_result orr_splat_points_load(const orr_capture *capture, orr_log log, orr_splat_points *points,
                                 orr_error *error)
{
    const char *path = capture->points;
    orr_bytes bytes;
    *points = (orr_splat_points){0};
    if (!path) {
        return ORR_OK;
    }
    if (!orr_path_is_file(path)) {
        orr_log_line(log, ORR_LOG_WARNING, ORR_CODE_IGNORED, "%s: the capture's points are absent", path);
        return ORR_OK;
    }
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result =
        (orr_path_has_ending(path, ".ply") ? read_ply : read_colmap)(capture, bytes, points, error);
    orr_free(bytes.data);
    if (result != ORR_OK) {
        orr_splat_points_free(points);
    }
    return result;
}

void orr_splat_points_free(orr_splat_points *points)
{
    orr_free(points->position);
    orr_free(points->colour);
    orr_free(points->first);
    orr_free(points->seen);
    *points = (orr_splat_points){0};
}
