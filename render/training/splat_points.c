#include "render/training/splat_points.h"

#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "neural/capture/colmap_points.h"
#include "render/formats/splat_bytes.h"

#include <math.h>

static orr_result make(orr_splat_points *points, int64_t count, orr_error *error)
{
    ORR_ALLOC(points->position, 3 * count, "points of a capture", error);
    ORR_ALLOC(points->colour, 3 * count, "points of a capture", error);
    points->count = count;
    return ORR_OK;
}

static orr_result find_seen(const orr_capture *capture, const orr_colmap_points *found,
                            orr_splat_points *points, orr_error *error)
{
    uint32_t *ids;
    orr_colmap_sights sights;
    ORR_ALLOC(ids, capture->count, "points of a capture", error);
    for (int i = 0; i < capture->count; i++) {
        ids[i] = capture->images[i].id;
    }
    orr_result result = orr_colmap_sights_find(found, ids, capture->count, &sights, error);
    orr_free(ids);
    ORR_TRY(result);
    points->first = sights.first;
    points->seen = sights.seen;
    sights.first = NULL;
    sights.seen = NULL;
    orr_colmap_sights_free(&sights);
    return ORR_OK;
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
