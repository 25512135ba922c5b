// Tests of orrery sim as a user meets it: a robot in, motion out as .npy, exit codes and lines.
#define _GNU_SOURCE
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/support/run_program.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A weight that falls, and is pushed along x: both motions are known to the last bit but rounding.
static const char weight[] = "<mujoco><option timestep='0.01' gravity='0 0 -10'/><worldbody><body>"
                             "<joint name='x' type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
                             "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/></body></worldbody>"
                             "<actuator><motor joint='x'/></actuator></mujoco>";
static const double timestep = 0.01, gravity = -10.0, mass = 2.0;

static char robot[256], record[256], control[256];

#define sim(...) orrery("sim", __VA_ARGS__)

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("expected %.17g, got %.17g", expected, value);
    }
}

// A recording, by the format's description and not by our writer.
static double *read_record(orr_bytes *bytes, int steps, int worlds, int numbers)
{
    char shape[96];
    assert_ok(orr_file_read(record, bytes, &error));
    assert_true(bytes->size > 128 && memcmp(bytes->data, "\x93NUMPY\x01\x00", 8) == 0);
    size_t length = (size_t)bytes->data[8] | (size_t)bytes->data[9] << 8, start = 10 + length;
    size_t count = (size_t)(steps + 1) * (size_t)worlds * (size_t)numbers;
    assert_int_equal(start % 64, 0);
    assert_int_equal(bytes->data[start - 1], '\n');
    assert_int_equal(bytes->size - start, count * sizeof(double));
    bytes->data[start - 1] = 0;
    const char *header = (const char *)bytes->data + 10;
    snprintf(shape, sizeof shape, "'shape': (%d, %d, %d,)", steps + 1, worlds, numbers);
    assert_non_null(strstr(header, "'descr': '<f8'"));
    assert_non_null(strstr(header, "'fortran_order': False"));
    assert_non_null(strstr(header, shape));
    return (double *)(void *)(bytes->data + start);
}

static void write_control(const char *kind, const char *shape, const void *values, size_t size)
{
    char header[128];
    orr_file_writer writer;
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n",
                          kind, shape);
    const uint8_t start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)length, 0};
    assert_ok(orr_file_begin(&writer, control, &error));
    orr_file_put(&writer, start, sizeof start);
    orr_file_put(&writer, header, (size_t)length);
    orr_file_put(&writer, values, size);
    assert_ok(orr_file_commit(&writer, &error));
}

static void hold_recording(int steps, int worlds)
{
    enum { NUMBERS = 4 };
    orr_bytes bytes;
    const double *at = read_record(&bytes, steps, worlds, NUMBERS);
    for (int step = 0; step <= steps; step++) {
        for (int world = 0; world < worlds; world++, at += NUMBERS) {
            // the velocity first, then the position with it; 1e-14: rounding of 20 additions
            assert_near(at[0], 0.0, 0.0);
            assert_near(at[1], gravity * timestep * timestep * step * (step + 1) / 2.0, 1e-14);
            assert_near(at[2], 0.0, 0.0);
            assert_near(at[3], gravity * timestep * step, 1e-14);
        }
    }
    orr_free(bytes.data);
}

static void a_recording_holds_every_step_of_every_world(void **state)
{
    (void)state;
    run_result run =
        sim(robot, "--steps", "20", "--worlds", "3", "--precision", "f64", "--record", record, "--json");
    cJSON *json = take_json(&run);
    assert_text_at(json, "precision", "f64");
    assert_true(number_at(json, "worlds") == 3.0);
    assert_true(number_at(json, "diverged") == 0.0);
    assert_text_at(json, "device", "cpu");
    cJSON_Delete(json);
    hold_recording(20, 3);
}

