// The machine's limits, measured: how fast memory streams, how fast one core blends.
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "render/cpu/splats_cpu.h"
#include "samples/orrery/bench/bench.h"

#include <string.h>

enum {
    STREAM_BYTES = 256 << 20, // far more than any cache
    STREAM_PIECE = 1 << 20,
    STREAM_ROUNDS = 4,
    BLEND_SPLATS = 1024,
    BLEND_ROUNDS = 20
};

typedef struct stream_job {
    char *from, *to;
} stream_job;

static void stream_piece(void *context, int i, int worker)
{
    (void)worker;
    const stream_job *job = context;
    memcpy(job->to + (size_t)i * STREAM_PIECE, job->from + (size_t)i * STREAM_PIECE, STREAM_PIECE);
}

static orr_result measure_stream(orr_jobs *jobs, double *bytes_per_second, orr_error *error)
{
    char *memory;
    ORR_ALLOC(memory, 2 * (size_t)STREAM_BYTES, "measuring memory", error);
    memset(memory, 1, 2 * (size_t)STREAM_BYTES);
    stream_job job = {memory, memory + STREAM_BYTES};
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < STREAM_ROUNDS; round++) {
        uint64_t start = orr_clock_nanoseconds();
        orr_jobs_for(jobs, STREAM_BYTES / STREAM_PIECE, stream_piece, &job);
        uint64_t time = orr_clock_nanoseconds() - start;
        best = time < best ? time : best;
    }
    orr_free(memory);
    *bytes_per_second = 2.0 * STREAM_BYTES / ((double)best * 1e-9);
    return ORR_OK;
}

// One tile that every splat covers whole and none closes: the blending kernel with nothing else to do.
static orr_result measure_blend(orr_isa isa, double *pixels_per_second, orr_error *error)
{
    static float rgba[ORR_CPU_TILE * ORR_CPU_TILE * 4];
    orr_splat_record *records;
    uint32_t *order;
    ORR_ALLOC(records, BLEND_SPLATS, "measuring the blending kernel", error);
    order = orr_alloc(BLEND_SPLATS, sizeof *order);
    if (!order) {
        orr_free(records);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: measuring the blending kernel");
    }
    for (uint32_t i = 0; i < BLEND_SPLATS; i++) {
        records[i] = (orr_splat_record){.x = 8.0f,
                                        .y = 8.0f,
                                        .sharp_x = 1e-6f,
                                        .sharp_y = 1e-6f,
                                        .log2_opacity = -7.9f, // under 1/255 would be skipped
                                        .depth = 1.0f,
                                        .reach = 0.09f,
                                        .half_width = 300.0f,
                                        .half_height = 300.0f};
        order[i] = i;
    }
    orr_blend_job job = {.records = records,
                         .tile_splats = order,
                         .width = ORR_CPU_TILE,
                         .height = ORR_CPU_TILE,
                         .rgba = rgba};
    // 1/239 of coverage each: 1024 of them leave a transmittance of 0.014
    job.splat_count = BLEND_SPLATS;
    const orr_splat_kernels *kernels = orr_splat_kernels_of(isa);
    double best = 0.0;
    for (int round = 0; round < BLEND_ROUNDS; round++) {
        uint64_t start = orr_clock_nanoseconds();
        int64_t evaluated = kernels->blend(&job);
        double rate = (double)evaluated / ((double)(orr_clock_nanoseconds() - start) * 1e-9);
        best = rate > best ? rate : best;
    }
    orr_free(records);
    orr_free(order);
    *pixels_per_second = best;
    return ORR_OK;
}

orr_result bench_measure_limits(orr_jobs *jobs, orr_isa isa, bench_limits *limits, orr_error *error)
{
    limits->workers = orr_jobs_workers(jobs);
    ORR_TRY(measure_stream(jobs, &limits->bytes_per_second, error));
    return measure_blend(isa, &limits->splat_pixels_per_second, error);
}
