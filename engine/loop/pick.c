// Picking: the layer, body, geom or triangle under a point of a view. Surfaces are found by a ray through
// their triangles; clouds and fields, which have no surface, by drawing one pixel of each on the CPU, so that
// what is picked is what is seen.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/frame_pose.h"
#include "engine/loop/pick_ray.h"
#include "render/cpu/splats_cpu.h"

#include <math.h>

static const float COVERS = 0.5f; // alpha from which a cloud or a field hides what is behind it

// The nearest hit so far.
typedef struct pick_state {
    const orr_scene *scene;
    orr_frame_slot slot; // what the view draws
    orr_arena arena;
    orr_profile profile;
    orr_pick_ray ray;
    double depth; // of the hit; INFINITY: none yet
    float alpha;  // of the hit
    orr_hit hit;
} pick_state;

static void take_hit(pick_state *s, const orr_layer_data *layer, double depth, float alpha)
{
    const orr_layer_data *robot =
        layer->kind == ORR_LAYER_ROBOT ? layer : orr_scene_bound_robot(s->scene, layer);
    s->depth = depth;
    s->alpha = alpha;
    s->hit = (orr_hit){.layer = {layer->id.slot, layer->id.generation},
                       .kind = layer->kind,
                       .body = robot ? layer->bound_body : -1,
                       .geom = -1,
                       .triangle = -1,
                       .depth = (float)depth};
    if (robot) {
        s->hit.robot = (orr_layer){robot->id.slot, robot->id.generation};
    }
    orr_pick_ray_point(&s->ray, depth, s->hit.position);
}

// ---- surfaces ----

static void pick_mesh(pick_state *s, int number)
{
    const orr_draw_mesh *drawn = &s->slot.meshes[number];
    const orr_layer_data *layer = &s->scene->layers[s->slot.mesh_layers[number]];
    const orr_lens *lens = &s->slot.list.lens;
    const orr_robot_geom *geom = orr_layer_geom(layer, drawn->key);
    if (layer->kind == ORR_LAYER_ROBOT && !geom) {
        return; // sites, tendons and marks are no part of the robot's surface
    }
    double depth = fmin(s->depth, (double)lens->far_plane);
    int64_t triangle =
        orr_pick_ray_mesh(&s->ray, drawn->mesh, drawn->model, (double)lens->near_plane, &depth);
    if (triangle < 0) {
        return;
    }
    take_hit(s, layer, depth, 1.0f);
    if (geom) {
        s->hit.body = geom->body;
        s->hit.geom = geom->geom;
    } else {
        s->hit.triangle = triangle;
    }
}

// ---- clouds and fields ----

static const orr_layer_data *layer_of(const orr_scene *scene, uint64_t key)
{
    for (int i = 0; i < scene->layer_count; i++) {
        if (scene->layers[i].key == key) {
            return &scene->layers[i];
        }
    }
    return NULL;
}

// What one of them alone shows at the point.
static orr_result pick_volume(pick_state *s, const orr_draw_list *list, uint64_t key, orr_error *error)
{
    float rgba[4] = {0}, depth = 0.0f;
    const orr_layer_data *layer = layer_of(s->scene, key);
    orr_arena_reset(&s->arena);
    ORR_TRY(orr_draw_cpu(s->scene->context.jobs, s->scene->context.isa, &s->arena, list, NULL,
                         &(orr_picture){.rgba = rgba, .depth = &depth}, NULL, &s->profile, error));
    float alpha = rgba[3];
    bool better = alpha < COVERS ? alpha > s->alpha : s->alpha < COVERS || (double)depth < s->depth;
    if (layer && depth > 0.0f && better) {
        take_hit(s, layer, (double)depth, alpha);
    }
    return ORR_OK;
}

