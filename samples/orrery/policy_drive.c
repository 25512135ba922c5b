#include "samples/orrery/policy_drive.h"

#include "engine/core/file.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "engine/scene/scene.h"

#include <string.h>

// The state of a robot, as far as tasks see it.
static const orr_robot_quantity quantities[] = {ORR_ROBOT_QPOS, ORR_ROBOT_QVEL, ORR_ROBOT_ACT,
                                                ORR_ROBOT_MOCAP_POSITION, ORR_ROBOT_MOCAP_ROTATION};
enum { QUANTITIES = 5 };

// ---- which scene it is in ----

// Does the task name a scene file as its model?
static bool is_of_scene(const char *task_text)
{
    orr_json root;
    const char *model = NULL;
    if (!task_text || orr_json_parse(task_text, "", ORR_CODE_FILE_VALUE, &root, NULL) != ORR_OK) {
        return false;
    }
    const bool found = orr_json_string(&root, "model", &model, NULL) == ORR_OK && model &&
                       orr_path_has_ending(model, ".json");
    orr_json_free(&root);
    return found;
}

static orr_result make_env(policy_drive *d, const char *path, const char *model, const orr_policy_info *info,
                           int count, orr_error *error)
{
    const orr_env_desc desc = {.task = info->task,
                               .task_text = info->task_text,
                               .model = model,
                               .count = 1,
                               .autoreset = ORR_AUTORESET_NEXT_STEP};
    ORR_TRY(orr_env_create(d->scene->context.engine, &desc, &d->env, error));
    ORR_TRY(orr_env_describe(d->env, &d->info, error));
    if (d->info.observation_count != info->observation_count || d->info.action_count != info->action_count ||
        count != info->action_count) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "%s: a policy of %d observations and %d actions: expected %d and %d, as %s has", path,
                        info->observation_count, info->action_count, d->info.observation_count, count, model);
    }
    return ORR_OK;
}

// The scene for a task of one. Otherwise the robot alone, and where that is not what the task is of (its
// model was the caller's), the scene.
static orr_result find_env(policy_drive *d, const char *path, const char *scene_path, const char *robot_path,
                           const orr_policy_info *info, int count, orr_error *error)
{
    if (is_of_scene(info->task_text)) {
        return make_env(d, path, scene_path, info, count, error);
    }
    const orr_result result = make_env(d, path, robot_path, info, count, error);
    if (result == ORR_OK || !orr_path_has_ending(scene_path, ".json")) {
        return result;
    }
    orr_env_destroy(d->env);
    d->env = NULL;
    return make_env(d, path, scene_path, info, count, NULL) == ORR_OK ? ORR_OK : result;
}

// ---- what is copied ----

static orr_layer id_of(const orr_layer_data *layer)
{
    return (orr_layer){layer->id.slot, layer->id.generation};
}

static const orr_layer_data *named_layer(const orr_scene *scene, const char *name)
{
    for (int i = 0; i < scene->layer_count; i++) {
        if (strcmp(scene->layers[i].name, name) == 0) {
            return &scene->layers[i];
        }
    }
    return NULL;
}

static orr_result add_pair(policy_drive *d, orr_scene *own, const orr_layer_data *shown,
                           const orr_layer_data *observed, int *most, orr_error *error)
{
    policy_pair pair = {.shown = id_of(shown), .observed = id_of(observed)};
    orr_soft_info soft;
    if (observed->soft && shown->soft) {
        ORR_TRY(orr_scene_soft_info(own, pair.observed, &soft, error));
        pair.vertices = soft.vertex_count;
        *most = 6 * soft.vertex_count > *most ? 6 * soft.vertex_count : *most;
    } else if (!orr_layer_physical(observed) || !orr_layer_physical(shown)) {
        return ORR_OK;
    }
    for (int i = 0; i < QUANTITIES && pair.vertices == 0; i++) {
        int size;
        ORR_TRY(orr_world_robot_numbers(d->own, pair.observed, quantities[i], &size, error));
        *most = size > *most ? size : *most;
    }
    d->pairs[d->pair_count++] = pair;
    return ORR_OK;
}

