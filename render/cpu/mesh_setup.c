// Triangles made ready for the tiles: cut, oriented, with their plane of nearness; and the tiles' lists.
#include "render/cpu/mesh_raster_stages.h"

#include <math.h>
#include <string.h>

enum { CORNERS_MAX = 8 }; // a triangle cut by five planes

// A corner of a triangle being cut.
typedef struct corner {
    double p[3];             // camera space
    const mesh_point *point; // NULL: made by a cut
} corner;

static double perspective(const mesh_raster *raster, double z)
{
    return raster->lens.orthographic ? 1.0 : z;
}

// How far inside bound b a point is: near, left, right, top, bottom of the guard band; >= 0 is inside.
static double inside(const mesh_raster *raster, const double p[3], int b)
{
    const orr_lens *lens = &raster->lens;
    if (b == 0) {
        return p[2] - (double)lens->near_plane;
    }
    int axis = b > 2;
    double w = perspective(raster, p[2]);
    double at = (double)lens->focal[axis] * p[axis] + (double)lens->centre[axis] * w; // w times pixels
    double size = axis ? lens->height : lens->width;
    return b % 2 ? at + MESH_GUARD * w : (size + MESH_GUARD) * w - at;
}

// Sutherland and Hodgman: what of the polygon is inside bound b. A cut is always computed from the inner
// corner to the outer one, so that triangles that share the edge get the same point.
static int cut(const mesh_raster *raster, const corner *from, int count, int b, corner *to)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const corner *a = &from[i], *c = &from[(i + 1) % count];
        double inside_a = inside(raster, a->p, b), inside_c = inside(raster, c->p, b);
        if (inside_a >= 0.0) {
            to[kept++] = *a;
        }
        if ((inside_a >= 0.0) != (inside_c >= 0.0)) {
            const corner *in = inside_a >= 0.0 ? a : c, *out = inside_a >= 0.0 ? c : a;
            double inside_in = inside_a >= 0.0 ? inside_a : inside_c;
            double inside_out = inside_a >= 0.0 ? inside_c : inside_a;
            double t = inside_in / (inside_in - inside_out);
            for (int k = 0; k < 3; k++) {
                to[kept].p[k] = in->p[k] + t * (out->p[k] - in->p[k]);
            }
            to[kept++].point = NULL;
        }
    }
    return kept;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

// The plane of nearness of a triangle; false when it is seen edge-on or its corners are beyond float.
static bool set_plane(const mesh_raster *raster, const double a[3], const double b[3], const double c[3],
                      mesh_record *record)
{
    const orr_lens *lens = &raster->lens;
    double ab_x = b[0] - a[0], ab_y = b[1] - a[1], ab_z = b[2] - a[2];
    double ac_x = c[0] - a[0], ac_y = c[1] - a[1], ac_z = c[2] - a[2];
    double normal_x = ab_y * ac_z - ab_z * ac_y;
    double normal_y = ab_z * ac_x - ab_x * ac_z;
    double normal_z = ab_x * ac_y - ab_y * ac_x;
    double distance = normal_x * a[0] + normal_y * a[1] + normal_z * a[2];
    double near_plane = (double)lens->near_plane;
    double shallow = least(a[2], least(b[2], c[2])), deep = most(a[2], most(b[2], c[2]));
    double slope_x = normal_x / (double)lens->focal[0], slope_y = normal_y / (double)lens->focal[1];
    double at_centre = (double)lens->centre[0] * slope_x + (double)lens->centre[1] * slope_y;
    double divisor = lens->orthographic ? normal_z : distance;
    if (!(fabs(divisor) > 0.0) || !isfinite(distance)) {
        return false;
    }
    shallow = most(shallow, near_plane);
    deep = most(deep, near_plane);
    record->nearest = (float)(lens->orthographic ? -shallow : 1.0 / shallow);
    record->farthest = (float)(lens->orthographic ? -deep : 1.0 / deep);
    record->across = slope_x / divisor;
    record->down = slope_y / divisor;
    record->nearness = ((lens->orthographic ? -distance : normal_z) - at_centre) / divisor;
    return true;
}

static int32_t lowest(const int32_t v[3])
{
    int32_t low = v[0] < v[1] ? v[0] : v[1];
    return low < v[2] ? low : v[2];
}

static int32_t highest(const int32_t v[3])
{
    int32_t high = v[0] > v[1] ? v[0] : v[1];
    return high > v[2] ? high : v[2];
}

// Appends a triangle of screen positions unless it faces away or touches no pixel centre. `plane` has its
// other members.
static void add_record(const mesh_raster *raster, mesh_chunk *chunk, const mesh_record *plane,
                       const int32_t x[3], const int32_t y[3])
{
    int64_t area = (int64_t)(x[1] - x[0]) * (y[2] - y[0]) - (int64_t)(x[2] - x[0]) * (y[1] - y[0]);
    bool front = area < 0; // counter-clockwise, but y points down
    if (area == 0 || (!front && !raster->surfaces[chunk->surface].material->two_sided)) {
        return;
    }
    if (mesh_first_pixel(lowest(x)) > mesh_last_pixel(highest(x), raster->lens.width) ||
        mesh_first_pixel(lowest(y)) > mesh_last_pixel(highest(y), raster->lens.height)) {
        return;
    }
    mesh_record *record = &raster->records[chunk->record_first + chunk->record_count++];
    *record = *plane;
    for (int i = 0; i < 3; i++) {
        int from = front ? (3 - i) % 3 : i;
        record->x[i] = x[from];
        record->y[i] = y[from];
    }
}

