#include "assets/room.h"
#include "engine/maths/rng.h"

#include <math.h>

enum { GATHER = 128, PANE_SIDE = 4, SUN_RAYS = 8 };

static const real3 sky = {5.2f, 6.0f, 7.2f};   // radiance of the window
static const real3 sun = {14.0f, 11.5f, 8.2f}; // irradiance of a surface that faces it
static const real3 sun_from = {-0.80f, 0.56f, 0.22f};
static const float reach = 8.0f, pi = 3.14159265359f;

// About what a surface receives that has been reflected more than once, from the direction d.
static real3 elsewhere(real3 d)
{
    float up = smooth_step(-0.2f, 0.8f, d.y);
    return mix3(make_real3(0.42f, 0.38f, 0.33f), make_real3(0.80f, 0.78f, 0.74f), up);
}

// Irradiance of the window's sky and of the sun: the pane seen through side x side points.
static real3 direct(const ray_tree *tree, real3 from, real3 normal, int side, int suns, orr_rng *rng)
{
    real3 light = make_real3(0, 0, 0);
    const float area = 4.0f * room_window_size[0] * room_window_size[1];
    for (int i = 0; i < side * side; i++) {
        float u = 2.0f * ((float)(i % side) + orr_rng_uniform(rng)) / (float)side - 1.0f;
        float v = 2.0f * ((float)(i / side) + orr_rng_uniform(rng)) / (float)side - 1.0f;
        real3 to =
            sub3(add3(room_window, make_real3(0, room_window_size[0] * u, room_window_size[1] * v)), from);
        float far = length3(to), leaving = -to.x / far;
        real3 d = scale3(to, 1.0f / far);
        float cosine = dot3(d, normal);
        if (cosine > 0.0f && leaving > 0.0f && rays_clear(tree, from, d, far - 2e-3f)) {
            float share = cosine * leaving * area / (fmaxf(far * far, 0.01f) * (float)(side * side));
            light = add3(light, scale3(sky, share));
        }
    }
    for (int i = 0; i < suns; i++) {
        real3 blur =
            make_real3(0, 0.02f * (orr_rng_uniform(rng) - 0.5f), 0.02f * (orr_rng_uniform(rng) - 0.5f));
        real3 d = unit3(add3(unit3(sun_from), blur));
        float cosine = dot3(d, normal), far = (room_window.x - from.x) / d.x;
        real3 at = add3(from, scale3(d, far));
        bool through = fabsf(at.y - room_window.y) < room_window_size[0] &&
                       fabsf(at.z - room_window.z) < room_window_size[1];
        if (cosine > 0.0f && through && rays_clear(tree, from, d, far - 2e-3f)) {
            light = add3(light, scale3(sun, cosine / (float)suns));
        }
    }
    return light;
}

static real3 hit_normal(const shape_triangle *t, ray_hit hit)
{
    return unit3(add3(scale3(t->normal[0], 1.0f - hit.u - hit.v),
                      add3(scale3(t->normal[1], hit.u), scale3(t->normal[2], hit.v))));
}

// What a ray meets, lit directly and by some of what is around.
static real3 seen(const ray_tree *tree, real3 from, real3 d, orr_rng *rng)
{
    ray_hit hit = rays_trace(tree, from, d, reach);
    if (hit.triangle < 0) {
        return elsewhere(d);
    }
    const shape_triangle *t = &tree->shape->triangles[hit.triangle];
    if (room_is_pane(t->material)) {
        return make_real3(0, 0, 0); // counted by direct()
    }
    real3 at = add3(from, scale3(d, hit.distance)), normal = hit_normal(t, hit);
    normal = dot3(normal, d) > 0.0f ? scale3(normal, -1.0f) : normal;
    real3 light = direct(tree, add3(at, scale3(normal, 1e-3f)), normal, 1, 1, rng);
    light = add3(light, scale3(elsewhere(normal), 0.8f * pi));
    return scale3(times3(room_colour(t->material, at), light), 1.0f / pi);
}

real3 room_light(const ray_tree *tree, real3 position, real3 normal, int material, uint32_t seed)
{
    if (room_is_pane(material)) {
        float low = room_window.y - room_window_size[0];
        return mix3(make_real3(1.6f, 1.7f, 1.75f), make_real3(1.3f, 1.7f, 2.2f), 0.8f * (position.y - low));
    }
    orr_rng rng = {.seed = 31, .stream = seed};
    real3 a, b, from = add3(position, scale3(normal, 1e-3f)), around = make_real3(0, 0, 0);
    tangents3(normal, &a, &b);
    float spin = tau * orr_rng_uniform(&rng);
    for (int i = 0; i < GATHER; i++) { // directions spread by the cosine
        float r = sqrtf(((float)i + orr_rng_uniform(&rng)) / GATHER), angle = spin + 2.39996323f * (float)i;
        real3 d = scale3(normal, sqrtf(fmaxf(1.0f - r * r, 0.0f)));
        d = add3(d, add3(scale3(a, r * cosf(angle)), scale3(b, r * sinf(angle))));
        around = add3(around, seen(tree, from, unit3(d), &rng));
    }
    real3 light = add3(direct(tree, from, normal, PANE_SIDE, SUN_RAYS, &rng), scale3(around, pi / GATHER));
    return scale3(times3(room_colour(material, position), light), 1.0f / pi);
}
