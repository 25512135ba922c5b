#include "engine/env/task_file.h"

#include "engine/core/file.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "engine/env/task_pick.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TERMS_MAX = 256, FACTORS_MAX = 16, FACTOR_DEPTH = 4 };

typedef struct env_draw {
    int coordinate; // of qpos
    double low, high;
} env_draw;

typedef enum term_use { OBSERVED, REWARDED, ENDING, FACTOR } term_use;

static const env_task_file *file_of(const env_task *task)
{
    return task->settings;
}

// ---- the task's functions ----

static int count_observation(const env_task *task, const env_robot *robot)
{
    (void)robot;
    int count = 0;
    for (int i = 0; i < file_of(task)->observations; i++) {
        count += env_term_count(&file_of(task)->term[i]);
    }
    return count;
}

static void observe(const env_task *task, const env_robot *robot, double *observation)
{
    for (int i = 0; i < file_of(task)->observations; i++) {
        const env_term *t = &file_of(task)->term[i];
        env_term_numbers(t, robot, observation);
        observation += env_term_count(t);
    }
}

static const env_term *rewards_of(const env_task_file *f)
{
    return f->term + f->observations;
}

// What counts by its change is summed here, before and after a step.
static double progress(const env_task *task, const env_robot *robot)
{
    const env_task_file *f = file_of(task);
    double sum = 0.0;
    for (int i = 0; i < f->rewards; i++) {
        const env_term *t = &rewards_of(f)[i];
        sum += t->rate ? env_term_value(t, robot, NULL) : 0.0;
    }
    return sum;
}

static double reward(const env_task *task, const env_robot *robot, const float *action, double gained,
                     bool terminated)
{
    const env_task_file *f = file_of(task);
    double sum = gained / robot->seconds;
    for (int i = 0; i < f->rewards; i++) {
        const env_term *t = &rewards_of(f)[i];
        bool counts = !t->rate && !(t->unless_terminated && terminated);
        sum += counts ? env_term_value(t, robot, action) : 0.0;
    }
    return sum;
}

static bool terminated(const env_task *task, const env_robot *robot)
{
    const env_task_file *f = file_of(task);
    bool ends = false;
    for (int i = 0; i < f->terminations; i++) {
        ends |= env_term_ends(&rewards_of(f)[f->rewards + i], robot);
    }
    return ends;
}

static void start(const env_task *task, const env_robot *robot, env_noise *noise, double *qpos, double *qvel)
{
    const env_task_file *f = file_of(task);
    const orr_model *m = robot->model;
    memcpy(qpos, f->qpos0, (size_t)m->nq * sizeof *qpos);
    env_shake(noise, m, f->qpos_noise, f->qvel_noise, f->normal_velocity, qpos, qvel);
    for (int i = 0; i < f->draws; i++) {
        const env_draw *d = &f->draw[i];
        qpos[d->coordinate] = env_uniform(noise, d->low, d->high);
    }
}

// ---- reading terms ----

static orr_result read_word(const orr_json *json, const char *key, const char *const *words, int *index,
                            orr_error *error)
{
    const char *text = NULL;
    ORR_TRY(orr_json_string(json, key, &text, error));
    if (!text) {
        return ORR_OK;
    }
    char list[160] = "";
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return ORR_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    }
    return orr_json_expected(json, key, error, "one of %s", list);
}

static orr_result read_tolerance(const orr_json *json, env_term *t, orr_error *error)
{
    static const char *const keys[] = {"low", "high", "margin", "value_at_margin", "sigmoid", NULL};
    static const char *const sigmoids[] = {"gaussian", "hyperbolic", "long_tail",    "reciprocal", "cosine",
                                           "linear",   "quadratic",  "tanh_squared", NULL};
    orr_json inner;
    ORR_TRY(orr_json_member(json, "tolerance", &inner, error));
    if (!inner.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_check_keys(&inner, keys, error));
    env_tolerance o = {.low = -INFINITY, .high = INFINITY, .value = 0.1};
    int kind = ENV_GAUSSIAN;
    ORR_TRY(orr_json_number(&inner, "low", &o.low, error));
    ORR_TRY(orr_json_number(&inner, "high", &o.high, error));
    ORR_TRY(orr_json_positive(&inner, "margin", &o.margin, error));
    ORR_TRY(orr_json_number(&inner, "value_at_margin", &o.value, error));
    ORR_TRY(read_word(&inner, "sigmoid", sigmoids, &kind, error));
    o.sigmoid = (env_sigmoid)kind;
    if (!(o.low <= o.high)) {
        return orr_json_expected(&inner, "low", error, "no more than high");
    }
    bool reaches_zero = kind == ENV_COSINE || kind == ENV_LINEAR || kind == ENV_QUADRATIC;
    if (!(o.value < 1.0 && (reaches_zero ? o.value >= 0.0 : o.value > 0.0))) {
        return orr_json_expected(&inner, "value_at_margin", error, "a number below 1 and %s 0",
                                 reaches_zero ? "at least" : "above");
    }
    t->tolerates = true;
    t->tolerance = o;
    return ORR_OK;
}

