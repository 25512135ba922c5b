// Benchmarks: what this machine does, stage by stage, beside what it could do at most.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "samples/orrery/commands.h"

#include <cjson/cJSON.h>
#include <stdio.h>

// The denominators, measured in the same run as what is divided by them.
typedef struct bench_limits {
    double bytes_per_second;             // streaming copy, read plus written, all workers
    double splat_pixels_per_second;      // blending alone, everything in L1, one worker
    double tensor_operations_per_second; // of a CUDA device
    int workers;
} bench_limits;

// Takes about half a second. The instruction set is the one in use.
orr_result bench_measure_limits(orr_jobs *jobs, orr_isa isa, bench_limits *limits, orr_error *error);

typedef struct bench_run {
    orr_engine *engine;
    bench_limits limits;
    const char *file;  // the cloud or field to draw, or NULL: a synthetic one
    const char *robot; // the robot to move, or a folder of robots; or NULL
    const char *plot;  // a chart of frames, or of the robot's speed over the number of worlds, PNG; or NULL
    bool tiny;         // whether everything works, not how fast: for emulated devices
    int size[2];
    const char *scene; // whose frames are accounted for; NULL: the one that ships
    const char *trace; // FILE.json for their trace, or NULL
    int frames;        // in it; 0: as many as two seconds hold
    int64_t largest;   // splats in the largest cloud of the scaling table
    FILE *out;         // the tables; stderr when stdout is for JSON
    cJSON *json;       // results go here as well when it is not NULL
} bench_run;

orr_result bench_neural_cuda(const bench_run *run, orr_error *error); // "neural" on a CUDA device
orr_result bench_mlp(const bench_run *run, orr_error *error);         // the networks' part of "neural"
orr_result bench_splats(const bench_run *run, orr_error *error);
orr_result bench_neural(const bench_run *run, orr_error *error);
orr_result bench_light(const bench_run *run, orr_error *error);
orr_result bench_frame(const bench_run *run, orr_error *error);
orr_result bench_bodies(const bench_run *run, orr_jobs *jobs,
                        orr_error *error); // many bodies' part of "physics"
// soft bodies' part of it; cuda: NULL: only the CPU
orr_result bench_soft(const bench_run *run, orr_jobs *jobs, orr_cuda *cuda, orr_error *error);
orr_result bench_cloth(const bench_run *run, orr_jobs *jobs, orr_error *error);  // cloth that touches itself
orr_result bench_follow(const bench_run *run, orr_jobs *jobs, orr_error *error); // clouds' on soft bodies
orr_result bench_physics(const bench_run *run, orr_error *error);