static orr_result find_pairs(policy_drive *d, const orr_layer_data *robot, orr_error *error)
{
    orr_scene *own = NULL;
    int most = d->info.qpos_count + d->info.qvel_count;
    d->own = orr_env_world(d->env, &own);
    if (d->own) {
        ORR_ALLOC(d->pairs, own->layer_count + 1, "a policy", error);
        const orr_layer_data *first = orr_scene_first_robot(own);
        for (int i = 0; i < own->layer_count; i++) {
            const orr_layer_data *observed = &own->layers[i];
            const orr_layer_data *shown = observed == first ? robot : named_layer(d->scene, observed->name);
            if (shown) {
                ORR_TRY(add_pair(d, own, shown, observed, &most, error));
            }
        }
    }
    ORR_ALLOC(d->numbers, most + 1, "a policy", error);
    return ORR_OK;
}

static orr_result copy_layer(policy_drive *d, const orr_world *world, const policy_pair *pair,
                             orr_error *error)
{
    double *x = d->numbers, *v = d->numbers + 3 * (ptrdiff_t)pair->vertices;
    if (orr_scene_find(d->scene, pair->shown) < 0) {
        return ORR_OK; // a viewer has removed it
    }
    if (pair->vertices > 0) {
        ORR_TRY(orr_world_get_soft(world, 0, pair->shown, x, v, error));
        return orr_world_set_soft(d->own, 0, pair->observed, x, v, error);
    }
    for (int i = 0; i < QUANTITIES; i++) {
        ORR_TRY(orr_world_get_robot(world, 0, pair->shown, quantities[i], d->numbers, error));
        ORR_TRY(orr_world_set_robot(d->own, 0, pair->observed, quantities[i], d->numbers, error));
    }
    return ORR_OK;
}

// ---- the policy ----

orr_result policy_drive_open(const char *path, const orr_scene *scene, const char *scene_path, int count,
                             policy_drive *d, orr_error *error)
{
    const orr_layer_data *robot = orr_scene_first_robot(scene);
    orr_policy_info info;
    *d = (policy_drive){.scene = scene, .robot = id_of(robot)};
    ORR_TRY(orr_policy_load(path, &d->policy, error));
    ORR_TRY(orr_policy_describe(d->policy, &info, error));
    ORR_TRY(find_env(d, path, scene_path, robot->path, &info, count, error));
    ORR_TRY(find_pairs(d, robot, error));
    ORR_ALLOC(d->actions, count, "a policy", error);
    return ORR_OK;
}

// The policy sees what is there as it is in the world, whatever has pushed it since.
orr_result policy_drive_ask(policy_drive *d, orr_world *world, orr_error *error)
{
    double *qpos = d->numbers, *qvel = d->numbers + d->info.qpos_count;
    orr_env_results results;
    for (int i = 0; i < d->pair_count; i++) {
        ORR_TRY(copy_layer(d, world, &d->pairs[i], error));
    }
    if (d->own) {
        ORR_TRY(orr_env_get_state(d->env, 0, qpos, qvel, error));
    } else {
        ORR_TRY(orr_world_get_robot(world, 0, d->robot, ORR_ROBOT_QPOS, qpos, error));
        ORR_TRY(orr_world_get_robot(world, 0, d->robot, ORR_ROBOT_QVEL, qvel, error));
    }
    ORR_TRY(orr_env_set_state(d->env, 0, qpos, qvel, error));
    ORR_TRY(orr_env_get_results(d->env, &results, error));
    return orr_policy_act(d->policy, results.observation, 1, d->actions, error);
}

void policy_drive_close(policy_drive *d)
{
    orr_policy_destroy(d->policy);
    orr_env_destroy(d->env);
    orr_free(d->pairs);
    orr_free(d->numbers);
    orr_free(d->actions);
    *d = (policy_drive){0};
}
