// Encoding and network fused, a thread per sample: the kernels behind model_pass.h.
//
// A thread encodes its sample into a row of halves in shared memory. The warp takes its 32 rows as A, the
// layer's weights (all of them resident in shared memory, copied once per block of threads) as B, and has the
// sums in 64 floats per lane. infer packs them to halves: the part of C that a lane has is what it needs of
// the next A, so that nothing leaves the registers until the outputs. train keeps each layer's inputs in
// shared memory, because every warp needs them for the gradient of the weights; gradients of samples replace
// each other in one tile. Each block of threads adds its weight gradients to a copy of its own, which stays
// in L2, and sum_rows adds the copies in order: no atomics, the same bits.
#include "neural/cuda/encode_device.h"
#include "neural/cuda/network_device.h"
#include "neural/network/loss_kind.h"

enum : int { SAMPLES = ORR_CUDA_TILE_SAMPLES };

// The number of samples: the host's, or as written by kernels before this one.
static __device__ __forceinline__ int64_t samples_of(const orr_cuda_pass *p)
{
    return p->live ? min(p->count, (int64_t)__ldg(p->live)) : p->count;
}

// Encodes this thread's sample into its row; threads beyond the last sample make zeros.
static __device__ __forceinline__ void encode_row(const orr_cuda_pass *p, int64_t sample, __half *row)
{
    if (sample < samples_of(p)) {
        encode_sample(&p->shape, (const __half *)p->table,
                      p->positions + orr_block_index(sample, p->shape.position_dims), row);
    } else {
        for (int k = 0; k < p->shape.input_padded; k++) {
            row[k] = __float2half_rn(0.0f);
        }
    }
    __syncwarp();
}

// ---- values ----

// Writes 16 x 16 outputs, from the sample and the output given.
static __device__ __forceinline__ void write_outputs(const orr_cuda_pass *p, int64_t sample, int first,
                                                     const float values[2][4])
{
    int g = (int)orr_lane() / 4, t = (int)orr_lane() % 4;
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < 4; i++) {
            int64_t at = sample + g + i / 2 * 8;
            int output = first + 8 * n + 2 * t + i % 2;
            if (at < samples_of(p) && output < p->shape.output_dims) {
                p->output[orr_block_index(at, p->shape.output_dims) + output * ORR_SAMPLES] = values[n][i];
            }
        }
    }
}

// The outputs of `rows` x 16 samples.
template <int width>
static __device__ void infer_rows(const orr_cuda_pass *p, const __half *tile, int64_t sample, __half *shared)
{
    constexpr int rows = tiling<width>::rows, steps = tiling<width>::steps;
    const orr_cuda_shape *s = &p->shape;
    const __half *all = (const __half *)p->weights;
    uint32_t a[rows][steps][4];
    infer_hidden<width>(s, all, s->inference_resident, shared, tile, s->first_stride, a);
    layer last = layer_of(s, s->hidden_layers);
    const __half *weights = fetch_weights(all, last, s->inference_resident, shared);
    for (int n = 0; n < last.outputs; n += 16) {
        float values[rows][2][4];
        infer_outputs<width>(s, weights, tile, s->first_stride, a, n, values);
        for (int r = 0; r < rows; r++) {
            write_outputs(p, sample + 16 * r, n, values[r]);
        }
    }
}

template <int width> static __global__ void __launch_bounds__(SAMPLES) infer(orr_cuda_pass p)
{
    const orr_cuda_shape *s = &p.shape;
    ORR_DYNAMIC_SHARED(__half, shared); // a tile of features, then weights
    __half *tile = shared + threadIdx.x / ORR_WARP * ORR_WARP * s->first_stride; // of this warp
    __half *weights = shared + SAMPLES * s->first_stride;
    if (s->inference_resident) {
        copy_all_weights(s, (const __half *)p.weights, weights);
    }
    for (int64_t first = (int64_t)blockIdx.x * SAMPLES; first < samples_of(&p);
         first += (int64_t)gridDim.x * SAMPLES) {
        encode_row(&p, first + threadIdx.x, tile + orr_lane() * s->first_stride);
        int64_t sample = first + threadIdx.x / ORR_WARP * ORR_WARP;
        for (int row = 0; row < ORR_WARP; row += 16 * tiling<width>::rows) {
            infer_rows<width>(&p, tile + row * s->first_stride, sample + row, weights);
        }
        __syncwarp(); // before the next features
    }
}

// ---- training ----

