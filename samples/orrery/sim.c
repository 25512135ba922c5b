// orrery sim: physics alone, many worlds at once; of a scene file: sim_scene.c.
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/npy.h"
#include "samples/orrery/sim_scene.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
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
    orr_jobs *jobs;
    orr_cuda *cuda; // NULL: the CPU
    orr_model *model;
    orr_physics *physics;
    npy_array control; // steps x nu, or steps x worlds x nu; values NULL: no controls
    orr_physics_quantity quantities[ORR_PHYSICS_QUANTITY_COUNT]; // to record
    int quantity_count;
    int64_t size;                // numbers of a world, of all quantities
    double *numbers;             // of all worlds
    int recorded;                // steps
    double seconds, cpu_seconds; // of stepping alone; of all threads
} simulation;

static orr_result read_control(simulation *s, orr_error *error)
{
    const sim_options *o = s->options;
    if (!o->control_file) {
        return ORR_OK;
    }
    ORR_TRY(npy_read(o->control_file, &s->control, error));
    const int64_t *shape = s->control.shape;
    int dimensions = s->control.dimensions, last = dimensions - 1;
    bool good = dimensions >= 2 && shape[0] >= o->steps && shape[last] == s->model->nu;
    if (!good || (dimensions == 3 && shape[1] != o->worlds)) {
        return orr_fail(
            error, ORR_CODE_FILE_VALUE,
            "%s: shape: expected (steps, nu) or (steps, worlds, nu) with %d steps, %d worlds, nu %d",
            o->control_file, o->steps, o->worlds, s->model->nu);
    }
    return ORR_OK;
}

// Where worlds begin instead of qpos0 at rest: qpos, qvel, act; of one world for all, or of each.
static orr_result set_start(simulation *s, orr_error *error)
{
    static const orr_physics_quantity parts[] = {ORR_PHYSICS_QPOS, ORR_PHYSICS_QVEL, ORR_PHYSICS_ACT};
    const sim_options *o = s->options;
    if (!o->start_file) {
        return ORR_OK;
    }
    npy_array start;
    ORR_TRY(npy_read(o->start_file, &start, error));
    int size = s->model->nq + s->model->nv + s->model->na;
    bool each = start.dimensions == 2;
    if (start.dimensions > 2 || start.shape[start.dimensions - 1] != size ||
        (each && start.shape[0] != o->worlds)) {
        orr_free(start.values);
        return orr_fail(
            error, ORR_CODE_FILE_VALUE,
            "%s: shape: expected (nq + nv + na) or (worlds, nq + nv + na) with %d worlds, nq + nv + na %d",
            o->start_file, o->worlds, size);
    }
    for (int world = 0; world < o->worlds; world++) {
        const double *values = start.values + (each ? (size_t)world * (size_t)size : 0);
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            orr_physics_set(s->physics, parts[i], world, values);
            values += orr_physics_size(s->physics, parts[i]);
        }
    }
    orr_free(start.values);
    return ORR_OK;
}

static void set_control(simulation *s, int step)
{
    size_t nu = (size_t)s->model->nu;
    size_t per_step = s->control.dimensions == 3 ? (size_t)s->options->worlds : 1;
    for (int world = 0; world < s->options->worlds; world++) {
        size_t row = (size_t)step * per_step + (per_step > 1 ? (size_t)world : 0);
        orr_physics_set(s->physics, ORR_PHYSICS_CTRL, world, s->control.values + row * nu);
    }
}

