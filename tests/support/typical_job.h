// What a host program does with the engine, from its beginning to its end, and what it gets.
#pragma once

#include "engine/orrery.h"

enum { JOB_WIDTH = 48, JOB_HEIGHT = 32, JOB_NUMBERS = 32 };

typedef struct typical_result {
    float rgba[JOB_WIDTH * JOB_HEIGHT * 4], depth[JOB_WIDTH * JOB_HEIGHT];
    double qpos[JOB_NUMBERS]; // of a robot that was simulated
} typical_result;

// Makes an engine on the CPU, a scene of the robot in the MJCF file `robot` and a cloud of splats, simulates,
// draws, and destroys everything; on failure too. desc: nullable; its device is the CPU.
orr_result run_typical_job(const char *robot, const orr_engine_desc *desc, typical_result *result,
                           orr_error *error);
