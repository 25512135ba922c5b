#include "engine/env/pads.h"

#include "engine/core/memory.h"
#include "engine/env/env.h"
#include "engine/loop/tactile/facets.h"

#include <string.h>

enum { PADS_MAX = 64, SIDE_MAX = 1024 };

// ---- in a task file ----

static orr_result read_pad(const orr_json *json, const env_objects *o, env_pads *pads, orr_error *error)
{
    static const char *const keys[] = {"name",     "geom",      "rows", "columns",   "normal",
                                       "across",   "center",    "size", "stiffness", "damping",
                                       "friction", "thickness", NULL};
    orr_tactile_desc desc = {0};
    const char *name = NULL, *geom = NULL;
    orr_error why = {0};
    ORR_TRY(orr_json_check_keys(json, keys, error));
    ORR_TRY(orr_json_require(json, "name", "a name for terms", error));
    ORR_TRY(orr_json_string(json, "name", &name, error));
    ORR_TRY(orr_json_require(json, "geom", "the name of a geom", error));
    ORR_TRY(orr_json_string(json, "geom", &geom, error));
    if (env_pads_find(pads, name) >= 0) {
        return orr_json_expected(json, "name", error, "each name once");
    }
    desc.geom = env_objects_find(o, ORR_OBJECT_GEOM, geom);
    if (desc.geom < 0) {
        return orr_json_expected(json, "geom", error, "the name of a geom of this robot");
    }
    ORR_TRY(orr_json_whole(json, "rows", NULL, 1, SIDE_MAX, &desc.rows, error));
    ORR_TRY(orr_json_whole(json, "columns", NULL, 1, SIDE_MAX, &desc.columns, error));
    ORR_TRY(orr_json_numbers(json, "normal", 3, desc.normal, error));
    ORR_TRY(orr_json_numbers(json, "across", 3, desc.across, error));
    ORR_TRY(orr_json_numbers(json, "center", 3, desc.centre, error));
    ORR_TRY(orr_json_numbers(json, "size", 2, desc.size, error));
    ORR_TRY(orr_json_positive(json, "stiffness", &desc.stiffness, error));
    ORR_TRY(orr_json_positive(json, "damping", &desc.damping, error));
    ORR_TRY(orr_json_positive(json, "friction", &desc.friction, error));
    ORR_TRY(orr_json_positive(json, "thickness", &desc.thickness, error));
    const orr_result result = orr_tactile_pad_open(&pads->pad[pads->count], o->model, desc.geom, &desc, &why);
    if (result == ORR_ERROR_ARGUMENT) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: %s: %s", json->file, json->path, why.message);
    }
    if (result != ORR_OK) {
        return orr_fail(error, (orr_code)why.code, "%s", why.message);
    }
    pads->name[pads->count] = name;
    pads->first[pads->count] = pads->taxels;
    pads->taxels += pads->pad[pads->count].rows * pads->pad[pads->count].columns;
    pads->count++;
    return ORR_OK;
}

orr_result env_pads_read(const orr_json *root, const env_objects *o, env_pads *pads, orr_error *error)
{
    const cJSON *node;
    int found;
    ORR_TRY(orr_json_array(root, "pads", &node, &found, error));
    if (found > PADS_MAX) {
        return orr_json_expected(root, "pads", error, "at most %d", PADS_MAX);
    }
    ORR_ALLOC(pads->pad, found + 1, "a task", error);
    ORR_ALLOC(pads->name, found + 1, "a task", error);
    ORR_ALLOC(pads->first, found + 1, "a task", error);
    for (int i = 0; i < found; i++, node = node->next) {
        orr_json inner;
        ORR_TRY(orr_json_element(root, "pads", i, node, &inner, error));
        ORR_TRY(read_pad(&inner, o, pads, error));
    }
    return ORR_OK;
}

void env_pads_clear(env_pads *pads)
{
    for (int i = 0; i < pads->count; i++) {
        orr_tactile_pad_clear(&pads->pad[i]);
    }
    orr_free(pads->pad);
    orr_free(pads->name);
    orr_free(pads->first);
    *pads = (env_pads){.count = 0};
}

