// One triangle from the camera's space to the pixels, in doubles and integers: what the CPU's set-up and
// CUDA's kernels share. Plain C that nvcc compiles too.
//
// Screen positions are fixed-point numbers of 1/256 pixel, so that edges are exact: a pixel centre on the
// edge between two triangles belongs to exactly one of them (the top-left rule). "Nearness" is 1/z in
// perspective and -z in orthographic views: linear over the screen in both, greater is nearer.
#pragma once

#include "engine/maths/camera.h"
#include "engine/maths/inline.h"

#include <math.h>

enum {
    MESH_SUBPIXELS = 256,
    MESH_GUARD = 8192, // [px] triangles reaching farther than this beyond the picture are cut
    MESH_CORNERS = 9,  // of a triangle cut by six planes, at most
    MESH_PIECES = 7    // triangles that a cut leaves at most
};

// bounds that a vertex exceeds; a triangle all of whose corners exceed the same one but the guard band is
// outside
enum {
    MESH_OUT_NEAR = 1,
    MESH_OUT_LEFT = 2,
    MESH_OUT_RIGHT = 4,
    MESH_OUT_TOP = 8,
    MESH_OUT_BOTTOM = 16,
    MESH_OUT_CLIP = 32, // the lens's clip plane
    MESH_OUT_GUARD = 64,
    // what must be cut, unless it is outside
    MESH_OUT_CUT = MESH_OUT_NEAR | MESH_OUT_CLIP | MESH_OUT_GUARD
};

// A vertex in the camera's space and on the screen. An array of structs: a triangle's corners lie anywhere in
// memory.
typedef struct mesh_point {
    float x, y, z;              // camera space
    int32_t screen_x, screen_y; // 1/256 px; meaningless for vertices out near or guard
    int32_t out;
} mesh_point;

// A triangle that touches pixel centres, one cache line.
typedef struct mesh_record {
    int32_t x[3], y[3];            // 1/256 px, area positive with y down
    float nearest, farthest;       // nearness of its nearest and farthest corner
    double nearness, across, down; // nearness at the picture's corner (0, 0), and per pixel
    uint32_t triangle;
    int32_t surface;
} mesh_record;

// First and last pixel whose centre lies in [low, high] (1/256 px), within [0, size).
ORR_INLINE int mesh_first_pixel(int32_t low)
{
    int pixel = (low - MESH_SUBPIXELS / 2 + MESH_SUBPIXELS - 1) >> 8;
    return pixel > 0 ? pixel : 0;
}

ORR_INLINE int mesh_last_pixel(int32_t high, int size)
{
    int pixel = (high - MESH_SUBPIXELS / 2) >> 8;
    return pixel < size - 1 ? pixel : size - 1;
}

// Positions of the samples of a pixel with an edge (edge_formula.h) within it [1/256 px]: Vulkan's standard
// ones. A byte each.
#define MESH_SAMPLES_X 0xa020e060u
#define MESH_SAMPLES_Y 0xe0a06020u
#define MESH_SAMPLE_X(sample) ((int32_t)(MESH_SAMPLES_X >> (8 * (sample)) & 255u))
#define MESH_SAMPLE_Y(sample) ((int32_t)(MESH_SAMPLES_Y >> (8 * (sample)) & 255u))
enum { MESH_SAMPLE_LOWEST = 32, MESH_SAMPLE_HIGHEST = 224 }; // of both

// First and last pixel of which the centre or a sample may lie in [low, high], within [0, size).
ORR_INLINE int mesh_first_sampled(int32_t low)
{
    int pixel = (low - MESH_SAMPLE_HIGHEST + MESH_SUBPIXELS - 1) >> 8;
    return pixel > 0 ? pixel : 0;
}

ORR_INLINE int mesh_last_sampled(int32_t high, int size)
{
    int pixel = (high - MESH_SAMPLE_LOWEST) >> 8;
    return pixel < size - 1 ? pixel : size - 1;
}

ORR_INLINE int32_t mesh_lowest(const int32_t v[3])
{
    int32_t low = v[0] < v[1] ? v[0] : v[1];
    return low < v[2] ? low : v[2];
}

ORR_INLINE int32_t mesh_highest(const int32_t v[3])
{
    int32_t high = v[0] > v[1] ? v[0] : v[1];
    return high > v[2] ? high : v[2];
}

// ---- cutting ----

// A corner of a triangle being cut.
typedef struct mesh_corner {
    double p[3];    // camera space
    int32_t vertex; // of the triangle, 0 .. 2; -1: made by a cut
} mesh_corner;

ORR_INLINE double mesh_divisor(const orr_lens *lens, double z)
{
    return lens->orthographic ? 1.0 : z;
}

// How far inside the lens's clip plane a point is; >= 0 is inside.
ORR_INLINE double mesh_inside_clip(const orr_lens *lens, const double p[3])
{
    const float *c = lens->clip;
    return (double)c[0] * p[0] + (double)c[1] * p[1] + (double)c[2] * p[2] + (double)c[3];
}

