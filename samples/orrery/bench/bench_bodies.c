// orrery bench physics: one world with many free bodies, at rest on a floor or as a pile in a box, by their
// number.
#include "samples/orrery/bench/bench.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"

#include <math.h>
#include <stdarg.h>
#include <time.h>

static const double seconds_per_case = 2.0;
static const int settling_steps = 200; // of a pile, until most of its bodies touch

typedef struct bodies_case {
    const char *shape; // "box" or "sphere"
    bool pile;         // dropped into a box; else at rest on a floor
    int count;
} bodies_case;

typedef struct text {
    char *data;
    size_t size, used;
} text;

__attribute__((format(printf, 2, 3))) static void append(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    t->used += (size_t)vsnprintf(t->data + t->used, t->size - t->used, format, arguments);
    va_end(arguments);
}

// Four walls as far from the middle as `reach` [m].
static void append_walls(text *t, double reach)
{
    for (int side = 0; side < 4; side++) {
        double away = (side % 2 ? 1.0 : -1.0) * (reach + 0.2), half = reach + 0.4;
        append(t, "<geom type='box' pos='%g %g %g' size='%g %g %g'/>", side < 2 ? away : 0.0,
               side < 2 ? 0.0 : away, 4.0 * reach, side < 2 ? 0.2 : half, side < 2 ? half : 0.2, 8.0 * reach);
    }
}

// Bodies of 0.1 m. In a pile they start on a grid, rotated and moved at random.
static orr_result write_model(const bodies_case *c, text *t, orr_error *error)
{
    const char *size = c->shape[0] == 'b' ? "0.05 0.05 0.05" : "0.05";
    int side = (int)(c->pile ? fmax(2.0, round(cbrt(c->count / 1.5))) : ceil(sqrt(c->count)));
    double apart = c->pile ? 0.17 : 0.2;
    t->size = 2000 + 250 * (size_t)c->count;
    t->used = 0;
    ORR_ALLOC(t->data, t->size, "a model of many bodies", error);
    append(t, "<mujoco model='bodies'><worldbody><geom type='plane' size='0 0 1'/>");
    if (c->pile) {
        append_walls(t, 0.5 * apart * side);
    }
    orr_rng rng = {.seed = 1};
    for (int i = 0; i < c->count; i++) {
        int column = i % side, row = i / side % (c->pile ? side : c->count), level = i / side / side;
        double x = apart * (column - 0.5 * (side - 1)), y = apart * (row - 0.5 * (side - 1)), z = 0.0499;
        float turn[3] = {0.0f};
        if (c->pile) {
            x += (double)orr_rng_range(&rng, -0.02f, 0.02f);
            y += (double)orr_rng_range(&rng, -0.02f, 0.02f);
            z = 0.1 + apart * level;
            for (int k = 0; k < 3; k++) {
                turn[k] = orr_rng_range(&rng, 0.0f, 90.0f);
            }
        }
        append(t,
               "<body pos='%.4f %.4f %.4f' euler='%.1f %.1f %.1f'><freejoint/><geom type='%s' "
               "size='%s'/></body>",
               x, y, z, (double)turn[0], (double)turn[1], (double)turn[2], c->shape, size);
    }
    append(t, "</worldbody></mujoco>");
    return ORR_OK;
}

static orr_result measure(const bench_run *run, const bodies_case *c, orr_physics *physics, cJSON *list,
                          double load_seconds, orr_error *error)
{
    orr_physics_step(physics, run->tiny ? 1 : c->pile ? settling_steps : 10);
    int steps = 0;
    clock_t start = clock();
    double seconds = 0.0;
    for (; steps == 0 || (!run->tiny && seconds < seconds_per_case); steps++) {
        orr_physics_step(physics, 1);
        ORR_TRY(orr_physics_check(physics, error));
        seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    }
    double ms = 1e3 * seconds / steps;
    fprintf(run->out, "  %6d %-6s %-8s %10.3f ms per step, %8.2f us per body, loaded in %.2f s\n", c->count,
            c->shape, c->pile ? "in a box" : "at rest", ms, 1e3 * ms / c->count, load_seconds);
    if (list) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(list, entry);
        cJSON_AddNumberToObject(entry, "bodies", c->count);
        cJSON_AddStringToObject(entry, "shape", c->shape);
        cJSON_AddBoolToObject(entry, "pile", c->pile);
        cJSON_AddNumberToObject(entry, "cpu_seconds_per_step", 1e-3 * ms);
        cJSON_AddNumberToObject(entry, "load_cpu_seconds", load_seconds);
    }
    return ORR_OK;
}

static orr_result bench_case(const bench_run *run, const bodies_case *c, orr_jobs *jobs, cJSON *list,
                             orr_error *error)
{
    text t;
    orr_model *model;
    orr_physics *physics;
    const orr_physics_desc desc = {.worlds = 1};
    ORR_TRY(write_model(c, &t, error));
    clock_t start = clock();
    orr_result result = orr_model_parse(t.data, t.used, "bodies.xml", &model, error);
    orr_free(t.data);
    ORR_TRY(result);
    result = orr_physics_create(&desc, model, jobs, &physics, error);
    if (result == ORR_OK) {
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        result = measure(run, c, physics, list, seconds, error);
        orr_physics_destroy(physics);
    }
    orr_model_destroy(model);
    return result;
}

orr_result bench_bodies(const bench_run *run, orr_jobs *jobs, orr_error *error)
{
    static const int counts[] = {100, 1000, 4000, 10000};
    cJSON *list = run->json ? cJSON_AddArrayToObject(run->json, "bodies") : NULL;
    fprintf(run->out, "\nfree bodies in one world on one thread, f32, steps of 2 ms\n");
    for (int pile = 0; pile < 2; pile++) {
        for (int shape = 0; shape < 2; shape++) {
            for (int i = 0; i < (run->tiny ? 1 : pile ? 2 : 4); i++) {
                const bodies_case c = {shape ? "sphere" : "box", pile, run->tiny ? 12 : counts[i]};
                ORR_TRY(bench_case(run, &c, jobs, list, error));
            }
        }
    }
    return ORR_OK;
}