// Outputs of 16 x 16: values become gradients times the scale; the loss of this lane's is returned. A
// gradient that a half cannot represent is clamped to one that it can.
static __device__ float lose(const orr_cuda_pass *p, int64_t sample, int first, float values[2][4])
{
    const float most = 32768.0f;
    int g = (int)orr_lane() / 4, t = (int)orr_lane() % 4, dims = p->shape.output_dims;
    float loss = 0.0f;
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < 4; i++) {
            int64_t at = sample + g + i / 2 * 8;
            int output = first + 8 * n + 2 * t + i % 2;
            float gradient = 0.0f;
            if (at < samples_of(p) && output < dims) {
                int64_t where = orr_block_index(at, dims) + output * ORR_SAMPLES;
                if (!p->targets) {
                    gradient = p->output_gradient[where];
                } else {
                    real2 here = loss_of_target(p->loss, values[n][i], p->targets[where]);
                    loss += here.x;
                    gradient = here.y;
                }
            }
            values[n][i] = fminf(fmaxf(gradient * p->gradient_scale, -most), most);
        }
    }
    return loss;
}

// Where one thread block's things are.
typedef struct workplace {
    __half *weights, *gradient, *tiles; // shared memory
    __half *kept;                       // scratch: tiles that are not resident, of all layers
    float *sums;                        // scratch: sums of the hidden layers, as lanes hold them
} workplace;

// the inputs of layer l, for all samples of the thread block
static __device__ __forceinline__ __half *tile_of(const orr_cuda_shape *s, const workplace *w, int l)
{
    return s->tiles_resident && l > 0 ? w->tiles + (s->first_stride + (l - 1) * s->hidden_stride) * SAMPLES
                                      : w->tiles;
}

static __device__ __forceinline__ int stride_of(const orr_cuda_shape *s, int l)
{
    return l == 0 ? s->first_stride : s->hidden_stride;
}

// Copies this warp's rows of the one tile to the scratch of layer l, or (restore) from there.
static __device__ void keep_rows(const orr_cuda_shape *s, const workplace *w, int l, bool restore)
{
    if (s->tiles_resident) {
        return;
    }
    int warp_first = (int)(threadIdx.x / ORR_WARP) * ORR_WARP * s->first_stride, pieces = 4 * s->first_stride;
    uint4 *tile = (uint4 *)(w->tiles + warp_first);
    uint4 *kept = (uint4 *)(w->kept + (size_t)l * SAMPLES * s->first_stride + warp_first);
    __syncwarp();
    for (int i = (int)orr_lane(); i < pieces; i += ORR_WARP) {
        if (restore) {
            tile[i] = kept[i];
        } else {
            kept[i] = tile[i];
        }
    }
    __syncwarp();
}

// A lane's sums of one hidden layer and group of rows, in scratch: its own, one after the other.
template <int width> static __device__ __forceinline__ float *sums_of(const workplace *w, int l, int row)
{
    return w->sums + ((size_t)l * SAMPLES + (size_t)(threadIdx.x / ORR_WARP * ORR_WARP + row)) * width +
           orr_lane();
}

template <int width> static __device__ void forward_hidden(const orr_cuda_pass *p, const workplace *w, int l)
{
    constexpr int rows = tiling<width>::rows, steps = tiling<width>::steps, count = rows * 2 * steps * 4;
    const orr_cuda_shape *s = &p->shape;
    layer here = layer_of(s, l);
    const __half *weights = fetch_weights((const __half *)p->weights, here, s->weights_resident, w->weights);
    for (int row = 0; row < ORR_WARP; row += 16 * rows) {
        int at = (int)(threadIdx.x / ORR_WARP) * ORR_WARP + row;
        float sums[rows][2 * steps][4];
        multiply_tile<rows, steps, false>(sums, tile_of(s, w, l) + at * stride_of(s, l), stride_of(s, l),
                                          here.inputs / 16, weights, here.inputs + ORR_CUDA_WEIGHT_PAD, 0);
        if (orr_activation_keeps_sums(s->activation)) {
            float *to = sums_of<width>(w, l, row);
            for (int i = 0; i < count; i++) {
                to[i * ORR_WARP] = (&sums[0][0][0])[i];
            }
        }
        activate<count>(s->activation, &sums[0][0][0]);
        __syncwarp(); // with one tile, these rows are what was read
        for (int r = 0; r < rows; r++) {
            for (int n = 0; n < 2 * steps; n++) {
                store_values(tile_of(s, w, l + 1), s->hidden_stride, at + 16 * r, 8 * n, sums[r][n]);
            }
        }
    }
    __syncwarp();
    keep_rows(s, w, l + 1, false);
}

