#define _GNU_SOURCE
#include "tests/support/run_program.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

running_program start_program(const char *const *argv)
{
    running_program running = {.output_path = "/tmp/orrery-output-XXXXXX",
                               .errors_path = "/tmp/orrery-errors-XXXXXX"};
    int output = mkstemp(running.output_path), errors = mkstemp(running.errors_path);
    assert_true(output >= 0 && errors >= 0);
    running.process = fork();
    assert_true(running.process >= 0);
    if (running.process == 0) {
        dup2(output, STDOUT_FILENO);
        dup2(errors, STDERR_FILENO);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(output);
    close(errors);
    return running;
}

static char *take_text(const char *path)
{
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    unlink(path);
    return (char *)bytes.data;
}

run_result finish_program(const running_program *running)
{
    int status;
    assert_int_equal(waitpid(running->process, &status, 0), running->process);
    run_result result = {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                         .output = take_text(running->output_path),
                         .errors = take_text(running->errors_path)};
    for (const char *c = result.errors; *c; c++) {
        result.error_lines += *c == '\n';
    }
    return result;
}

run_result run_program(const char *const *argv)
{
    running_program running = start_program(argv);
    return finish_program(&running);
}

void run_result_free(run_result *result)
{
    orr_free(result->output);
    orr_free(result->errors);
}

const char *program_path(void)
{
    const char *path = getenv("ORR_PROGRAM");
    return path ? path : ORR_PROGRAM;
}

const char *hello_path(void)
{
    const char *path = getenv("ORR_HELLO");
    return path ? path : ORR_HELLO;
}

run_result run_orrery(const char *const *arguments)
{
    const char *argv[32] = {program_path()};
    for (int i = 0; arguments[i]; i++) {
        assert_true(i + 2 < (int)(sizeof argv / sizeof argv[0]));
        argv[i + 1] = arguments[i];
    }
    return run_program(argv);
}

void assert_done(run_result *result)
{
    if (result->exit_code != 0) {
        fail_msg("exit code %d: %s", result->exit_code, result->errors);
    }
    run_result_free(result);
}

void assert_refused(run_result *result, int exit_code, const char *text)
{
    if (result->exit_code != exit_code || result->error_lines != 1 || !strstr(result->errors, text) ||
        result->output[0]) {
        fail_msg("exit code %d (expected %d), '%s' on stdout, on stderr (expected one line with '%s'): %s",
                 result->exit_code, exit_code, result->output, text, result->errors);
    }
    run_result_free(result);
}

cJSON *take_json(run_result *result)
{
    cJSON *json = cJSON_Parse(result->output);
    assert_done(result);
    assert_non_null(json);
    return json;
}

double number_at(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(json, name);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

void assert_text_at(const cJSON *json, const char *name, const char *expected)
{
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, name)), expected);
}
