#include "tests/render/scenes/cloud_scene.h"

#include "engine/image/image.h"
#include "engine/maths/camera.h"
#include "render/splat/splat_cloud.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SIDE = CLOUD_SCENE_SIDE, SPLATS = CLOUD_SCENE_SPLATS };

// In the order of cloud_scene_variants.
enum {
    SUN,
    LAMPS,
    LAMP_INSIDE,
    CAPTURED,
    CLOUDS_ALONE = CLOUD_SCENE_CLOUDS_ALONE,
    DEFORMED,
    TWO_CLOUDS = CLOUD_SCENE_TWO_CLOUDS,
    MIRRORED
};
const char *const cloud_scene_variants[CLOUD_SCENE_VARIANTS] = {
    "in the sun",      "in lights with sizes",
    "around a lamp",   "on another cloud",
    "on clouds alone", "deformed",
    "two clouds",      "in a mirror, with smooth edges"};

// Uniform in 0 .. 1, the same for the same arguments.
static float number(int splat, int which)
{
    uint32_t x = (uint32_t)splat * 16u + (uint32_t)which + 1u;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return (float)((x ^ x >> 16) >> 8) / 16777216.0f;
}

// Ellipsoids of two colours around the origin, outside of a ball.
static void make_cloud(cloud_scene *s, orr_jobs *jobs, float half, float hole)
{
    assert_ok(orr_splats_create(SPLATS, 0, &s->splats, &error));
    const orr_splats_view v = orr_splats_data(s->splats);
    for (int i = 0; i < SPLATS; i++) {
        float from[3], turn[4], length = 0.0f, away = 0.0f;
        for (int k = 0; k < 3; k++) {
            from[k] = half * (2.0f * number(i, k) - 1.0f);
            away += from[k] * from[k];
        }
        for (int k = 0; k < 4; k++) {
            turn[k] = number(i, 3 + k) - (k < 3 ? 0.5f : 0.0f);
            length += turn[k] * turn[k];
        }
        for (int k = 0; k < 4; k++) {
            v.rotation[4 * i + k] = turn[k] / sqrtf(length);
        }
        for (int k = 0; k < 3; k++) {
            v.position[3 * i + k] = from[k] * fmaxf(1.0f, hole / sqrtf(away));
            v.log_scale[3 * i + k] = logf(half * (0.03f + 0.06f * number(i, 7 + k)));
            v.colour[3 * i + k] = i % 2 ? 0.3f * (float)k - 0.2f : 0.5f - 0.4f * (float)k;
        }
        const float opacity = 0.05f + 0.3f * number(i, 10);
        v.opacity[i] = logf(opacity / (1.0f - opacity));
    }
    assert_ok(orr_splat_pack_create(jobs, &v, NULL, &s->pack, &error));
}

static void look(cloud_scene *s)
{
    const float slope = 0.9f, c = cosf(slope), i = sinf(slope);
    const orr_camera camera = {.width = SIDE,
                               .height = SIDE,
                               .focal = {100, 96},
                               .centre = {46, 50}, // not the middle
                               .pose = {1, 0, 0, 0.3f, 0, -i, c, -8.0f * c, 0, -c, -i, 8.0f * i + 1.0f}};
    assert_ok(orr_camera_resolve(&camera, &s->base.list.lens, &error));
}

// Halves of the cloud: one squeezed, one turned by a right angle and moved.
static void deform(cloud_scene *s)
{
    for (int i = 0; i < SPLATS; i++) {
        s->piece_of[i] = s->pack->original[i] % 2;
    }
    s->pieces[0] = (orr_affine_piece){
        .matrix = {1, 0.3f, 0, 0, 0.7f, 0, 0, 0, 1.3f}, .offset = {-0.3f, 0, 0}, .rotation = {1, 0, 0, 0}};
    s->pieces[1] = (orr_affine_piece){.matrix = {0, -1, 0, 1, 0, 0, 0, 0, 1},
                                      .offset = {0.9f, 0.8f, 0.2f},
                                      .rotation = {0.70710678f, 0, 0, 0.70710678f}};
    s->layers[0].key = 6;
    s->layers[0].deformation = (orr_draw_deformation){s->piece_of, s->pieces, 2};
}

// model: turned by a right angle about z, and moved
static orr_draw_splats layer_at(const cloud_scene *s, float x, float y, float z)
{
    return (orr_draw_splats){
        .pack = s->pack, .key = 5, .model = {0, -1, 0, x, 1, 0, 0, y, 0, 0, 1, z}, .casts_shadow = true};
}

