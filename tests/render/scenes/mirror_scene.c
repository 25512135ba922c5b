#include "tests/render/scenes/mirror_scene.h"

#include "engine/image/image.h"
#include "engine/maths/camera.h"
#include "render/splat/splat_cloud.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SIDE = SHADOW_SCENE_SIDE, SPLATS = MIRROR_SCENE_SPLATS, BOXES = MIRROR_SCENE_BOXES };

void mirror_scene_look(mirror_scene *s, float slope, bool orthographic)
{
    const float c = cosf(slope), i = sinf(slope), part = (float)s->side / (float)SIDE;
    orr_camera camera = {.width = s->side,
                         .height = s->side,
                         .focal = {220 * part, 200 * part},
                         .centre = {118 * part, 140 * part}, // not the middle
                         .pose = {1, 0, 0, 0.3f, 0, -i, c, -6.0f * c, 0, -c, -i, 6.0f * i + 0.3f}};
    if (orthographic) {
        camera.model = ORR_CAMERA_ORTHOGRAPHIC;
        camera.focal[0] = camera.focal[1] = 40.0f * part;
    }
    assert_ok(orr_camera_resolve(&camera, &s->base.list.lens, &error));
}

void mirror_scene_put_items(mirror_scene *s, orr_jobs *jobs, float side, bool hidden)
{
    const float places[BOXES][3] = {{-1.2f, 0.5f, 1.1f}, {1.1f, 0.2f, 0.0f}, {0.0f, 0.0f, -1.5f}};
    orr_draw_list *list = &s->base.list;
    list->mesh_count = 1;
    for (int i = 0; i < (hidden ? BOXES : BOXES - 1); i++) {
        const float c = cosf(0.4f), k = sinf(0.4f);
        s->items[list->mesh_count++] = (orr_draw_mesh){
            .mesh = &s->base.box.mesh,
            .key = 78,
            .model = {c, -k, 0, places[i][0], k, c, 0, places[i][1], 0, 0, 1, side * places[i][2]}};
    }
    list->sun.direction[2] = side * 0.8f;
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
    assert_ok(orr_splats_create(hidden ? SPLATS : SPLATS / 2, 0, &s->splats, &error));
    const orr_splats_view v = orr_splats_data(s->splats);
    for (int i = 0; i < v.count; i++) { // balls, the second half of them below the floor and farther off
        const bool above = i < SPLATS / 2;
        const float at[3] = {0.1f * (float)(i % 8) - 0.3f, above ? -0.8f : 1.5f,
                             0.25f + 0.1f * (float)(i % (SPLATS / 2) / 8)};
        v.opacity[i] = 1.0f;
        for (int k = 0; k < 3; k++) {
            v.position[3 * i + k] = k == 2 ? (above ? side : -side) * at[k] : at[k];
            v.log_scale[3 * i + k] = logf(0.04f);
            v.colour[3 * i + k] = 0.4f * (float)((i + k) % 3);
        }
    }
    assert_ok(orr_splat_pack_create(jobs, &v, NULL, &s->pack, &error));
    s->layer = (orr_draw_splats){.pack = s->pack, .key = 99, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    list->splats = &s->layer;
    list->splat_count = 1;
}

void mirror_scene_make(mirror_scene *s, orr_jobs *jobs)
{
    *s = (mirror_scene){.side = SIDE};
    shadow_scene_make(&s->base);
    shadow_scene_make(&s->wall);
    s->items[0] = s->base.items[0];
    s->base.list.meshes = s->items;
    s->base.list.shadows = false;
    s->base.list.mirrors = true;
    s->base.floor.material.reflectance = 0.6f;
    mirror_scene_put_items(s, jobs, 1.0f, true);
    mirror_scene_look(s, 0.6f, false);
}

void mirror_scene_free(mirror_scene *s)
{
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
    orr_environment_destroy(s->environment);
}

// ---- what all machines draw ----

const char *const mirror_scene_variants[MIRROR_SCENE_VARIANTS] = {
    "from above", "aslant, with shadows", "orthographic", "smooth edges",
    "glass",      "two mirrors",          "deformed",     "before an environment"};

static void add_item(mirror_scene *s, const orr_mesh *mesh, uint64_t key, const float model[12])
{
    orr_draw_mesh *item = &s->items[s->base.list.mesh_count++];
    *item = (orr_draw_mesh){.mesh = mesh, .key = key};
    memcpy(item->model, model, sizeof item->model);
}

// Halves of the cloud that are moved apart, one of them squeezed.
static void deform(mirror_scene *s)
{
    for (int i = 0; i < SPLATS; i++) {
        s->piece_of[i] = s->pack->original[i] / 4 % 2;
    }
    s->pieces[0] =
        (orr_affine_piece){.matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .offset = {0.6f, 0, 0}, .rotation = {1}};
    s->pieces[1] =
        (orr_affine_piece){.matrix = {1, 0, 0, 0, 2, 0, 0, 0, 1}, .offset = {-0.6f, 0, 0}, .rotation = {1}};
    s->layer.key = 100;
    s->layer.deformation = (orr_draw_deformation){s->piece_of, s->pieces, 2};
}

// Light from all around that differs by direction, seen behind everything.
static void surround(mirror_scene *s, orr_jobs *jobs)
{
    enum { WIDTH = 32, HEIGHT = 16 };
    float rgb[HEIGHT * WIDTH * 3];
    for (int i = 0; i < HEIGHT * WIDTH; i++) {
        for (int k = 0; k < 3; k++) {
            rgb[3 * i + k] = 0.2f + 0.6f * (float)((i + 3 * k) % WIDTH) / WIDTH;
        }
    }
    orr_draw_list *list = &s->base.list;
    assert_ok(orr_environment_create(jobs, rgb, WIDTH, HEIGHT, "a test", NULL, &s->environment, &error));
    list->environments[0] = (orr_draw_environment){
        .map = s->environment, .key = 70, .to_map = {1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0}, .strength = 1.0f};
    list->environment_count = 1;
    list->environment_behind = list->opaque = true;
    for (int i = 0; i < list->mesh_count; i++) {
        s->items[i].environment = 1;
    }
}

void mirror_scene_put_panes(mirror_scene *s, int count)
{
    const float wall[12] = {1, 0, 0, 0, 0, 0, -1, 2.0f, 0, 1, 0, 0.0f}; // faces -y
    orr_draw_list *list = &s->base.list;
    s->wall.floor.material.reflectance = 0.5f;
    s->base.floor.material.reflectance = 0.0f;
    s->base.floor.material.blended = s->base.floor.material.two_sided = true;
    s->base.floor.material.base_colour[3] = 0.1f;
    for (int i = 0; i <= count; i++) {
        s->panes[i] =
            (orr_draw_mesh){.mesh = i ? &s->base.floor.mesh : &s->wall.floor.mesh, .key = i ? 90 : 91};
        memcpy(s->panes[i].model, wall, sizeof wall);
        s->panes[i].model[7] = i ? -4.0f - 0.2f * (float)i : 2.0f;
    }
    const float focal = 400.0f * (float)s->side / (float)SIDE;
    orr_camera camera = {.width = s->side,
                         .height = s->side,
                         .focal = {focal, focal},
                         .pose = {1, 0, 0, 0, 0, 0, 1, -2.0f, 0, -1, 0, 0}}; // looks along +y
    list->meshes = s->panes;
    list->mesh_count = count + 1;
    list->splat_count = 0;
    assert_ok(orr_camera_resolve(&camera, &list->lens, &error));
}

void mirror_scene_vary(mirror_scene *s, orr_jobs *jobs, int variant)
{
    orr_draw_list *list = &s->base.list;
    const float wall[12] = {1, 0, 0, 0, 0, 0, -1, 2.0f, 0, 1, 0, 4.0f}; // z is turned to -y
    const float glass[12] = {1, 0, 0, -0.4f, 0, 1, 0, -0.6f, 0, 0, 1, 1.2f};
    mirror_scene_look(s, variant == 0 ? 0.85f : variant == 1 ? 0.25f : 0.55f, variant == 2);
    list->shadows = variant == 1 || variant == 3;
    list->smooth = variant == 3;
    list->opaque = variant == 1; // before a sky, which mirrors do not show
    list->sky = orr_sky_of_one_colour((float[]){0.3f, 0.5f, 0.8f});
    switch (variant) {
    case 4:
        s->wall.box.material.blended = true;
        s->wall.box.material.base_colour[0] = 0.2f;
        s->wall.box.material.base_colour[3] = 0.5f;
        add_item(s, &s->wall.box.mesh, 81, glass);
        break;
    case 5:
        s->wall.floor.material.reflectance = 0.5f;
        add_item(s, &s->wall.floor.mesh, 80, wall);
        break;
    case 6:
        deform(s);
        break;
    case 7:
        surround(s, jobs);
        break;
    default:
        break;
    }
}

mirror_agreement mirror_scene_compare(orr_jobs *jobs, const orr_draw_list *list, const drawn *machine,
                                      const drawn *plain, double tolerance)
{
    orr_draw_list no_mirrors = *list;
    no_mirrors.mirrors = false;
    drawn expected = drawn_on_cpu(jobs, list), without = drawn_on_cpu(jobs, &no_mirrors);
    mirror_agreement a = {.quality = psnr(machine->rgba, expected.rgba, 4 * machine->pixels)};
    for (int64_t i = 0; i < 4 * machine->pixels; i += 4) {
        const double change = largest_difference(expected.rgba + i, without.rgba + i, 4);
        a.shown += change > 0.01;
        a.off += change > 0.0 && !(largest_difference(machine->rgba + i, expected.rgba + i, 4) <= tolerance);
    }
    a.depth_alike = memcmp(machine->depth, plain->depth, (size_t)machine->pixels * sizeof(float)) == 0;
    drawn_free(&expected);
    drawn_free(&without);
    return a;
}
