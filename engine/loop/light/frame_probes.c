#include "engine/loop/light/frame_probes.h"

#include "engine/core/hash.h"
#include "engine/loop/engine.h"
#include "engine/maths/camera.h"
#include "engine/maths/vector.h"
#include "render/cpu/splats_cpu.h"
#include "render/environment/maps.h"

#include <math.h>
#include <string.h>

enum { PASSES = 2 }; // in which grids take over what others throw on them

// The meshes of one layer.
typedef struct lit_layer {
    int layer; // of the scene
    float low[3], high[3], size;
    int probe;
} lit_layer;

static void add_box(const orr_draw_mesh *item, lit_layer *lit)
{
    for (int corner = 0; corner < 8; corner++) {
        float at[3];
        orr_box_corner(item->mesh->low, item->mesh->high, item->model, corner, at);
        for (int k = 0; k < 3; k++) {
            lit->low[k] = fminf(lit->low[k], at[k]);
            lit->high[k] = fmaxf(lit->high[k], at[k]);
        }
    }
}

// The box of the meshes `first` to `end` of the list; empty where the host does not know their place.
static void add_boxes(const orr_frame_slot *slot, int first, int end, bool flat, lit_layer *lit)
{
    for (int i = first; i < end; i++) {
        if (!slot->meshes[i].bodies && (flat || !orr_frame_is_flat(slot->meshes[i].mesh))) {
            add_box(&slot->meshes[i], lit);
        }
    }
}

static void centre_of(const lit_layer *lit, float centre[3])
{
    for (int k = 0; k < 3; k++) {
        centre[k] = 0.5f * (lit->low[k] + lit->high[k]);
    }
}

static float distance_between(const float a[3], const float b[3])
{
    const float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrtf(vec3f_dot(d, d));
}

// The largest layers that have meshes whose place the host knows, in the order of the scene; at most
// ORR_FRAME_PROBES. Meshes of a layer follow one another in the list.
static int find_layers(const orr_frame_slot *slot, lit_layer found[ORR_FRAME_PROBES])
{
    int count = 0;
    for (int i = 0; i < slot->list.mesh_count;) {
        lit_layer lit = {.layer = slot->mesh_layers[i],
                         .low = {INFINITY, INFINITY, INFINITY},
                         .high = {-INFINITY, -INFINITY, -INFINITY}};
        const int begin = i;
        while (i < slot->list.mesh_count && slot->mesh_layers[i] == lit.layer) {
            i++;
        }
        add_boxes(slot, begin, i, false, &lit);
        if (lit.low[0] > lit.high[0]) {
            add_boxes(slot, begin, i, true, &lit);
        }
        lit.size = distance_between(lit.low, lit.high);
        if (!isfinite(lit.size)) {
            continue;
        }
        int least = 0;
        for (int k = 1; k < count; k++) {
            least = found[k].size < found[least].size ? k : least;
        }
        if (count < ORR_FRAME_PROBES) {
            found[count++] = lit;
        } else if (lit.size > found[least].size) {
            memmove(found + least, found + least + 1, (size_t)(count - 1 - least) * sizeof *found);
            found[count - 1] = lit;
        }
    }
    return count;
}

// ---- what they show ----

// The lamps that light what is captured, in the world.
static uint64_t hash_lamps(uint64_t hash, const orr_draw_list *list)
{
    orr_draw_list lights = {.lens.view = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                            .light_count = list->light_count};
    orr_captured_lamps lamps;
    memcpy(lights.lights, list->lights, sizeof lights.lights);
    memcpy(lights.captured_white, list->captured_white, sizeof lights.captured_white);
    orr_draw_captured_lamps(&lights, &lamps);
    return lamps.count > 0 ? orr_hash_bytes(hash, &lamps, sizeof lamps) : hash;
}

// Of what is behind meshes.
static uint64_t hash_captured(const orr_draw_list *list, const orr_probe_behind *behind)
{
    uint64_t hash = ORR_HASH_BEGIN;
    for (int i = 0; i < list->splat_count; i++) {
        hash = orr_hash_bytes(hash, &list->splats[i].key, sizeof list->splats[i].key);
        hash = orr_hash_bytes(hash, list->splats[i].model, sizeof list->splats[i].model);
    }
    for (int i = 0; i < list->field_count; i++) {
        hash = orr_hash_bytes(hash, &list->fields[i].key, sizeof list->fields[i].key);
        hash = orr_hash_bytes(hash, list->fields[i].model, sizeof list->fields[i].model);
    }
    hash = list->field_count > 0 ? hash_lamps(hash, list) : hash; // those of clouds are in their keys
    hash = orr_hash_bytes(hash, behind->to_map, sizeof behind->to_map);
    hash = orr_hash_bytes(hash, behind->ambient, sizeof behind->ambient);
    hash = orr_hash_bytes(hash, &behind->strength, sizeof behind->strength);
    return behind->map ? orr_hash_bytes(hash, &list->environments[0].key, sizeof list->environments[0].key)
                       : hash;
}