static int32_t snap(const mesh_raster *raster, const double p[3], int axis)
{
    double pixels = (double)raster->lens.focal[axis] * p[axis] / perspective(raster, p[2]) +
                    (double)raster->lens.centre[axis];
    return (int32_t)floor(pixels * MESH_SUBPIXELS + 0.5);
}

static void set_up_cut(const mesh_raster *raster, mesh_chunk *chunk, const mesh_record *plane,
                       const corner corners[3])
{
    corner polygon[2][CORNERS_MAX + 1];
    int count = 3;
    for (int i = 0; i < 3; i++) {
        polygon[0][i] = corners[i];
    }
    for (int b = 0; b < 5; b++) {
        count = cut(raster, polygon[b % 2], count, b, polygon[(b + 1) % 2]);
    }
    const corner *left = polygon[1];
    int32_t x[CORNERS_MAX + 1], y[CORNERS_MAX + 1];
    for (int i = 0; i < count; i++) {
        const mesh_point *point = left[i].point;
        bool whole = point && !(point->out & (MESH_OUT_NEAR | MESH_OUT_GUARD));
        // corners that were not cut stand exactly where the triangle's neighbours have them
        x[i] = whole ? point->screen_x : snap(raster, left[i].p, 0);
        y[i] = whole ? point->screen_y : snap(raster, left[i].p, 1);
    }
    for (int i = 2; i < count; i++) {
        add_record(raster, chunk, plane, (int32_t[]){x[0], x[i - 1], x[i]},
                   (int32_t[]){y[0], y[i - 1], y[i]});
    }
}

void orr_mesh_set_up(const mesh_raster *raster, mesh_chunk *chunk)
{
    const mesh_instance *instance = raster->surfaces[chunk->surface].instance;
    chunk->record_count = 0;
    for (uint32_t i = 0; i < chunk->kept_count; i++) {
        const uint32_t *index = instance->mesh->indices + 3 * (size_t)chunk->kept[i];
        corner corners[3];
        int32_t x[3], y[3], out = 0;
        for (int k = 0; k < 3; k++) {
            const mesh_point *point = &instance->points[index[k]];
            corners[k] = (corner){{(double)point->x, (double)point->y, (double)point->z}, point};
            x[k] = point->screen_x;
            y[k] = point->screen_y;
            out |= point->out;
        }
        mesh_record plane = {.triangle = chunk->kept[i], .surface = chunk->surface};
        if (!set_plane(raster, corners[0].p, corners[1].p, corners[2].p, &plane)) {
            continue;
        }
        if (out & (MESH_OUT_NEAR | MESH_OUT_GUARD)) {
            set_up_cut(raster, chunk, &plane, corners);
        } else {
            add_record(raster, chunk, &plane, x, y);
        }
    }
}

typedef struct tile_range {
    int left, right, top, bottom; // inclusive
} tile_range;

static tile_range tiles_of(const mesh_raster *raster, const mesh_record *record)
{
    return (tile_range){mesh_first_pixel(lowest(record->x)) / MESH_TILE,
                        mesh_last_pixel(highest(record->x), raster->lens.width) / MESH_TILE,
                        mesh_first_pixel(lowest(record->y)) / MESH_TILE,
                        mesh_last_pixel(highest(record->y), raster->lens.height) / MESH_TILE};
}

void orr_mesh_bin_count(const mesh_raster *raster, int group)
{
    size_t tiles = (size_t)raster->columns * (size_t)raster->rows;
    uint32_t *counts = raster->group_bins + (size_t)group * tiles;
    memset(counts, 0, tiles * sizeof *counts);
    for (int c = raster->group_chunks[group]; c < raster->group_chunks[group + 1]; c++) {
        const mesh_chunk *chunk = &raster->chunks[c];
        for (uint32_t i = 0; i < chunk->record_count; i++) {
            tile_range range = tiles_of(raster, &raster->records[chunk->record_first + i]);
            for (int y = range.top; y <= range.bottom; y++) {
                for (int x = range.left; x <= range.right; x++) {
                    counts[y * raster->columns + x]++;
                }
            }
        }
    }
}

void orr_mesh_bin_fill(const mesh_raster *raster, int group)
{
    uint32_t *next = raster->group_bins + (size_t)group * (size_t)raster->columns * (size_t)raster->rows;
    for (int c = raster->group_chunks[group]; c < raster->group_chunks[group + 1]; c++) {
        const mesh_chunk *chunk = &raster->chunks[c];
        for (uint32_t i = 0; i < chunk->record_count; i++) {
            tile_range range = tiles_of(raster, &raster->records[chunk->record_first + i]);
            for (int y = range.top; y <= range.bottom; y++) {
                for (int x = range.left; x <= range.right; x++) {
                    raster->binned[next[y * raster->columns + x]++] = chunk->record_first + i;
                }
            }
        }
    }
}