static orr_result pick_volumes(pick_state *s, float x, float y, orr_error *error)
{
    // one pixel around the point; the limits of slopes remain the view's
    orr_draw_list pixel = s->slot.list;
    pixel.mesh_count = 0;
    pixel.backdrop.mesh = NULL;
    pixel.opaque = false;
    pixel.lens.width = pixel.lens.height = 1;
    pixel.lens.centre[0] -= x - 0.5f;
    pixel.lens.centre[1] -= y - 0.5f;
    for (int i = 0; i < s->slot.list.splat_count; i++) {
        pixel.splats = &s->slot.splats[i];
        pixel.splat_count = 1;
        pixel.field_count = 0;
        ORR_TRY(pick_volume(s, &pixel, pixel.splats->key, error));
    }
    for (int i = 0; i < s->slot.list.field_count; i++) {
        pixel.fields = &s->slot.fields[i];
        pixel.field_count = 1;
        pixel.splat_count = 0;
        ORR_TRY(pick_volume(s, &pixel, pixel.fields->key, error));
    }
    return ORR_OK;
}

// ---- the call ----

static orr_result pick(pick_state *s, const orr_world *world, const orr_view *view, float x, float y,
                       orr_error *error)
{
    orr_view posed = *view;
    posed.contact_points = posed.contact_forces = false;
    posed.no_shadows = true;
    posed.no_mirrors = true;
    posed.occlusion_radius = -1.0f;
    ORR_TRY(orr_frame_pose(&s->slot, s->scene, world, &posed, false, error));
    orr_frame_fit_lens(&s->slot.list, true);
    s->ray = orr_pick_ray_through(&s->slot.list.lens, view->camera.pose, x, y);
    for (int i = 0; i < s->slot.list.mesh_count; i++) {
        pick_mesh(s, i);
    }
    return pick_volumes(s, x, y, error);
}

static orr_result check_and_pick(pick_state *s, const orr_world *world, const orr_view *view, float x,
                                 float y, orr_error *error)
{
    const orr_camera *camera = &view->camera;
    // written so that NaN fails
    if (!(x >= 0.0f && y >= 0.0f && x < (float)camera->width && y < (float)camera->height)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "point %g, %g: expected one in the picture of %d x %d",
                        (double)x, (double)y, camera->width, camera->height);
    }
    orr_result result = pick(s, world, view, x, y, error);
    orr_frame_slot_close(&s->slot);
    orr_arena_destroy(&s->arena);
    return result;
}

orr_result orr_world_pick_sized(const orr_world *world, const orr_view *view, size_t view_size, float x,
                                float y, orr_hit *hit, size_t hit_size, orr_error *error)
{
    const orr_hit none = {.body = -1, .geom = -1, .triangle = -1};
    ORR_ENTER;
    ORR_REQUIRE(hit, error);
    orr_sized_write(&none, sizeof none, hit, hit_size);
    ORR_TRY(orr_world_check(world, error));
    pick_state s = {.scene = world->scene, .depth = INFINITY, .hit = none};
    orr_view own;
    orr_result result = orr_sized_read(&own, sizeof own, view, view_size, "orr_view", error);
    if (result == ORR_OK) {
        result = check_and_pick(&s, world, &own, x, y, error);
    }
    if (result == ORR_OK) {
        orr_sized_write(&s.hit, sizeof s.hit, hit, hit_size);
    }
    return result;
}

const char *orr_scene_robot_geom(const orr_scene *scene, orr_layer robot, int geom)
{
    int index = scene ? orr_scene_find(scene, robot) : -1;
    if (index < 0 || scene->layers[index].kind != ORR_LAYER_ROBOT || geom < 0) {
        return NULL;
    }
    const orr_model *m = scene->layers[index].robot->model;
    const int visual = geom - m->ngeom;
    if (visual >= 0) {
        return m->visuals && visual < m->visuals->count ? m->visuals->list[visual].name : NULL;
    }
    return orr_model_name(m, ORR_OBJECT_GEOM, geom);
}