// How far inside bound b a point is: near, left, right, top, bottom of the guard band, clip; >= 0 is inside.
ORR_INLINE double mesh_inside(const orr_lens *lens, const double p[3], int b)
{
    if (b == 0) {
        return p[2] - (double)lens->near_plane;
    }
    if (b == 5) {
        return mesh_inside_clip(lens, p);
    }
    int axis = b > 2;
    double w = mesh_divisor(lens, p[2]);
    double at = (double)lens->focal[axis] * p[axis] + (double)lens->centre[axis] * w; // w times pixels
    double size = axis ? lens->height : lens->width;
    return b % 2 ? at + MESH_GUARD * w : (size + MESH_GUARD) * w - at;
}

// Sutherland and Hodgman (1974): the part of the polygon inside bound b. A cut is always computed from the
// inner corner to the outer one, so that triangles that share the edge get the same point.
ORR_INLINE int mesh_cut_at(const orr_lens *lens, const mesh_corner *from, int count, int b, mesh_corner *to)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const mesh_corner *a = &from[i], *c = &from[(i + 1) % count];
        double inside_a = mesh_inside(lens, a->p, b), inside_c = mesh_inside(lens, c->p, b);
        if (inside_a >= 0.0) {
            to[kept++] = *a;
        }
        if ((inside_a >= 0.0) != (inside_c >= 0.0)) {
            const mesh_corner *in = inside_a >= 0.0 ? a : c, *out = inside_a >= 0.0 ? c : a;
            double inside_in = inside_a >= 0.0 ? inside_a : inside_c;
            double inside_out = inside_a >= 0.0 ? inside_c : inside_a;
            double t = inside_in / (inside_in - inside_out);
            for (int k = 0; k < 3; k++) {
                to[kept].p[k] = in->p[k] + t * (out->p[k] - in->p[k]);
            }
            to[kept++].vertex = -1;
        }
    }
    return kept;
}

ORR_INLINE int32_t mesh_snap(const orr_lens *lens, const double p[3], int axis)
{
    double pixels =
        (double)lens->focal[axis] * p[axis] / mesh_divisor(lens, p[2]) + (double)lens->centre[axis];
    return (int32_t)floor(pixels * MESH_SUBPIXELS + 0.5);
}

// Cuts a triangle at the near plane, the guard band and the clip plane: screen positions of the corners that
// remain. Returns their number, at most MESH_CORNERS.
ORR_INLINE int mesh_cut(const orr_lens *lens, const mesh_point points[3], int32_t *x, int32_t *y)
{
    mesh_corner polygon[2][MESH_CORNERS + 1];
    int count = 3;
    for (int i = 0; i < 3; i++) {
        mesh_corner *corner = &polygon[0][i];
        corner->p[0] = (double)points[i].x;
        corner->p[1] = (double)points[i].y;
        corner->p[2] = (double)points[i].z;
        corner->vertex = i;
    }
    for (int b = 0; b < 6; b++) {
        count = mesh_cut_at(lens, polygon[b % 2], count, b, polygon[(b + 1) % 2]);
    }
    for (int i = 0; i < count; i++) {
        const mesh_corner *corner = &polygon[0][i];
        // corners that were not cut have exactly the position that the triangle's neighbours use
        bool uncut = corner->vertex >= 0 && !(points[corner->vertex].out & MESH_OUT_CUT);
        x[i] = uncut ? points[corner->vertex].screen_x : mesh_snap(lens, corner->p, 0);
        y[i] = uncut ? points[corner->vertex].screen_y : mesh_snap(lens, corner->p, 1);
    }
    return count;
}

// ---- records ----

// Fills in the plane of nearness of a triangle; false when it is seen edge-on or its corners are beyond
// float.
ORR_INLINE bool mesh_set_plane(const orr_lens *lens, const mesh_point points[3], mesh_record *record)
{
    double a[3] = {(double)points[0].x, (double)points[0].y, (double)points[0].z};
    double b_z = (double)points[1].z, c_z = (double)points[2].z;
    double ab_x = (double)points[1].x - a[0], ab_y = (double)points[1].y - a[1], ab_z = b_z - a[2];
    double ac_x = (double)points[2].x - a[0], ac_y = (double)points[2].y - a[1], ac_z = c_z - a[2];
    double normal_x = ab_y * ac_z - ab_z * ac_y;
    double normal_y = ab_z * ac_x - ab_x * ac_z;
    double normal_z = ab_x * ac_y - ab_y * ac_x;
    double distance = normal_x * a[0] + normal_y * a[1] + normal_z * a[2];
    double near_plane = (double)lens->near_plane;
    double shallow = b_z < c_z ? b_z : c_z, deep = b_z > c_z ? b_z : c_z;
    double slope_x = normal_x / (double)lens->focal[0], slope_y = normal_y / (double)lens->focal[1];
    double at_centre = (double)lens->centre[0] * slope_x + (double)lens->centre[1] * slope_y;
    double divisor = lens->orthographic ? normal_z : distance;
    if (!(fabs(divisor) > 0.0) || !isfinite(distance)) {
        return false;
    }
    shallow = a[2] < shallow ? a[2] : shallow;
    deep = a[2] > deep ? a[2] : deep;
    shallow = shallow > near_plane ? shallow : near_plane;
    deep = deep > near_plane ? deep : near_plane;
    record->nearest = (float)(lens->orthographic ? -shallow : 1.0 / shallow);
    record->farthest = (float)(lens->orthographic ? -deep : 1.0 / deep);
    record->across = slope_x / divisor;
    record->down = slope_y / divisor;
    record->nearness = ((lens->orthographic ? -distance : normal_z) - at_centre) / divisor;
    return true;
}

