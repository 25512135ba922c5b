#include "engine/env/task_randomise.h"

#include "engine/core/memory.h"
#include "engine/env/task_pick.h"
#include "engine/loop/world/world_parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CUT = 3 }; // normal numbers are limited to so many deviations

typedef enum variation_change { CHANGE_SCALE, CHANGE_ADD, CHANGE_SET } variation_change;
typedef enum variation_kind { VARY_UNIFORM, VARY_LOG_UNIFORM, VARY_NORMAL } variation_kind;

typedef struct variation_target {
    int list;   // of the task's parameters; -1: of pictures
    int number; // of the parameter, or of look_number
    int draw;   // which of the random numbers changes it
} variation_target;

struct env_variation {
    variation_kind kind;
    variation_change change;
    double a, b; // low and high, or mean and deviation
    int targets;
    variation_target *target;
};

// ---- drawing ----

static double draw_number(const env_variation *v, env_noise *noise)
{
    switch (v->kind) {
    case VARY_UNIFORM:
        return env_uniform(noise, v->a, v->b);
    case VARY_LOG_UNIFORM:
        return exp(env_uniform(noise, log(v->a), log(v->b)));
    default:
        return v->a + v->b * fmax(-CUT, fmin(env_normal(noise), CUT));
    }
}

static double changed(const env_variation *v, double value, double number)
{
    return v->change == CHANGE_SCALE ? value * number : v->change == CHANGE_ADD ? value + number : number;
}

// Numbers of looks: LOOK_WIDTH for each of env_look, of which the exposure has only the first.
enum { LOOK_WIDTH = 3, LOOK_BACKGROUND = LOOK_WIDTH * (ENV_LOOK_BACKGROUND - ENV_LOOK_CAMERA_OFFSET) };

static float *look_number(orr_eyes_look *look, int number)
{
    float *const members[] = {look->camera_offset, look->camera_turn, look->light_turn,
                              look->light,         &look->exposure,   look->background};
    return members[number / LOOK_WIDTH] + number % LOOK_WIDTH;
}

// Applies the variations of parameters, or those of looks. Targets are in the order of their draws.
static void draw_all(const env_variations *variations, env_noise *noise, double *const *values,
                     orr_eyes_look *look)
{
    for (int i = 0; i < variations->count; i++) {
        const env_variation *v = &variations->list[i];
        double number = 0.0;
        for (int k = 0, drawn = -1; k < v->targets; k++) {
            const variation_target *t = &v->target[k];
            if ((t->list < 0) != (look != NULL)) {
                break; // all targets of a variation are of one kind
            }
            if (t->draw != drawn) {
                number = draw_number(v, noise);
                drawn = t->draw;
            }
            if (look) {
                float *f = look_number(look, t->number);
                *f = (float)changed(v, (double)*f, number);
                look->has_background |= t->number >= LOOK_BACKGROUND;
            } else {
                double *x = &values[t->list][t->number];
                *x = changed(v, *x, number);
            }
        }
    }
}

void env_variations_draw(const env_variations *variations, env_noise *noise, double *const *values)
{
    draw_all(variations, noise, values, NULL);
}

void env_variations_look(const env_variations *variations, env_noise *noise, orr_eyes_look *look)
{
    draw_all(variations, noise, NULL, look);
}

bool env_variations_have_looks(const env_variations *variations)
{
    bool have = false;
    for (int i = 0; i < variations->count; i++) {
        have |= variations->list[i].target[0].list < 0;
    }
    return have;
}

// ---- reading ----

static orr_result read_distribution(const orr_json *json, env_variation *v, orr_error *error)
{
    static const char *const names[] = {"uniform", "log_uniform", "normal"};
    int found = 0;
    for (int i = 0; i < 3; i++) {
        if (orr_json_has(json, names[i])) {
            double given[2] = {0.0, 0.0};
            ORR_TRY(orr_json_numbers(json, names[i], 2, given, error));
            v->kind = (variation_kind)i;
            v->a = given[0], v->b = given[1];
            found++;
        }
    }
    if (found != 1) {
        return orr_json_expected(json, NULL, error, "one of uniform, log_uniform and normal, of two numbers");
    }
    const bool fits = v->kind == VARY_NORMAL        ? v->b >= 0.0
                      : v->kind == VARY_LOG_UNIFORM ? v->a > 0.0 && v->a <= v->b
                                                    : v->a <= v->b;
    return fits ? ORR_OK
                : orr_json_expected(json, names[v->kind], error,
                                    v->kind == VARY_NORMAL        ? "a mean, and a deviation of 0 or more"
                                    : v->kind == VARY_LOG_UNIFORM ? "0 < low <= high"
                                                                  : "low <= high");
}

static orr_result read_change(const orr_json *json, bool looks, env_variation *v, orr_error *error)
{
    static const char *const names[] = {"scale", "add", "set"};
    const char *name = looks ? "set" : "scale";
    ORR_TRY(orr_json_string(json, "change", &name, error));
    for (int i = looks; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            v->change = (variation_change)i;
            return ORR_OK;
        }
    }
    return orr_json_expected(json, "change", error, looks ? "add or set" : "scale, add or set");
}

// The least that a number can become.
static double least_of(const env_variation *v, double value)
{
    const double cut = v->kind == VARY_NORMAL ? CUT * v->b : 0.0, low = v->a - cut,
                 high = v->kind == VARY_NORMAL ? v->a + cut : v->b;
    return fmin(changed(v, value, low), changed(v, value, high));
}

static bool may_be_negative(int parameter)
{
    return parameter == ORR_PARAMETER_GRAVITY || parameter == ORR_PARAMETER_ACTUATOR_GAIN ||
           parameter == ORR_PARAMETER_ACTUATOR_BIAS;
}

