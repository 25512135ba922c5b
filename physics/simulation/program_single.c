// The lane program in float for one world at a time: faster than lanes of which most are empty.
#define ORR_SCALAR
#define PROGRAM ORR_ISA_NAME(orr_single_program)
#include "physics/simulation/program_cpu.c"
