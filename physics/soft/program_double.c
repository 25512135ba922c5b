// A step in double, one vertex at a time.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#define ORR_ISA double
#include "physics/soft/program_cpu.c"
