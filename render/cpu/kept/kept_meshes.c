#include "render/cpu/kept/kept_meshes.h"

#include "engine/core/memory.h"
#include "render/cpu/kept/kept_lens.h"
#include "render/cpu/mesh_raster.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

// What the colours of a list's meshes follow from, besides the meshes. Padding is 0, as of orr_draw_lighting.
typedef struct meshes_key {
    orr_kept_lens lens;
    orr_draw_lighting lighting;
    const orr_mesh *backdrop;
    uint64_t backdrop_key;
    float backdrop_model[12];
    int32_t left_out[2];
} meshes_key;

struct orr_kept_meshes {
    meshes_key asked; // by the list before; its lens alone unless `lit`
    bool lit;
    int repeats;          // lists in a row that asked for the same
    orr_draw_mesh *items; // of the first list in a row that had its lens: still_count have not moved since
    int capacity, still_count;
    bool holds;
    meshes_key held;
    orr_draw_mesh *held_items; // held_capacity; picture.count are held
    int held_capacity;
    orr_kept_meshes_picture picture;
    orr_arena arena; // of the picture
};

static void find_key(const orr_draw_list *list, meshes_key *key)
{
    memset(key, 0, sizeof *key);
    key->lens = orr_kept_lens_of(&list->lens);
    orr_draw_light_up(list, &key->lighting);
    key->backdrop = list->backdrop.mesh;
    if (key->backdrop) {
        key->backdrop_key = list->backdrop.key;
        memcpy(key->backdrop_model, list->backdrop.model, sizeof key->backdrop_model);
    }
    key->left_out[0] = list->left_out_mesh;
    key->left_out[1] = list->left_out_part;
}

static bool are_equal(const meshes_key *a, const meshes_key *b)
{
    const size_t first = offsetof(orr_draw_lighting, exposure); // behind a table that never changes
    return memcmp(&a->lens, &b->lens, sizeof a->lens) == 0 &&
           memcmp((const char *)&a->lighting + first, (const char *)&b->lighting + first,
                  sizeof a->lighting - first) == 0 &&
           a->backdrop == b->backdrop && a->backdrop_key == b->backdrop_key &&
           memcmp(a->backdrop_model, b->backdrop_model, sizeof a->backdrop_model) == 0 &&
           memcmp(a->left_out, b->left_out, sizeof a->left_out) == 0;
}

// Is the mesh where it was?
static bool is_still(const orr_draw_mesh *a, const orr_draw_mesh *b)
{
    return a->mesh == b->mesh && a->key == b->key && a->key != 0 && a->variant == b->variant && !a->bodies &&
           !b->bodies && a->environment == b->environment && a->endless == b->endless &&
           memcmp(a->model, b->model, sizeof a->model) == 0;
}

static int count_still(const orr_draw_mesh *items, int count, const orr_draw_list *list)
{
    int still = 0;
    while (still < count && still < list->mesh_count && is_still(&items[still], &list->meshes[still])) {
        still++;
    }
    return still;
}

static bool casts_shadows(const orr_draw_list *list)
{
    bool casts = list->sun.colour[0] != 0.0f || list->sun.colour[1] != 0.0f || list->sun.colour[2] != 0.0f;
    for (int i = 0; i < list->light_count; i++) {
        casts |= list->lights[i].casts_shadows;
    }
    return list->shadows && casts;
}

// Do the colours of the meshes follow from the key alone?
static bool can_be_kept(const orr_draw_list *list)
{
    return !list->no_reuse && !list->smooth && !list->rays && !list->lens.distorted &&
           list->environment_count == 0 && !list->only_solid && !list->only_casters &&
           !(list->occlusion.radius > 0.0f) && !casts_shadows(list) &&
           !(list->mirrors && orr_has_mirrors(list));
}

// Transparent meshes are blended over what is opaque, pixel by pixel.
static int count_opaque(const orr_draw_list *list, int count)
{
    int opaque = 0;
    while (opaque < count && !orr_mesh_is_blended(list->meshes[opaque].mesh, false)) {
        opaque++;
    }
    return opaque;
}

// Had the list before this lens?
static bool has_lens(const orr_kept_meshes *kept, const orr_kept_lens *lens)
{
    return kept->repeats > 0 && memcmp(lens, &kept->asked.lens, sizeof *lens) == 0;
}

orr_result orr_kept_meshes_create(orr_kept_meshes **kept, orr_error *error)
{
    *kept = orr_alloc_zero(1, sizeof **kept);
    return *kept ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: meshes that are kept");
}

void orr_kept_meshes_destroy(orr_kept_meshes *kept)
{
    if (kept) {
        orr_arena_destroy(&kept->arena);
        orr_free(kept->items);
        orr_free(kept->held_items);
        orr_free(kept);
    }
}