// On a machine without an NVIDIA GPU, or in a build without CUDA, a line says so.
static void worlds_on_cuda_are_recorded_too(void **state)
{
    (void)state;
    orr_cuda_info info;
    int count = 0;
    orr_result listed = orr_cuda_list(&info, 1, &count, NULL);
    run_result run = sim(robot, "--steps", "20", "--worlds", "3", "--precision", "f64", "--record", record,
                         "--device", "cuda", "--json");
    if (listed != ORR_OK || info.lacks) {
        assert_refused(&run, 2, "CUDA");
        return;
    }
    cJSON *json = take_json(&run);
    assert_text_at(json, "device", info.name);
    cJSON_Delete(json);
    hold_recording(20, 3);
}

static void single_precision_is_the_default(void **state)
{
    (void)state;
    run_result run = sim(robot, "--steps", "20", "--record", record);
    assert_done(&run);
    orr_bytes bytes;
    double speed = read_record(&bytes, 20, 1, 4)[20 * 4 + 3];
    assert_near(speed, gravity * timestep * 20, 1e-5); // 20 additions of floats
    assert_true(speed == (double)(float)speed);
    orr_free(bytes.data);
}

static void controls_of_a_file_push_each_world(void **state)
{
    (void)state;
    enum { STEPS = 4, WORLDS = 2 };
    static const double own[STEPS][WORLDS] = {{1.0, -3.0}, {2.0, 0.0}, {0.5, 8.0}, {0.0, 1.0}};
    static const float common[STEPS] = {1.0f, 2.0f, 0.5f, 0.0f};
    for (int each = 0; each < 2; each++) {
        if (each) {
            write_control("<f8", "(4, 2, 1)", own, sizeof own);
        } else {
            write_control("<f4", "(4, 1)", common, sizeof common);
        }
        run_result run = sim(robot, "--steps", "4", "--worlds", "2", "--precision", "f64", "--ctrl", control,
                             "--record", record);
        assert_done(&run);
        orr_bytes bytes;
        const double *states = read_record(&bytes, STEPS, WORLDS, 4);
        double speed[WORLDS] = {0.0};
        for (int step = 0; step < STEPS; step++) {
            for (int world = 0; world < WORLDS; world++) {
                speed[world] += timestep * own[step][each ? world : 0] / mass;
                assert_near(states[((step + 1) * WORLDS + world) * 4 + 2], speed[world], 1e-14);
            }
        }
        orr_free(bytes.data);
    }
}

static void worlds_begin_where_a_file_says(void **state)
{
    (void)state;
    static const double starts[2][4] = {{1.0, 2.0, 3.0, 4.0}, {-1.0, 0.5, 0.25, -8.0}};
    for (int each = 0; each < 2; each++) {
        write_control("<f8", each ? "(2, 4)" : "(4,)", starts, sizeof starts);
        run_result run = sim(robot, "--steps", "1", "--worlds", "2", "--precision", "f64", "--start", control,
                             "--record", record);
        assert_done(&run);
        orr_bytes bytes;
        const double *states = read_record(&bytes, 1, 2, 4);
        for (int world = 0; world < 2; world++) {
            const double *begin = starts[each ? world : 0], *now = states + 4 * world, *next = now + 8;
            assert_memory_equal(now, begin, sizeof starts[0]);
            assert_near(next[0], begin[0] + timestep * begin[2], 1e-14);
            assert_near(next[3], begin[3] + timestep * gravity, 1e-14);
        }
        orr_free(bytes.data);
    }
    static const char *const wrong[] = {"(2, 3)", "(3, 2)", "(5,)", "(1, 2, 3)", "(1, 4)"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_control("<f8", wrong[i], starts, sizeof starts);
        run_result run = sim(robot, "--steps", "1", "--worlds", "2", "--start", control);
        assert_refused(&run, 2, "shape: expected");
    }
}

