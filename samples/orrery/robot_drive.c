#include "samples/orrery/robot_drive.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/scene/scene.h"
#include "physics/model/range.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static const double BODY_TIMESTEP = 0.002; // [s], of a scene without robots

// The robots after the first; returns how many controls all have together.
static orr_result list_others(const orr_scene *scene, robot_drive *d, int *controls, orr_error *error)
{
    *controls = d->count;
    ORR_ALLOC(d->others, scene->layer_count, "robots", error);
    for (int i = 0; i < scene->layer_count; i++) {
        const orr_layer_data *layer = &scene->layers[i];
        if (layer->kind == ORR_LAYER_ROBOT && layer->id.slot != d->robot.slot) {
            d->others[d->other_count++] = (robot_drive_other){
                {layer->id.slot, layer->id.generation}, layer->robot->model->nu, *controls};
            *controls += layer->robot->model->nu;
        }
    }
    return ORR_OK;
}

static orr_result read_file(const char *path, const orr_scene *scene, robot_drive *d, orr_error *error)
{
    int all;
    ORR_TRY(npy_read(path, &d->file, error));
    ORR_TRY(list_others(scene, d, &all, error));
    const int columns = d->file.dimensions == 2 ? (int)d->file.shape[1] : -1;
    if (columns != d->count && columns != all) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "%s: shape: expected (steps, nu) with nu %d, or %d of all robots together", path,
                        d->count, all);
    }
    d->other_count = columns == all ? d->other_count : 0;
    return ORR_OK;
}

static orr_result read_ranges(const orr_model *m, robot_drive *d, orr_error *error)
{
    ORR_ALLOC(d->values, d->count, "controls", error);
    ORR_ALLOC(d->low, d->count, "controls", error);
    ORR_ALLOC(d->high, d->count, "controls", error);
    for (int i = 0; i < d->count; i++) {
        double ends[2];
        orr_model_range(m->actuator_ctrllimited[i], m->actuator_ctrlrange + 2 * (ptrdiff_t)i, 1.0, ends);
        d->low[i] = ends[0];
        d->high[i] = ends[1];
    }
    int numeric = orr_model_find(m, ORR_OBJECT_NUMERIC, "sine");
    if (numeric >= 0 && m->numeric_size[numeric] == 1 + 3 * d->count) {
        size_t count = (size_t)m->numeric_size[numeric];
        ORR_ALLOC(d->sine, count, "sines", error);
        memcpy(d->sine, m->numeric_data + m->numeric_adr[numeric], count * sizeof *d->sine);
    }
    return ORR_OK;
}

static orr_result ask_policy(robot_drive *d, orr_world *world, orr_error *error)
{
    ORR_TRY(policy_drive_ask(&d->policy, world, error));
    for (int i = 0; i < d->count; i++) {
        d->values[i] = fmin(fmax((double)d->policy.actions[i], d->low[i]), d->high[i]);
    }
    return ORR_OK;
}

static robot_drive_kind kind_of(const robot_controls *c)
{
    return c->policy                                 ? ROBOT_DRIVE_POLICY
           : !c->ctrl                                ? ROBOT_DRIVE_NONE
           : strcmp(c->ctrl, "sine") == 0            ? ROBOT_DRIVE_SINE
           : strcmp(c->ctrl, "random") == 0          ? ROBOT_DRIVE_RANDOM
           : orr_path_has_ending(c->ctrl, ".policy") ? ROBOT_DRIVE_POLICY
                                                     : ROBOT_DRIVE_FILE;
}

orr_result robot_drive_open(const robot_controls *controls, const orr_scene *scene, const char *scene_path,
                            uint64_t seed, robot_drive *d, orr_error *error)
{
    const orr_layer_data *layer = orr_scene_first_robot(scene);
    const char *control = controls->policy ? controls->policy : controls->ctrl;
    *d = (robot_drive){.kind = kind_of(controls), .rng = {.seed = (uint32_t)seed}, .timestep = BODY_TIMESTEP};
    if (controls->policy && controls->ctrl) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "--ctrl and --policy: expected one of them");
    }
    for (int i = 0; i < scene->layer_count; i++) {
        const orr_robot *body = scene->layers[i].body;
        d->bodies |= (body && body->model->nv > 0) || scene->layers[i].soft; // others have nothing to step
    }
    if (!layer) {
        return control ? orr_fail(error, ORR_CODE_ARGUMENT, "%s %s: expected a scene with a robot",
                                  controls->policy ? "--policy" : "--ctrl", control)
                       : ORR_OK;
    }
    const orr_model *m = layer->robot->model;
    d->robot = (orr_layer){layer->id.slot, layer->id.generation};
    d->timestep = orr_scene_timestep(scene, layer);
    d->count = m->nu;
    orr_result result = read_ranges(m, d, error);
    if (result == ORR_OK && d->kind == ROBOT_DRIVE_FILE) {
        result = read_file(control, scene, d, error);
    }
    if (result == ORR_OK && d->kind == ROBOT_DRIVE_POLICY) {
        result = policy_drive_open(control, scene, scene_path, d->count, &d->policy, error);
    }
    if (result != ORR_OK) {
        robot_drive_close(d);
    }
    return result;
}

