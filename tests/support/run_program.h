// Runs a program and keeps what it said, for tests of the command line.
#pragma once

#include <cjson/cJSON.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct run_result {
    int exit_code; // -1: it was killed by a signal
    char *output;  // stdout, ends with a zero byte
    char *errors;  // stderr
    int error_lines;
} run_result;

// argv ends with NULL; argv[0] is the program's path. Free with run_result_free.
run_result run_program(const char *const *argv);
void run_result_free(run_result *result);

// The two halves of run_program, for a program that is to be interrupted.
typedef struct running_program {
    pid_t process;
    char output_path[64], errors_path[64];
} running_program;
running_program start_program(const char *const *argv);
run_result finish_program(const running_program *running);

// The programs that are tested, as built, or those that the environment variables ORR_PROGRAM and ORR_HELLO
// name.
const char *program_path(void);                      // orrery
const char *hello_path(void);                        // hello_splats
run_result run_orrery(const char *const *arguments); // ends with NULL
#define orrery(...) run_orrery((const char *const[]){__VA_ARGS__, NULL})

// What is expected of a result. All three free it.
void assert_done(run_result *result); // exit code 0
// One line on stderr that holds `text`, nothing on stdout.
void assert_refused(run_result *result, int exit_code, const char *text);
cJSON *take_json(run_result *result); // exit code 0, and JSON on stdout

double number_at(const cJSON *json, const char *name);
void assert_text_at(const cJSON *json, const char *name, const char *expected);