// Ambient light comes from behind what is captured; that of distant lights too.
static orr_probe_behind take_ambient(orr_draw_list *list)
{
    orr_probe_behind behind = {0};
    for (int i = 0; i < list->light_count; i++) {
        orr_draw_light *light = &list->lights[i];
        for (int k = 0; k < 3 && light->directional; k++) {
            list->sun.ambient[k] += light->ambient[k];
            light->ambient[k] = 0.0f;
        }
    }
    memcpy(behind.ambient, list->sun.ambient, sizeof behind.ambient);
    if (list->environment_count > 0) {
        behind.map = list->environments[0].map;
        behind.strength = list->environments[0].strength;
        memcpy(behind.to_map, list->environments[0].to_map, sizeof behind.to_map);
    }
    return behind;
}

// A probe that is brought up to date, and with what.
typedef struct updating {
    orr_frame_probes *probes;
    const orr_scene *scene;
    const orr_draw_list *list;
    const orr_probe_behind *behind;
    const orr_bounce_lit *lit;
    uint64_t captured; // a hash of what is behind meshes
} updating;

// The picture of clouds and fields, display colours and depths.
static orr_result draw_captured(const updating *u, const orr_frame_probe *p, float size,
                                const orr_picture *picture, orr_error *error)
{
    const orr_draw_list *list = u->list;
    const orr_camera camera = orr_probe_camera(p->next, p->position, fmaxf(0.01f * size, 1e-5f));
    orr_profile profile;
    orr_draw_list seen = {.splats = list->splats,
                          .splat_count = list->splat_count,
                          .fields = list->fields,
                          .field_count = list->field_count,
                          .sun = list->sun,
                          .light_count = list->light_count,
                          .self_shadow = list->self_shadow};
    memcpy(seen.lights, list->lights, sizeof seen.lights);
    memcpy(seen.captured_white, list->captured_white, sizeof seen.captured_white);
    if (list->splat_count + list->field_count == 0) {
        memset(picture->rgba, 0, sizeof(float[4]) * ORR_PROBE_FACE * ORR_PROBE_FACE);
        return ORR_OK;
    }
    ORR_TRY(orr_camera_resolve(&camera, &seen.lens, error));
    orr_arena_reset(&u->probes->arena);
    return orr_draw_cpu(u->scene->context.jobs, u->scene->context.isa, &u->probes->arena, &seen, NULL,
                        picture, NULL, &profile, error);
}

static orr_result draw_face(const updating *u, orr_frame_probe *p, const lit_layer *lit, orr_error *error)
{
    float rgba[ORR_PROBE_FACE * ORR_PROBE_FACE * 4], depth[ORR_PROBE_FACE * ORR_PROBE_FACE] = {0};
    const orr_picture picture = {rgba, depth};
    orr_probe_meshes meshes;
    ORR_TRY(draw_captured(u, p, lit->size, &picture, error));
    orr_probe_take(p->next, &picture, u->behind, &p->faces[p->next]);
    orr_frame_bounce_show(&u->probes->bounce, u->scene->context.jobs, u->lit, lit->layer, p->next,
                          p->position, &meshes);
    orr_probe_put_meshes(&picture, &meshes, &p->faces[p->next], &p->shown[p->next]);
    p->next = (p->next + 1) % 6;
    p->left--;
    return ORR_OK;
}

// ---- one probe ----

// The probe of the layer in its place; another's is made anew.
static orr_result find_probe(orr_frame_probes *probes, int at, const orr_world *world, int index,
                             orr_pool_id layer, orr_frame_probe **out, orr_error *error)
{
    orr_frame_probe *p = probes->items[at];
    if (!p) {
        ORR_ALLOC(p, 1, "a probe", error);
        memset(p, 0, sizeof *p);
        probes->items[at] = p;
    }
    if (!p->map) {
        ORR_TRY(orr_environment_allocate(ORR_PROBE_SHARP, ORR_PROBE_ROUGH, ORR_ENVIRONMENT_POINTS, &p->map,
                                         error));
    }
    if (p->world != world || p->index != index || p->layer.slot != layer.slot ||
        p->layer.generation != layer.generation) {
        p->key = 0; // nothing is drawn yet
        p->bounce.shown.count = 0;
        p->bounce.making = false;
        p->bounce.of = 0;
        p->map->grid = (orr_environment_grid){.points = {0}};
        memset(p->map->harmonics, 0, sizeof p->map->harmonics);
        p->world = world;
        p->index = index;
        p->layer = layer;
    }
    *out = p;
    return ORR_OK;
}

