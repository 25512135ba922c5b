// The fused MLP with AMX: tiles of 16 rows of 64 bytes; tdpbf16ps multiplies 16 x 32 by 32 x 16 bf16 numbers
// and adds to 16 x 16 fp32 sums. Tiles 0 .. 3 hold a strip's sums, 4 the first factor, 5 .. 7 the second's.
#include "engine/maths/lanes.h"

// One 16 x 16 tile of sums per 16 columns; `tile` and `spare` are tile numbers, which the instructions hold
// as literals.
#define ADD_PRODUCT(tile, spare)                                                                             \
    if (columns > 16 * (tile)) {                                                                             \
        _tile_loadd(spare, b + k * b_stride + 16 * (tile), b_stride * 4);                                    \
        _tile_dpbf16ps(tile, 4, spare);                                                                      \
    }
#define STORE(tile)                                                                                          \
    if (columns > 16 * (tile)) {                                                                             \
        _tile_stored(tile, sums + 16 * (tile), 64 * 4);                                                      \
    }

// sums[16][ORR_SAMPLES]: its first `columns`, a multiple of 16, at most 64. Both factors are filled up with
// zeros to a multiple of 16 words in k.
static void multiply_strip(float *sums, const uint32_t *a, int a_stride, const uint32_t *b, int b_stride,
                           int pairs, int columns)
{
    // gcc does not know that a tile load reads memory: what was stored must be there
    __asm__ volatile("" ::: "memory");
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int k = 0; k < pairs; k += 16) {
        _tile_loadd(4, a + k, a_stride * 4);
        ADD_PRODUCT(0, 5)
        ADD_PRODUCT(1, 6)
        ADD_PRODUCT(2, 7)
        ADD_PRODUCT(3, 5)
    }
    STORE(0)
    STORE(1)
    STORE(2)
    STORE(3)
}

#include "neural/network/mlp_bf16_blocks.h"

typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;
_Static_assert(sizeof(tile_config) == 64, "as the instruction reads it");

// All eight tiles alike; they are released after each block, so that a sleeping thread has no tile state to
// save.
static const tile_config whole_tiles = {
    .palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

static void forward(const orr_mlp_weights *w, const float *input, float *output, float *activations)
{
    _tile_loadconfig(&whole_tiles);
    forward_blocks(w, input, output, activations);
    _tile_release();
}

static void backward(const orr_mlp_weights *w, const float *input, const float *output,
                     const float *activations, const float *output_gradient, float *weight_gradient,
                     float *input_gradient)
{
    _tile_loadconfig(&whole_tiles);
    backward_blocks(w, input, output, activations, output_gradient, weight_gradient, input_gradient);
    _tile_release();
}

static double peak(int rounds, float *sink)
{
    _Alignas(64) float sums[16 * 16];
    _tile_loadconfig(&whole_tiles);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    for (int i = 0; i < rounds; i++) {
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 5);
        _tile_dpbf16ps(2, 4, 5);
        _tile_dpbf16ps(3, 4, 5);
    }
    _tile_stored(0, sums, 64);
    _tile_release();
    *sink += sums[0];
    return 4.0 * 2.0 * 16 * 16 * 32 * rounds;
}

const orr_mlp_kernels orr_mlp_kernels_amx = {
    .bf16 = true, .forward = forward, .backward = backward, .peak = peak};
