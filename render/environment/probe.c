#define ORR_SCALAR
#include "render/environment/probe.h"

#include "engine/core/memory.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/vector.h"
#include "render/environment/environment_formula.h"
#include "render/environment/maps.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = ORR_PROBE_FACE, PIXELS = SIDE * SIDE };

// The axes of a face's camera: right, down, forward.
static void face_axes(int face, int axis[3], float sign[3])
{
    const float s = face % 2 ? -1.0f : 1.0f;
    const int a = face / 2;
    axis[0] = (a + 1) % 3, axis[1] = (a + 2) % 3, axis[2] = a;
    sign[0] = 1.0f, sign[1] = s, sign[2] = s;
}

orr_camera orr_probe_camera(int face, const float position[3], float near_plane)
{
    orr_camera camera = {
        .width = SIDE, .height = SIDE, .focal = {0.5f * SIDE, 0.5f * SIDE}, .near_plane = near_plane};
    int axis[3];
    float sign[3];
    face_axes(face, axis, sign);
    for (int k = 0; k < 3; k++) {
        camera.pose[4 * axis[k] + k] = sign[k];
        camera.pose[4 * k + 3] = position[k];
    }
    return camera;
}

void orr_probe_direction(int face, float x, float y, float direction[3])
{
    int axis[3];
    float sign[3];
    face_axes(face, axis, sign);
    direction[axis[0]] = sign[0] * (2.0f * x / SIDE - 1.0f);
    direction[axis[1]] = sign[1] * (2.0f * y / SIDE - 1.0f);
    direction[axis[2]] = sign[2];
}

// ---- pictures ----

// Of the least blurred map, which leaves no small sun between the pixels.
static real3 look_behind(const orr_probe_behind *b, const float direction[3])
{
    float d[3];
    if (!b->map) {
        return make_real3(b->ambient[0], b->ambient[1], b->ambient[2]);
    }
    affine_apply_to_direction(b->to_map, direction, d);
    const real first = environment_texels((real)b->map->sharp);
    const environment_square s =
        environment_find(environment_flatten(make_real3(d[0], d[1], d[2])), first, (real)b->map->rough);
    real3 sum = make_real3(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < 4; i++) {
        uint32_t t = b->map->texels[(int)s.first + i % 2 + i / 2 * (int)s.stride];
        float weight = (i % 2 ? s.right : 1.0f - s.right) * (i / 2 ? s.down : 1.0f - s.down);
        sum = add_scaled3(sum,
                          environment_decode((float)(t & 511u), (float)(t >> 9 & 511u),
                                             (float)(t >> 18 & 511u), (float)(t >> 27)),
                          weight);
    }
    return scale3(sum, b->strength * b->map->scale);
}

static float linear_part(float premultiplied, float alpha)
{
    float light = alpha > 0.0f ? alpha * srgb_to_linear(premultiplied / alpha) : 0.0f;
    return light > 0.0f && isfinite(light) ? light : 0.0f;
}

