// orrery_pack NAME ARGUMENTS...: runs one of the programs that this executable holds (cmake/pack.cmake).
#include <stdio.h>
#include <string.h>

#define PROGRAM(name) int name##_main(int argc, char **argv);
#include "packed_programs.h"
#undef PROGRAM

typedef struct packed_program {
    const char *name;
    int (*main)(int argc, char **argv);
} packed_program;

static const packed_program programs[] = {
#define PROGRAM(name) {#name, name##_main},
#include "packed_programs.h"
#undef PROGRAM
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof programs[0]; i++) {
        if (strcmp(argv[1], programs[i].name) == 0) {
            return programs[i].main(argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "orrery_pack: expected the name of a program, one of:\n");
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        fprintf(stderr, "  %s\n", programs[i].name);
    }
    return 2;
}
