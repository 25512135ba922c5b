// Names: unique among the elements of a kind; the model stores them in one block of text.
#include "physics/model/compile.h"

#include <stdlib.h>
#include <string.h>

static int compare_heads(const void *a, const void *b)
{
    return strcmp((*(const spec_head *const *)a)->name, (*(const spec_head *const *)b)->name);
}

static orr_result check_unique(const void *list, int count, size_t size, orr_error *error)
{
    const spec_head **heads;
    int named = 0;
    orr_result result = ORR_OK;
    ORR_ALLOC(heads, count, "the names of a model", error);
    for (int i = 0; i < count; i++) {
        const spec_head *head = (const void *)((const char *)list + (size_t)i * size);
        if (head->name) {
            heads[named++] = head;
        }
    }
    qsort(heads, (size_t)named, sizeof(spec_head *), compare_heads);
    for (int i = 1; i < named && result == ORR_OK; i++) {
        if (compare_heads(&heads[i - 1], &heads[i]) == 0) {
            int later = heads[i]->location.line > heads[i - 1]->location.line ? i : i - 1;
            result = spec_fail(heads[later], error, "this name is taken already");
        }
    }
    orr_free(heads);
    return result;
}

#define NAMED_LISTS(X)                                                                                       \
    X(bodies, name_bodyadr)                                                                                  \
    X(joints, name_jntadr)                                                                                   \
    X(sites, name_siteadr)                                                                                   \
    X(cameras, name_camadr)                                                                                  \
    X(lights, name_lightadr)                                                                                 \
    X(hfields, name_hfieldadr)                                                                               \
    X(textures, name_texadr)                                                                                 \
    X(materials, name_matadr)                                                                                \
    X(pairs, name_pairadr)                                                                                   \
    X(excludes, name_excludeadr)                                                                             \
    X(equalities, name_eqadr)                                                                                \
    X(tendons, name_tendonadr)                                                                               \
    X(actuators, name_actuatoradr)                                                                           \
    X(sensors, name_sensoradr)                                                                               \
    X(numerics, name_numericadr)                                                                             \
    X(texts, name_textadr)                                                                                   \
    X(tuples, name_tupleadr)                                                                                 \
    X(keys, name_keyadr)                                                                                     \
    X(geoms, name_geomadr)                                                                                   \
    X(flexes, name_flexadr)                                                                                  \
    X(meshes, name_meshadr)

orr_result check_names(const model_builder *b)
{
    ORR_TRY(check_unique(b->spec->grids, b->spec->grids_count, sizeof *b->spec->grids, b->error));
#define CHECK(list, table)                                                                                   \
    ORR_TRY(check_unique(b->spec->list, b->spec->list##_count, sizeof *b->spec->list, b->error));
    NAMED_LISTS(CHECK)
#undef CHECK
    return ORR_OK;
}

static void add_name(orr_model *m, int *used, const char *name, int32_t *address)
{
    size_t size = name ? strlen(name) + 1 : 1;
    memcpy(m->names + *used, name ? name : "", size);
    *address = *used;
    *used += (int)size;
}

orr_result count_names(model_builder *b)
{
    size_t bytes = 0;
#define COUNT(list, table)                                                                                   \
    for (int i = 0; i < b->spec->list##_count; i++) {                                                        \
        bytes += b->spec->list[i].head.name ? strlen(b->spec->list[i].head.name) + 1 : 1;                    \
    }
    NAMED_LISTS(COUNT)
#undef COUNT
    bytes += (size_t)b->m->nkey; // frames without a name
    b->m->nnames = (int32_t)bytes;
    return bytes <= INT32_MAX ? ORR_OK : spec_memory_fail(b->error);
}

void fill_names(model_builder *b)
{
    int used = 0;
    const int *ids = NULL;
#define FILL(list, table)                                                                                    \
    ids = (const void *)b->spec->list == (const void *)b->spec->geoms    ? b->geom_ids                       \
          : (const void *)b->spec->list == (const void *)b->spec->meshes ? b->mesh_ids                       \
                                                                         : NULL;                             \
    for (int i = 0; i < b->spec->list##_count; i++) {                                                        \
        if (!ids || ids[i] >= 0) {                                                                           \
            add_name(b->m, &used, b->spec->list[i].head.name, &b->m->table[ids ? ids[i] : i]);               \
        }                                                                                                    \
    }
    NAMED_LISTS(FILL)
#undef FILL
    for (int i = b->spec->keys_count; i < b->m->nkey; i++) {
        add_name(b->m, &used, NULL, &b->m->name_keyadr[i]);
    }
}
