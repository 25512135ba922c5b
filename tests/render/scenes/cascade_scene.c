#include "tests/render/scenes/cascade_scene.h"

#include "engine/maths/camera.h"
#include "engine/maths/vector.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

// A mesh of the scene, `size` times as large, at (x, y, z).
static orr_draw_mesh placed(const small_mesh *mesh, uint64_t key, float size, float x, float y, float z)
{
    return (orr_draw_mesh){
        .mesh = &mesh->mesh, .key = key, .model = {size, 0, 0, x, 0, size, 0, y, 0, 0, size, z}};
}

void cascade_scene_make(cascade_scene *s)
{
    static const float low[3] = {-3.0f, 1.2f, 2.9f}, high[3] = {20.0f, 2.2f, 3.0f};
    shadow_scene *base = &s->base;
    shadow_scene_make(base);
    memcpy(s->beam_vertices, base->box_vertices, sizeof s->beam_vertices);
    for (int i = 0; i < 24; i++) {
        for (int k = 0; k < 3; k++) {
            float *p = &s->beam_vertices[i].position[k];
            *p = *p > 0.0f ? high[k] : low[k];
        }
    }
    small_mesh_set(&s->beam, s->beam_vertices, 24, base->box_indices, 36);
    s->beam.material.two_sided = false;
    s->items[0] = placed(&base->floor, 77, 6.0f, 0.0f, 0.0f, 0.0f);
    s->items[1] = placed(&base->box, 78, 1.0f, 0.0f, 0.0f, 1.5f);
    for (int i = 0; i < 4; i++) {
        const float x = i % 2 ? 23.0f : -23.0f, y = i / 2 ? 23.0f : -23.0f;
        s->items[2 + i] = placed(&base->box, 78, 1.0f, x, y, 0.5f);
    }
    s->items[CASCADE_SCENE_BEAM] = placed(&s->beam, 79, 1.0f, 0.0f, 0.0f, 0.0f);
    s->list = base->list;
    s->list.meshes = s->items;
    s->list.mesh_count = 7;
    s->list.lens =
        cascade_scene_lens((const float[3]){1.0f, -2.6f, 1.7f}, (const float[3]){1.3f, 0.6f, 0.0f});
}

orr_lens cascade_scene_lens(const float from[3], const float to[3])
{
    const double towards[3] = {(double)to[0] - (double)from[0], (double)to[1] - (double)from[1],
                               (double)to[2] - (double)from[2]};
    const double up[3] = {0.0, 0.0, 1.0};
    double z[3] = {towards[0], towards[1], towards[2]}, x[3], y[3];
    vec3_normalise(z);
    vec3_cross(z, up, x);
    vec3_normalise(x);
    vec3_cross(z, x, y);
    orr_camera camera = {.model = ORR_CAMERA_PERSPECTIVE,
                         .width = SHADOW_SCENE_SIDE,
                         .height = SHADOW_SCENE_SIDE,
                         .focal = {256.0f, 256.0f}};
    for (int k = 0; k < 3; k++) {
        camera.pose[4 * k] = (float)x[k];
        camera.pose[4 * k + 1] = (float)y[k];
        camera.pose[4 * k + 2] = (float)z[k];
        camera.pose[4 * k + 3] = from[k];
    }
    orr_lens lens;
    assert_ok(orr_camera_resolve(&camera, &lens, &error));
    return lens;
}