// A box that slides over a floor: the solver's start is part of the state.
static void a_recorded_row_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    enum { STEPS = 30, ROW = 13 + 6 };
    const char *box =
        written("box.xml", "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .1'>"
                           "<freejoint/><geom type='box' size='.1 .1 .1' euler='9 5 0'/></body>"
                           "</worldbody></mujoco>");
    static double kept[2 * STEPS + 1][ROW];
    orr_bytes bytes;
    run_result run =
        sim(box, "--steps", "60", "--quantities", "qpos,qvel,qacc_warmstart", "--record", record);
    assert_done(&run);
    memcpy(kept, read_record(&bytes, 2 * STEPS, 1, ROW), sizeof kept);
    orr_free(bytes.data);
    for (int warm = 0; warm < 2; warm++) {
        write_control("<f8", warm ? "(19,)" : "(13,)", kept[STEPS], (warm ? 19 : 13) * sizeof(double));
        run = sim(box, "--steps", "30", "--start", control, "--record", record);
        assert_done(&run);
        const double *states = read_record(&bytes, STEPS, 1, 13);
        assert_int_equal(memcmp(states + (size_t)13 * STEPS, kept[2 * STEPS], 13 * sizeof(double)) == 0,
                         warm);
        orr_free(bytes.data);
    }
}

// Two of the weights, and between them a soft cube that falls.
static void a_scene_is_simulated_as_a_whole(void **state)
{
    (void)state;
    enum { STEPS = 20, WORLDS = 2 };
    char scene[256], text[1200];
    static const char cube[] =
        "v -.1 -.1 -.1\nv .1 -.1 -.1\nv -.1 .1 -.1\nv .1 .1 -.1\nv -.1 -.1 .1\nv .1 -.1 "
        ".1\nv -.1 .1 .1\nv .1 .1 .1\nf 1 3 2\nf 2 3 4\nf 5 6 7\nf 6 8 7\nf 1 2 5\nf 2 6 "
        "5\nf 3 7 4\nf 4 7 8\nf 1 5 3\nf 3 5 7\nf 2 4 6\nf 4 8 6\n";
    static double push[STEPS][WORLDS][2];
    written("cube.obj", cube);
    snprintf(text, sizeof text,
             "{\"orrery\": 1, \"layers\": [{\"file\": \"%s\", \"name\": \"a\"}, {\"file\": \"cube.obj\", "
             "\"physics\": {\"soft\": {\"resolution\": 3}}}, {\"file\": \"%s\", \"name\": \"b\"}]}",
             robot, robot);
    snprintf(scene, sizeof scene, "%s", written("scene.json", text));
    for (int step = 0; step < STEPS; step++) {
        push[step][1][1] = 0.5; // b, in the second world
    }
    write_control("<f8", "(20, 2, 2)", push, sizeof push);
    run_result run =
        sim(scene, "--steps", "20", "--worlds", "2", "--ctrl", control, "--record", record, "--json");
    cJSON *json = take_json(&run);
    const cJSON *layers = cJSON_GetObjectItem(json, "layers");
    const int numbers = (int)number_at(json, "numbers");
    const int soft = (int)number_at(cJSON_GetArrayItem(layers, 1), "positions");
    assert_int_equal(cJSON_GetArraySize(layers), 3);
    assert_text_at(cJSON_GetArrayItem(layers, 2), "name", "b");
    assert_int_equal(number_at(cJSON_GetArrayItem(layers, 1), "first"), 4);
    assert_int_equal(number_at(cJSON_GetArrayItem(layers, 2), "first"), 4 + 2 * soft);
    assert_true(soft > 3 * 20 && numbers == 8 + 2 * soft && number_at(json, "diverged") == 0.0);
    cJSON_Delete(json);
    orr_bytes bytes;
    const double *states = read_record(&bytes, STEPS, WORLDS, numbers), fall = gravity * timestep * STEPS;
    for (int world = 0; world < WORLDS; world++) {
        const double *last = states + (size_t)(STEPS * WORLDS + world) * (size_t)numbers;
        const double *b = last + numbers - 4, pushed = world == 1 ? 0.5 / mass * timestep * STEPS : 0.0;
        assert_near(last[3], fall, 1e-5);
        assert_near(b[3], fall, 1e-5);
        assert_near(last[2], 0.0, 0.0);
        assert_near(b[2], pushed, 1e-6);
        for (int i = 0; i < soft; i++) { // soft bodies step by 4 ms, in a robot's step of 10 ms once
            const double *x = last + 4 + i, *v = x + soft;
            assert_near(*v, i % 3 == 2 ? fall : 0.0, 2e-3);
            assert_near(*x - states[(size_t)world * (size_t)numbers + 4 + (size_t)i],
                        i % 3 == 2 ? fall * timestep * (STEPS + 1) / 2.0 : 0.0, 1e-3);
        }
    }
    orr_free(bytes.data);
    run_result precise = sim(scene, "--steps", "20", "--precision", "f64", "--record", record);
    assert_done(&precise);
    const double *in_double = read_record(&bytes, STEPS, 1, numbers);
    assert_near(in_double[(size_t)STEPS * (size_t)numbers + 3], fall, 1e-14);
    orr_free(bytes.data);
    run_result start = sim(scene, "--steps", "1", "--start", control);
    assert_refused(&start, 2, "--start: expected a robot");
    write_control("<f8", "(20, 3)", push, 20 * 3 * sizeof(double));
    run_result wrong = sim(scene, "--steps", "20", "--ctrl", control);
    assert_refused(&wrong, 2, "nu 2 of all robots together");
    snprintf(scene, sizeof scene, "%s",
             written("still.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"cube.obj\"}]}"));
    run_result still = sim(scene, "--steps", "1");
    assert_refused(&still, 2, "expected a robot, or a layer with physics that moves");
}

