#include "neural/capture/colmap_points.h"

#include "engine/core/memory.h"
#include "neural/capture/colmap_cursor.h"

#include <math.h>

typedef struct point {
    double position[3], error;
    uint8_t colour[3];
    uint64_t photos; // that see it
} point;

static orr_result read_binary(orr_cursor *in, point *p, orr_error *error)
{
    uint64_t id;
    if (!orr_cursor_take(in, &id, 8) || !orr_cursor_take(in, p->position, 24) ||
        !orr_cursor_take(in, p->colour, 3) || !orr_cursor_take(in, &p->error, 8) ||
        !orr_cursor_take(in, &p->photos, 8) || p->photos > (size_t)(in->end - in->at) / 8) {
        return orr_cursor_fail(in, error, "a whole point: the file is cut short");
    }
    in->at += 8 * p->photos;
    return ORR_OK;
}

// POINT3D_ID X Y Z R G B ERROR, then pairs of an image and its point
static orr_result read_text(orr_cursor *line, point *p, orr_error *error)
{
    char word[32];
    uint64_t byte[3] = {0};
    bool good = orr_cursor_word(line, word, sizeof word);
    for (int k = 0; k < 3; k++) {
        good = good && orr_cursor_number(line, &p->position[k]);
    }
    for (int k = 0; k < 3; k++) {
        good = good && orr_cursor_whole(line, 255, &byte[k]);
        p->colour[k] = (uint8_t)byte[k];
    }
    if (!good || !orr_cursor_number(line, &p->error)) {
        return orr_cursor_fail(line, error, "POINT3D_ID X Y Z R G B ERROR");
    }
    uint64_t words = 0;
    while (orr_cursor_word(line, word, sizeof word)) {
        words++;
    }
    p->photos = words / 2;
    return ORR_OK;
}

static void keep(const point *p, orr_colmap_points *points)
{
    float v[3];
    for (int k = 0; k < 3; k++) {
        v[k] = (float)p->position[k];
    }
    if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2]) || !isfinite(p->error)) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        points->position[3 * (size_t)points->count + (size_t)k] = v[k];
        points->colour[3 * (size_t)points->count + (size_t)k] = p->colour[k];
    }
    points->count++;
    points->mean_error += p->error;
    points->mean_photos += (double)p->photos;
}

static orr_result read_points(orr_cursor *in, orr_colmap_points *points, orr_error *error)
{
    int count = 0;
    orr_cursor lines = *in, line;
    if (in->text) {
        while (count < ORR_COLMAP_POINTS_MAX && orr_cursor_line(&lines, false, &line)) {
            count++;
        }
    } else {
        ORR_TRY(orr_cursor_count(in, 51, ORR_COLMAP_POINTS_MAX, &count, error));
    }
    ORR_ALLOC(points->position, 3 * (int64_t)count, "points of a COLMAP model", error);
    ORR_ALLOC(points->colour, 3 * (int64_t)count, "points of a COLMAP model", error);
    for (int i = 0; i < count; i++) {
        point p = {0};
        if (in->text) {
            orr_cursor_line(in, false, &line);
            ORR_TRY(read_text(&line, &p, error));
        } else {
            ORR_TRY(read_binary(in, &p, error));
        }
        keep(&p, points);
    }
    if (points->count > 0) {
        points->mean_error /= points->count;
        points->mean_photos /= points->count;
    }
    return ORR_OK;
}

orr_result orr_colmap_points_parse(const char *name, orr_bytes bytes, bool text, orr_colmap_points *points,
                                   orr_error *error)
{
    *points = (orr_colmap_points){0};
    orr_cursor in = {name, bytes.data, bytes.data + bytes.size, text, 0};
    orr_result result = read_points(&in, points, error);
    if (result != ORR_OK) {
        orr_colmap_points_free(points);
    }
    return result;
}

void orr_colmap_points_free(orr_colmap_points *points)
{
    orr_free(points->position);
    orr_free(points->colour);
    *points = (orr_colmap_points){0};
}
