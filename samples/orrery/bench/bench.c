// orrery bench: what this machine does, stage by stage, beside its limits.
#include "samples/orrery/bench/bench.h"
#include "engine/core/file.h"
#include "engine/device/cuda_limits.h"
#include "engine/loop/devices.h"

#include <string.h>

typedef struct benchmark {
    const char *name;
    orr_result (*run)(const bench_run *run, orr_error *error);
    bool limited; // beside the machine's limits
} benchmark;

static const benchmark benchmarks[] = {{"frame", bench_frame, false},
                                       {"light", bench_light, false},
                                       {"splats", bench_splats, true},
                                       {"neural", bench_neural, true},
                                       {"physics", bench_physics, true}};
enum { BENCHMARK_COUNT = sizeof benchmarks / sizeof benchmarks[0] };

static const benchmark *find(const char *name)
{
    for (int i = 0; i < BENCHMARK_COUNT; i++) {
        if (strcmp(benchmarks[i].name, name) == 0) {
            return &benchmarks[i];
        }
    }
    return NULL;
}

static orr_result measure_limits(const common_options *common, bench_limits *limits, orr_error *error)
{
    orr_isa isa;
    orr_jobs *jobs;
    ORR_TRY(orr_isa_choose(&isa, error));
    ORR_TRY(orr_jobs_create(common->threads, NULL, NULL, &jobs, error));
    orr_result result = bench_measure_limits(jobs, isa, limits, error);
    orr_jobs_destroy(jobs);
    return result;
}

// The same of the GPU that draws; what has no counterpart there has no limit.
static orr_result measure_gpu(bench_run *run, orr_error *error)
{
    orr_cuda *cuda;
    orr_cuda_limits limits;
    ORR_TRY(orr_engine_take_cuda(run->engine, &cuda, error));
    ORR_TRY(orr_cuda_measure_limits(cuda, run->tiny, &limits, error));
    const orr_cuda_info *info = orr_cuda_describe(cuda);
    fprintf(run->out,
            "%s: compute %d.%d, %d multiprocessors; memory %.0f GB/s, from the host %.1f GB/s; sort %.2f G "
            "keys/s; tensor cores %.1f TFLOP/s (halves, mma.sync)\n",
            info->name, info->compute[0], info->compute[1], info->processors, limits.bytes_per_second * 1e-9,
            limits.upload_per_second * 1e-9, limits.sort_keys_per_second * 1e-9,
            limits.tensor_operations_per_second * 1e-12);
    if (run->json) {
        cJSON *json = cJSON_AddObjectToObject(run->json, "device_limits");
        cJSON_AddStringToObject(json, "device", info->name);
        cJSON_AddNumberToObject(json, "bytes_per_second", limits.bytes_per_second);
        cJSON_AddNumberToObject(json, "upload_bytes_per_second", limits.upload_per_second);
        cJSON_AddNumberToObject(json, "sort_keys_per_second", limits.sort_keys_per_second);
        cJSON_AddNumberToObject(json, "tensor_operations_per_second", limits.tensor_operations_per_second);
    }
    run->limits.bytes_per_second = limits.bytes_per_second;
    run->limits.tensor_operations_per_second = limits.tensor_operations_per_second;
    run->limits.splat_pixels_per_second = 0.0;
    return ORR_OK;
}

static orr_result find_limits(const common_options *common, bench_run *run, orr_error *error)
{
    ORR_TRY(measure_limits(common, &run->limits, error));
    fprintf(run->out,
            "%s\nlimits: memory %.1f GB/s with %d threads; blending %.2f G splat-pixels/s per core\n",
            orr_engine_describe(run->engine), run->limits.bytes_per_second * 1e-9, run->limits.workers,
            run->limits.splat_pixels_per_second * 1e-9);
    return orr_engine_device(run->engine) == ORR_DEVICE_CUDA ? measure_gpu(run, error) : ORR_OK;
}

static bool is_wanted(const benchmark *b, char **names, int count)
{
    bool wanted = count == 0;
    for (int k = 0; k < count; k++) {
        wanted |= strcmp(names[k], b->name) == 0;
    }
    return wanted;
}

static orr_result run_all(const common_options *common, bench_run *run, char **names, int count,
                          orr_error *error)
{
    bool limited = false;
    for (int i = 0; i < BENCHMARK_COUNT; i++) {
        limited |= benchmarks[i].limited && is_wanted(&benchmarks[i], names, count);
    }
    if (limited) {
        ORR_TRY(find_limits(common, run, error));
    }
    for (int i = 0; i < BENCHMARK_COUNT; i++) {
        if (is_wanted(&benchmarks[i], names, count)) {
            ORR_TRY(benchmarks[i].run(run, error));
        }
    }
    return ORR_OK;
}

// A file that cannot be written is found out before anything is measured.
static orr_result try_outputs(const bench_run *run, orr_error *error)
{
    const char *const outputs[] = {run->plot, run->trace};
    for (int i = 0; i < 2; i++) {
        if (outputs[i]) {
            ORR_TRY(orr_file_try(outputs[i], error));
        }
    }
    return ORR_OK;
}