// Films of two robots: with a file for the first, and for both, which moves the second, too.
static void a_film_has_the_controls_of_all_robots(void **state)
{
    (void)state;
    enum { STEPS = 10 };
    static double pushes[STEPS][2];
    static const char scene[] =
        "{\"orrery\": 1, \"layers\": [{\"file\": \"ball.xml\", \"name\": \"a\"}, {\"file\": "
        "\"ball.xml\", \"name\": \"b\", \"position\": [0, 0, 1]}]}";
    written("ball.xml",
            "<mujoco><option timestep='0.01'/><worldbody><body><joint name='x' type='slide' axis='1 0 "
            "0'/><geom size='.3' mass='1'/></body></worldbody><actuator><motor "
            "joint='x'/></actuator></mujoco>");
    char path[256], pictures[256], last[3][256];
    orr_bytes bytes[3];
    snprintf(path, sizeof path, "%s", written("balls.json", scene));
    snprintf(pictures, sizeof pictures, "%s", scratch_path("balls%d.npy"));
    for (int i = 0; i < 3; i++) { // the first alone; both, of which the second is still; and pushed
        snprintf(last[i], sizeof last[i], "%s", scratch_path("balls1.npy"));
        for (int step = 0; step < STEPS; step++) {
            pushes[step][0] = 0.0;
            pushes[step][1] = i == 2 ? 100.0 : 0.0;
        }
        write_control("<f8", i == 0 ? "(10, 1)" : "(10, 2)", pushes,
                      (i == 0 ? 1u : 2u) * STEPS * sizeof(double));
        run_result run = orrery("render", path, "-o", pictures, "--frames", "2", "--fps", "10", "--size",
                                "32x24", "--device", "cpu", "--ctrl", control);
        assert_done(&run);
        assert_ok(orr_file_read(last[i], &bytes[i], &error));
    }
    assert_true(bytes[0].size == bytes[1].size && memcmp(bytes[0].data, bytes[1].data, bytes[0].size) == 0);
    assert_true(bytes[0].size == bytes[2].size && memcmp(bytes[0].data, bytes[2].data, bytes[0].size) != 0);
    for (int i = 0; i < 3; i++) {
        orr_free(bytes[i].data);
    }
    write_control("<f8", "(10, 3)", (double[30]){0.0}, 30 * sizeof(double));
    run_result wrong =
        orrery("render", path, "-o", pictures, "--frames", "2", "--device", "cpu", "--ctrl", control);
    assert_refused(&wrong, 2, "nu 1, or 2 of all robots together");
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    static const char *const threads[] = {"1", "3", "2"};
    static double controls[30 * 70];
    orr_bytes first = {0};
    for (int i = 0; i < 30 * 70; i++) {
        controls[i] = sin((double)i);
    }
    write_control("<f8", "(30, 70, 1)", controls, sizeof controls);
    for (int i = 0; i < 3; i++) {
        run_result run = sim(robot, "--steps", "30", "--worlds", "70", "--ctrl", control, "--record", record,
                             "--threads", threads[i]);
        assert_done(&run);
        orr_bytes bytes;
        const double *states = read_record(&bytes, 30, 70, 4);
        assert_true(states[30 * 70 * 4 + 2] != states[30 * 70 * 4 + 4 + 2]); // the worlds do differ
        if (i == 0) {
            first = bytes;
            continue;
        }
        assert_int_equal(bytes.size, first.size);
        assert_memory_equal(bytes.data, first.data, first.size);
        orr_free(bytes.data);
    }
    orr_free(first.data);
}