// The pixels whose centres a triangle may cover or, if `sampled`, also whose samples; inclusive.
typedef struct mesh_box {
    int left, top, right, bottom;
} mesh_box;

ORR_INLINE mesh_box mesh_box_of(const int32_t x[3], const int32_t y[3], int width, int height, bool sampled)
{
    const int32_t left = mesh_lowest(x), top = mesh_lowest(y), right = mesh_highest(x),
                  bottom = mesh_highest(y);
    mesh_box b;
    b.left = sampled ? mesh_first_sampled(left) : mesh_first_pixel(left);
    b.top = sampled ? mesh_first_sampled(top) : mesh_first_pixel(top);
    b.right = sampled ? mesh_last_sampled(right, width) : mesh_last_pixel(right, width);
    b.bottom = sampled ? mesh_last_sampled(bottom, height) : mesh_last_pixel(bottom, height);
    return b;
}

// Fills in the corners; false when the triangle faces away or touches no pixel centre or, if `sampled`, no
// sample either.
ORR_INLINE bool mesh_set_corners(const orr_lens *lens, bool two_sided, bool sampled, const int32_t x[3],
                                 const int32_t y[3], mesh_record *record)
{
    int64_t area = (int64_t)(x[1] - x[0]) * (y[2] - y[0]) - (int64_t)(x[2] - x[0]) * (y[1] - y[0]);
    bool front = area < 0; // counter-clockwise, but y points down
    mesh_box box = mesh_box_of(x, y, lens->width, lens->height, sampled);
    if (area == 0 || (!front && !two_sided) || box.left > box.right || box.top > box.bottom) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        int from = front ? (3 - i) % 3 : i;
        record->x[i] = x[from];
        record->y[i] = y[from];
    }
    return true;
}

// ---- pixels ----

// An edge over a tile: value(i, j) = start + across i + down j at pixel (i, j) of it, >= 0 inside.
typedef struct mesh_edge {
    int32_t start, across, down;
} mesh_edge;

// x, y: where the tile's first pixel is seen [1/256 px], as are all others of it; it has 64 a side at most
ORR_INLINE mesh_edge mesh_edge_from(const mesh_record *record, int k, int32_t x, int32_t y)
{
    const int64_t bound = 1 << 30; // more than an edge can change over a tile
    int next = (k + 1) % 3;
    int32_t ax = record->x[k], ay = record->y[k], bx = record->x[next], by = record->y[next];
    mesh_edge e = {0, ay - by, bx - ax};
    int64_t start = (int64_t)e.down * (y - ay) + (int64_t)e.across * (x - ax);
    // points on an edge belong to the triangle only if it is a left or a top edge
    start -= !(e.across > 0 || (e.across == 0 && e.down > 0));
    // a pixel's step is 256 times an integer: the sign does not depend on the remainder
    start >>= 8;
    e.start = (int32_t)(start > bound ? bound : start < -bound ? -bound : start);
    return e;
}

// The same of the pixels' centres; x, y: the tile's first pixel.
ORR_INLINE mesh_edge mesh_edge_over_tile(const mesh_record *record, int k, int x, int y)
{
    return mesh_edge_from(record, k, x * MESH_SUBPIXELS + MESH_SUBPIXELS / 2,
                          y * MESH_SUBPIXELS + MESH_SUBPIXELS / 2);
}

// The same of sample `sample` of each pixel.
ORR_INLINE mesh_edge mesh_edge_of_samples(const mesh_record *record, int k, int x, int y, int sample)
{
    return mesh_edge_from(record, k, x * MESH_SUBPIXELS + MESH_SAMPLE_X(sample),
                          y * MESH_SUBPIXELS + MESH_SAMPLE_Y(sample));
}

// Nearness at sample `sample` of pixel (x, y); in double, as below.
ORR_INLINE double mesh_nearness_at_sample(const mesh_record *record, int x, int y, int sample)
{
    return record->nearness + record->across * (x + MESH_SAMPLE_X(sample) / 256.0) +
           record->down * (y + MESH_SAMPLE_Y(sample) / 256.0);
}

// Nearness at the centre of pixel (x, y); in double, because the plane has large values far from the
// triangle.
ORR_INLINE double mesh_nearness_at(const mesh_record *record, int x, int y)
{
    return record->nearness + record->across * (x + 0.5) + record->down * (y + 0.5);
}

// The nearness of the far plane: nothing that far away is drawn.
ORR_INLINE float mesh_farthest(const orr_lens *lens)
{
    return lens->orthographic ? -lens->far_plane : 1.0f / lens->far_plane;
}