// Its place among the parameters of the task, where it is added.
static int place_of(env_task *task, int parameter)
{
    for (int k = 0; k < task->parameter_count; k++) {
        if ((int)task->parameters[k] == parameter) {
            return k;
        }
    }
    task->parameters[task->parameter_count] = (orr_robot_parameter)parameter;
    return task->parameter_count++;
}

// together: 0: one number for all; otherwise one for so many that follow each other.
static orr_result add_targets(const orr_json *json, const orr_model *m, env_task *task, const env_pick *pick,
                              int together, env_variation *v, orr_error *error)
{
    const bool looks = pick->source >= ENV_LOOK_CAMERA_OFFSET;
    const int list = looks ? -1 : place_of(task, pick->source);
    const double *model = looks ? NULL : orr_robot_parameter_numbers(m, (orr_robot_parameter)pick->source);
    for (int i = 0; i < pick->count; i++) {
        const int number = pick->index[i];
        if (!looks && !may_be_negative(pick->source) && least_of(v, model[number]) < 0.0) {
            return orr_json_expected(json, NULL, error, "numbers of at least 0, number %d becomes %g", number,
                                     least_of(v, model[number]));
        }
        v->target[v->targets++] = (variation_target){
            .list = list,
            .number = number + (looks ? LOOK_WIDTH * (pick->source - ENV_LOOK_CAMERA_OFFSET) : 0),
            .draw = together > 0 ? number / together : 0};
    }
    return ORR_OK;
}

static int by_draw(const void *a, const void *b)
{
    const variation_target *x = a, *y = b;
    return x->draw != y->draw   ? (x->draw > y->draw) - (x->draw < y->draw)
           : x->list != y->list ? (x->list > y->list) - (x->list < y->list)
                                : (x->number > y->number) - (x->number < y->number);
}

static orr_result read_variation(const orr_json *json, const env_objects *objects, env_task *task,
                                 env_variation *v, orr_error *error)
{
    static const char *const keys[] = {"of",      "name",        "axis",   "from",   "count", "each",
                                       "uniform", "log_uniform", "normal", "change", NULL};
    // Two parameters that belong together, by how many numbers an object has in each.
    static const struct {
        const char *name, *of[2];
        int width[2];
    } pairs[] = {{"mass", {"body_mass", "body_inertia"}, {1, 3}},
                 {"gain", {"actuator_gain", "actuator_bias"}, {ORR_NGAIN, ORR_NBIAS}}};
    const char *of = NULL;
    bool each = false;
    env_pick picks[2] = {{0}, {0}};
    int count = 1, width[2] = {1, 1};
    ORR_TRY(orr_json_check_keys(json, keys, error));
    ORR_TRY(orr_json_require(json, "of", "a parameter, such as mass", error));
    ORR_TRY(orr_json_string(json, "of", &of, error));
    ORR_TRY(orr_json_bool(json, "each", &each, error));
    ORR_TRY(read_distribution(json, v, error));
    const char *names[2] = {of, NULL};
    for (int i = 0; i < 2; i++) {
        if (strcmp(of, pairs[i].name) == 0) {
            count = 2;
            for (int k = 0; k < 2; k++) {
                names[k] = pairs[i].of[k], width[k] = pairs[i].width[k];
            }
            if (orr_json_has(json, "axis") || orr_json_has(json, "from") || orr_json_has(json, "count") ||
                orr_json_has(json, "change")) {
                return orr_json_expected(json, "of", error, "no axis, from, count and change: %s is scaled",
                                         of);
            }
        }
    }
    orr_result result = ORR_OK;
    for (int k = 0; k < count && result == ORR_OK; k++) {
        result = env_pick_read_of(json, ENV_PICK_PARAMETER, names[k], objects, &picks[k], error);
    }
    if (result == ORR_OK) {
        result = read_change(json, picks[0].source >= ENV_LOOK_CAMERA_OFFSET, v, error);
    }
    if (result == ORR_OK) {
        v->target = orr_alloc((size_t)picks[0].count + (size_t)picks[1].count, sizeof *v->target);
        result = v->target ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a task");
    }
    for (int k = 0; k < count && result == ORR_OK; k++) {
        result = add_targets(json, objects->model, task, &picks[k], each ? width[k] : 0, v, error);
    }
    if (result == ORR_OK) {
        qsort(v->target, (size_t)v->targets, sizeof *v->target, by_draw);
    }
    orr_free(picks[0].index);
    orr_free(picks[1].index);
    return result;
}

orr_result env_variations_read(const orr_json *root, const env_objects *objects, env_task *task,
                               env_variations *variations, orr_error *error)
{
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(root, "randomise", &node, &count, error));
    variations->list = orr_alloc_zero((size_t)count + 1, sizeof *variations->list);
    if (!variations->list) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a task");
    }
    for (int i = 0; i < count; i++, node = node->next) {
        orr_json inner;
        ORR_TRY(orr_json_element(root, "randomise", i, node, &inner, error));
        if (env_surfaces_has(&inner)) {
            ORR_TRY(env_surfaces_read(&inner, objects, &variations->surfaces, error));
        } else { // what it holds is freed, whatever happens
            env_variation *v = &variations->list[variations->count++];
            ORR_TRY(read_variation(&inner, objects, task, v, error));
        }
    }
    return ORR_OK;
}

void env_variations_clear(env_variations *variations)
{
    for (int i = 0; i < variations->count; i++) {
        orr_free(variations->list[i].target);
    }
    orr_free(variations->list);
    env_surfaces_clear(&variations->surfaces);
}