static void a_recording_holds_the_fields_that_are_asked_for(void **state)
{
    (void)state;
    enum { STEPS = 30, SENSORS = 36, PUSHES = 6 * 4, SIZE = PUSHES + SENSORS };
    const char *touching = source_path("tests/golden/sensors/touch.xml");
    run_result run = sim(touching, "--steps", "30", "--precision", "f64", "--record", record, "--quantities",
                         "cfrc_ext,sensordata");
    assert_done(&run);
    orr_bytes bytes;
    const double *last = read_record(&bytes, STEPS, 1, SIZE) + STEPS * SIZE;
    orr_model *model;
    orr_jobs *jobs;
    orr_physics *physics = NULL;
    assert_ok(orr_model_load(touching, &model, &error));
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    const orr_physics_desc desc = {.double_precision = true};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    double sensed[SENSORS], pushed[PUSHES];
    orr_physics_step(physics, STEPS);
    orr_physics_read(physics, ORR_PHYSICS_CFRC_EXT, 0, pushed);
    orr_physics_read(physics, ORR_PHYSICS_SENSORDATA, 0, sensed);
    assert_memory_equal(last, pushed, sizeof pushed);
    assert_memory_equal(last + PUSHES, sensed, sizeof sensed);
    assert_true(sensed[0] > 0.0); // it stands on the floor
    orr_physics_destroy(physics);
    orr_jobs_destroy(jobs);
    orr_model_destroy(model);
    orr_free(bytes.data);
}

static void info_says_where_the_numbers_of_a_sensor_stand(void **state)
{
    (void)state;
    const char *touching = source_path("tests/golden/sensors/touch.xml");
    run_result run = orrery("info", touching, "--json");
    cJSON *json = take_json(&run);
    const cJSON *file = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "files"), 0);
    const cJSON *sensor = cJSON_GetArrayItem(cJSON_GetObjectItem(file, "sensors"), 13);
    assert_text_at(sensor, "type", "accelerometer");
    assert_text_at(sensor, "object", "ball");
    assert_true(number_at(sensor, "adr") == 15.0);
    assert_true(number_at(sensor, "dim") == 3.0);
    cJSON_Delete(json);
}

