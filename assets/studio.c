#include "assets/studio.h"

#include "assets/material.h"
#include "assets/orrery.h"
#include "engine/maths/colour_formula.h"

// A soft box, seen from afar: a rectangle on the plane at distance 1 along its direction.
typedef struct soft_box {
    real3 direction; // towards it
    float width, height;
    real3 radiance;
} soft_box;

static const soft_box boxes[] = {
    {{-0.62f, 0.62f, 0.60f}, 1.10f, 0.80f, {6.4f, 5.3f, 4.0f}},  // key: warm, upper left
    {{0.86f, 0.34f, 0.45f}, 0.55f, 1.30f, {1.5f, 2.0f, 2.9f}},   // fill: cool, right
    {{0.15f, 0.98f, -0.10f}, 1.00f, 1.00f, {1.7f, 1.7f, 1.8f}},  // overhead
    {{0.45f, 0.40f, -0.85f}, 0.50f, 0.90f, {4.6f, 4.7f, 5.2f}},  // rim, behind
    {{-0.80f, 0.22f, -0.58f}, 0.28f, 1.10f, {4.4f, 3.6f, 2.7f}}, // strip, behind left
    {{0.05f, 0.20f, 0.98f}, 1.50f, 0.13f, {2.2f, 2.1f, 2.0f}},   // strip, low in front
};
enum { BOXES = sizeof boxes / sizeof boxes[0], BOX_SIDE = 4, SKY_LAMPS = 64 };

static const real3 sun_colour = {1.0f, 0.66f, 0.30f};
static const float sun_glow = 1.5f;  // radiance as seen
static const float sun_power = 5.0f; // radiance as it lights: the film would burn out

static real3 sun_centre(void)
{
    return make_real3(0, sun_height, 0);
}

static void box_frame(const soft_box *box, real3 *forward, real3 *right, real3 *up)
{
    *forward = unit3(box->direction);
    *right = unit3(fabsf(forward->y) < 0.95f ? cross3(make_real3(0, 1, 0), *forward) : make_real3(1, 0, 0));
    *up = cross3(*forward, *right);
}

static real3 surrounding(real3 d)
{
    real3 floor = make_real3(0.050f, 0.036f, 0.026f), wall = make_real3(0.085f, 0.08f, 0.08f);
    real3 ceiling = make_real3(0.20f, 0.23f, 0.29f);
    return d.y < 0.0f ? mix3(floor, wall, smooth_step(-0.35f, 0.05f, d.y)) : mix3(wall, ceiling, d.y);
}

// Radiance of the studio from a direction, its edges blurred by `blur` [rad].
static real3 surrounding_radiance(real3 d, float blur)
{
    real3 sum = surrounding(d);
    for (int i = 0; i < BOXES; i++) {
        real3 forward, right, up;
        box_frame(&boxes[i], &forward, &right, &up);
        float ahead = dot3(d, forward);
        if (ahead > 0.1f) {
            float x = fabsf(dot3(d, right)) / ahead - 0.5f * boxes[i].width;
            float y = fabsf(dot3(d, up)) / ahead - 0.5f * boxes[i].height;
            float in = smooth_step(blur, -blur, x) * smooth_step(blur, -blur, y);
            sum = add3(sum, scale3(boxes[i].radiance, in));
        }
    }
    return sum;
}

void studio_create(studio *scene, const ray_tree *tree)
{
    *scene = (studio){.tree = tree};
    for (int i = 0; i < SKY_LAMPS; i++) {
        real3 d = sphere_point(i, SKY_LAMPS);
        scene->lamps[scene->lamp_count++] = (studio_lamp){d, scale3(surrounding(d), 2.0f * tau / SKY_LAMPS)};
    }
    for (int i = 0; i < BOXES; i++) {
        real3 forward, right, up;
        box_frame(&boxes[i], &forward, &right, &up);
        for (int k = 0; k < BOX_SIDE * BOX_SIDE; k++) {
            float x = boxes[i].width * (((float)(k % BOX_SIDE) + 0.5f) / BOX_SIDE - 0.5f);
            float y = boxes[i].height * (((float)(k / BOX_SIDE) + 0.5f) / BOX_SIDE - 0.5f);
            real3 d = add3(forward, add3(scale3(right, x), scale3(up, y)));
            float far = length3(d), area = boxes[i].width * boxes[i].height / (BOX_SIDE * BOX_SIDE);
            scene->lamps[scene->lamp_count++] =
                (studio_lamp){scale3(d, 1.0f / far), scale3(boxes[i].radiance, area / (far * far * far))};
        }
    }
}

// irradiance of the sun at a point from which all of it is visible
static real3 sun_irradiance(real3 position, real3 normal)
{
    real3 to = sub3(sun_centre(), position);
    float far = fmaxf(length3(to), sun_radius);
    // a sphere seen across the horizon still lights a little
    float cosine = fmaxf((dot3(to, normal) / far + 0.12f) / 1.12f, 0.0f);
    return scale3(sun_colour, sun_power * 0.5f * tau * cosine * sun_radius * sun_radius / (far * far));
}

static float sun_visible(const ray_tree *tree, real3 from)
{
    real3 to = sub3(sun_centre(), from), a, b;
    tangents3(unit3(to), &a, &b);
    float seen = 0.0f;
    for (int i = 0; i < 4; i++) {
        real3 aim = add3(to, add3(scale3(a, (i & 1 ? 0.5f : -0.5f) * sun_radius),
                                  scale3(b, (i & 2 ? 0.5f : -0.5f) * sun_radius)));
        float far = length3(aim);
        seen += rays_clear(tree, from, scale3(aim, 1.0f / far), far - sun_radius) ? 0.25f : 0.0f;
    }
    return seen;
}