static void light_by_lamps(orr_draw_list *list)
{
    list->sun.radius = 0.03f;
    for (int k = 0; k < 3; k++) { // nothing is brighter than white
        list->sun.colour[k] = 0.2f;
        list->sun.ambient[k] = 0.1f;
    }
    list->lights[0] = (orr_draw_light){.position = {-3, -1, 5},
                                       .direction = {0.48f, 0.36f, -0.8f},
                                       .attenuation = {1},
                                       .cutoff = 60.0f,
                                       .diffuse = {0.4f, 0.3f, 0.2f},
                                       .casts_shadows = true};
    list->lights[1] = (orr_draw_light){.position = {0.4f, 2.5f, 4.5f},
                                       .attenuation = {1},
                                       .cutoff = 180.0f,
                                       .diffuse = {0.2f, 0.3f, 0.4f},
                                       .casts_shadows = true,
                                       .radius = 0.15f};
    list->light_count = 2;
}

static void light_from_inside(orr_draw_list *list, float x, float y, float z)
{
    memset(list->sun.colour, 0, sizeof list->sun.colour);
    list->lights[0] = (orr_draw_light){.position = {x, y, z},
                                       .attenuation = {1},
                                       .cutoff = 180.0f,
                                       .diffuse = {0.5f, 0.5f, 0.5f},
                                       .casts_shadows = true};
    list->light_count = 1;
}

void cloud_scene_make(cloud_scene *s, orr_jobs *jobs, int variant)
{
    *s = (cloud_scene){0};
    orr_draw_list *list = &s->base.list;
    const bool captured = variant == CAPTURED || variant == CLOUDS_ALONE;
    if (captured) {
        shadow_scene_make_captured(&s->base, jobs);
    } else {
        shadow_scene_make(&s->base);
    }
    make_cloud(s, jobs, 0.8f, variant == LAMP_INSIDE ? 0.7f : 0.0f);
    look(s);
    list->umbra = 0.4f;
    s->layers[0] = layer_at(s, -1.6f, 0.2f, 3.2f);
    list->splats = s->layers;
    list->splat_count = 1;
    if (captured) { // before the cloud, so that the cloud's splats are not the first of the frame
        s->layers[1] = s->layers[0];
        s->layers[0] = s->base.layer;
        list->splat_count = 2;
        list->mesh_count = variant == CAPTURED ? 1 : 0;
    }
    if (variant == LAMPS) {
        light_by_lamps(list);
    }
    if (variant == LAMP_INSIDE) {
        light_from_inside(list, -1.6f, 0.2f, 3.2f);
    }
    if (variant == DEFORMED) {
        deform(s);
    }
    if (variant == TWO_CLOUDS) { // one in the shadow of the other
        s->layers[1] = layer_at(s, -0.2f, 0.5f, 1.2f);
        list->splat_count = 2;
    }
    if (variant == MIRRORED) {
        s->base.floor.material.reflectance = 0.5f;
        list->mirrors = list->smooth = true;
    }
    const uint64_t own = 1000 * (uint64_t)variant; // for devices that have drawn another one
    for (int i = 0; i < 2; i++) {
        s->layers[i].key += own;
        s->base.items[i].key += own;
    }
}

void cloud_scene_free(cloud_scene *s)
{
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
    shadow_scene_free(&s->base);
}

void cloud_scene_cast(cloud_scene *s, bool on)
{
    for (int i = 0; i < s->base.list.splat_count; i++) {
        s->layers[i].casts_shadow = on && s->layers[i].pack == s->pack;
    }
}

static double difference(const drawn *a, const drawn *b, int64_t pixel)
{
    double most = 0.0;
    for (int64_t i = 4 * pixel; i < 4 * pixel + 4; i++) {
        const double d = fabs((double)a->rgba[i] - (double)b->rgba[i]);
        most = d > most || isnan(d) ? d : most;
    }
    return most;
}

cloud_agreement cloud_scene_compare(orr_jobs *jobs, cloud_scene *s, const drawn *machine, const drawn *plain,
                                    double tolerance)
{
    const orr_draw_list *list = &s->base.list;
    cloud_scene_cast(s, false);
    drawn lit = drawn_on_cpu(jobs, list);
    cloud_scene_cast(s, true);
    drawn expected = drawn_on_cpu(jobs, list);
    cloud_agreement a = {0};
    double sum = 0.0;
    for (int64_t i = 0; i < expected.pixels; i++) {
        const double off = difference(machine, &expected, i);
        a.shown += difference(&lit, &expected, i) > 0.02;
        if (off <= tolerance) {
            a.worst = fmax(a.worst, off);
        } else {
            a.off++;
        }
        for (int64_t k = 4 * i; k < 4 * i + 4; k++) {
            sum += pow((double)machine->rgba[k] - (double)expected.rgba[k], 2.0);
        }
    }
    a.quality = -10.0 * log10(fmax(sum / (4.0 * (double)expected.pixels), 1e-30));
    a.depth_alike = memcmp(machine->depth, plain->depth, (size_t)plain->pixels * sizeof *plain->depth) == 0;
    drawn_free(&lit);
    drawn_free(&expected);
    return a;
}
