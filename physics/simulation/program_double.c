// The lane program in double: one world at a time.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#define ORR_ISA double
#include "physics/simulation/program_cpu.c"