static float nearest_side(const orr_frame_probe *p)
{
    float nearest = INFINITY;
    for (int k = 0; k < 3; k++) {
        nearest = fminf(nearest, fminf(p->high[k], -p->low[k]));
    }
    return nearest;
}

// Takes the place of its layer where the surfaces around would be seen from elsewhere.
static void place_probe(const updating *u, orr_frame_probe *p, const lit_layer *lit)
{
    float centre[3];
    const uint64_t others = orr_frame_bounce_hash(&u->probes->bounce, lit->layer);
    const uint64_t shown = orr_hash_bytes(u->captured, &others, sizeof others);
    centre_of(lit, centre);
    if (p->key == 0 || p->shown_hash != shown ||
        distance_between(centre, p->position) > fmaxf(0.1f * nearest_side(p), 1e-6f)) {
        memcpy(p->position, centre, sizeof centre);
        p->shown_hash = shown;
        p->left = 6;
    }
}

static orr_result draw_faces(const updating *u, orr_frame_probe *p, const lit_layer *lit, orr_error *error)
{
    if (p->left == 0) {
        return ORR_OK;
    }
    do {
        ORR_TRY(draw_face(u, p, lit, error));
    } while (p->key == 0 && p->left > 0);
    ORR_TRY(orr_probe_fill(u->scene->context.jobs, p->faces, p->shown, p->map, p->low, p->high, error));
    p->changed = true;
    return ORR_OK;
}

static orr_result advance_grid(const updating *u, orr_frame_probe *p, const lit_layer *lit, orr_error *error)
{
    bool done;
    ORR_TRY(orr_bounce_state_advance(&p->bounce, u->scene->context.jobs, &u->probes->bounce, lit->low,
                                     lit->high, u->captured, &done, error));
    if (done) { // the faces show surfaces in its light
        p->looks_past = true;
        p->due = u->lit->count > 1 ? PASSES : 1;
        p->left = p->left > 0 ? p->left : 6;
    }
    return ORR_OK;
}

static void look_past(const updating *u, orr_frame_probe *p)
{
    const orr_bounce_probe captured = {p->blurred, p->position, u->behind};
    orr_probe_blur(p->faces, p->blurred);
    orr_bounce_state_look_past(&p->bounce, u->scene->context.jobs, &captured);
    p->looks_past = false;
}

static void reflect(const updating *u, orr_frame_probe *p)
{
    orr_bounce_state_reflect(&p->bounce, u->scene->context.jobs, u->lit);
    p->changed = true;
    p->due--;
}

// All probes: their rays, what they show, and the light of meshes. Of new probes first what is captured,
// then all light twice, since each sees what the others light.
static orr_result update(const updating *u, orr_frame_probe *const *probes, const lit_layer *lit, int count,
                         orr_error *error)
{
    bool any_new = false;
    for (int i = 0; i < count; i++) {
        probes[i]->changed = false;
        any_new = any_new || probes[i]->key == 0;
        place_probe(u, probes[i], &lit[i]);
        ORR_TRY(advance_grid(u, probes[i], &lit[i], error));
    }
    for (int pass = 0; pass < (any_new ? PASSES : 1); pass++) {
        for (int i = 0; i < count; i++) {
            orr_frame_probe *p = probes[i];
            if (any_new && p->key == 0) {
                p->left = 6;
            }
            if (pass == 0 || p->key == 0) {
                ORR_TRY(draw_faces(u, p, &lit[i], error));
            }
            if (p->looks_past) {
                look_past(u, p);
            }
            if (p->due > 0) {
                reflect(u, p);
            }
        }
    }
    for (int i = 0; i < count; i++) {
        orr_frame_probe *p = probes[i];
        if (p->changed) {
            orr_bounce_grid_fill(&p->bounce.shown, p->position, p->map);
            p->key = (*u->scene->context.next_key)++;
        }
    }
    return ORR_OK;
}

// ---- the list ----

