// The lane program in float for one world: faster than lanes of which all but one are empty.
#define ORR_SCALAR
#define PROGRAM ORR_ISA_NAME(orr_single_program)
#include "physics/simulation/program_cpu.c"
