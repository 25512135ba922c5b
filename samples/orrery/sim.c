#define _GNU_SOURCE
// orrery sim: physics alone, many worlds at once; of a scene file: sim_scene.c.
#include "engine/orrery.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/npy.h"
#include "samples/orrery/sim_scene.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct sim_options {
    common_options common;
    int steps, worlds;
    const char *control_file, *start_file, *record_file, *quantities, *precision;
    bool keep_partial, autoreset;
} sim_options;

typedef struct simulation {
    const sim_options *options;
    orr_engine *engine;
    orr_device_kind device; // of the physics: CPU or CUDA
    orr_scene *scene;
    orr_layer robot;
    orr_robot_info info;
    orr_world *world;
    npy_array control; // steps x nu, or steps x worlds x nu; values NULL: none
    double *rows;      // worlds x what is set of each
    orr_robot_quantity quantities[ORR_ROBOT_QUANTITIES]; // to record
    int quantity_count;
    int64_t size;                // numbers of a world, of all quantities
    double *numbers;             // of all worlds
    int recorded;                // steps
    double seconds, cpu_seconds; // of stepping and setting controls; of all threads
} simulation;

static orr_result take(double **array, size_t count, const char *what, orr_error *error)
{
    *array = malloc((count + 1) * sizeof **array);
    return *array ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
}

static orr_result read_control(simulation *s, orr_error *error)
{
    const sim_options *o = s->options;
    if (!o->control_file) {
        return ORR_OK;
    }
    ORR_TRY(npy_read(o->control_file, &s->control, error));
    const int64_t *shape = s->control.shape;
    int dimensions = s->control.dimensions, last = dimensions - 1;
    bool good = dimensions >= 2 && shape[0] >= o->steps && shape[last] == s->info.ctrl_count;
    if (!good || (dimensions == 3 && shape[1] != o->worlds)) {
        return orr_fail(
            error, ORR_CODE_FILE_VALUE,
            "%s: shape: expected (steps, nu) or (steps, worlds, nu) with %d steps, %d worlds, nu %d",
            o->control_file, o->steps, o->worlds, s->info.ctrl_count);
    }
    return take(&s->rows, (size_t)o->worlds * (size_t)s->info.ctrl_count, "controls", error);
}

// Where worlds begin instead of qpos0 at rest: qpos, qvel, act, and where the solver starts if the rows say
// so; of one world for all, or of each.
static orr_result put_start(simulation *s, const npy_array *start, double *rows, orr_error *error)
{
    const struct {
        orr_robot_quantity quantity;
        int count;
    } parts[] = {{ORR_ROBOT_QPOS, s->info.qpos_count},
                 {ORR_ROBOT_QVEL, s->info.qvel_count},
                 {ORR_ROBOT_ACT, s->info.act_count},
                 {ORR_ROBOT_QACC_WARMSTART, s->info.qvel_count}};
    const size_t size = (size_t)start->shape[start->dimensions - 1];
    const double *from = start->values, *end = from + size;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && from < end; i++) {
        const size_t count = (size_t)parts[i].count;
        for (size_t world = 0; world < (size_t)s->options->worlds; world++) {
            memcpy(rows + world * count, from + (start->dimensions == 2 ? world * size : 0),
                   count * sizeof *rows);
        }
        ORR_TRY(
            orr_world_set_robots(s->world, s->robot, parts[i].quantity, NULL, ORR_NUMBER_F64, rows, error));
        from += count;
    }
    return ORR_OK;
}