static orr_result keep(orr_frame_slot *slot, int at, const orr_frame_probe *p, orr_error *error)
{
    orr_draw_list *list = &slot->list;
    if (!slot->probe_maps[at]) {
        ORR_TRY(orr_environment_allocate(p->map->sharp, p->map->rough, ORR_ENVIRONMENT_POINTS,
                                         &slot->probe_maps[at], error));
    }
    orr_environment *map = slot->probe_maps[at];
    memcpy(map->texels, p->map->texels, (size_t)map->texel_count * sizeof *map->texels);
    memcpy(map->harmonics, p->map->harmonics, sizeof map->harmonics);
    map->scale = p->map->scale;
    map->grid = p->map->grid;
    orr_draw_environment *e = &list->environments[list->environment_count++];
    *e = (orr_draw_environment){
        .map = map,
        .key = p->key,
        .to_map = {1, 0, 0, -p->position[0], 0, 1, 0, -p->position[1], 0, 0, 1, -p->position[2]},
        .strength = 1.0f};
    memcpy(e->low, p->low, sizeof e->low);
    memcpy(e->high, p->high, sizeof e->high);
    return ORR_OK;
}

static void light_meshes(orr_frame_slot *slot, const lit_layer *lit, int count, int first)
{
    for (int i = 0; i < slot->list.mesh_count; i++) {
        int best = 0;
        float nearest = INFINITY;
        for (int k = 0; k < count; k++) {
            float centre[3];
            const float place[3] = {slot->meshes[i].model[3], slot->meshes[i].model[7],
                                    slot->meshes[i].model[11]};
            centre_of(&lit[k], centre);
            float away = slot->mesh_layers[i] == lit[k].layer ? -1.0f : distance_between(place, centre);
            best = away < nearest ? k : best;
            nearest = fminf(nearest, away);
        }
        slot->meshes[i].environment = first + best + 1;
    }
}

// Have the list's meshes several parts, of which one may light another?
static bool are_several(const orr_draw_list *list)
{
    int parts = 0;
    for (int i = 0; i < list->mesh_count; i++) {
        parts += list->meshes[i].mesh->part_count;
    }
    return parts > 1;
}

// Are the meshes of the view's copy lit by probes?
static bool are_on(const orr_scene *scene, const orr_world *world, const orr_view *view,
                   const orr_draw_list *list)
{
    const bool captured = list->splat_count + list->field_count > 0;
    return scene->probes == ORR_SCENE_PROBES_ON
               ? captured || are_several(list)
               : orr_world_probes_by_lamps(world, view->world) && are_several(list);
}

// Is a robot that moves alone among what is captured? What its geoms throw on each other is little beside
// that, and a grid, made anew while it moves, costs a quarter of a frame.
static bool is_lone_robot(const orr_frame_slot *slot, const orr_scene *scene)
{
    const orr_robot *robot = scene->layers[slot->mesh_layers[0]].robot;
    bool alone = robot && robot->model->nv > 0 && slot->list.splat_count + slot->list.field_count > 0;
    for (int i = 1; i < slot->list.mesh_count; i++) {
        alone = alone && slot->mesh_layers[i] == slot->mesh_layers[0];
    }
    return alone;
}

orr_result orr_frame_probes_update(orr_frame_probes *probes, orr_frame_slot *slot, const orr_scene *scene,
                                   const orr_world *world, const orr_view *view, orr_error *error)
{
    orr_draw_list *list = &slot->list;
    lit_layer lit[ORR_FRAME_PROBES];
    orr_frame_probe *found[ORR_FRAME_PROBES];
    const int count = are_on(scene, world, view, list) ? find_layers(slot, lit) : 0;
    if (count == 0) {
        return ORR_OK;
    }
    const orr_probe_behind behind = take_ambient(list);
    orr_bounce_lit bounced = {.count = count, .first = list->environment_count + 1};
    light_meshes(slot, lit, count, list->environment_count);
    for (int i = 0; i < count; i++) {
        ORR_TRY(find_probe(probes, i, world, view->world, scene->layers[lit[i].layer].id, &found[i], error));
        bounced.grids[i] = &found[i]->bounce.shown;
        bounced.harmonics[i] = (const float(*)[3][9]) & found[i]->map->harmonics;
    }
    ORR_TRY(orr_frame_bounce_hold(&probes->bounce, slot, is_lone_robot(slot, scene), scene->context.jobs,
                                  scene->context.isa, error));
    const updating u = {probes, scene, list, &behind, &bounced, hash_captured(list, &behind)};
    ORR_TRY(update(&u, found, lit, count, error));
    for (int i = 0; i < count; i++) {
        ORR_TRY(keep(slot, i, found[i], error));
    }
    return ORR_OK;
}

void orr_frame_probes_close(orr_frame_probes *probes)
{
    for (int i = 0; i < ORR_FRAME_PROBES; i++) {
        if (probes->items[i]) {
            orr_bounce_state_close(&probes->items[i]->bounce);
            orr_environment_destroy(probes->items[i]->map);
            orr_free(probes->items[i]);
        }
    }
    orr_frame_bounce_close(&probes->bounce);
    orr_arena_destroy(&probes->arena);
    *probes = (orr_frame_probes){0};
}
