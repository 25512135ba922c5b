#include "engine/loop/frame_pose.h"

#include "engine/core/memory.h"
#include "engine/loop/light/frame_environment.h"
#include "engine/loop/light/frame_light.h"
#include "engine/loop/world/robot_draw.h"
#include "engine/maths/camera.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

static orr_result reserve_layers(orr_frame_slot *slot, int count, orr_error *error)
{
    if (count <= slot->capacity) {
        return ORR_OK;
    }
    orr_free(slot->splats);
    orr_free(slot->meshes);
    orr_free(slot->fields);
    orr_free(slot->mesh_layers);
    orr_free(slot->splat_layers);
    orr_free(slot->field_layers);
    slot->capacity = 0;
    slot->splats = orr_alloc((size_t)count, sizeof *slot->splats);
    slot->meshes = orr_alloc((size_t)count, sizeof *slot->meshes);
    slot->fields = orr_alloc((size_t)count, sizeof *slot->fields);
    slot->mesh_layers = orr_alloc((size_t)count, sizeof *slot->mesh_layers);
    slot->splat_layers = orr_alloc((size_t)count, sizeof *slot->splat_layers);
    slot->field_layers = orr_alloc((size_t)count, sizeof *slot->field_layers);
    if (!slot->splats || !slot->meshes || !slot->fields || !slot->mesh_layers || !slot->splat_layers ||
        !slot->field_layers) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d layers", count);
    }
    slot->capacity = count;
    return ORR_OK;
}

// What of a layer is drawn, and where.
typedef struct drawn_layer {
    const orr_splat_pack *splats;
    const orr_mesh *mesh;
    uint64_t key;
    float model[12];
    orr_draw_deformation deformation; // of splats
} drawn_layer;

// What follows the cage of a soft body, in the scene's space: clouds where they are projected, meshes here,
// under a key of this frame alone.
static orr_result deform(orr_frame_soft *out, const orr_scene *scene, const orr_soft_layer *soft,
                         drawn_layer *drawn, orr_error *error)
{
    const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const orr_scene_context *context = &scene->context;
    const int pieces = orr_soft_pieces(soft->cage);
    ORR_GROW(out->pieces, out->capacity, pieces, "soft bodies of a frame", error);
    orr_soft_affines(soft->cage, out->position, soft->scale, context->jobs, out->pieces);
    memcpy(drawn->model, identity, sizeof identity);
    if (drawn->splats) {
        drawn->deformation = (orr_draw_deformation){soft->piece, out->pieces, pieces};
        return ORR_OK;
    }
    const orr_mesh *rest = drawn->mesh;
    drawn->mesh = &out->mesh.mesh;
    drawn->key = (*context->next_key)++;
    return orr_deform_mesh(rest, soft->piece, out->pieces, context->jobs, &out->mesh, error);
}

// Where the vertices of a soft layer's cage are in one copy.
static orr_result find_vertices(orr_frame_soft *out, const orr_world *world, int index,
                                const orr_layer_data *layer, orr_error *error)
{
    const orr_world_soft *soft = orr_world_soft_find(world, layer);
    if (soft) {
        out->position = orr_world_soft_positions(soft, index);
        return ORR_OK;
    }
    ORR_GROW(out->points, out->point_capacity, 3 * layer->soft->cage->vertices, "soft bodies of a frame",
             error);
    out->position = out->points;
    return orr_world_node_points(world, index, layer, out->points, NULL, &out->scratch, error);
}

// The view's ambient occlusion, or the scene's.
static orr_result set_occlusion(const orr_scene *scene, const orr_view *view, orr_draw_list *list,
                                orr_error *error)
{
    const float radius = view->occlusion_radius, strength = view->occlusion_strength;
    if (!(radius <= 1e6f)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "ambient occlusion: radius %g: expected at most 1e6",
                        (double)radius);
    }
    if (!(strength >= 0.0f && strength <= 1.0f)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "ambient occlusion: strength %g: expected 0 to 1",
                        (double)strength);
    }
    list->occlusion =
        (orr_draw_occlusion){.radius = fmaxf(radius == 0.0f ? scene->occlusion_radius : radius, 0.0f),
                             .strength = radius == 0.0f     ? scene->occlusion_strength
                                         : strength == 0.0f ? 1.0f
                                                            : strength};
    orr_scene_up_direction(scene, list->occlusion.up);
    return ORR_OK;
}