static real3 off_surface(real3 position, real3 normal)
{
    return add3(position, scale3(normal, 4e-4f));
}

studio_point studio_gather(const studio *scene, real3 position, real3 normal, int m)
{
    const material_properties *p = material_find(m);
    studio_point point = {.position = position, .normal = normal, .material = m};
    real3 colour = material_colour(m, position, normal), from = off_surface(position, normal);
    if (m == MATERIAL_SUN) {
        point.diffuse = scale3(colour, sun_glow);
        return point;
    }
    real3 light = make_real3(0, 0, 0);
    float weight = 0.0f;
    for (int i = 0; i < scene->lamp_count; i++) {
        const studio_lamp *lamp = &scene->lamps[i];
        float cosine = dot3(lamp->direction, normal);
        if (cosine <= 0.0f) {
            continue;
        }
        bool clear = rays_clear(scene->tree, from, lamp->direction, 4.0f);
        if (i < SKY_LAMPS) {
            weight += cosine;
            point.visibility += clear ? cosine : 0.0f;
        }
        // blocked directions send some warm light
        real3 sent =
            clear ? lamp->power : scale3(make_real3(0.16f, 0.10f, 0.05f), i < SKY_LAMPS ? 0.13f : 0.0f);
        light = add3(light, scale3(sent, cosine));
    }
    point.visibility /= fmaxf(weight, 1e-6f);
    light = add3(light, scale3(sun_irradiance(position, normal), sun_visible(scene->tree, from)));
    float share = 1.0f - p->metal;
    point.diffuse = scale3(times3(colour, light), share * 2.0f / tau);
    // metals keep a rough part, which scatters
    point.diffuse = add3(point.diffuse, scale3(times3(colour, light), 0.06f * p->metal * 2.0f / tau));
    return point;
}

// radiance that a mirror at `from` reflects from direction d
static real3 reflected(const studio *scene, real3 from, real3 d, float blur)
{
    ray_hit hit = rays_trace(scene->tree, from, d, 5.0f);
    real3 to = sub3(sun_centre(), from);
    real3 sun = make_real3(0, 0, 0);
    float near = dot3(to, d), miss = dot3(to, to) - near * near;
    if (near > 0.0f && near - sun_radius < hit.distance) {
        float soft = blur * near; // its limb, blurred
        miss = sqrtf(fmaxf(miss, 0.0f)) - sun_radius;
        sun = scale3(sun_colour, sun_glow * smooth_step(soft, -fminf(soft, sun_radius), miss));
    }
    if (hit.triangle < 0) {
        return add3(sun, surrounding_radiance(d, blur));
    }
    const shape_triangle *t = &scene->tree->shape->triangles[hit.triangle];
    const material_properties *p = material_find(t->material);
    real3 n = unit3(add3(scale3(t->normal[0], 1.0f - hit.u - hit.v),
                         add3(scale3(t->normal[1], hit.u), scale3(t->normal[2], hit.v))));
    real3 at = add3(from, scale3(d, hit.distance));
    // the second surface is lit by the studio, roughly
    real3 mirror = surrounding_radiance(reflect3(scale3(d, -1.0f), n), 0.6f);
    real3 light = add3(scale3(surrounding(n), 1.6f), scale3(sun_irradiance(at, n), 0.3f));
    light = add3(light, scale3(make_real3(1.0f, 0.9f, 0.75f), 0.6f * fmaxf(0.0f, n.y)));
    return add3(sun, scale3(times3(p->colour, mix3(light, mirror, 0.8f * p->metal)), 0.62f));
}

real3 studio_radiance(const studio *scene, const studio_point *point, real3 out)
{
    const material_properties *p = material_find(point->material);
    if (point->material == MATERIAL_SUN) { // a little darker towards the limb, as the real one
        float limb = 1.0f - fmaxf(0.0f, dot3(out, point->normal));
        return times3(point->diffuse,
                      make_real3(1.15f - 0.3f * limb, 1.1f - 0.6f * limb, 1.0f - 0.8f * limb));
    }
    float facing = fmaxf(dot3(out, point->normal), 0.0f);
    float grazing = powf(1.0f - facing, 5.0f); // Schlick 1994
    real3 mirror = reflected(scene, off_surface(point->position, point->normal), reflect3(out, point->normal),
                             p->roughness);
    real3 metal = mix3(p->colour, make_real3(1, 1, 1), 0.5f * grazing);
    float coat = p->coat + (0.6f - p->coat) * grazing * (p->coat > 0.0f ? 1.0f : 0.0f);
    real3 share = add3(scale3(metal, p->metal), scale3(make_real3(1, 1, 1), coat * (1.0f - p->metal)));
    // crevices lose part of what their single mirror ray does not see blocked
    share = scale3(share, 0.35f + 0.65f * sqrtf(point->visibility));
    return add3(scale3(point->diffuse, 1.0f - coat), times3(share, mirror));
}

static float develop(float x)
{
    x *= 0.75f; // exposure
    // the film curve of Narkowicz, "ACES filmic tone mapping curve", 2015
    x = x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f);
    return linear_to_srgb(fminf(fmaxf(x, 0.0f), 1.0f));
}

real3 studio_develop(real3 radiance)
{
    return make_real3(develop(radiance.x), develop(radiance.y), develop(radiance.z));
}
