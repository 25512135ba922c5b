#include "neural/capture/colmap_points.h"

#include "engine/core/memory.h"
#include "neural/capture/colmap_cursor.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct point {
    double position[3], error;
    uint8_t colour[3];
    uint64_t photos; // that see it
} point;

// photos: room for those that see the point.
static orr_result read_binary(orr_cursor *in, point *p, uint32_t *photos, orr_error *error)
{
    uint64_t id;
    if (!orr_cursor_take(in, &id, 8) || !orr_cursor_take(in, p->position, 24) ||
        !orr_cursor_take(in, p->colour, 3) || !orr_cursor_take(in, &p->error, 8) ||
        !orr_cursor_take(in, &p->photos, 8) || p->photos > (size_t)(in->end - in->at) / 8) {
        return orr_cursor_fail(in, error, "a whole point: the file is cut short");
    }
    for (uint64_t i = 0; i < p->photos; i++) { // a photo, and the number of the point in it
        memcpy(&photos[i], in->at + 8 * i, sizeof *photos);
    }
    in->at += 8 * p->photos;
    return ORR_OK;
}

static bool has_more(orr_cursor *line)
{
    while (line->at < line->end && isspace(*line->at)) {
        line->at++;
    }
    return line->at < line->end;
}

// POINT3D_ID X Y Z R G B ERROR, then pairs of an image and its point
static orr_result read_text(orr_cursor *line, point *p, uint32_t *photos, orr_error *error)
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
    while (has_more(line)) {
        uint64_t id;
        if (!orr_cursor_whole(line, UINT32_MAX, &id) || !orr_cursor_word(line, word, sizeof word)) {
            return orr_cursor_fail(line, error, "pairs of IMAGE_ID POINT2D_IDX behind ERROR");
        }
        photos[p->photos++] = (uint32_t)id;
    }
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
    points->error[points->count] = p->error;
    points->first[points->count + 1] = points->first[points->count] + (int64_t)p->photos;
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
    ORR_ALLOC(points->error, count, "points of a COLMAP model", error);
    ORR_ALLOC(points->first, (int64_t)count + 1, "points of a COLMAP model", error);
    // a photo of a point takes at least so many bytes of the file
    ORR_ALLOC(points->photos, (in->end - in->at) / (in->text ? 4 : 8) + 1, "points of a COLMAP model", error);
    points->first[0] = 0;
    for (int i = 0; i < count; i++) {
        point p = {0};
        uint32_t *photos = points->photos + points->first[points->count];
        if (in->text) {
            orr_cursor_line(in, false, &line);
            ORR_TRY(read_text(&line, &p, photos, error));
        } else {
            ORR_TRY(read_binary(in, &p, photos, error));
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
    orr_free(points->error);
    orr_free(points->first);
    orr_free(points->photos);
    *points = (orr_colmap_points){0};
}

// ---- which photo sees which point ----

typedef struct numbered_photo {
    uint32_t id;
    int number; // in the list
} numbered_photo;

static int by_id(const void *a, const void *b)
{
    const uint32_t x = ((const numbered_photo *)a)->id, y = ((const numbered_photo *)b)->id;
    return (x > y) - (x < y);
}

static orr_result number_photos(const orr_colmap_points *points, const uint32_t *ids, int count, int *image,
                                orr_error *error)
{
    numbered_photo *photos;
    ORR_ALLOC(photos, count, "points of a COLMAP model", error);
    for (int i = 0; i < count; i++) {
        photos[i] = (numbered_photo){ids[i], i};
    }
    qsort(photos, (size_t)count, sizeof *photos, by_id);
    for (int64_t k = 0; k < points->first[points->count]; k++) {
        const numbered_photo key = {.id = points->photos[k]};
        const numbered_photo *found = bsearch(&key, photos, (size_t)count, sizeof key, by_id);
        image[k] = found ? found->number : -1;
    }
    orr_free(photos);
    return ORR_OK;
}

// The points of each photo, in their order, from the photos of each point.
static orr_result sort_by_photo(const orr_colmap_points *points, int count, const orr_colmap_sights *sights,
                                orr_error *error)
{
    int64_t *next, *first = sights->first;
    ORR_ALLOC(next, count, "points of a COLMAP model", error);
    memset(first, 0, (size_t)(count + 1) * sizeof *first);
    for (int64_t k = 0; k < points->first[points->count]; k++) {
        if (sights->image[k] >= 0) {
            first[sights->image[k] + 1]++;
        }
    }
    for (int i = 0; i < count; i++) {
        first[i + 1] += first[i];
        next[i] = first[i];
    }
    for (int p = 0; p < points->count; p++) {
        for (int64_t k = points->first[p]; k < points->first[p + 1]; k++) {
            if (sights->image[k] >= 0) {
                sights->seen[next[sights->image[k]]++] = (uint32_t)p;
            }
        }
    }
    orr_free(next);
    return ORR_OK;
}

static orr_result find_sights(const orr_colmap_points *points, const uint32_t *ids, int count,
                              orr_colmap_sights *sights, orr_error *error)
{
    const int64_t all = points->first[points->count];
    ORR_ALLOC(sights->image, all, "points of a COLMAP model", error);
    ORR_ALLOC(sights->seen, all, "points of a COLMAP model", error);
    ORR_ALLOC(sights->first, (int64_t)count + 1, "points of a COLMAP model", error);
    ORR_TRY(number_photos(points, ids, count, sights->image, error));
    return sort_by_photo(points, count, sights, error);
}

orr_result orr_colmap_sights_find(const orr_colmap_points *points, const uint32_t *ids, int count,
                                  orr_colmap_sights *sights, orr_error *error)
{
    *sights = (orr_colmap_sights){0};
    orr_result result = find_sights(points, ids, count, sights, error);
    if (result != ORR_OK) {
        orr_colmap_sights_free(sights);
    }
    return result;
}

void orr_colmap_sights_free(orr_colmap_sights *sights)
{
    orr_free(sights->image);
    orr_free(sights->first);
    orr_free(sights->seen);
    *sights = (orr_colmap_sights){0};
}