// The last layer: outputs, and the gradients of the loss by them, into the tile of gradients. Returns the
// lane's loss.
template <int width>
static __device__ float forward_outputs(const orr_cuda_pass *p, const workplace *w, int64_t first)
{
    const orr_cuda_shape *s = &p->shape;
    const int l = s->hidden_layers, warp_row = (int)(threadIdx.x / ORR_WARP) * ORR_WARP;
    layer last = layer_of(s, l);
    const __half *weights = fetch_weights((const __half *)p->weights, last, s->weights_resident, w->weights);
    float loss = 0.0f;
    for (int n = 0; n < last.outputs; n += 16) {
        float values[2][2][4], forward[2][2][4];
        multiply_tile<2, 1, false>(values, tile_of(s, w, l) + warp_row * stride_of(s, l), stride_of(s, l),
                                   last.inputs / 16, weights, last.inputs + ORR_CUDA_WEIGHT_PAD, n);
        memcpy(forward, values, sizeof forward);
        activate<16>(s->output_activation, &values[0][0][0]);
        if (!orr_activation_keeps_sums(s->output_activation)) {
            memcpy(forward, values, sizeof forward);
        }
        for (int r = 0; r < 2; r++) {
            int row = warp_row + 16 * r;
            if (p->output) {
                write_outputs(p, first + row, n, values[r]);
            }
            loss += lose(p, first + row, n, values[r]);
            backward_activation<8>(s->output_activation, &values[r][0][0], &forward[r][0][0]);
            store_values(w->gradient, s->gradient_stride, row, n, values[r][0]);
            store_values(w->gradient, s->gradient_stride, row, n + 8, values[r][1]);
        }
    }
    return loss;
}

// From the gradients by a layer's sums to those by the sums of the layer before, in place.
template <int width> static __device__ void backward_hidden(const orr_cuda_pass *p, const workplace *w, int l)
{
    constexpr int rows = tiling<width>::rows, steps = tiling<width>::steps, count = rows * 2 * steps * 4;
    const orr_cuda_shape *s = &p->shape;
    layer here = layer_of(s, l);
    const __half *weights = fetch_weights((const __half *)p->weights, here, s->weights_resident, w->weights);
    for (int row = 0; row < ORR_WARP; row += 16 * rows) {
        int at = (int)(threadIdx.x / ORR_WARP) * ORR_WARP + row;
        float sums[rows][2 * steps][4], forward[rows][2 * steps][4];
        multiply_tile<rows, steps, true>(sums, w->gradient + at * s->gradient_stride, s->gradient_stride,
                                         here.outputs / 16, weights, here.inputs + ORR_CUDA_WEIGHT_PAD, 0);
        if (orr_activation_keeps_sums(s->activation)) {
            const float *from = sums_of<width>(w, l - 1, row);
            for (int i = 0; i < count; i++) {
                (&forward[0][0][0])[i] = from[i * ORR_WARP];
            }
        } else {
            for (int r = 0; r < rows; r++) {
                for (int n = 0; n < 2 * steps; n++) {
                    load_values(tile_of(s, w, l), s->hidden_stride, at + 16 * r, 8 * n, forward[r][n]);
                }
            }
        }
        backward_activation<count>(s->activation, &sums[0][0][0], &forward[0][0][0]);
        __syncwarp(); // these rows are what was read
        for (int r = 0; r < rows; r++) {
            for (int n = 0; n < 2 * steps; n++) {
                store_values(w->gradient, s->gradient_stride, at + 16 * r, 8 * n, sums[r][n]);
            }
        }
    }
}

// Gradients by the features, where the features were.
static __device__ void backward_features(const orr_cuda_pass *p, const workplace *w)
{
    const orr_cuda_shape *s = &p->shape;
    layer here = layer_of(s, 0);
    const __half *weights = fetch_weights((const __half *)p->weights, here, s->weights_resident, w->weights);
    int warp_row = (int)(threadIdx.x / ORR_WARP) * ORR_WARP;
    for (int n = 0; n < here.inputs; n += 16) {
        float sums[2][2][4];
        multiply_tile<2, 1, true>(sums, w->gradient + warp_row * s->gradient_stride, s->gradient_stride,
                                  here.outputs / 16, weights, here.inputs + ORR_CUDA_WEIGHT_PAD, n);
        for (int r = 0; r < 2; r++) {
            store_values(w->tiles, s->first_stride, warp_row + 16 * r, n, sums[r][0]);
            store_values(w->tiles, s->first_stride, warp_row + 16 * r, n + 8, sums[r][1]);
        }
    }
    __syncwarp();
}

