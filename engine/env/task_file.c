#include "engine/env/task_file.h"

#include "engine/core/file.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "engine/env/task_pick.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TERMS_MAX = 256, FACTORS_MAX = 16, FACTOR_DEPTH = 4, DELAY_MAX = 1000 };

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
    env_start_draw(&file_of(task)->start, robot->model, noise, qpos, qvel);
}

static void place(const env_task *task, env_noise *noise, double *position, double *rotation, double *shift)
{
    env_start_place(&file_of(task)->start, noise, position, rotation, shift);
}

static void randomise(const env_task *task, env_noise *noise, double *const *values)
{
    env_variations_draw(&file_of(task)->variations, noise, values);
}

static void look(const env_task *task, env_noise *noise, orr_eyes_look *look)
{
    env_variations_look(&file_of(task)->variations, noise, look);
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
    ORR_TRY(orr_json_not_negative(&inner, "margin", &o.margin, error));
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

static orr_result read_term(const orr_json *json, const env_objects *o, term_use use, int depth, env_term *t,
                            orr_error *error);

static orr_result read_factors(const orr_json *json, const env_objects *o, int depth, env_term *t,
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
        ORR_TRY(read_term(&inner, o, FACTOR, depth + 1, &t->factor[i], error));
    }
    return ORR_OK;
}

static orr_result read_frame(const orr_json *json, const env_objects *o, env_term *t, orr_error *error)
{
    static const char *const keys[] = {"of", "name", NULL};
    orr_json frame;
    ORR_TRY(orr_json_member(json, "frame", &frame, error));
    if (!frame.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_check_keys(&frame, keys, error));
    ORR_TRY(env_pick_read(&frame, o, &t->frame, error));
    const bool matrix =
        t->frame.source == ENV_XMAT || t->frame.source == ENV_GEOM_XMAT || t->frame.source == ENV_SITE_XMAT;
    if (!matrix || t->frame.count != 9) {
        return orr_json_expected(&frame, "of", error, "xmat, geom_xmat or site_xmat of one name");
    }
    return t->value.count % 3 == 0
               ? ORR_OK
               : orr_json_expected(json, "frame", error, "vectors of three numbers, not %d numbers",
                                   t->value.count);
}

static orr_result read_only(const orr_json *json, env_term *t, orr_error *error)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json->node, "only"), *node = NULL;
    if (!list) {
        return ORR_OK;
    }
    const int count = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || count < 1 || count > t->value.count) {
        return orr_json_expected(json, "only", error, "a list of 1 to %d indices", t->value.count);
    }
    ORR_ALLOC(t->only, count, "a task", error);
    cJSON_ArrayForEach(node, list)
    {
        if (!cJSON_IsNumber(node) || node->valuedouble != floor(node->valuedouble) ||
            !(node->valuedouble >= 0.0 && node->valuedouble < t->value.count)) {
            return orr_json_expected(json, "only", error, "whole numbers, 0 to %d", t->value.count - 1);
        }
        t->only[t->only_count++] = (int32_t)node->valuedouble;
    }
    return ORR_OK;
}

// What is subtracted, in which frame, and which numbers remain.
static orr_result read_change(const orr_json *json, const env_objects *o, env_term *t, orr_error *error)
{
    orr_json minus;
    ORR_TRY(orr_json_member(json, "minus", &minus, error));
    if (minus.node) {
        static const char *const minus_keys[] = {"of", "name", "axis", "from", "count", NULL};
        ORR_TRY(orr_json_check_keys(&minus, minus_keys, error));
        ORR_TRY(env_pick_read(&minus, o, &t->minus, error));
        if (t->value.count % t->minus.count != 0 || t->minus.source == ENV_FROM_ACTION) {
            return orr_json_expected(json, "minus", error,
                                     "%d numbers of the world, or a part of them, not %d", t->value.count,
                                     t->minus.count);
        }
    }
    ORR_TRY(read_frame(json, o, t, error));
    return read_only(json, t, error);
}

static orr_result check_use(const orr_json *json, term_use use, const env_term *t, orr_error *error)
{
    if (t->value.source == ENV_FROM_ACTION && (use == OBSERVED || use == ENDING || t->rate)) {
        return orr_json_expected(json, "of", error, "no action here: actions are for rewards");
    }
    if (use == ENDING && !(isfinite(t->below) || isfinite(t->above))) {
        return orr_json_expected(json, NULL, error, "below or above, which end the episode");
    }
    if (use == ENDING && t->below > t->above) {
        return orr_json_expected(json, "below", error, "no more than above: every number ends the episode");
    }
    if (t->rate && (t->tolerates || t->combination != ENV_TOLERANCE_OF_SUM || t->factors > 0 ||
                    t->offset != 0.0 || isfinite(t->at_most))) {
        return orr_json_expected(json, "rate", error,
                                 "no tolerance, combine, times, offset or at_most beside a rate of change");
    }
    return ORR_OK;
}

