// The lane program in CUDA: one thread per world. Compiled to hold the sources to the subset that nvcc
// understands; nothing launches it yet.
#include "physics/lane_read.h"

// data[i]: the arrays of world i (its numbers stand LANE_STRIDE apart, beside those of the warp's other worlds)
__global__ void step_worlds(const lane_model *model, lane_data *data, int worlds, int steps)
{
    int world = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (world >= worlds) {
        return;
    }
    for (int i = 0; i < steps; i++) {
        step(model, &data[world]);
    }
}

__global__ void read_worlds(const lane_model *model, lane_data *data, int worlds)
{
    int world = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (world < worlds) {
        evaluate(model, &data[world], LANE_DEPTH_SENSORS);
    }
}