// The names come first, in argv[0 .. *count - 1]; the one operand behind them may be the scene of "frame" and
// "light".
static orr_result take_operands(bench_run *run, char **argv, int *count, orr_error *error)
{
    const benchmark *frame = find("frame"), *light = find("light");
    int names = 0;
    while (names < *count && find(argv[names])) {
        names++;
    }
    bool accounts = is_wanted(frame, argv, names) || is_wanted(light, argv, names);
    if (names == *count - 1 && names > 0 && accounts) {
        run->scene = argv[names];
    } else if (names < *count) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "bench: %s: expected frame, light, splats, neural or physics", argv[names]);
    }
    *count = names;
    return ORR_OK;
}

// Options of one benchmark, or of two, are wrong where it is not run.
static orr_result check_options(const bench_run *run, char **names, int count, orr_error *error)
{
    const struct {
        const char *option;
        bool given;
        const char *name, *other;
    } cases[] = {
        {"--trace", run->trace != NULL, "frame", NULL},   {"--frames", run->frames > 0, "frame", NULL},
        {"--file", run->file != NULL, "splats", NULL},    {"--largest", run->largest > 0, "splats", NULL},
        {"--robot", run->robot != NULL, "physics", NULL}, {"--plot", run->plot != NULL, "frame", "physics"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *name = cases[i].name, *other = cases[i].other;
        if (cases[i].given && !is_wanted(find(name), names, count) &&
            !(other && is_wanted(find(other), names, count))) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "bench: %s: expected %s%s%s beside it", cases[i].option,
                            name, other ? " or " : "", other ? other : "");
        }
    }
    return ORR_OK;
}

int command_bench(int argc, char **argv)
{
    common_options common = {0};
    bench_run run = {.size = {1280, 720}};
    int largest = 0, count = 0, exit_code = 0;
    const option options[] = {
        {"--file", 0, OPTION_TEXT, &run.file, "FILE",
         "also draw this splat cloud or field, once whole and once filling the picture", 0, 0},
        {"--robot", 0, OPTION_TEXT, &run.robot, "PATH",
         "physics: a robot, or a folder with Gymnasium's robots, instead of many free bodies", 0, 0},
        {"--plot", 0, OPTION_TEXT, &run.plot, "FILE.png",
         "frame: plot some frames; physics: run only one robot in 1 to 10,000 worlds, and plot that", 0, 0},
        {"--trace", 0, OPTION_TEXT, &run.trace, "FILE.json",
         "frame: write all stages on one time axis, for ui.perfetto.dev", 0, 0},
        {"--frames", 0, OPTION_INT, &run.frames, "N",
         "frame: number of frames (default: those of two seconds, at most 120)", 1, 100000},
        {"--tiny", 0, OPTION_FLAG, &run.tiny, NULL,
         "use the smallest sizes, whatever else is given: a test that everything runs", 0, 0},
        {"--largest", 0, OPTION_INT, &largest, "N",
         "number of splats in the largest synthetic cloud (default 5000000)", 1e4, 1e8},
    };
    const command_usage usage = {
        .name = "bench",
        .operands = "[NAME...] [SCENE]",
        .purpose = "Measures the speed of the engine, beside the limits of this machine.",
        .notes =
            "NAME: frame, light, splats, neural or physics; several may be given (default: all).\n"
            "SCENE, after frame or light: the scene to draw (default: the walker of the installed assets).",
        .operand_max = BENCHMARK_COUNT + 1,
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .common = &common,
        .common_used = COMMON_DEVICE | COMMON_THREADS | COMMON_SIZE | COMMON_JSON};
    if (!options_read(&usage, argc, argv, &count, &exit_code)) {
        return exit_code;
    }
    orr_error error = {0};
    run.largest = largest;
    orr_result result = take_operands(&run, argv, &count, &error);
    result = result == ORR_OK ? check_options(&run, argv, count, &error) : result;
    result = result == ORR_OK ? try_outputs(&run, &error) : result;
    if (result != ORR_OK) {
        return command_fail(result, &error);
    }
    run.largest = run.tiny ? 500 : largest ? largest : 5000000;
    if (common.size[0]) {
        memcpy(run.size, common.size, sizeof run.size);
    }
    if (run.tiny) {
        run.size[0] = 64;
        run.size[1] = 36;
        run.frames = run.frames ? run.frames : 2;
    }
    result = command_engine(&common, &run.engine, &error);
    if (result != ORR_OK) {
        return command_fail(result, &error);
    }
    run.json = common.json ? cJSON_CreateObject() : NULL;
    run.out = common.json ? stderr : stdout;
    result = run_all(&common, &run, argv, count, &error);
    orr_engine_destroy(run.engine);
    if (result != ORR_OK) {
        cJSON_Delete(run.json);
        return command_fail(result, &error);
    }
    return run.json ? command_print_json(run.json) : 0;
}