static orr_result check_view(const orr_view *view, orr_error *error)
{
    const float *colour = view->background;
    if (view->has_background && !(isfinite(colour[0]) && isfinite(colour[1]) && isfinite(colour[2]))) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "background %g, %g, %g: expected finite numbers",
                        (double)colour[0], (double)colour[1], (double)colour[2]);
    }
    if (!(fabsf(view->exposure) <= 20.0f)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "exposure %g: expected -20 to 20", (double)view->exposure);
    }
    if (view->tone < ORR_TONE_NONE || view->tone > ORR_TONE_ACES) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "tone %d: expected %d to %d", (int)view->tone,
                        ORR_TONE_NONE, ORR_TONE_ACES);
    }
    return ORR_OK;
}

// An empty list in the slot, with memory for all layers and the items of robots.
static orr_result begin_list(orr_frame_slot *slot, const orr_scene *scene, const orr_world *world,
                             const orr_view *view, bool device_bodies, orr_error *error)
{
    int count;
    ORR_TRY(orr_robot_items(scene, world, view, &count, error));
    ORR_TRY(reserve_layers(slot, scene->layer_count + count, error));
    ORR_GROW(slot->robots, slot->robot_capacity, device_bodies ? scene->layer_count : 0, "robots of a frame",
             error);
    ORR_GROW(slot->softs, slot->soft_capacity, scene->layer_count, "soft bodies of a frame", error);
    orr_draw_list *list = &slot->list;
    list->splats = slot->splats;
    list->meshes = slot->meshes;
    list->fields = slot->fields;
    list->splat_count = list->mesh_count = list->field_count = 0;
    list->seen = NULL;
    list->self_shadow = NULL;
    orr_self_shadow_release(slot->self_shadow);
    slot->self_shadow = NULL;
    return ORR_OK;
}

static void add_cloud(orr_frame_slot *slot, const orr_layer_data *layer, int i, const drawn_layer *drawn,
                      bool antialias)
{
    slot->splat_layers[slot->list.splat_count] = i;
    orr_draw_splats *out = &slot->splats[slot->list.splat_count++];
    *out = (orr_draw_splats){.pack = drawn->splats,
                             .key = drawn->key,
                             .deformation = drawn->deformation,
                             .antialias = antialias || layer->antialias || layer->splats->antialiased,
                             .casts_shadow = orr_layer_casts_shadow(layer)};
    memcpy(out->model, drawn->model, sizeof drawn->model);
}

static void add_mesh(orr_frame_slot *slot, const drawn_layer *drawn)
{
    orr_draw_mesh *out = &slot->meshes[slot->list.mesh_count++];
    *out = (orr_draw_mesh){.mesh = drawn->mesh, .key = drawn->key};
    memcpy(out->model, drawn->model, sizeof drawn->model);
}

static void add_field(orr_frame_slot *slot, const orr_layer_data *layer, int i, const drawn_layer *drawn)
{
    slot->field_layers[slot->list.field_count] = i;
    orr_draw_field *out = &slot->fields[slot->list.field_count++];
    *out = (orr_draw_field){.layer = layer->field, .key = layer->key};
    memcpy(out->model, drawn->model, sizeof drawn->model);
}

// Layer i, as it is in the view's copy, into the list.
static orr_result add_layer(orr_frame_slot *slot, const orr_scene *scene, const orr_world *world,
                            const orr_view *view, int i, bool device_bodies, orr_drawn_planes *planes,
                            orr_error *error)
{
    const orr_layer_data *layer = &scene->layers[i];
    orr_draw_list *list = &slot->list;
    orr_layer_state state = orr_world_state(world, view->world, layer);
    if (!state.visible) {
        return ORR_OK;
    }
    const int first_mesh = list->mesh_count;
    drawn_layer drawn = {.splats = layer->splats, .mesh = layer->mesh, .key = layer->key};
    ORR_TRY(orr_world_layer_transform(world, view->world, layer, &state.transform, &state.transform, error));
    ORR_TRY(orr_affine_from_transform(&state.transform, drawn.model, error));
    if (layer->soft && !layer->absent) {
        ORR_TRY(find_vertices(&slot->softs[i], world, view->world, layer, error));
        ORR_TRY(deform(&slot->softs[i], scene, layer->soft, &drawn, error));
    }
    switch (layer->kind) {
    case ORR_LAYER_SPLATS:
        add_cloud(slot, layer, i, &drawn, view->antialias);
        break;
    case ORR_LAYER_MESH:
        add_mesh(slot, &drawn);
        break;
    case ORR_LAYER_FIELD:
        add_field(slot, layer, i, &drawn);
        break;
    case ORR_LAYER_ROBOT:
        ORR_TRY(orr_robot_draw(world, view, layer, &state.transform, list->lens.position,
                               device_bodies ? &slot->robots[i] : NULL, planes, slot->meshes,
                               &list->mesh_count, error));
        break;
    }
    for (int mesh = first_mesh; mesh < list->mesh_count; mesh++) {
        slot->mesh_layers[mesh] = i;
    }
    return ORR_OK;
}

