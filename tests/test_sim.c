// Tests of `orrery sim` as a user meets it: what it records, and what it refuses.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "physics/world.h"
#include "tests/run_program.h"
#include "tests/support.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

static const char robot[] = ORR_SOURCE_DIR "/tests/golden/sensors/touch.xml";

static run_result sim(const char *const *arguments)
{
    const char *argv[20] = {ORR_PROGRAM, "sim", robot};
    for (int i = 0; arguments[i]; i++) {
        argv[3 + i] = arguments[i];
    }
    return run_program(argv);
}
#define SIM(...) sim((const char *const[]){__VA_ARGS__, NULL})

static void assert_done(run_result *run)
{
    if (run->exit_code != 0) {
        fail_msg("exit code %d: %s", run->exit_code, run->errors);
    }
    run_result_free(run);
}

static void assert_refused(run_result *run, const char *text)
{
    if (run->exit_code != 2 || run->error_lines != 1 || !strstr(run->errors, text)) {
        fail_msg("exit code %d, expected one line with '%s': %s", run->exit_code, text, run->errors);
    }
    run_result_free(run);
}

// The numbers of a .npy file of float64 with the shape in `shape`; free the file's bytes.
static const double *read_record(const char *path, const char *shape, orr_bytes *bytes)
{
    assert_ok(orr_file_read(path, bytes, &error));
    const char *header = (const char *)bytes->data + 10;
    assert_non_null(strstr(header, "'<f8'"));
    assert_non_null(strstr(header, shape));
    size_t start = 10 + (size_t)bytes->data[8] + 256 * (size_t)bytes->data[9];
    return (const double *)(const void *)(bytes->data + start);
}

static void record_holds_positions_and_velocities_of_every_step(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("state.npy"));
    run_result run = SIM("--steps", "3", "--worlds", "2", "--record", path, "--precision", "f64");
    assert_done(&run);
    orr_bytes bytes;
    const double *numbers = read_record(path, "(4, 2, 28,)", &bytes); // nq 15 + nv 13
    // the lid's spring rests and both bodies fall: in the second step with the speed of the first
    assert_true(numbers[2] == 0.05 && numbers[56 + 15 + 2] < 0.0);
    assert_memory_equal(numbers, numbers + 28, 28 * sizeof *numbers);
    orr_free(bytes.data);
}

static void record_holds_the_fields_that_are_asked_for(void **state)
{
    (void)state;
    enum { SENSORS = 36, BODIES = 4, SIZE = SENSORS + 6 * BODIES };
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("fields.npy"));
    run_result run =
        SIM("--steps", "30", "--record", path, "--fields", "cfrc_ext,sensordata", "--precision", "f64");
    assert_done(&run);
    orr_bytes bytes;
    const double *last = read_record(path, "(31, 1, 60,)", &bytes) + 30 * SIZE;
    orr_model *model;
    orr_jobs *jobs;
    orr_physics *physics = NULL;
    assert_ok(orr_model_load(robot, &model, &error));
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    const orr_physics_desc desc = {.double_precision = true};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    double sensed[SENSORS], pushed[6 * BODIES];
    orr_physics_step(physics, 30);
    orr_physics_read(physics, ORR_PHYSICS_CFRC_EXT, 0, pushed);
    orr_physics_read(physics, ORR_PHYSICS_SENSORDATA, 0, sensed);
    assert_memory_equal(last, pushed, sizeof pushed);
    assert_memory_equal(last + 6 * BODIES, sensed, sizeof sensed);
    assert_true(sensed[0] > 0.0); // it stands on the floor
    orr_physics_destroy(physics);
    orr_jobs_destroy(jobs);
    orr_model_destroy(model);
    orr_free(bytes.data);
}

static void wrong_fields_are_refused_with_one_line(void **state)
{
    (void)state;
    run_result run = SIM("--steps", "1", "--record", scratch_path("no.npy"), "--fields", "qpos,mood");
    assert_refused(&run, "'mood'");
    run = SIM("--steps", "1", "--fields", "qpos");
    assert_refused(&run, "--record");
}

static void info_says_where_a_sensor_stands(void **state)
{
    (void)state;
    const char *const argv[] = {ORR_PROGRAM, "info", robot, "--json", NULL};
    run_result run = run_program(argv);
    cJSON *json = cJSON_Parse(run.output);
    const cJSON *file = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "files"), 0);
    const cJSON *sensor = cJSON_GetArrayItem(cJSON_GetObjectItem(file, "sensors"), 13);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(sensor, "type")), "accelerometer");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(sensor, "object")), "ball");
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(sensor, "adr")) == 15.0);
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(sensor, "dim")) == 3.0);
    cJSON_Delete(json);
    run_result_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_holds_positions_and_velocities_of_every_step),
        cmocka_unit_test(record_holds_the_fields_that_are_asked_for),
        cmocka_unit_test(wrong_fields_are_refused_with_one_line),
        cmocka_unit_test(info_says_where_a_sensor_stands),
    };
    return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}