static int compare(const void *a, const void *b)
{
    const float *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Does the picture show a surface in a pixel?
static bool is_surface(const orr_picture *picture, int pixel)
{
    const float depth = picture->depth[pixel];
    return picture->rgba[4 * pixel + 3] >= 0.3f && depth > 0.0f && isfinite(depth);
}

// The median; 0 of few.
static float middle_of(float *depths, int count)
{
    qsort(depths, (size_t)count, sizeof *depths, compare);
    return count >= PIXELS / 4 ? depths[count / 2] : 0.0f;
}

void orr_probe_take(int face, const orr_picture *picture, const orr_probe_behind *behind, orr_probe_face *out)
{
    float depths[PIXELS];
    int seen = 0;
    for (int i = 0; i < PIXELS; i++) {
        const float *from = picture->rgba + 4 * i;
        float alpha = from[3] > 0.0f ? fminf(from[3], 1.0f) : 0.0f, direction[3];
        orr_probe_direction(face, (float)(i % SIDE) + 0.5f, (float)(i / SIDE) + 0.5f, direction);
        const real3 light = look_behind(behind, direction);
        const float around[3] = {light.x, light.y, light.z};
        for (int k = 0; k < 3; k++) {
            out->rgb[3 * i + k] = linear_part(from[k], alpha) + (1.0f - alpha) * around[k];
        }
        out->depth[i] = is_surface(picture, i) ? picture->depth[i] : INFINITY;
        if (out->depth[i] < INFINITY) {
            depths[seen++] = out->depth[i];
        }
    }
    out->distance = middle_of(depths, seen);
}

void orr_probe_put_meshes(const orr_picture *picture, const orr_probe_meshes *meshes,
                          const orr_probe_face *face, orr_probe_face *out)
{
    float depths[PIXELS];
    int seen = 0;
    *out = *face;
    for (int i = 0; i < PIXELS; i++) {
        const int m = i / SIDE / 2 * ORR_PROBE_MESHES + i % SIDE / 2;
        const float *from = picture->rgba + 4 * i, depth = meshes->depth[m];
        const bool before = is_surface(picture, i) && picture->depth[i] < depth;
        if (before) {
            depths[seen++] = picture->depth[i];
        }
        if (depth < INFINITY) {
            const float alpha = before ? fminf(from[3], 1.0f) : 0.0f;
            for (int k = 0; k < 3; k++) {
                out->rgb[3 * i + k] =
                    (before ? linear_part(from[k], alpha) : 0.0f) + (1.0f - alpha) * meshes->rgb[m][k];
            }
            if (!before) {
                depths[seen++] = depth;
            }
        }
    }
    out->distance = middle_of(depths, seen);
}

// ---- maps ----

static void add_pixel(const orr_probe_face *face, float x, float y, float rgb[3])
{
    x = fminf(fmaxf(x, 0.0f), SIDE - 1.0f), y = fminf(fmaxf(y, 0.0f), SIDE - 1.0f);
    int left = (int)fminf(x, SIDE - 2.0f), top = (int)fminf(y, SIDE - 2.0f);
    float right = x - (float)left, down = y - (float)top;
    for (int k = 0; k < 3; k++) {
        const float *p = face->rgb + 3 * (top * SIDE + left) + k;
        rgb[k] = (1.0f - down) * ((1.0f - right) * p[0] + right * p[3]) +
                 down * ((1.0f - right) * p[3 * SIDE] + right * p[3 * SIDE + 3]);
    }
}

// The face in a direction, and where on it [px].
static int find_face(const float d[3], float at[2])
{
    int a = fabsf(d[0]) >= fabsf(d[1]) && fabsf(d[0]) >= fabsf(d[2]) ? 0 : fabsf(d[1]) >= fabsf(d[2]) ? 1 : 2;
    int face = 2 * a + (d[a] < 0.0f), axis[3];
    float sign[3];
    face_axes(face, axis, sign);
    for (int k = 0; k < 2; k++) {
        at[k] = (sign[k] * d[axis[k]] / fabsf(d[a]) + 1.0f) * 0.5f * SIDE - 0.5f;
    }
    return face;
}

void orr_probe_look(const orr_probe_face faces[6], const float d[3], float rgb[3])
{
    float at[2];
    const int face = find_face(d, at);
    add_pixel(&faces[face], at[0], at[1], rgb);
}

// Along rows (stride 1) or columns (stride SIDE) of one channel; what is beyond the edges is as at them.
static void blur_line(const float *from, int stride, float *to)
{
    enum { REACH = 6 };
    for (int i = 0; i < SIDE; i++) {
        float sum = 0.0f;
        for (int k = i - REACH; k <= i + REACH; k++) {
            sum += from[3 * stride * (k < 0 ? 0 : k < SIDE ? k : SIDE - 1)];
        }
        to[3 * stride * i] = sum / (2 * REACH + 1);
    }
}

void orr_probe_blur(const orr_probe_face faces[6], orr_probe_face out[6])
{
    float rows[3 * PIXELS];
    for (int f = 0; f < 6; f++) {
        out[f] = faces[f];
        for (int i = 0; i < 3 * SIDE; i++) {
            blur_line(faces[f].rgb + 3 * SIDE * (i / 3) + i % 3, 1, rows + 3 * SIDE * (i / 3) + i % 3);
        }
        for (int i = 0; i < 3 * SIDE; i++) {
            blur_line(rows + i, SIDE, out[f].rgb + i);
        }
    }
}

// How far behind what the probe sees a point is, along the axis of its face; negative: before it.
static float behind_seen(const orr_probe_face faces[6], const float p[3])
{
    float at[2];
    const float along = fmaxf(fabsf(p[0]), fmaxf(fabsf(p[1]), fabsf(p[2])));
    if (!(along > 0.0f)) {
        return -INFINITY;
    }
    const int face = find_face(p, at);
    const int x = (int)fminf(fmaxf(at[0] + 0.5f, 0.0f), SIDE - 1.0f),
              y = (int)fminf(fmaxf(at[1] + 0.5f, 0.0f), SIDE - 1.0f);
    return along - faces[face].depth[y * SIDE + x];
}

static void go_on(const float from[3], const float direction[3], float way, float p[3])
{
    for (int k = 0; k < 3; k++) {
        p[k] = from[k] + way * direction[k];
    }
}

bool orr_probe_look_from(const orr_probe_face faces[6], const orr_probe_behind *behind, const float from[3],
                         const float direction[3], float rgb[3])
{
    enum { STEPS = 24, HALVINGS = 4 };
    float nearest = INFINITY, farthest = 0.0f;
    for (int i = 0; i < 6; i++) {
        nearest = faces[i].distance > 0.0f ? fminf(nearest, faces[i].distance) : nearest;
        farthest = fmaxf(farthest, faces[i].distance);
    }
    if (behind_seen(faces, from) >= 0.0f) {
        return false;
    }
    const float length = sqrtf(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
    const float end = 3.0f * (farthest + length), begin = fminf(0.02f * end, 0.1f * fminf(nearest, end));
    const float factor = farthest > 0.0f ? powf(end / begin, 1.0f / STEPS) : 1.0f;
    float way = begin, before = 0.0f;
    for (int i = 0; i <= STEPS && farthest > 0.0f; i++, before = way, way *= factor) {
        float p[3];
        go_on(from, direction, way, p);
        const float by = behind_seen(faces, p);
        if (by >= 0.0f && by <= 2.0f * (way - before)) { // what is thicker than that it has passed behind
            for (int k = 0; k < HALVINGS; k++) {
                const float middle = 0.5f * (before + way);
                go_on(from, direction, middle, p);
                *(behind_seen(faces, p) >= 0.0f ? &way : &before) = middle;
            }
            orr_probe_look(faces, p, rgb);
            return true;
        }
    }
    const real3 light = look_behind(behind, direction);
    rgb[0] = light.x, rgb[1] = light.y, rgb[2] = light.z;
    return true;
}

// Where a face shows nothing the box is as far as at its farthest.
static void set_box(const orr_probe_face faces[6], float low[3], float high[3])
{
    float farthest = 0.0f;
    for (int i = 0; i < 6; i++) {
        farthest = fmaxf(farthest, faces[i].distance);
    }
    for (int k = 0; k < 3; k++) {
        float above = faces[2 * k].distance, below = faces[2 * k + 1].distance;
        high[k] = above > 0.0f ? above : 10.0f * farthest;
        low[k] = -(below > 0.0f ? below : 10.0f * farthest);
    }
}

// Radiance at the texels of the sharp map.
static void flatten(const orr_probe_face faces[6], float *rgb)
{
    for (int i = 0; i < ORR_PROBE_SHARP * ORR_PROBE_SHARP; i++) {
        float d[3];
        orr_environment_direction(ORR_PROBE_SHARP, i % ORR_PROBE_SHARP, i / ORR_PROBE_SHARP, d);
        orr_probe_look(faces, d, rgb + 3 * i);
    }
}

orr_result orr_probe_fill(orr_jobs *jobs, const orr_probe_face captured[6], const orr_probe_face faces[6],
                          orr_environment *environment, float low[3], float high[3], orr_error *error)
{
    float *rgb;
    ORR_ALLOC(rgb, 3 * ORR_PROBE_SHARP * ORR_PROBE_SHARP, "a probe", error);
    flatten(captured, rgb);
    orr_environment_project(rgb, ORR_PROBE_SHARP, environment->harmonics);
    flatten(faces, rgb);
    orr_result result = orr_environment_fill(jobs, rgb, environment, error);
    orr_free(rgb);
    set_box(faces, low, high);
    return result;
}