static orr_result read_term(const orr_json *json, const orr_model *m, term_use use, int depth, env_term *t,
                            orr_error *error);

static orr_result read_factors(const orr_json *json, const orr_model *m, int depth, env_term *t,
                               orr_error *error)
{
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(json, "times", &node, &count, error));
    if (count > FACTORS_MAX || (count > 0 && depth >= FACTOR_DEPTH)) {
        return orr_json_expected(json, "times", error, "at most %d terms, %d deep", FACTORS_MAX,
                                 FACTOR_DEPTH);
    }
    if (count > 0) {
        t->factor = orr_alloc_zero((size_t)count, sizeof *t->factor);
        if (!t->factor) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a task");
        }
    }
    for (int i = 0; i < count; i++, node = node->next) {
        orr_json inner;
        ORR_TRY(orr_json_element(json, "times", i, node, &inner, error));
        t->factors = i + 1;
        ORR_TRY(read_term(&inner, m, FACTOR, depth + 1, &t->factor[i], error));
    }
    return ORR_OK;
}

static orr_result check_use(const orr_json *json, term_use use, const env_term *t, orr_error *error)
{
    if (t->value.source == ENV_FROM_ACTION && (use == OBSERVED || use == ENDING || t->rate)) {
        return orr_json_expected(json, "of", error, "no action here: actions are for rewards");
    }
    if (use == ENDING && !(isfinite(t->below) || isfinite(t->above))) {
        return orr_json_expected(json, NULL, error, "below or above, which end the episode");
    }
    if (t->rate && (t->tolerates || t->factors > 0 || t->offset != 0.0 || isfinite(t->at_most))) {
        return orr_json_expected(json, "rate", error,
                                 "no tolerance, times, offset or at_most beside a rate of change");
    }
    return ORR_OK;
}

static orr_result read_term(const orr_json *json, const orr_model *m, term_use use, int depth, env_term *t,
                            orr_error *error)
{
#define PICK "of", "name", "axis", "from", "count", "minus", "clip", "function"
    static const char *const observed[] = {PICK, NULL}, *const ending[] = {PICK, "below", "above", NULL},
                             *const rewarded[] = {PICK,     "tolerance", "at_most", "weight",
                                                  "offset", "times",     "rate",    "unless_terminated",
                                                  NULL},
                             *const factor[] = {PICK,     "tolerance", "at_most", "weight",
                                                "offset", "times",     NULL};
#undef PICK
    static const char *const *const keys[] = {observed, rewarded, ending, factor};
    static const char *const functions[] = {"each", "sin", "cos", "abs", "sum", "squares", "norm", NULL};
    int function = ENV_EACH;
    *t = (env_term){
        .clip = INFINITY, .at_most = INFINITY, .weight = 1.0, .below = -INFINITY, .above = INFINITY};
    ORR_TRY(orr_json_check_keys(json, keys[use], error));
    ORR_TRY(env_pick_read(json, m, &t->value, error));
    orr_json minus;
    ORR_TRY(orr_json_member(json, "minus", &minus, error));
    if (minus.node) {
        static const char *const minus_keys[] = {"of", "name", "axis", "from", "count", NULL};
        ORR_TRY(orr_json_check_keys(&minus, minus_keys, error));
        ORR_TRY(env_pick_read(&minus, m, &t->minus, error));
        if (t->minus.count != t->value.count || t->minus.source == ENV_FROM_ACTION) {
            return orr_json_expected(json, "minus", error, "%d numbers of the world, not %d", t->value.count,
                                     t->minus.count);
        }
    }
    ORR_TRY(orr_json_positive(json, "clip", &t->clip, error));
    ORR_TRY(read_word(json, "function", functions, &function, error));
    t->function = (env_function)function;
    ORR_TRY(orr_json_number(json, "at_most", &t->at_most, error));
    ORR_TRY(orr_json_number(json, "weight", &t->weight, error));
    ORR_TRY(orr_json_number(json, "offset", &t->offset, error));
    ORR_TRY(orr_json_bool(json, "rate", &t->rate, error));
    ORR_TRY(orr_json_bool(json, "unless_terminated", &t->unless_terminated, error));
    ORR_TRY(orr_json_number(json, "below", &t->below, error));
    ORR_TRY(orr_json_number(json, "above", &t->above, error));
    ORR_TRY(read_tolerance(json, t, error));
    ORR_TRY(read_factors(json, m, depth, t, error));
    return check_use(json, use, t, error);
}