int env_pads_find(const env_pads *pads, const char *name)
{
    for (int i = 0; name && pads && i < pads->count; i++) {
        if (strcmp(pads->name[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

// ---- in environments ----

static const env_pads *used_pads(const orr_env *env)
{
    bool used = false;
    for (int i = 0; i < env->task->part_count; i++) {
        used |= env->task->parts[i] == ENV_TACTILE;
    }
    return used && env->file ? &env->file->pads : NULL;
}

orr_result env_pads_create(orr_env *env, orr_error *error)
{
    static const char what[] = "tactile pads of environments";
    const env_pads *pads = used_pads(env);
    const int workers = orr_jobs_workers(env->engine->jobs);
    if (!pads) {
        return ORR_OK;
    }
    ORR_ALLOC(env->felt, (int64_t)env->count * pads->taxels * 4, what, error);
    ORR_ALLOC(env->pad_near, (int64_t)workers * env->model->ngeom, what, error);
    ORR_ALLOC(env->pad_bounds, (int64_t)workers * env->model->ngeom, what, error);
    ORR_ALLOC(env->pad_room, (int64_t)workers * pads->taxels * 4, what, error);
    return env->scene ? orr_tactile_soft_create(&env->pad_soft, env->scene->world, env->scene->joined,
                                                workers, error)
                      : ORR_OK;
}

void env_pads_destroy(orr_env *env)
{
    orr_free(env->felt);
    orr_free(env->pad_near);
    orr_free(env->pad_bounds);
    orr_free(env->pad_room);
    orr_tactile_soft_destroy(env->pad_soft, orr_jobs_workers(env->engine->jobs));
}

// The sizes of geoms that were drawn for an environment; NULL: they are the model's.
static double *drawn_sizes(const orr_env *env, int i)
{
    for (int k = 0; k < env->randomised_count; k++) {
        if (env->randomised[k].vary == ORR_VARY_GEOM_SIZE) {
            return env->randomised[k].values + (size_t)i * (size_t)env->randomised[k].size;
        }
    }
    return NULL;
}

void env_pads_feel(const orr_env *env, int i, int worker)
{
    if (!env->felt) {
        return;
    }
    const env_pads *pads = &env->file->pads;
    const ptrdiff_t taxels = pads->taxels, geoms = env->model->ngeom;
    const double *row = env->parts + (size_t)i * (size_t)env->numbers;
    double *sizes = drawn_sizes(env, i);
    const orr_tactile_state state = {.xpos = row + env->part_offset[ENV_GEOM_XPOS],
                                     .xmat = row + env->part_offset[ENV_GEOM_XMAT],
                                     .cvel = row + env->part_offset[ENV_CVEL],
                                     .subtree_com = row + env->part_offset[ENV_SUBTREE_COM]};
    orr_tactile_near *near = env->pad_near + worker * geoms;
    float *forces = env->pad_room + worker * taxels * 4, *heights = forces + taxels * 3;
    orr_model model = *env->model;
    if (sizes) {
        model = orr_tactile_resized(env->model, sizes, env->pad_bounds + worker * geoms);
    }
    for (int k = 0; k < pads->count; k++) {
        const ptrdiff_t first = pads->first[k];
        const orr_tactile_facets *facets =
            env->pad_soft ? orr_tactile_soft_near(&env->pad_soft[worker], env->scene->world, i,
                                                  env->scene->joined, &pads->pad[k], &state)
                          : NULL;
        orr_tactile_feel(&pads->pad[k], &model, &state, near, facets, forces + first * 3, heights + first);
    }
    double *felt = env->felt + i * taxels * 4;
    for (ptrdiff_t k = 0; k < taxels * 4; k++) {
        felt[k] = (double)forces[k];
    }
}

orr_result env_pads_check(const orr_env *env, orr_error *error)
{
    return orr_tactile_soft_check(env->pad_soft, orr_jobs_workers(env->engine->jobs), error);
}