// Counts a list with the lens of the one before.
static void ask(orr_kept_meshes *kept, const orr_draw_list *list)
{
    meshes_key key;
    find_key(list, &key);
    const bool same = !kept->lit || are_equal(&key, &kept->asked);
    kept->repeats = same ? kept->repeats + (kept->repeats < INT_MAX) : 1;
    kept->asked = key;
    kept->lit = true;
}

orr_result orr_kept_meshes_repeats(orr_kept_meshes *kept, const orr_draw_list *list, int *repeats,
                                   orr_error *error)
{
    const orr_kept_lens lens = orr_kept_lens_of(&list->lens);
    const bool kept_lens = has_lens(kept, &lens), can = can_be_kept(list);
    *repeats = 0;
    if (kept_lens) {
        kept->still_count = count_still(kept->items, kept->still_count, list);
    } else {
        ORR_GROW(kept->items, kept->capacity, list->mesh_count, "meshes that are kept", error);
        if (list->mesh_count > 0) {
            memcpy(kept->items, list->meshes, (size_t)list->mesh_count * sizeof *kept->items);
        }
        kept->still_count = list->mesh_count;
    }
    if (kept_lens && can) {
        ask(kept, list);
    } else { // its light is not looked at before its camera stands still
        kept->asked.lens = lens;
        kept->repeats = 1;
        kept->lit = false;
    }
    if (can && count_opaque(list, kept->still_count) > 0 && !orr_kept_meshes_picture_of(kept, list)) {
        *repeats = kept->repeats;
    }
    return ORR_OK;
}

int orr_kept_meshes_still(const orr_kept_meshes *kept, const orr_draw_list *list)
{
    const orr_kept_lens lens = orr_kept_lens_of(&list->lens);
    return has_lens(kept, &lens) ? count_still(kept->items, kept->still_count, list) : list->mesh_count;
}

static orr_result take_picture(orr_kept_meshes *kept, size_t pixels, orr_error *error)
{
    orr_kept_meshes_picture *p = &kept->picture;
    orr_arena_reset(&kept->arena);
    p->nearness = orr_arena_take(&kept->arena, pixels + ORR_KEPT_MESH_PADDING, sizeof *p->nearness);
    p->record = orr_arena_take(&kept->arena, pixels + ORR_KEPT_MESH_PADDING, sizeof *p->record);
    p->rgb = orr_arena_take(&kept->arena, 3 * pixels + ORR_KEPT_MESH_PADDING, sizeof *p->rgb);
    if (!p->nearness || !p->record || !p->rgb) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: meshes that are kept on %zu pixels",
                        pixels);
    }
    memset(p->nearness, 0, (pixels + ORR_KEPT_MESH_PADDING) * sizeof *p->nearness);
    memset(p->record, 0, (pixels + ORR_KEPT_MESH_PADDING) * sizeof *p->record);
    memset(p->rgb, 0, (3 * pixels + ORR_KEPT_MESH_PADDING) * sizeof *p->rgb);
    return ORR_OK;
}

orr_result orr_kept_meshes_hold(orr_kept_meshes *kept, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                                orr_error *error)
{
    const size_t pixels = (size_t)list->lens.width * (size_t)list->lens.height;
    orr_draw_list still = *list;
    orr_fragment_lists none;
    kept->holds = false;
    still.mesh_count = count_opaque(list, orr_kept_meshes_still(kept, list));
    if (!can_be_kept(list) || still.mesh_count == 0) {
        return ORR_OK;
    }
    ORR_GROW(kept->held_items, kept->held_capacity, still.mesh_count, "meshes that are kept", error);
    ORR_TRY(take_picture(kept, pixels, error));
    float *depth = orr_arena_take(&kept->arena, pixels, sizeof *depth);
    if (!depth) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: meshes that are kept on %zu pixels",
                        pixels);
    }
    const orr_mesh_picture picture = {.depth = depth, .rgb = kept->picture.rgb, .keep = &kept->picture};
    ORR_TRY(orr_mesh_raster(jobs, isa, &kept->arena, &still, NULL, picture, &none, NULL, error));
    memcpy(kept->held_items, list->meshes, (size_t)still.mesh_count * sizeof *kept->held_items);
    find_key(list, &kept->held);
    kept->picture.count = still.mesh_count;
    kept->holds = true;
    return ORR_OK;
}

const orr_kept_meshes_picture *orr_kept_meshes_picture_of(const orr_kept_meshes *kept,
                                                          const orr_draw_list *list)
{
    meshes_key key;
    if (!kept->holds || !can_be_kept(list)) {
        return NULL;
    }
    find_key(list, &key);
    const int count = kept->picture.count;
    return are_equal(&key, &kept->held) && count_still(kept->held_items, count, list) == count
               ? &kept->picture
               : NULL;
}
