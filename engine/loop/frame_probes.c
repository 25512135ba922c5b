#include "engine/loop/frame_probes.h"

#include "engine/core/hash.h"
#include "engine/loop/engine.h"
#include "engine/maths/camera.h"
#include "engine/maths/vector.h"
#include "render/cpu/splats_cpu.h"
#include "render/environment/maps.h"

#include <math.h>
#include <string.h>

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

// Flat as floors are, which may be endless: others of the layer say where it is.
static bool is_flat(const orr_mesh *mesh)
{
    float least = INFINITY, most = 0.0f;
    for (int k = 0; k < 3; k++) {
        float side = mesh->high[k] - mesh->low[k];
        least = fminf(least, side);
        most = fmaxf(most, side);
    }
    return least < 1e-3f * most;
}

// The box of the meshes `first` to `end` of the list; empty where the host does not know their place.
static void add_boxes(const orr_frame_slot *slot, int first, int end, bool flat, lit_layer *lit)
{
    for (int i = first; i < end; i++) {
        if (!slot->meshes[i].bodies && (flat || !is_flat(slot->meshes[i].mesh))) {
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

static uint64_t hash_shown(const orr_draw_list *list, const orr_probe_behind *behind)
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

static orr_result draw_face(orr_frame_probes *probes, orr_frame_probe *p, const orr_scene *scene,
                            const orr_draw_list *list, const orr_probe_behind *behind, float size,
                            orr_error *error)
{
    float rgba[ORR_PROBE_FACE * ORR_PROBE_FACE * 4], depth[ORR_PROBE_FACE * ORR_PROBE_FACE];
    const orr_camera camera = orr_probe_camera(p->next, p->position, fmaxf(0.01f * size, 1e-5f));
    const orr_picture picture = {rgba, depth};
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
    ORR_TRY(orr_camera_resolve(&camera, &seen.lens, error));
    orr_arena_reset(&probes->arena);
    ORR_TRY(orr_draw_cpu(scene->context.jobs, scene->context.isa, &probes->arena, &seen, NULL, &picture, NULL,
                         &profile, error));
    orr_probe_take(p->next, &picture, behind, &p->faces[p->next]);
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
        ORR_TRY(orr_environment_allocate(ORR_PROBE_SHARP, ORR_PROBE_ROUGH, &p->map, error));
    }
    if (p->world != world || p->index != index || p->layer.slot != layer.slot ||
        p->layer.generation != layer.generation) {
        p->key = 0; // nothing is drawn yet
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

static orr_result update(orr_frame_probes *probes, orr_frame_probe *p, const orr_scene *scene,
                         const orr_draw_list *list, const orr_probe_behind *behind, const lit_layer *lit,
                         orr_error *error)
{
    float centre[3];
    const uint64_t shown = hash_shown(list, behind);
    centre_of(lit, centre);
    // it is drawn anew where the surfaces around would be seen from elsewhere
    if (p->key == 0 || p->shown != shown ||
        distance_between(centre, p->position) > fmaxf(0.1f * nearest_side(p), 1e-6f)) {
        memcpy(p->position, centre, sizeof centre);
        p->shown = shown;
        p->left = 6;
    }
    if (p->left == 0) {
        return ORR_OK;
    }
    do {
        ORR_TRY(draw_face(probes, p, scene, list, behind, lit->size, error));
    } while (p->key == 0 && p->left > 0);
    ORR_TRY(orr_probe_fill(scene->context.jobs, p->faces, p->map, p->low, p->high, error));
    p->key = (*scene->context.next_key)++;
    return ORR_OK;
}

// ---- the list ----

static orr_result keep(orr_frame_slot *slot, int at, const orr_frame_probe *p, orr_error *error)
{
    orr_draw_list *list = &slot->list;
    if (!slot->probe_maps[at]) {
        ORR_TRY(orr_environment_allocate(p->map->sharp, p->map->rough, &slot->probe_maps[at], error));
    }
    orr_environment *map = slot->probe_maps[at];
    memcpy(map->texels, p->map->texels, (size_t)map->texel_count * sizeof *map->texels);
    memcpy(map->harmonics, p->map->harmonics, sizeof map->harmonics);
    map->scale = p->map->scale;
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

orr_result orr_frame_probes_update(orr_frame_probes *probes, orr_frame_slot *slot, const orr_scene *scene,
                                   const orr_world *world, const orr_view *view, orr_error *error)
{
    orr_draw_list *list = &slot->list;
    lit_layer lit[ORR_FRAME_PROBES];
    int count = scene->probes && list->splat_count + list->field_count > 0 ? find_layers(slot, lit) : 0;
    if (count == 0) {
        return ORR_OK;
    }
    const orr_probe_behind behind = take_ambient(list);
    const int first = list->environment_count;
    for (int i = 0; i < count; i++) {
        orr_frame_probe *p;
        ORR_TRY(find_probe(probes, i, world, view->world, scene->layers[lit[i].layer].id, &p, error));
        ORR_TRY(update(probes, p, scene, list, &behind, &lit[i], error));
        ORR_TRY(keep(slot, i, p, error));
    }
    light_meshes(slot, lit, count, first);
    return ORR_OK;
}

void orr_frame_probes_close(orr_frame_probes *probes)
{
    for (int i = 0; i < ORR_FRAME_PROBES; i++) {
        if (probes->items[i]) {
            orr_environment_destroy(probes->items[i]->map);
            orr_free(probes->items[i]);
        }
    }
    orr_arena_destroy(&probes->arena);
    *probes = (orr_frame_probes){0};
}