template <int width>
static __device__ float train_tile(const orr_cuda_pass *p, const workplace *w, int64_t first, bool begin)
{
    const orr_cuda_shape *s = &p->shape;
    int64_t sample = first + threadIdx.x;
    __half *row = w->tiles + threadIdx.x * s->first_stride;
    encode_row(p, sample, row);
    keep_rows(s, w, 0, false);
    for (int l = 0; l < s->hidden_layers; l++) {
        forward_hidden<width>(p, w, l);
    }
    float loss = forward_outputs<width>(p, w, first);
    for (int l = s->hidden_layers; l >= 0; l--) {
        layer here = layer_of(s, l);
        float *sums = p->weight_sums + (size_t)blockIdx.x * (size_t)s->network_parameters + here.first;
        if (l < s->hidden_layers) {
            keep_rows(s, w, l, true);
        }
        __syncthreads(); // all rows of gradients and inputs are there
        add_weight_gradient(w->gradient, s->gradient_stride, tile_of(s, w, l), stride_of(s, l), here, sums,
                            begin);
        __syncthreads(); // and from here only the warp that owns them reads them
        if (l > 0) {
            backward_hidden<width>(p, w, l);
        }
    }
    if (p->table_gradient || p->input_gradient) {
        backward_features(p, w);
        if (sample < samples_of(p)) {
            int64_t at = orr_block_index(sample, s->position_dims);
            backward_sample(s, (const __half *)p->table, p->positions + at, row, 1.0f / p->gradient_scale,
                            p->table_gradient, p->input_gradient ? p->input_gradient + at : NULL);
        }
        __syncwarp();
    }
    return loss;
}

template <int width> static __global__ void __launch_bounds__(SAMPLES) train(orr_cuda_pass p)
{
    __shared__ float warp_losses[WARPS];
    const orr_cuda_shape *s = &p.shape;
    ORR_DYNAMIC_SHARED(__half, shared);
    workplace w;
    w.gradient = shared;
    w.tiles = shared + SAMPLES * s->gradient_stride;
    w.weights =
        w.tiles + SAMPLES * (s->first_stride + (s->tiles_resident ? s->hidden_layers * s->hidden_stride : 0));
    w.sums = (float *)p.scratch + (size_t)blockIdx.x * s->scratch_sums;
    w.kept = (__half *)((float *)p.scratch + (size_t)gridDim.x * s->scratch_sums) +
             (size_t)blockIdx.x * s->scratch_halves;
    if (s->weights_resident) {
        copy_all_weights(s, (const __half *)p.weights, w.weights);
    }
    float loss = 0.0f;
    int64_t begin = (int64_t)blockIdx.x * SAMPLES;
    for (int64_t first = begin; first < samples_of(&p); first += (int64_t)gridDim.x * SAMPLES) {
        loss += train_tile<width>(&p, &w, first, first == begin);
    }
    if (begin >= samples_of(&p)) { // nothing to add up
        float *sums = p.weight_sums + (size_t)blockIdx.x * (size_t)s->network_parameters;
        for (int64_t i = threadIdx.x; i < s->network_parameters; i += SAMPLES) {
            sums[i] = 0.0f;
        }
    }
    for (int by = ORR_WARP / 2; by > 0; by /= 2) {
        loss += __shfl_xor_sync(ORR_ALL_LANES, loss, by);
    }
    if (orr_lane() == 0) {
        warp_losses[threadIdx.x / ORR_WARP] = loss;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        p.losses[blockIdx.x] = warp_losses[0] + warp_losses[1] + warp_losses[2] + warp_losses[3];
    }
}

// ---- launches ----

#define LAUNCH(kernel, width, bytes)                                                                         \
    do {                                                                                                     \
        cudaError_t code = cudaFuncSetAttribute((const void *)kernel<width>,                                 \
                                                cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);         \
        if (code != cudaSuccess) {                                                                           \
            return code;                                                                                     \
        }                                                                                                    \
        ORR_LAUNCH((kernel<width>), (unsigned int)blocks, SAMPLES, (size_t)(bytes), stream, *pass);          \
        return cudaGetLastError();                                                                           \
    } while (0)
#define LAUNCH_WIDTHS(kernel, bytes)                                                                         \
    switch (pass->shape.width) {                                                                             \
    case 16:                                                                                                 \
        LAUNCH(kernel, 16, bytes);                                                                           \
    case 32:                                                                                                 \
        LAUNCH(kernel, 32, bytes);                                                                           \
    case 64:                                                                                                 \
        LAUNCH(kernel, 64, bytes);                                                                           \
    default:                                                                                                 \
        LAUNCH(kernel, 128, bytes);                                                                          \
    }

cudaError_t orr_cuda_model_infer(cudaStream_t stream, const orr_cuda_pass *pass,
                                 int blocks){LAUNCH_WIDTHS(infer, pass->shape.inference_bytes)}

cudaError_t orr_cuda_model_train(cudaStream_t stream, const orr_cuda_pass *pass, int blocks)
{
    LAUNCH_WIDTHS(train, pass->shape.training_bytes)
}