void robot_drive_close(robot_drive *d)
{
    orr_free(d->values);
    orr_free(d->low);
    orr_free(d->high);
    orr_free(d->sine);
    orr_free(d->file.values);
    orr_free(d->others);
    policy_drive_close(&d->policy);
    *d = (robot_drive){0};
}

static double sine_at(const robot_drive *d, int i, double seconds)
{
    const double golden = 2.399963; // [rad] no two actuators move alike
    double hertz = 1.0, middle = 0.5 * (d->low[i] + d->high[i]), amplitude = 0.5 * (d->high[i] - d->low[i]);
    double phase = golden * i;
    if (d->sine) {
        const double *own = d->sine + 1 + 3 * i;
        hertz = d->sine[0];
        middle = own[0];
        amplitude = own[1];
        phase = own[2] * pi / 180.0;
    }
    return middle + amplitude * sin(2.0 * pi * hertz * seconds + phase);
}

static const double *row_of(const robot_drive *d)
{
    return d->file.values + (size_t)d->step * (size_t)d->file.shape[1];
}

static orr_result set_controls(robot_drive *d, orr_world *world, orr_error *error)
{
    if (d->kind == ROBOT_DRIVE_POLICY && !d->robot_absent && d->step % d->policy.info.frame_skip == 0) {
        ORR_TRY(ask_policy(d, world, error));
    }
    for (int i = 0; i < d->count; i++) {
        switch (d->kind) {
        case ROBOT_DRIVE_NONE:
            return ORR_OK;
        case ROBOT_DRIVE_POLICY: // set above
            break;
        case ROBOT_DRIVE_SINE:
            d->values[i] = sine_at(d, i, (double)d->step * d->timestep);
            break;
        case ROBOT_DRIVE_RANDOM:
            d->values[i] = d->low[i] + (d->high[i] - d->low[i]) * (double)orr_rng_uniform(&d->rng);
            break;
        case ROBOT_DRIVE_FILE:
            if (d->step >= d->file.shape[0]) {
                return orr_fail(error, ORR_CODE_FILE_VALUE,
                                "--ctrl: %lld rows: expected one for each time step, %lld or more",
                                (long long)d->file.shape[0], (long long)d->step + 1);
            }
            d->values[i] = row_of(d)[i];
            break;
        }
    }
    for (int i = 0; i < d->other_count; i++) {
        const robot_drive_other *other = &d->others[i];
        if (other->count > 0) { // one that a viewer has removed is not set
            (void)orr_world_set_robot(world, 0, other->robot, ORR_ROBOT_CTRL, row_of(d) + other->first, NULL);
        }
    }
    return d->count && !d->robot_absent
               ? orr_world_set_robot(world, 0, d->robot, ORR_ROBOT_CTRL, d->values, error)
               : ORR_OK;
}

orr_result robot_drive_advance(robot_drive *d, orr_world *world, double seconds, orr_error *error)
{
    if (d->robot.slot == 0 && !d->bodies) {
        return ORR_OK;
    }
    // a step that lacks no more than rounding is due
    int64_t due = (int64_t)floor(seconds / d->timestep + 1e-9);
    for (; d->step < due; d->step++) {
        uint64_t start = orr_clock_nanoseconds();
        ORR_TRY(set_controls(d, world, error));
        orr_trace_host(d->trace, "input", start);
        start = orr_clock_nanoseconds();
        ORR_TRY(orr_world_advance(world, d->timestep, error));
        orr_trace_host(d->trace, "step", start);
    }
    return ORR_OK;
}
