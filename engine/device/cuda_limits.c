#include "engine/device/cuda_limits.h"

#include "engine/device/cuda_limits_gpu.h"
#include "engine/device/cuda_sort.h"
#include "engine/maths/rng.h"

enum {
    REPEATS = 10,
    MULTIPLY_BLOCKS = 8,    // per multiprocessor
    MULTIPLY_ROUNDS = 20000 // some milliseconds
};

// For a measurement: two halves of device memory, pinned memory of the same size, begin and end of a time.
typedef struct bench_memory {
    orr_cuda_buffer halves[2];
    orr_cuda_sort sort;
    void *pinned, *count;
    cudaEvent_t marks[2];
    size_t bytes; // of one half
    int multiply_blocks, multiply_rounds;
    double operations; // of one launch
} bench_memory;

typedef orr_result (*work)(orr_cuda *cuda, bench_memory *memory, orr_error *error);

static orr_result copy(orr_cuda *cuda, bench_memory *m, orr_error *error)
{
    ORR_CUDA_TRY(cudaMemcpyAsync(m->halves[0].memory, m->halves[1].memory, m->bytes, cudaMemcpyDeviceToDevice,
                                 cuda->stream));
    return ORR_OK;
}

static orr_result send(orr_cuda *cuda, bench_memory *m, orr_error *error)
{
    ORR_CUDA_TRY(
        cudaMemcpyAsync(m->halves[0].memory, m->pinned, m->bytes, cudaMemcpyHostToDevice, cuda->stream));
    return ORR_OK;
}

static orr_result sort(orr_cuda *cuda, bench_memory *m, orr_error *error)
{
    return orr_cuda_sort_pairs(cuda, &m->sort, m->halves[0].memory, m->halves[1].memory, m->count,
                               m->bytes / sizeof(uint32_t), 32, error);
}

static orr_result multiply(orr_cuda *cuda, bench_memory *m, orr_error *error)
{
    m->operations =
        orr_cuda_multiply_launch(cuda->stream, m->multiply_blocks, m->multiply_rounds, m->halves[0].memory);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

static orr_result time_work(orr_cuda *cuda, bench_memory *m, work what, double *seconds, orr_error *error)
{
    ORR_TRY(what(cuda, m, error)); // warms up
    ORR_CUDA_TRY(cudaEventRecord(m->marks[0], cuda->stream));
    for (int i = 0; i < REPEATS; i++) {
        ORR_TRY(what(cuda, m, error));
    }
    ORR_CUDA_TRY(cudaEventRecord(m->marks[1], cuda->stream));
    ORR_TRY(orr_cuda_wait(cuda, error));
    float milliseconds;
    ORR_CUDA_TRY(cudaEventElapsedTime(&milliseconds, m->marks[0], m->marks[1]));
    *seconds = (double)milliseconds * 1e-3 / REPEATS;
    return ORR_OK;
}

static orr_result measure(orr_cuda *cuda, bench_memory *m, orr_cuda_limits *limits, orr_error *error)
{
    ORR_TRY(orr_cuda_use(cuda, error));
    for (int i = 0; i < 2; i++) {
        ORR_TRY(orr_cuda_reserve(cuda, &m->halves[i], m->bytes, 1, error));
        ORR_CUDA_TRY(cudaEventCreateWithFlags(&m->marks[i], cudaEventDefault));
    }
    ORR_TRY(orr_cuda_alloc(cuda, 1, sizeof(uint32_t), &m->count, error));
    ORR_CUDA_TRY(cudaMallocHost(&m->pinned, m->bytes));
    uint32_t count = (uint32_t)(m->bytes / sizeof(uint32_t)), *keys = m->pinned;
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = (uint32_t)orr_random_bits(1, 0, i);
    }
    ORR_TRY(orr_cuda_upload(cuda, m->count, &count, sizeof count, error));
    double seconds;
    ORR_TRY(time_work(cuda, m, copy, &seconds, error));
    limits->bytes_per_second = 2.0 * (double)m->bytes / seconds;
    ORR_TRY(time_work(cuda, m, send, &seconds, error));
    limits->upload_per_second = (double)m->bytes / seconds;
    ORR_TRY(time_work(cuda, m, sort, &seconds, error)); // sorted keys take as long as others
    limits->sort_keys_per_second = (double)count / seconds;
    ORR_TRY(time_work(cuda, m, multiply, &seconds, error));
    limits->tensor_operations_per_second = m->operations / seconds;
    return ORR_OK;
}

orr_result orr_cuda_measure_limits(orr_cuda *cuda, bool tiny, orr_cuda_limits *limits, orr_error *error)
{
    uint64_t most = tiny ? 16 << 10 : orr_cuda_describe(cuda)->memory / 16;
    bench_memory memory = {.bytes = most < 256u << 20 ? (size_t)most : 256u << 20,
                           .multiply_blocks = tiny ? 1 : MULTIPLY_BLOCKS * cuda->info.processors,
                           .multiply_rounds = tiny ? 2 : MULTIPLY_ROUNDS};
    memory.bytes -= memory.bytes % 16;
    orr_result result = measure(cuda, &memory, limits, error);
    for (int i = 0; i < 2; i++) {
        orr_cuda_release(&memory.halves[i]);
        if (memory.marks[i]) {
            cudaEventDestroy(memory.marks[i]);
        }
    }
    orr_cuda_sort_release(&memory.sort);
    orr_cuda_free(memory.count);
    cudaFreeHost(memory.pinned);
    return result;
}
