#include "physics/model/compile.h"

#include "engine/core/memory.h"
#include "physics/model/visuals.h"

#include <string.h>

#define BYTES_MAX ((size_t)1 << 31) // of one model

// Sets each array's address in one block of *bytes; with `base` NULL only computes *bytes.
static bool lay_out(orr_model *m, char *base, size_t *bytes)
{
    size_t used = 0;
#define LAY_OUT(type, name, rows, columns)                                                                   \
    {                                                                                                        \
        size_t size;                                                                                         \
        if (__builtin_mul_overflow((size_t)(rows), (size_t)(columns), &size) ||                              \
            __builtin_mul_overflow(size, sizeof(type), &size) || size > SIZE_MAX / 4 - used) {               \
            return false;                                                                                    \
        }                                                                                                    \
        m->name = base ? (type *)(void *)(base + used) : NULL;                                               \
        used += (size + ORR_ALIGNMENT - 1) / ORR_ALIGNMENT * ORR_ALIGNMENT;                                  \
    }
    ORR_MODEL_ARRAYS(LAY_OUT)
#undef LAY_OUT
    *bytes = used;
    return true;
}

orr_result model_allocate(orr_model *m, const char *path, orr_error *error)
{
    size_t bytes;
    if (!lay_out(m, NULL, &bytes) || bytes > BYTES_MAX) {
        return orr_fail(
            error, ORR_CODE_CAPACITY,
            "%s: the arrays of this model (nbody %d, ngeom %d, nkey %d, user numbers, assets): expected up "
            "to %zu MB",
            path, m->nbody, m->ngeom, m->nkey, BYTES_MAX >> 20);
    }
    m->memory = orr_alloc_zero(bytes, 1);
    if (!m->memory) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a model");
    }
    (void)lay_out(m, m->memory, &bytes);
    m->bytes = bytes + sizeof *m;
    return ORR_OK;
}

void orr_model_destroy(orr_model *model)
{
    if (model) {
        orr_visuals_destroy(model->visuals);
        orr_free(model->memory);
        orr_free(model);
    }
}

static const int32_t *name_table(const orr_model *m, orr_object kind, int *count)
{
    switch (kind) {
#define TABLE(kind, array, size)                                                                             \
    case kind:                                                                                               \
        *count = m->size;                                                                                    \
        return m->array;
        TABLE(ORR_OBJECT_BODY, name_bodyadr, nbody)
        TABLE(ORR_OBJECT_XBODY, name_bodyadr, nbody)
        TABLE(ORR_OBJECT_JOINT, name_jntadr, njnt)
        TABLE(ORR_OBJECT_GEOM, name_geomadr, ngeom)
        TABLE(ORR_OBJECT_SITE, name_siteadr, nsite)
        TABLE(ORR_OBJECT_CAMERA, name_camadr, ncam)
        TABLE(ORR_OBJECT_LIGHT, name_lightadr, nlight)
        TABLE(ORR_OBJECT_MESH, name_meshadr, nmesh)
        TABLE(ORR_OBJECT_HFIELD, name_hfieldadr, nhfield)
        TABLE(ORR_OBJECT_FLEX, name_flexadr, nflex)
        TABLE(ORR_OBJECT_TEXTURE, name_texadr, ntex)
        TABLE(ORR_OBJECT_MATERIAL, name_matadr, nmat)
        TABLE(ORR_OBJECT_PAIR, name_pairadr, npair)
        TABLE(ORR_OBJECT_EXCLUDE, name_excludeadr, nexclude)
        TABLE(ORR_OBJECT_EQUALITY, name_eqadr, neq)
        TABLE(ORR_OBJECT_TENDON, name_tendonadr, ntendon)
        TABLE(ORR_OBJECT_ACTUATOR, name_actuatoradr, nactuator)
        TABLE(ORR_OBJECT_SENSOR, name_sensoradr, nsensor)
        TABLE(ORR_OBJECT_NUMERIC, name_numericadr, nnumeric)
        TABLE(ORR_OBJECT_TEXT, name_textadr, ntext)
        TABLE(ORR_OBJECT_TUPLE, name_tupleadr, ntuple)
        TABLE(ORR_OBJECT_KEY, name_keyadr, nkey)
#undef TABLE
    case ORR_OBJECT_UNKNOWN:
        break;
    }
    *count = 0;
    return NULL;
}

const char *orr_model_name(const orr_model *model, orr_object kind, int id)
{
    int count;
    const int32_t *table = name_table(model, kind, &count);
    assert(id >= 0 && id < count);
    return model->names + table[id];
}

int orr_model_count(const orr_model *model, orr_object kind)
{
    int count;
    (void)name_table(model, kind, &count);
    return count;
}

int orr_model_find(const orr_model *model, orr_object kind, const char *name)
{
    int count;
    const int32_t *table = name_table(model, kind, &count);
    for (int i = 0; i < count && name[0]; i++) {
        if (strcmp(model->names + table[i], name) == 0) {
            return i;
        }
    }
    return -1;
}
