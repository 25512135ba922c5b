#define _GNU_SOURCE
#include "tests/run_program.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "tests/support.h"

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