static orr_result read_term(const orr_json *json, const env_objects *o, term_use use, int depth, env_term *t,
                            orr_error *error)
{
#define PICK "of", "name", "axis", "from", "count", "minus", "frame", "only", "clip", "function"
#define VALUE PICK, "tolerance", "combine", "at_most", "weight", "offset", "times"
    static const char *const observed[] = {PICK, "weight", "offset", "noise", "delay", NULL},
                             *const ending[] = {PICK, "below", "above", NULL},
                             *const rewarded[] = {VALUE, "rate", "unless_terminated", NULL},
                             *const factor[] = {VALUE, NULL};
#undef VALUE
#undef PICK
    static const char *const *const keys[] = {observed, rewarded, ending, factor};
    static const char *const functions[] = {"each", "sin", "cos",     "abs",  "log1p", "asinh",
                                            "tanh", "sum", "squares", "norm", NULL};
    static const char *const combinations[] = {"sum", "mean", "least", "most", "product", NULL};
    int function = ENV_EACH, combination = ENV_TOLERANCE_OF_SUM;
    *t = (env_term){
        .clip = INFINITY, .at_most = INFINITY, .weight = 1.0, .below = -INFINITY, .above = INFINITY};
    ORR_TRY(orr_json_check_keys(json, keys[use], error));
    ORR_TRY(env_pick_read(json, o, &t->value, error));
    ORR_TRY(read_change(json, o, t, error));
    ORR_TRY(orr_json_positive(json, "clip", &t->clip, error));
    ORR_TRY(read_word(json, "function", functions, &function, error));
    t->function = (env_function)function;
    ORR_TRY(read_word(json, "combine", combinations, &combination, error));
    t->combination = (env_combination)combination;
    ORR_TRY(orr_json_not_negative(json, "noise", &t->noise, error));
    ORR_TRY(orr_json_whole(json, "delay", NULL, 0, DELAY_MAX, &t->delay, error));
    ORR_TRY(orr_json_number(json, "at_most", &t->at_most, error));
    ORR_TRY(orr_json_number(json, "weight", &t->weight, error));
    ORR_TRY(orr_json_number(json, "offset", &t->offset, error));
    ORR_TRY(orr_json_bool(json, "rate", &t->rate, error));
    ORR_TRY(orr_json_bool(json, "unless_terminated", &t->unless_terminated, error));
    ORR_TRY(orr_json_number(json, "below", &t->below, error));
    ORR_TRY(orr_json_number(json, "above", &t->above, error));
    ORR_TRY(read_tolerance(json, t, error));
    ORR_TRY(read_factors(json, o, depth, t, error));
    return check_use(json, use, t, error);
}

static orr_result read_terms(env_task_file *f, const char *key, term_use use, const env_objects *o,
                             int *count, orr_error *error)
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
        ORR_TRY(read_term(&inner, o, use, 0, &f->term[first + i], error));
    }
    return ORR_OK;
}

// ---- files ----

static orr_result read_head(env_task_file *f, const char *path, orr_error *error)
{
    static const char *const keys[] = {"orrery_task", "name",   "model",     "frame_skip", "max_steps",
                                       "observation", "reward", "terminate", "start",      "randomise",
                                       "up_to_date",  "pads",   "pixels",    NULL};
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
    ORR_TRY(orr_json_bool(root, "up_to_date", &f->task.up_to_date, error));
    ORR_TRY(env_pixels_read(root, &f->pixels, error));
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
    use_parts(task, &t->frame);
    for (int i = 0; i < t->factors; i++) {
        use_parts_of(task, &t->factor[i]);
    }
}

// What pads feel is computed from these.
static void use_parts_of_pads(env_task *task)
{
    static const int sources[] = {ENV_GEOM_XPOS, ENV_GEOM_XMAT, ENV_CVEL, ENV_SUBTREE_COM};
    bool used = false;
    for (int i = 0; i < task->part_count; i++) {
        used |= task->parts[i] == ENV_TACTILE;
    }
    for (size_t i = 0; used && i < sizeof sources / sizeof *sources; i++) {
        use_parts(task, &(env_pick){.source = sources[i], .count = 1});
    }
}

// What is wrong with each number of an observation.
static orr_result list_errors(env_task_file *f, orr_error *error)
{
    const int count = count_observation(&f->task, NULL);
    bool noisy = false;
    ORR_ALLOC(f->noise, count, "a task", error);
    ORR_ALLOC(f->delay, count, "a task", error);
    for (int i = 0, k = 0; i < f->observations; i++) {
        const env_term *t = &f->term[i];
        noisy |= t->noise > 0.0 || t->delay > 0;
        f->task.delay_most = t->delay > f->task.delay_most ? t->delay : f->task.delay_most;
        for (int number = 0; number < env_term_count(t); number++, k++) {
            f->noise[k] = t->noise, f->delay[k] = t->delay;
        }
    }
    f->task.noise = noisy ? f->noise : NULL;
    f->task.delay = f->delay;
    return ORR_OK;
}

orr_result env_task_file_bind(env_task_file *f, const env_objects *objects, orr_error *error)
{
    env_objects own = *objects, *o = &own;
    ORR_TRY(env_pads_read(f->root, objects, &f->pads, error));
    own.pads = &f->pads;
    ORR_TRY(read_terms(f, "observation", OBSERVED, o, &f->observations, error));
    ORR_TRY(read_terms(f, "reward", REWARDED, o, &f->rewards, error));
    ORR_TRY(read_terms(f, "terminate", ENDING, o, &f->terminations, error));
    if (f->observations == 0) {
        return orr_json_expected(f->root, "observation", error, "at least one term");
    }
    ORR_TRY(list_errors(f, error));
    ORR_TRY(env_start_read(f->root, o, &f->start, error));
    ORR_TRY(env_variations_read(f->root, o, &f->task, &f->variations, error));
    f->task.place = env_start_places(&f->start) ? place : NULL;
    f->task.attempts = f->start.attempts;
    f->task.lift = f->start.lift;
    f->task.settle = f->start.settle;
    f->task.randomise = f->task.parameter_count > 0 ? randomise : NULL;
    f->task.look = env_variations_have_looks(&f->variations) ? look : NULL;
    for (int i = 0; i < f->observations + f->rewards + f->terminations; i++) {
        use_parts_of(&f->task, &f->term[i]);
    }
    use_parts_of_pads(&f->task);
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
    orr_free(f->noise);
    orr_free(f->delay);
    env_pads_clear(&f->pads);
    env_start_clear(&f->start);
    env_variations_clear(&f->variations);
    orr_free(f);
}