static orr_result set_start(simulation *s, orr_error *error)
{
    const sim_options *o = s->options;
    if (!o->start_file) {
        return ORR_OK;
    }
    npy_array start;
    ORR_TRY(npy_read(o->start_file, &start, error));
    int size = s->info.qpos_count + s->info.qvel_count + s->info.act_count;
    const int columns = start.dimensions > 2 ? 0 : (int)start.shape[start.dimensions - 1];
    bool each = start.dimensions == 2;
    bool good = columns == size || columns == size + s->info.qvel_count;
    double *rows = NULL;
    orr_result result =
        !good || (each && start.shape[0] != o->worlds)
            ? orr_fail(error, ORR_CODE_FILE_VALUE,
                       "%s: shape: expected (nq + nv + na) or (worlds, nq + nv + na) with %d worlds, nq + nv "
                       "+ na %d; %d with qacc_warmstart",
                       o->start_file, o->worlds, size, size + s->info.qvel_count)
            : take(&rows, (size_t)o->worlds * (size_t)size, "initial states", error);
    result = result == ORR_OK ? put_start(s, &start, rows, error) : result;
    free(rows);
    npy_free(&start);
    return result;
}

static orr_result set_control(simulation *s, int step, orr_error *error)
{
    const size_t nu = (size_t)s->info.ctrl_count, worlds = (size_t)s->options->worlds;
    const bool each = s->control.dimensions == 3;
    const double *values = s->control.values + (size_t)step * (each ? worlds : 1) * nu;
    for (size_t world = 0; world < worlds && !each; world++) {
        memcpy(s->rows + world * nu, values, nu * sizeof *values);
    }
    return orr_world_set_robots(s->world, s->robot, ORR_ROBOT_CTRL, NULL, ORR_NUMBER_F64,
                                each ? values : s->rows, error);
}

static orr_result add_quantity(simulation *s, const char *name, size_t length, orr_error *error)
{
    for (int i = 0; i < ORR_ROBOT_QUANTITIES; i++) {
        const char *known = orr_robot_quantity_name((orr_robot_quantity)i);
        bool again = false;
        for (int k = 0; k < s->quantity_count; k++) {
            again |= (int)s->quantities[k] == i;
        }
        if (strlen(known) == length && memcmp(known, name, length) == 0 && !again) {
            int numbers = 0;
            s->quantities[s->quantity_count++] = (orr_robot_quantity)i;
            ORR_TRY(orr_world_robot_numbers(s->world, s->robot, (orr_robot_quantity)i, &numbers, error));
            s->size += numbers;
            return ORR_OK;
        }
    }
    return orr_fail(
        error, ORR_CODE_ARGUMENT,
        "--quantities: '%.*s': expected names of quantities such as qpos, qvel, sensordata, cfrc_ext",
        (int)length, name);
}

// The quantities to record, and memory for them.
static orr_result prepare_record(simulation *s, orr_error *error)
{
    const char *next = s->options->quantities ? s->options->quantities : "qpos,qvel";
    for (size_t length; *next; next += length + (next[length] == ',')) {
        length = strcspn(next, ",");
        ORR_TRY(add_quantity(s, next, length, error));
    }
    return take(&s->numbers, (size_t)s->size * (size_t)s->options->worlds, "what is recorded of the worlds",
                error);
}

static orr_result put_states(simulation *s, orr_file_writer *writer, orr_error *error)
{
    if (s->quantity_count > 0) {
        ORR_TRY(orr_world_read_robots(s->world, s->robot, s->quantities, s->quantity_count, NULL,
                                      ORR_NUMBER_F64, s->numbers, error));
    }
    orr_file_put(writer, s->numbers, (size_t)s->size * (size_t)s->options->worlds * sizeof(double));
    return ORR_OK;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static orr_result step_worlds(simulation *s, int step, int count, orr_error *error)
{
    const int at_once = s->control.values ? 1 : count;
    for (int done = 0; done < count; done += at_once) {
        if (s->control.values) {
            ORR_TRY(set_control(s, step + done, error));
        }
        ORR_TRY(orr_world_step(s->world, at_once, error));
    }
    return orr_world_wait(s->world, error); // a device has done it then
}

static orr_result advance(simulation *s, orr_file_writer *writer, orr_error *error)
{
    // Between checks for Ctrl-C. To ask for the CPU time takes a tenth of a step of a small robot.
    const int chunk = writer ? 1 : 16;
    for (int step = 0; step < s->options->steps; step += chunk) {
        if (interrupt_requested()) {
            return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted after %d steps%s%s", step,
                            writer ? ": nothing was written to " : "", writer ? s->options->record_file : "");
        }
        int left = s->options->steps - step;
        double start = now();
        clock_t cpu_start = clock();
        ORR_TRY(step_worlds(s, step, left < chunk ? left : chunk, error));
        s->cpu_seconds += (double)(clock() - cpu_start) / CLOCKS_PER_SEC;
        s->seconds += now() - start;
        if (writer) {
            ORR_TRY(put_states(s, writer, error));
            s->recorded = step + 1;
        }
    }
    return ORR_OK;
}

