#include "render/training/splat_points.h"

#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "neural/capture/colmap_points.h"
#include "render/formats/splat_bytes.h"

static orr_result make(orr_splat_points *points, int64_t count, orr_error *error)
{
    ORR_ALLOC(points->position, 3 * count, "points of a capture", error);
    ORR_ALLOC(points->colour, 3 * count, "points of a capture", error);
    points->count = count;
    return ORR_OK;
}

static orr_result read_colmap(const char *path, orr_bytes bytes, orr_splat_points *points, orr_error *error)
{
    orr_colmap_points found;
    ORR_TRY(orr_colmap_points_parse(path, bytes, orr_path_has_ending(path, ".txt"), &found, error));
    orr_result result = make(points, found.count, error);
    for (int64_t i = 0; result == ORR_OK && i < 3 * points->count; i++) {
        points->position[i] = found.position[i];
        points->colour[i] = (float)found.colour[i] / 255.0f;
    }
    orr_colmap_points_free(&found);
    return result;
}

static orr_result read_ply(const char *path, orr_bytes bytes, orr_splat_points *points, orr_error *error)
{
    const orr_splat_source source = {path, bytes.data, bytes.size};
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
        (orr_path_has_ending(path, ".ply") ? read_ply : read_colmap)(path, bytes, points, error);
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
    *points = (orr_splat_points){0};
}