static void set_switches(const orr_scene *scene, const orr_view *view, orr_draw_list *list)
{
    list->shadows = !view->no_shadows;
    list->mirrors = !view->no_mirrors;
    list->smooth = !view->hard_edges;
    list->no_reuse = view->no_reuse;
    list->umbra = scene->umbra;
    list->exposure = scene->exposure + view->exposure;
    list->tone = view->tone != ORR_TONE_NONE ? view->tone : scene->tone;
}

// What is behind all layers, and the haze between.
static orr_result set_background(orr_frame_slot *slot, const orr_scene *scene, const orr_world *world,
                                 const orr_view *view, const orr_drawn_planes *planes, orr_error *error)
{
    orr_draw_list *list = &slot->list;
    list->opaque = view->has_background || scene->has_background;
    list->sky = orr_sky_of_one_colour(view->has_background ? view->background : scene->background);
    list->backdrop.mesh = NULL;
    orr_frame_environment(scene, list->opaque, slot->meshes, list);
    const orr_layer_data *sky =
        view->has_background || list->environment_behind ? NULL : orr_scene_sky(scene);
    if (sky) {
        ORR_TRY(orr_frame_sky(sky, list, error));
    }
    list->haze = (orr_draw_haze){0};
    const orr_layer_data *robot = orr_scene_first_robot(scene);
    if (robot) {
        orr_frame_haze(world, view->world, robot, planes->has_ground ? planes->ground : NULL, view->fog,
                       list);
    }
    return ORR_OK;
}

orr_result orr_frame_pose(orr_frame_slot *slot, const orr_scene *scene, const orr_world *world,
                          const orr_view *view, bool device_bodies, orr_error *error)
{
    orr_drawn_planes planes = {.count = 0};
    ORR_TRY(orr_world_check_index(world, view->world, error));
    ORR_TRY(check_view(view, error));
    ORR_TRY(orr_camera_resolve(&view->camera, &slot->list.lens, error));
    ORR_TRY(begin_list(slot, scene, world, view, device_bodies, error));
    ORR_TRY(orr_world_softs_update(world, error));
    for (int i = 0; i < scene->layer_count; i++) {
        ORR_TRY(add_layer(slot, scene, world, view, i, device_bodies, &planes, error));
    }
    ORR_TRY(orr_frame_light(world, view->world, &slot->list, error));
    ORR_TRY(set_occlusion(scene, view, &slot->list, error));
    set_switches(scene, view, &slot->list);
    return set_background(slot, scene, world, view, &planes, error);
}

// Clouds receive shadows where a pinhole shows them.
static bool shades_clouds(const orr_draw_list *list)
{
    bool shades = false;
    for (int i = 0; i < list->splat_count; i++) {
        shades = shades || list->splats[i].casts_shadow;
    }
    return shades && list->shadows && list->splat_count + list->field_count > 1;
}

// Lamps light what fields show where a pinhole shows it.
static bool lights_fields(const orr_draw_list *list)
{
    bool lights = false;
    for (int i = 0; i < list->light_count; i++) {
        lights = lights || list->lights[i].lights_captured;
    }
    return lights && list->field_count > 0;
}

void orr_frame_fit_lens(orr_draw_list *list, bool clouds)
{
    const bool pinhole = list->mesh_count > 0 || lights_fields(list) ||
                         (list->splat_count > 0 && (!clouds || shades_clouds(list)));
    list->lens.distorted = list->lens.distorted && !pinhole;
}

void orr_frame_soft_clear(orr_frame_soft *soft)
{
    orr_free(soft->pieces);
    orr_free(soft->points);
    orr_free(soft->scratch.numbers);
    orr_deformed_clear(&soft->mesh);
}

void orr_frame_slot_close(orr_frame_slot *slot)
{
    orr_free(slot->splats);
    orr_free(slot->meshes);
    orr_free(slot->fields);
    orr_free(slot->mesh_layers);
    orr_free(slot->splat_layers);
    orr_free(slot->field_layers);
    for (int i = 0; i < ORR_DRAW_ENVIRONMENTS - 1; i++) {
        orr_environment_destroy(slot->probe_maps[i]);
    }
    orr_self_shadow_release(slot->self_shadow);
    for (int i = 0; i < slot->robot_capacity; i++) {
        orr_physics_bodies_release(&slot->robots[i].memory);
    }
    orr_free(slot->robots);
    for (int i = 0; i < slot->soft_capacity; i++) {
        orr_frame_soft_clear(&slot->softs[i]);
    }
    orr_free(slot->softs);
    for (int i = 0; i < slot->relit_capacity; i++) {
        orr_free(slot->relit[i].harmonics);
    }
    orr_free(slot->relit);
}