static void put_header(const simulation *s, int steps, orr_file_writer *writer)
{
    const int64_t shape[3] = {steps + 1, s->options->worlds, s->size};
    npy_put_header(writer, shape, 3);
}

// The states until Ctrl-C become a whole file of fewer rows. Its header is as long: a shorter number of steps
// leaves more padding.
static orr_result keep_recorded(const simulation *s, orr_file_writer *writer, orr_error *error)
{
    if (fseek(writer->stream, 0, SEEK_SET) != 0) {
        writer->failure = errno;
    }
    put_header(s, s->recorded, writer);
    ORR_TRY(orr_file_commit(writer, error));
    return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted after %d steps: %s holds them", s->recorded,
                    s->options->record_file);
}

static orr_result run(simulation *s, orr_error *error)
{
    const sim_options *o = s->options;
    if (!o->record_file) {
        return advance(s, NULL, error);
    }
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, o->record_file, error));
    put_header(s, o->steps, &writer);
    orr_result result = put_states(s, &writer, error);
    result = result == ORR_OK ? advance(s, &writer, error) : result;
    if (result == ORR_ERROR_INTERRUPTED && o->keep_partial) {
        return keep_recorded(s, &writer, error);
    }
    if (result != ORR_OK) {
        orr_file_abort(&writer);
        return result;
    }
    return orr_file_commit(&writer, error);
}

static orr_result load_robot(simulation *s, const char *path, orr_error *error)
{
    if (!orr_path_has_ending(path, ".xml") && !orr_path_has_ending(path, ".urdf")) {
        return orr_fail(error, ORR_CODE_FILE_TYPE,
                        "%s: expected a robot (.xml MJCF, .urdf) or a scene file (.json)", path);
    }
    ORR_TRY(command_physics_engine(&s->options->common, &s->engine, &s->device, error));
    ORR_TRY(orr_scene_load(s->engine, path, &s->scene, error));
    s->robot = orr_scene_layer(s->scene, 0);
    return orr_scene_robot_info(s->scene, s->robot, &s->info, error);
}

static orr_precision chosen_precision(const char *name)
{
    return strcmp(name, "f64") == 0   ? ORR_PRECISION_F64
           : strcmp(name, "f32") == 0 ? ORR_PRECISION_F32
                                      : ORR_PRECISION_AUTO;
}

static orr_result prepare(simulation *s, orr_error *error)
{
    const sim_options *o = s->options;
    ORR_TRY(read_control(s, error));
    const orr_world_desc desc = {
        .count = o->worlds, .device = s->device, .precision = chosen_precision(o->precision)};
    ORR_TRY(orr_world_create_with(s->scene, &desc, &s->world, error));
    ORR_TRY(orr_world_set_autoreset(s->world, o->autoreset, error));
    ORR_TRY(set_start(s, error));
    return o->record_file ? prepare_record(s, error) : ORR_OK;
}

static void destroy(simulation *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
    npy_free(&s->control);
    free(s->rows);
    free(s->numbers);
}