static orr_result add_quantity(simulation *s, const char *name, size_t length, orr_error *error)
{
    for (int i = 0; i < ORR_PHYSICS_QUANTITY_COUNT; i++) {
        const char *known = orr_physics_quantity_name((orr_physics_quantity)i);
        if (strlen(known) == length && memcmp(known, name, length) == 0 &&
            s->quantity_count < ORR_PHYSICS_QUANTITY_COUNT) {
            s->quantities[s->quantity_count++] = (orr_physics_quantity)i;
            s->size += orr_physics_size(s->physics, (orr_physics_quantity)i);
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
    ORR_ALLOC(s->numbers, s->size * s->options->worlds, "what is recorded of the worlds", error);
    return ORR_OK;
}

static void put_states(simulation *s, orr_file_writer *writer)
{
    orr_physics_read_all(s->physics, s->quantities, s->quantity_count, s->numbers);
    orr_file_put(writer, s->numbers, (size_t)s->size * (size_t)s->options->worlds * sizeof(double));
}

static orr_result advance(simulation *s, orr_file_writer *writer, orr_error *error)
{
    bool one_by_one = s->control.values || writer;
    int chunk = one_by_one ? 1 : 16; // between checks for Ctrl-C
    for (int step = 0; step < s->options->steps; step += chunk) {
        if (interrupt_requested()) {
            return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted after %d steps%s%s", step,
                            writer ? ": nothing was written to " : "", writer ? s->options->record_file : "");
        }
        if (s->control.values) {
            set_control(s, step);
        }
        int left = s->options->steps - step;
        uint64_t start = orr_clock_nanoseconds();
        clock_t cpu_start = clock();
        orr_physics_step(s->physics, left < chunk ? left : chunk);
        ORR_TRY(orr_physics_check(s->physics, error)); // a device has done it then
        s->cpu_seconds += (double)(clock() - cpu_start) / CLOCKS_PER_SEC;
        s->seconds += (double)(orr_clock_nanoseconds() - start) * 1e-9;
        if (writer) {
            put_states(s, writer);
            ORR_TRY(orr_physics_check(s->physics, error));
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
    put_states(s, &writer);
    orr_result result = advance(s, &writer, error);
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
    return orr_model_load(path, &s->model, error);
}

static orr_result prepare(simulation *s, orr_error *error)
{
    const sim_options *o = s->options;
    ORR_TRY(read_control(s, error));
    ORR_TRY(orr_jobs_create(o->common.threads, NULL, NULL, &s->jobs, error));
    ORR_TRY(command_cuda(&o->common, &s->cuda, error));
    const orr_physics_desc desc = {.worlds = o->worlds,
                                   .double_precision = strcmp(o->precision, "f64") == 0,
                                   .single_precision = strcmp(o->precision, "f32") == 0,
                                   .cuda = s->cuda};
    ORR_TRY(orr_physics_create(&desc, s->model, s->jobs, &s->physics, error));
    orr_physics_set_autoreset(s->physics, o->autoreset);
    ORR_TRY(set_start(s, error));
    return o->record_file ? prepare_record(s, error) : ORR_OK;
}

static int count_diverged(const simulation *s)
{
    int count = 0;
    for (int world = 0; world < s->options->worlds; world++) {
        count += orr_physics_diverged(s->physics, world);
    }
    return count;
}

static int count_restarts(const simulation *s)
{
    int count = 0;
    for (int world = 0; world < s->options->worlds; world++) {
        count += orr_physics_restarts(s->physics, world);
    }
    return count;
}

static int report(const simulation *s)
{
    const sim_options *o = s->options;
    double rate = s->seconds > 0.0 ? (double)o->steps * o->worlds / s->seconds : 0.0;
    int diverged = count_diverged(s), restarts = count_restarts(s), threads = orr_jobs_workers(s->jobs);
    size_t bytes = orr_physics_world_bytes(s->physics);
    const char *precision = orr_physics_is_double(s->physics) ? "f64" : "f32";
    if (orr_physics_is_double(s->physics) && strcmp(o->precision, "auto") == 0) {
        fprintf(stderr, "orrery: note: the inertia matrix is too ill-conditioned for f32: computed in f64\n");
    }
    if (diverged > 0) {
        fprintf(stderr, "orrery: warning: %d of %d worlds diverged\n", diverged, o->worlds);
    }
    if (restarts > 0) {
        fprintf(stderr, "orrery: warning: %d times a world diverged and started again\n", restarts);
    }
    orr_physics_accuracy accuracy = orr_physics_get_accuracy(s->physics);
    if (accuracy.worlds > 0) {
        fprintf(
            stderr,
            "orrery: warning: %lld steps of %d of %d worlds lost accuracy: the solver did not converge, or "
            "%s is not enough for the inertia matrix\n",
            (long long)accuracy.steps, accuracy.worlds, o->worlds, precision);
    }
    if (s->model->unused.count > 0) {
        fprintf(stderr, "orrery: warning: %d parts of the model are not used, the first: %s\n",
                s->model->unused.count, s->model->unused.first);
    }
    int needed = orr_physics_contacts_needed(s->physics), capacity = orr_physics_contact_capacity(s->physics);
    if (needed > capacity) {
        fprintf(stderr, "orrery: warning: contacts were left out: expected at most %d, a step needed %d\n",
                capacity, needed);
    }
    if (!o->common.json) {
        char machine[288];
        snprintf(machine, sizeof machine, "with %d threads", threads);
        if (s->cuda) {
            snprintf(machine, sizeof machine, "on %s", orr_cuda_describe(s->cuda)->name);
        }
        printf("%d worlds, %d steps of %g s in %s: %.4g steps/s %s; %zu bytes per world\n", o->worlds,
               o->steps, s->model->opt.timestep, precision, rate, machine, bytes);
        return 0;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "worlds", o->worlds);
    cJSON_AddNumberToObject(json, "steps", o->steps);
    cJSON_AddNumberToObject(json, "timestep", s->model->opt.timestep);
    cJSON_AddStringToObject(json, "precision", precision);
    cJSON_AddNumberToObject(json, "seconds", s->seconds);
    cJSON_AddNumberToObject(json, "cpu_seconds", s->cpu_seconds);
    cJSON_AddNumberToObject(json, "steps_per_second", rate);
    cJSON_AddStringToObject(json, "device", s->cuda ? orr_cuda_describe(s->cuda)->name : "cpu");
    cJSON_AddNumberToObject(json, "threads", threads);
    cJSON_AddNumberToObject(json, "world_bytes", (double)bytes);
    cJSON_AddNumberToObject(json, "diverged", diverged);
    cJSON_AddNumberToObject(json, "restarts", restarts);
    cJSON_AddNumberToObject(json, "inaccurate_worlds", accuracy.worlds);
    cJSON_AddNumberToObject(json, "inaccurate_steps", (double)accuracy.steps);
    return command_print_json(json);
}

int command_sim(int argc, char **argv)
{
    sim_options o = {.worlds = 1, .precision = "auto"};
    int count = 0, exit_code = 0;
    const option options[] = {
        {"--steps", 0, OPTION_INT, &o.steps, "N", "time steps of each world", 1, 1e9},
        {"--worlds", 0, OPTION_INT, &o.worlds, "N", "number of worlds (default 1)", 1, 1e7},
        {"--ctrl", 0, OPTION_TEXT, &o.control_file, "FILE.npy",
         "controls: steps x nu, or steps x worlds x nu", 0, 0},
        {"--start", 0, OPTION_TEXT, &o.start_file, "FILE.npy",
         "initial qpos, qvel and act: one row, or one for each world (default: at rest at qpos0)", 0, 0},
        {"--record", 0, OPTION_TEXT, &o.record_file, "FILE.npy",
         "the file to record: float64, (steps + 1) x worlds x numbers of the quantities", 0, 0},
        {"--quantities", 0, OPTION_TEXT, &o.quantities, "NAME,...",
         "what to record: sensordata, xpos, cvel, cfrc_ext ... (default qpos,qvel)", 0, 0},
        {"--keep-partial", 0, OPTION_FLAG, &o.keep_partial, NULL,
         "on Ctrl-C, leave the steps so far in the file of --record", 0, 0},
        {"--autoreset", 0, OPTION_FLAG, &o.autoreset, NULL,
         "a world that diverges starts again, unless the model's flag autoreset disables it", 0, 0},
        {"--precision", 0, OPTION_TEXT, &o.precision, "auto|f32|f64",
         "precision of the arithmetic (default auto: f32, or f64 where a long chain needs it)", 0, 0},
    };
    const command_usage usage = {
        .name = "sim",
        .operands = "ROBOT|SCENE --steps N",
        .purpose =
            "Simulates a robot (.xml .urdf), or all that moves in a scene file (.json), in any number of\n"
            "worlds. A robot with soft bodies is simulated as a scene.",
        .notes = "--device cuda simulates on an NVIDIA GPU, with 1 to 8 threads for each world.\n"
                 "Of a scene, --record holds qpos and qvel of each robot and body, positions and velocities\n"
                 "of the vertices of each soft body, layer by layer; the report says where each begins, and\n"
                 "--ctrl holds the controls of all robots, one after another.",
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
        return command_fail(result, &error);
    }
    if (is_file || s.model->nflex > 0) {
        orr_model_destroy(s.model);
        const char *foreign = o.start_file                       ? "--start"
                              : o.quantities                     ? "--quantities"
                              : o.keep_partial                   ? "--keep-partial"
                              : strcmp(o.precision, "auto") != 0 ? "--precision"
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
    orr_physics_destroy(s.physics);
    orr_cuda_destroy(s.cuda);
    orr_model_destroy(s.model);
    if (s.jobs) {
        orr_jobs_destroy(s.jobs);
    }
    orr_free(s.control.values);
    orr_free(s.numbers);
    return exit_code;
}
