// Runs a program and keeps what it said, for tests of the command line.
#pragma once

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
