// The lane program on CUDA, in double.
#define ORR_SCALAR_DOUBLE
#define PROGRAM orr_cuda_program_double
#include "physics/simulation/program_cuda.cu"
