#include "samples/orrery/sim_scene.h"

#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/orrery.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/npy.h"

#include <cjson/cJSON.h>
#include <stdio.h>

// What a layer has among the numbers of a copy: qpos and qvel, or positions and velocities of vertices.
typedef struct part {
    orr_layer layer;
    const char *name;
    bool soft;
    int qpos, qvel, ctrl; // of soft bodies: 3 for each vertex, twice, and 0
    int first;
} part;

typedef struct scene_run {
    const sim_scene_options *options;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    part *parts; // part_count
    int part_count;
    int numbers, controls; // of a copy
    npy_array control;     // steps x controls, or steps x worlds x controls; values NULL: none
    double *values;        // of all copies
    double seconds;        // of stepping alone
} scene_run;

static orr_result list_parts(scene_run *r, orr_error *error)
{
    const int count = orr_scene_layer_count(r->scene);
    ORR_ALLOC(r->parts, count, "layers of a simulation", error);
    for (int i = 0; i < count; i++) {
        orr_layer_info info;
        orr_soft_info soft;
        orr_robot_info robot;
        part p = {.layer = orr_scene_layer(r->scene, i), .first = r->numbers};
        ORR_TRY(orr_scene_layer_info(r->scene, p.layer, &info, error));
        p.name = info.name;
        if (orr_scene_soft_info(r->scene, p.layer, &soft, NULL) == ORR_OK) {
            p.soft = true;
            p.qpos = p.qvel = 3 * soft.vertex_count;
        } else if (orr_scene_robot_info(r->scene, p.layer, &robot, NULL) == ORR_OK && robot.qvel_count > 0) {
            p.qpos = robot.qpos_count;
            p.qvel = robot.qvel_count;
            p.ctrl = robot.ctrl_count;
        } else {
            continue; // nothing of it moves
        }
        r->numbers += p.qpos + p.qvel;
        r->controls += p.ctrl;
        r->parts[r->part_count++] = p;
    }
    return ORR_OK;
}

static orr_result read_control(scene_run *r, orr_error *error)
{
    const sim_scene_options *o = r->options;
    if (!o->control_file) {
        return ORR_OK;
    }
    ORR_TRY(npy_read(o->control_file, &r->control, error));
    const npy_array *c = &r->control;
    bool good = c->dimensions >= 2 && c->shape[0] >= o->steps && c->shape[c->dimensions - 1] == r->controls;
    return good && (c->dimensions == 2 || c->shape[1] == o->worlds)
               ? ORR_OK
               : orr_fail(
                     error, ORR_CODE_FILE_VALUE,
                     "%s: shape: expected (steps, nu) or (steps, worlds, nu) with %d steps, %d worlds, nu %d "
                     "of all robots together",
                     o->control_file, o->steps, o->worlds, r->controls);
}

static orr_result set_controls(scene_run *r, int step, orr_error *error)
{
    const bool each = r->control.dimensions == 3;
    for (int world = 0; world < r->options->worlds; world++) {
        const size_t row = each ? (size_t)step * (size_t)r->options->worlds + (size_t)world : (size_t)step;
        const double *values = r->control.values + row * (size_t)r->controls;
        for (int i = 0; i < r->part_count; i++) {
            if (r->parts[i].ctrl > 0) {
                ORR_TRY(
                    orr_world_set_robot(r->world, world, r->parts[i].layer, ORR_ROBOT_CTRL, values, error));
            }
            values += r->parts[i].ctrl;
        }
    }
    return ORR_OK;
}

static orr_result put_states(scene_run *r, orr_file_writer *writer, orr_error *error)
{
    for (int world = 0; world < r->options->worlds; world++) {
        for (int i = 0; i < r->part_count; i++) {
            const part *p = &r->parts[i];
            double *at = r->values + (size_t)world * (size_t)r->numbers + p->first;
            if (p->soft) {
                ORR_TRY(orr_world_get_soft(r->world, world, p->layer, at, at + p->qpos, error));
            } else {
                ORR_TRY(orr_world_get_robot(r->world, world, p->layer, ORR_ROBOT_QPOS, at, error));
                ORR_TRY(orr_world_get_robot(r->world, world, p->layer, ORR_ROBOT_QVEL, at + p->qpos, error));
            }
        }
    }
    orr_file_put(writer, r->values, (size_t)r->options->worlds * (size_t)r->numbers * sizeof *r->values);
    return ORR_OK;
}

static orr_result advance(scene_run *r, orr_file_writer *writer, orr_error *error)
{
    const sim_scene_options *o = r->options;
    for (int step = 0; step < o->steps; step++) {
        if (interrupt_requested()) {
            return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted after %d steps%s%s", step,
                            writer ? ": nothing was written to " : "", writer ? o->record_file : "");
        }
        if (r->control.values) {
            ORR_TRY(set_controls(r, step, error));
        }
        const uint64_t start = orr_clock_nanoseconds();
        ORR_TRY(orr_world_step(r->world, 1, error));
        r->seconds += (double)(orr_clock_nanoseconds() - start) * 1e-9;
        if (writer) {
            ORR_TRY(put_states(r, writer, error));
        }
    }
    return ORR_OK;
}