static void urdf_robots_move_too(void **state)
{
    (void)state;
    static const char text[] =
        "<robot name='r'><mujoco><option timestep='0.01' gravity='0 0 -10'/></mujoco><link name='base'/>"
        "<link name='w'><inertial><mass value='2'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
        "</inertial></link><joint name='z' type='prismatic'><parent link='base'/><child link='w'/>"
        "<axis xyz='0 0 1'/></joint></robot>";
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("robot.urdf"));
    assert_ok(orr_file_write(path, text, sizeof text - 1, &error));
    run_result run = sim(path, "--steps", "5", "--precision", "f64", "--record", record);
    assert_done(&run);
    orr_bytes bytes;
    const double *states = read_record(&bytes, 5, 1, 2);
    assert_near(states[5 * 2 + 1], gravity * timestep * 5, 1e-14);
    orr_free(bytes.data);
    run = orrery("info", path);
    assert_non_null(strstr(run.output, "robot 'r', 2 bodies, 1 joint"));
    assert_done(&run);
}

static void mistakes_end_with_one_line(void **state)
{
    (void)state;
    static const double two[2];
    write_control("<f8", "(2, 1)", two, sizeof two);
    static const struct {
        const char *arguments[9];
        const char *text;
    } cases[] = {
        {{"sim", robot}, "--steps"},
        {{"sim", "--steps", "5"}, "operand"},
        {{"sim", robot, "--steps", "0"}, "--steps"},
        {{"sim", robot, "--steps", "2.5"}, "--steps"},
        {{"sim", robot, "--steps", "5", "--worlds", "0"}, "--worlds"},
        {{"sim", robot, "--steps", "5", "--worlds", "many"}, "--worlds"},
        {{"sim", robot, "--steps", "5", "--precision", "f16"}, "auto, f32 or f64"},
        {{"sim", robot, "--steps", "5", "--recrod", record}, "--recrod"},
        {{"sim", robot, "--steps", "5", "--ctrl"}, "--ctrl"},
        {{"sim", robot, robot, "--steps", "5"}, "operand"},
        {{"sim", "robot.ply", "--steps", "5"}, "robot.ply"},
        {{"sim", "nowhere.xml", "--steps", "5"}, "nowhere.xml"},
        {{"sim", robot, "--steps", "5", "--ctrl", "nowhere.npy"}, "nowhere.npy"},
        {{"sim", robot, "--steps", "5", "--ctrl", robot}, ".npy"},
        {{"sim", robot, "--steps", "3", "--ctrl", control}, "shape: expected"}, // two rows for three steps
        {{"sim", robot, "--steps", "2", "--record", record, "--quantities", "qpos,mood"}, "'mood'"},
        {{"sim", robot, "--steps", "2", "--quantities", "qpos"}, "--record"},
        {{"sim", robot, "--steps", "2", "--record", "/nowhere/at/all.npy"}, "/nowhere/at/all.npy"},
    };
    unlink(record);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_result run = run_orrery(cases[i].arguments);
        assert_refused(&run, 2, cases[i].text);
        assert_int_not_equal(access(record, F_OK), 0);
    }
}