static int report(const simulation *s)
{
    const sim_options *o = s->options;
    orr_error error = {0};
    orr_simulation_info info;
    orr_result result = orr_world_simulation(s->world, s->robot, &info, &error);
    if (result != ORR_OK) {
        return command_fail(result, &error);
    }
    double rate = s->seconds > 0.0 ? (double)o->steps * o->worlds / s->seconds : 0.0;
    int threads = orr_engine_threads(s->engine);
    const char *precision = info.double_precision ? "f64" : "f32";
    if (info.double_precision && strcmp(o->precision, "auto") == 0) {
        fprintf(stderr, "orrery: note: the inertia matrix is too ill-conditioned for f32: computed in f64\n");
    }
    if (info.diverged_worlds > 0) {
        fprintf(stderr, "orrery: warning: %d of %d worlds diverged\n", info.diverged_worlds, o->worlds);
    }
    if (info.restarts > 0) {
        fprintf(stderr, "orrery: warning: %lld times a world diverged and started again\n",
                (long long)info.restarts);
    }
    if (info.inaccurate_worlds > 0) {
        fprintf(
            stderr,
            "orrery: warning: %lld steps of %d of %d worlds lost accuracy: the solver did not converge, or "
            "%s is not enough for the inertia matrix\n",
            (long long)info.inaccurate_steps, info.inaccurate_worlds, o->worlds, precision);
    }
    if (s->info.unused_count > 0) {
        fprintf(stderr, "orrery: warning: %d parts of the model are not used, the first: %s\n",
                s->info.unused_count, s->info.unused_first);
    }
    if (info.contacts_needed > info.contact_capacity) {
        fprintf(stderr, "orrery: warning: contacts were left out: expected at most %d, a step needed %d\n",
                info.contact_capacity, info.contacts_needed);
    }
    if (!o->common.json) {
        char machine[288];
        snprintf(machine, sizeof machine, "with %d threads", threads);
        if (info.device == ORR_DEVICE_CUDA) {
            snprintf(machine, sizeof machine, "on %s", info.device_name);
        }
        printf("%d worlds, %d steps of %g s in %s: %.4g steps/s %s; %lld bytes per world\n", o->worlds,
               o->steps, s->info.timestep, precision, rate, machine, (long long)info.world_bytes);
        return 0;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "worlds", o->worlds);
    cJSON_AddNumberToObject(json, "steps", o->steps);
    cJSON_AddNumberToObject(json, "timestep", s->info.timestep);
    cJSON_AddStringToObject(json, "precision", precision);
    cJSON_AddNumberToObject(json, "seconds", s->seconds);
    cJSON_AddNumberToObject(json, "cpu_seconds", s->cpu_seconds);
    cJSON_AddNumberToObject(json, "steps_per_second", rate);
    cJSON_AddStringToObject(json, "device", info.device_name);
    cJSON_AddNumberToObject(json, "threads", threads);
    cJSON_AddNumberToObject(json, "world_bytes", (double)info.world_bytes);
    cJSON_AddNumberToObject(json, "diverged", info.diverged_worlds);
    cJSON_AddNumberToObject(json, "restarts", (double)info.restarts);
    cJSON_AddNumberToObject(json, "inaccurate_worlds", info.inaccurate_worlds);
    cJSON_AddNumberToObject(json, "inaccurate_steps", (double)info.inaccurate_steps);
    return command_print_json(json);
}