static orr_result run(scene_run *r, orr_error *error)
{
    const sim_scene_options *o = r->options;
    if (!o->record_file) {
        return advance(r, NULL, error);
    }
    const int64_t shape[3] = {o->steps + 1, o->worlds, r->numbers};
    orr_file_writer writer;
    ORR_ALLOC(r->values, (size_t)o->worlds * (size_t)r->numbers, "what is recorded of the worlds", error);
    ORR_TRY(orr_file_begin(&writer, o->record_file, error));
    npy_put_header(&writer, shape, 3);
    orr_result result = put_states(r, &writer, error);
    result = result == ORR_OK ? advance(r, &writer, error) : result;
    if (result != ORR_OK) {
        orr_file_abort(&writer);
        return result;
    }
    return orr_file_commit(&writer, error);
}

static orr_result prepare(scene_run *r, const char *path, orr_error *error)
{
    const sim_scene_options *o = r->options;
    common_options common = *o->common;
    if (common.device != ORR_DEVICE_CUDA) {
        common.device = ORR_DEVICE_CPU; // nothing is drawn: no search for a driver of Vulkan
    }
    ORR_TRY(command_engine(&common, &r->engine, error));
    ORR_TRY(orr_scene_load(r->engine, path, &r->scene, error));
    ORR_TRY(list_parts(r, error));
    if (r->part_count == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected a robot, or a layer with physics that moves",
                        path);
    }
    ORR_TRY(read_control(r, error));
    const orr_world_desc desc = {.count = o->worlds, .precision = o->precision};
    ORR_TRY(orr_world_create_with(r->scene, &desc, &r->world, error));
    if (o->common->device == ORR_DEVICE_CUDA) {
        ORR_TRY(orr_world_set_device(r->world, ORR_DEVICE_CUDA, error));
    }
    return orr_world_set_autoreset(r->world, o->autoreset, error);
}

static int count_diverged(const scene_run *r)
{
    int count = 0;
    for (int world = 0; world < r->options->worlds; world++) {
        bool any = false;
        for (int i = 0; i < r->part_count; i++) {
            bool diverged = false;
            (void)orr_world_robot_diverged(r->world, world, r->parts[i].layer, &diverged, NULL);
            any |= diverged;
        }
        count += any;
    }
    return count;
}

static int report(const scene_run *r)
{
    const sim_scene_options *o = r->options;
    const double rate = r->seconds > 0.0 ? (double)o->steps * o->worlds / r->seconds : 0.0;
    const int diverged = count_diverged(r);
    if (diverged > 0) {
        fprintf(stderr, "orrery: warning: %d of %d worlds diverged\n", diverged, o->worlds);
    }
    if (!o->common->json) {
        printf("%d worlds, %d steps: %.4g steps/s; numbers of a world:\n", o->worlds, o->steps, rate);
        for (int i = 0; i < r->part_count; i++) {
            const part *p = &r->parts[i];
            printf("  %6d  %s: %s %d, %s %d\n", p->first, p->name, p->soft ? "positions" : "qpos", p->qpos,
                   p->soft ? "velocities" : "qvel", p->qvel);
        }
        return 0;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "worlds", o->worlds);
    cJSON_AddNumberToObject(json, "steps", o->steps);
    cJSON_AddNumberToObject(json, "seconds", r->seconds);
    cJSON_AddNumberToObject(json, "steps_per_second", rate);
    cJSON_AddNumberToObject(json, "diverged", diverged);
    cJSON_AddNumberToObject(json, "numbers", r->numbers);
    cJSON *layers = cJSON_AddArrayToObject(json, "layers");
    for (int i = 0; i < r->part_count; i++) {
        const part *p = &r->parts[i];
        cJSON *layer = cJSON_CreateObject();
        cJSON_AddStringToObject(layer, "name", p->name);
        cJSON_AddNumberToObject(layer, "first", p->first);
        cJSON_AddNumberToObject(layer, p->soft ? "positions" : "qpos", p->qpos);
        cJSON_AddNumberToObject(layer, p->soft ? "velocities" : "qvel", p->qvel);
        cJSON_AddNumberToObject(layer, "ctrl", p->ctrl);
        cJSON_AddItemToArray(layers, layer);
    }
    return command_print_json(json);
}

int sim_scene(const char *path, const sim_scene_options *options)
{
    scene_run r = {.options = options};
    orr_error error = {0};
    orr_result result = prepare(&r, path, &error);
    if (result == ORR_OK) {
        result = run(&r, &error);
    }
    const int exit_code = result == ORR_OK ? report(&r) : command_fail(result, &error);
    orr_world_destroy(r.world);
    orr_scene_destroy(r.scene);
    orr_engine_destroy(r.engine);
    orr_free(r.parts);
    orr_free(r.control.values);
    orr_free(r.values);
    return exit_code;
}