static void broken_controls_are_refused(void **state)
{
    (void)state;
    static const double two[2];
    static const struct {
        const char *kind, *shape, *text;
    } cases[] = {{"<f8", "(2, 2)", "numbers"},
                 {"<f8", "(2,)", "shape: expected"},
                 {"<f8", "(1, 2)", "shape: expected"},
                 {"<f8", "(2, 2, 1)", "numbers"},
                 {"<f8", "(2, 1, 1, 1)", "header"},
                 {"<i4", "(2, 1)", "header"},
                 {"<f8", "(99999999999, 1)", "header"},
                 {"<f8", "(-2, 1)", "header"},
                 {"<f8", "(2147483647, 2147483647, 2147483647)", "numbers"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_control(cases[i].kind, cases[i].shape, two, sizeof two);
        run_result run = sim(robot, "--steps", "2", "--ctrl", control);
        assert_refused(&run, 2, cases[i].text);
    }
}

static void a_world_that_diverges_is_reported(void **state)
{
    (void)state;
    static const double huge[2][2] = {{0.0, 1e300}, {0.0, 1e300}};
    write_control("<f8", "(2, 2, 1)", huge, sizeof huge);
    run_result run = sim(robot, "--steps", "2", "--worlds", "2", "--ctrl", control);
    assert_non_null(strstr(run.errors, "1 of 2 worlds diverged"));
    assert_done(&run);
}

static void the_precision_that_a_model_needs_is_chosen_or_its_lack_reported(void **state)
{
    (void)state;
    enum { LINKS = 100 };
    static const char link[] = "<body pos='1 0 0'><joint axis='0 1 0' armature='0.01'/><geom size='0.1'/>";
    char text[LINKS * sizeof link + 2000], path[256];
    int used = snprintf(text, sizeof text, "<mujoco><worldbody>");
    for (int i = 0; i < LINKS; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s", link);
    }
    for (int i = 0; i < LINKS; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "</body>");
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "</worldbody></mujoco>");
    snprintf(path, sizeof path, "%s", scratch_path("chain.xml"));
    assert_ok(orr_file_write(path, text, (size_t)used, &error));
    run_result run = sim(path, "--steps", "3", "--worlds", "2");
    assert_non_null(strstr(run.errors, "computed in f64"));
    assert_null(strstr(run.errors, "lost accuracy"));
    assert_done(&run);
    run = sim(path, "--steps", "3", "--worlds", "2", "--precision", "f32");
    assert_non_null(strstr(run.errors, "6 steps of 2 of 2 worlds lost accuracy"));
    assert_done(&run);
}

static void an_interrupted_run_leaves_no_file(void **state)
{
    (void)state;
    char inside[256], path[300];
    snprintf(inside, sizeof inside, "%s", scratch_path("interrupted"));
    assert_int_equal(mkdir(inside, 0700), 0);
    snprintf(path, sizeof path, "%s/a.npy", inside);
    running_program running = start_program(
        (const char *const[]){program_path(), "sim", robot, "--steps", "100000000", "--record", path, NULL});
    bool began = false;
    for (int i = 0; i < 1000 && !began; i++) { // until the hidden file is there
        usleep(10000);
        DIR *folder = opendir(inside);
        for (struct dirent *entry; (entry = readdir(folder));) {
            began = began || strlen(entry->d_name) > 2;
        }
        closedir(folder);
    }
    assert_true(began);
    kill(running.process, SIGINT);
    run_result run = finish_program(&running);
    assert_refused(&run, 130, "interrupted after");
    assert_int_equal(rmdir(inside), 0); // nothing is in it
}

static int make_files(void **state)
{
    (void)state;
    snprintf(robot, sizeof robot, "%s", scratch_path("robot.xml"));
    snprintf(record, sizeof record, "%s", scratch_path("record.npy"));
    snprintf(control, sizeof control, "%s", scratch_path("control.npy"));
    assert_ok(orr_file_write(robot, weight, sizeof weight - 1, &error));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_holds_every_step_of_every_world),
        cmocka_unit_test(worlds_on_cuda_are_recorded_too),
        cmocka_unit_test(single_precision_is_the_default),
        cmocka_unit_test(controls_of_a_file_push_each_world),
        cmocka_unit_test(worlds_begin_where_a_file_says),
        cmocka_unit_test(a_recorded_row_goes_on_to_the_same_bits),
        cmocka_unit_test(a_scene_is_simulated_as_a_whole),
        cmocka_unit_test(a_film_has_the_controls_of_all_robots),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_recording_holds_the_fields_that_are_asked_for),
        cmocka_unit_test(info_says_where_the_numbers_of_a_sensor_stand),
        cmocka_unit_test(urdf_robots_move_too),
        cmocka_unit_test(mistakes_end_with_one_line),
        cmocka_unit_test(broken_controls_are_refused),
        cmocka_unit_test(a_world_that_diverges_is_reported),
        cmocka_unit_test(the_precision_that_a_model_needs_is_chosen_or_its_lack_reported),
        cmocka_unit_test(an_interrupted_run_leaves_no_file),
    };
    return cmocka_run_group_tests_name("cli sim", tests, make_files, NULL);
}
