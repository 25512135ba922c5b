#include "render/shadow/shadow_cascades.h"

#include "engine/maths/vector.h"

#include <math.h>

// A texel that is at most so many pixels wide where the camera sees it is fine enough. The maps have fewer
// texels than the picture has pixels, and a slice of three times its beginning in depth is seen by a map:
// finer ones than this are as fine at their slice's beginning.
static const float pixels_of_a_texel = 3.0f;
static const float depth_ratio = 64.0f; // of all slices, from the first's end nearest to the camera on
static const float logarithmic = 0.8f;  // how much of the ends of slices is in equal ratios, not equal steps
static const float worth_it = 0.75f; // of the next coarser texel: a map that is not finer than this is none

// The ball around what the camera sees between two depths.
typedef struct ball {
    float depth, radius; // of its middle, along the camera's axis
} ball;

static ball around(const orr_lens *camera, float from, float to)
{
    float square = 0.0f; // of the slope of the corner farthest from the axis
    const int size[2] = {camera->width, camera->height};
    for (int k = 0; k < 2; k++) {
        float slope = fmaxf(camera->centre[k], (float)size[k] - camera->centre[k]) / camera->focal[k];
        square += slope * slope;
    }
    ball b = {.depth = fminf(0.5f * (from + to) * (1.0f + square), to)};
    const float before = to - b.depth;
    b.radius = sqrtf(before * before + to * to * square);
    return b;
}

// Where slice `i` of `count` ends (the practical split scheme of Zhang et al. 2006).
static float end_of(float from, float to, int i, int count)
{
    const float part = (float)(i + 1) / (float)count;
    return logarithmic * from * powf(to / from, part) + (1.0f - logarithmic) * (from + (to - from) * part);
}

// Which slices there are: their balls and texels, from near to far.
static int slices_of(const orr_lens *camera, const orr_lens *whole, int margin, float reach, ball *balls,
                     float *texels)
{
    const float coarsest = 1.0f / whole->focal[0];
    const float finest_pixel = 1.0f / fmaxf(camera->focal[0], camera->focal[1]); // at a depth of 1
    const float to = fminf(coarsest / (pixels_of_a_texel * finest_pixel), camera->far_plane);
    const float from = fmaxf(camera->near_plane, to / depth_ratio);
    const float sides = 2.0f / (float)(whole->width - 2 * margin);
    if (!(from < to)) {
        return 0;
    }
    int count = (int)ceilf(0.5f * log2f(to / from)); // each ends at about four times its beginning
    count = count < 1 ? 1 : count < ORR_SHADOW_CASCADES ? count : ORR_SHADOW_CASCADES;
    for (int i = 0; i < count; i++) {
        const float begin = i == 0 ? camera->near_plane : end_of(from, to, i - 1, count);
        balls[i] = around(camera, begin, end_of(from, to, i, count));
        texels[i] = exp2f(0.25f * ceilf(4.0f * log2f(sides * (balls[i].radius + reach))));
    }
    return count;
}

// Leaves out the slices whose texels are not much finer than the next coarser ones.
static int without_idle(int count, float coarser, ball *balls, float *texels)
{
    bool kept[ORR_SHADOW_CASCADES];
    int left = 0;
    for (int i = count - 1; i >= 0; i--) {
        kept[i] = texels[i] <= worth_it * coarser;
        coarser = kept[i] ? texels[i] : coarser;
    }
    for (int i = 0; i < count; i++) {
        if (kept[i]) {
            balls[left] = balls[i];
            texels[left++] = texels[i];
        }
    }
    return left;
}

// Can there be a shadow in the cube? There is none beside what casts any, nor before it.
static bool is_shadowed(const orr_caster_span *casters, const float middle[3], float extent)
{
    for (int k = 0; k < 3; k++) {
        if (middle[k] + extent < casters->low[k] || (k < 2 && middle[k] - extent > casters->high[k])) {
            return false;
        }
    }
    return true;
}

// The middle of a ball along the camera's axis, in the world.
static void middle_of(const orr_lens *camera, float depth, float p[3])
{
    for (int k = 0; k < 3; k++) {
        p[k] = camera->position[k] + depth * camera->view[8 + k];
    }
}

int orr_shadow_cascades_fit(const orr_draw_list *list, const orr_lens *whole, const orr_caster_span *casters,
                            int margin, float reach, int most, orr_cascade_lens *cascades)
{
    const orr_lens *camera = &list->lens;
    ball balls[ORR_SHADOW_CASCADES];
    float texels[ORR_SHADOW_CASCADES];
    int count = 0;
    if (camera->orthographic || list->left_out_mesh > 0) {
        return 0;
    }
    int slices = slices_of(camera, whole, margin, reach, balls, texels);
    slices = without_idle(slices, 1.0f / whole->focal[0], balls, texels);
    for (int i = 0; i < slices && count < most; i++) {
        float seen[3], at[3], middle[3];
        middle_of(camera, balls[i].depth, seen);
        orr_cascade_lens *c = &cascades[count];
        *c = (orr_cascade_lens){.lens = *whole};
        affine_apply_to_point(whole->view, seen, at);
        c->middle = middle[2] = at[2];
        float texel = texels[i];
        for (int k = 0; k < 2; k++) {
            // no finer than coordinates this far from the origin resolve
            texel = fmaxf(texel, 1e-6f * fabsf(at[k] - whole->view[4 * k + 3]));
        }
        for (int k = 0; k < 2; k++) {
            const float place = at[k] - whole->view[4 * k + 3]; // from the world's origin
            const float snapped = texel * roundf(place / texel);
            c->lens.focal[k] = 1.0f / texel;
            c->lens.view[4 * k + 3] = -snapped;
            middle[k] = snapped + whole->view[4 * k + 3];
        }
        c->extent = texel * (float)(whole->width / 2 - margin) - reach;
        count += is_shadowed(casters, middle, c->extent);
    }
    return count;
}