int command_sim(int argc, char **argv)
{
    sim_options o = {.worlds = 1, .precision = "auto"};
    int count = 0, exit_code = 0;
    const option options[] = {
        {"--steps", 0, OPTION_INT, &o.steps, "N", "number of time steps of each world", 1, 1e9},
        {"--worlds", 0, OPTION_INT, &o.worlds, "N", "number of worlds (default 1)", 1, 1e7},
        {"--ctrl", 0, OPTION_TEXT, &o.control_file, "FILE.npy",
         "controls: an array of steps x nu, or steps x worlds x nu (default: 0)", 0, 0},
        {"--start", 0, OPTION_TEXT, &o.start_file, "FILE.npy",
         "initial qpos, qvel, act and, to go on to the same bits, qacc_warmstart: one row, or one row per "
         "world (default: at rest at qpos0)",
         0, 0},
        {"--record", 0, OPTION_TEXT, &o.record_file, "FILE.npy",
         "file to write: float64, (steps + 1) x worlds x numbers of all quantities", 0, 0},
        {"--quantities", 0, OPTION_TEXT, &o.quantities, "NAME,...",
         "quantities to record, such as sensordata, xpos, cvel, cfrc_ext (default qpos,qvel)", 0, 0},
        {"--keep-partial", 0, OPTION_FLAG, &o.keep_partial, NULL,
         "on Ctrl-C, keep the steps so far in the file of --record", 0, 0},
        {"--autoreset", 0, OPTION_FLAG, &o.autoreset, NULL,
         "restart a world that diverges, unless the model's flag autoreset disables it", 0, 0},
        {"--precision", 0, OPTION_TEXT, &o.precision, "auto|f32|f64",
         "floating-point precision (default auto: f32, or f64 where a long chain needs it)", 0, 0},
    };
    const command_usage usage = {
        .name = "sim",
        .operands = "ROBOT|SCENE --steps N",
        .purpose = "Simulates a robot (.xml .urdf), or everything that moves in a scene file (.json), in any "
                   "number of\n"
                   "worlds. A robot with soft bodies is simulated as a scene.",
        .notes = "--device cuda simulates on an NVIDIA GPU, with 1 to 8 threads per world.\n"
                 "For a scene, --record holds qpos and qvel of each robot and body, and positions and "
                 "velocities of\n"
                 "the vertices of each soft body, layer by layer; the report says where each of them begins. "
                 "--ctrl\n"
                 "then holds the controls of all robots, one after another.",
        .operand_min = 1,
        .operand_max = 1,
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .common = &o.common,
        .common_used = COMMON_DEVICE | COMMON_THREADS | COMMON_JSON};
    if (!options_read(&usage, argc, argv, &count, &exit_code)) {
        return exit_code;
    }
    orr_error error = {0};
    if (o.steps == 0) {
        return command_fail(orr_fail(&error, ORR_CODE_ARGUMENT, "sim: expected --steps N"), &error);
    }
    if (strcmp(o.precision, "auto") != 0 && strcmp(o.precision, "f32") != 0 &&
        strcmp(o.precision, "f64") != 0) {
        return command_fail(
            orr_fail(&error, ORR_CODE_ARGUMENT, "--precision %s: expected auto, f32 or f64", o.precision),
            &error);
    }
    if ((o.quantities || o.keep_partial) && !o.record_file) {
        return command_fail(orr_fail(&error, ORR_CODE_ARGUMENT, "%s: expected --record FILE.npy",
                                     o.quantities ? "--quantities" : "--keep-partial"),
                            &error);
    }
    interrupt_begin();
    simulation s = {.options = &o};
    const bool is_file = orr_path_has_ending(argv[0], ".json");
    orr_result result = o.record_file ? orr_file_try(o.record_file, &error) : ORR_OK;
    if (result == ORR_OK && !is_file) {
        result = load_robot(&s, argv[0], &error);
    }
    if (result != ORR_OK) {
        destroy(&s);
        return command_fail(result, &error);
    }
    if (is_file || s.info.soft_count > 0) {
        destroy(&s);
        const char *foreign = o.start_file     ? "--start"
                              : o.quantities   ? "--quantities"
                              : o.keep_partial ? "--keep-partial"
                                               : NULL;
        if (foreign) {
            return command_fail(orr_fail(&error, ORR_CODE_ARGUMENT,
                                         "%s: expected a robot without soft bodies, not %s", foreign,
                                         argv[0]),
                                &error);
        }
        const sim_scene_options scene = {.common = &o.common,
                                         .steps = o.steps,
                                         .worlds = o.worlds,
                                         .precision = chosen_precision(o.precision),
                                         .control_file = o.control_file,
                                         .record_file = o.record_file,
                                         .autoreset = o.autoreset};
        return sim_scene(argv[0], &scene);
    }
    result = prepare(&s, &error);
    if (result == ORR_OK) {
        result = run(&s, &error);
    }
    exit_code = result == ORR_OK ? report(&s) : command_fail(result, &error);
    destroy(&s);
    return exit_code;
}