static orr_result read_terms(env_task_file *f, const char *key, term_use use, const orr_model *m, int *count,
                             orr_error *error)
{
    const cJSON *node;
    int found, first = f->observations + f->rewards + f->terminations;
    ORR_TRY(orr_json_array(f->root, key, &node, &found, error));
    if (first + found > TERMS_MAX) {
        return orr_json_expected(f->root, key, error, "at most %d terms in a task", TERMS_MAX);
    }
    for (int i = 0; i < found; i++, node = node->next) {
        orr_json inner;
        ORR_TRY(orr_json_element(f->root, key, i, node, &inner, error));
        *count = i + 1; // what it holds is freed, whatever happens
        ORR_TRY(read_term(&inner, m, use, 0, &f->term[first + i], error));
    }
    return ORR_OK;
}

// ---- where episodes begin ----

static orr_result read_draws(const orr_json *json, env_task_file *f, const orr_model *m, orr_error *error)
{
    static const char *const keys[] = {"joint", "low", "high", NULL};
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(json, "draw", &node, &count, error));
    ORR_ALLOC(f->draw, count + 1, "a task", error);
    for (int i = 0; i < count; i++, node = node->next) {
        orr_json inner;
        const char *name = NULL;
        env_draw draw = {0};
        ORR_TRY(orr_json_element(json, "draw", i, node, &inner, error));
        ORR_TRY(orr_json_check_keys(&inner, keys, error));
        ORR_TRY(orr_json_require(&inner, "joint", "the name of a joint", error));
        ORR_TRY(orr_json_string(&inner, "joint", &name, error));
        ORR_TRY(orr_json_number(&inner, "low", &draw.low, error));
        ORR_TRY(orr_json_number(&inner, "high", &draw.high, error));
        int joint = orr_model_find(m, ORR_OBJECT_JOINT, name);
        if (joint < 0 || m->jnt_type[joint] == ORR_JOINT_FREE || m->jnt_type[joint] == ORR_JOINT_BALL) {
            return orr_json_expected(&inner, "joint", error, "a hinge or a slide of the robot");
        }
        if (!(draw.low <= draw.high)) {
            return orr_json_expected(&inner, "low", error, "no more than high");
        }
        draw.coordinate = m->jnt_qposadr[joint];
        f->draw[f->draws++] = draw;
    }
    return ORR_OK;
}

static orr_result read_start(env_task_file *f, const orr_model *m, orr_error *error)
{
    static const char *const keys[] = {"keyframe",        "qpos_noise", "qvel_noise",
                                       "normal_velocity", "draw",       NULL};
    orr_json json;
    const char *keyframe = NULL;
    ORR_ALLOC(f->qpos0, m->nq + 1, "a task", error);
    memcpy(f->qpos0, m->qpos0, (size_t)m->nq * sizeof *f->qpos0);
    ORR_TRY(orr_json_member(f->root, "start", &json, error));
    if (!json.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_check_keys(&json, keys, error));
    ORR_TRY(orr_json_string(&json, "keyframe", &keyframe, error));
    if (keyframe) {
        int key = orr_model_find(m, ORR_OBJECT_KEY, keyframe);
        if (key < 0) {
            return orr_json_expected(&json, "keyframe", error, "the name of a keyframe of the robot");
        }
        memcpy(f->qpos0, m->key_qpos + (ptrdiff_t)key * m->nq, (size_t)m->nq * sizeof *f->qpos0);
    }
    ORR_TRY(orr_json_positive(&json, "qpos_noise", &f->qpos_noise, error));
    ORR_TRY(orr_json_positive(&json, "qvel_noise", &f->qvel_noise, error));
    ORR_TRY(orr_json_bool(&json, "normal_velocity", &f->normal_velocity, error));
    return read_draws(&json, f, m, error);
}

// ---- files ----

static orr_result read_head(env_task_file *f, const char *path, orr_error *error)
{
    static const char *const keys[] = {"orrery_task", "name",   "model",     "frame_skip", "max_steps",
                                       "observation", "reward", "terminate", "start",      NULL};
    const char *name = NULL, *model = NULL;
    int version = 0;
    const orr_json *root = f->root;
    ORR_TRY(orr_json_check_keys(root, keys, error));
    ORR_TRY(orr_json_require(root, "orrery_task", "1, the version of the format", error));
    ORR_TRY(orr_json_whole(root, "orrery_task", "the format", 1, 1, &version, error));
    ORR_TRY(orr_json_require(root, "observation", "what is observed", error));
    ORR_TRY(orr_json_require(root, "reward", "what is rewarded", error));
    ORR_TRY(orr_json_string(root, "name", &name, error));
    ORR_TRY(orr_json_string(root, "model", &model, error));
    f->task.frame_skip = 1;
    f->task.max_steps = 1000;
    ORR_TRY(orr_json_whole(root, "frame_skip", NULL, 1, 10000, &f->task.frame_skip, error));
    ORR_TRY(orr_json_whole(root, "max_steps", NULL, 1, 1000000000, &f->task.max_steps, error));
    snprintf(f->name, sizeof f->name, "%s", name ? name : orr_path_name(path));
    f->model = model ? orr_path_beside(path, model) : NULL;
    return !model || f->model ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a task");
}

static orr_result read_file(env_task_file *f, const char *text, const char *path, orr_error *error)
{
    const size_t size = strlen(text) + 1;
    f->text = orr_alloc(size, 1);
    f->root = orr_alloc_zero(1, sizeof *f->root);
    f->term = orr_alloc_zero(TERMS_MAX, sizeof *f->term);
    if (!f->text || !f->root || !f->term) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    memcpy(f->text, text, size);
    ORR_TRY(orr_json_parse(f->text, path, ORR_CODE_FILE_VALUE, f->root, error));
    return read_head(f, path, error);
}

orr_result env_task_file_read(const char *text, const char *path, env_task_file **file, orr_error *error)
{
    env_task_file *f = orr_alloc_zero(1, sizeof *f);
    *file = NULL;
    if (!f) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    orr_result result = read_file(f, text, path, error);
    if (result != ORR_OK) {
        env_task_file_destroy(f);
        return result;
    }
    f->task.name = f->name;
    f->task.settings = f;
    f->task.observation_count = count_observation;
    f->task.start = start;
    f->task.observe = observe;
    f->task.progress = progress;
    f->task.reward = reward;
    f->task.terminated = terminated;
    *file = f;
    return ORR_OK;
}

static void use_parts(env_task *task, const env_pick *pick)
{
    bool used = pick->count == 0 || pick->source >= ENV_PARTS;
    for (int i = 0; i < task->part_count; i++) {
        used |= (int)task->parts[i] == pick->source;
    }
    if (!used) {
        task->parts[task->part_count++] = (env_part)pick->source;
    }
}

static void use_parts_of(env_task *task, const env_term *t)
{
    use_parts(task, &t->value);
    use_parts(task, &t->minus);
    for (int i = 0; i < t->factors; i++) {
        use_parts_of(task, &t->factor[i]);
    }
}

orr_result env_task_file_bind(env_task_file *f, const orr_model *m, orr_error *error)
{
    ORR_TRY(read_terms(f, "observation", OBSERVED, m, &f->observations, error));
    ORR_TRY(read_terms(f, "reward", REWARDED, m, &f->rewards, error));
    ORR_TRY(read_terms(f, "terminate", ENDING, m, &f->terminations, error));
    if (f->observations == 0) {
        return orr_json_expected(f->root, "observation", error, "at least one term");
    }
    ORR_TRY(read_start(f, m, error));
    for (int i = 0; i < f->observations + f->rewards + f->terminations; i++) {
        use_parts_of(&f->task, &f->term[i]);
    }
    return ORR_OK;
}

void env_task_file_destroy(env_task_file *f)
{
    if (!f) {
        return;
    }
    for (int i = 0; f->term && i < f->observations + f->rewards + f->terminations; i++) {
        env_term_clear(&f->term[i]);
    }
    if (f->root) {
        orr_json_free(f->root);
    }
    orr_free(f->root);
    orr_free(f->term);
    orr_free(f->text);
    orr_free(f->model);
    orr_free(f->qpos0);
    orr_free(f->draw);
    orr_free(f);
}
