// Which blocks of pixels of a tile the splats of a batch reach: lanes over splats.
#pragma once

#include "render/cpu/splats_cpu.h"
#include "render/formula_inputs.h"

enum {
    BATCH = 64, // splats, as many as a word has bits
    BLOCK_W = 4,
    BLOCK_H = ORR_LANES / BLOCK_W,
    COLUMNS = ORR_CPU_TILE / BLOCK_W,
    ROWS = ORR_CPU_TILE / BLOCK_H,
    BLOCKS = COLUMNS * ROWS
};

FN real pixel_column(int left)
{
    return to_real((lane_index() & I(BLOCK_W - 1)) + I(left)) + R(0.5);
}

FN real pixel_row(int top)
{
    return to_real((lane_index() >> 2) + I(top)) + R(0.5);
}

// a member of the batch's records, for splats first ..
#define MEMBER(name) real_gather(&batch[first].name, lane_index() * I(sizeof(orr_splat_record) / 4))

// A bit for each splat in the word of each block that it reaches. live_rows: a bit for each row of blocks
// that take part.
FN void find_touched_blocks(const orr_splat_record *batch, int count, int tile_x, int tile_y,
                            unsigned live_rows, uint64_t touches[BLOCKS])
{
    for (int b = 0; b < BLOCKS; b++) {
        touches[b] = 0;
    }
    for (int first = 0; first < count; first += ORR_LANES) {
        // positions relative to the tile's corner
        real x = MEMBER(x) - R(tile_x * ORR_CPU_TILE);
        real y = MEMBER(y) - R(tile_y * ORR_CPU_TILE);
        ellipse shape = {MEMBER(sharp_x), MEMBER(lean), MEMBER(sharp_y)};
        real reach = MEMBER(reach);
        real2 half_size = {MEMBER(half_width), MEMBER(half_height)};
        mask there = lanes_below(count - first);
        for (int row = 0; row < ROWS; row++) {
            if (!(live_rows >> row & 1)) {
                continue;
            }
            // a hundredth of a pixel on each side covers the rounding of the ends
            real low = R(row * BLOCK_H + 0.49) - y;
            real high = R(row * BLOCK_H + BLOCK_H - 0.49) - y;
            mask some = and_(there, and_(low <= half_size.y, high >= -half_size.y));
            if (!any(some)) { // neighbours in a pack are near each other
                continue;
            }
            real2 ends = splat_band(shape, reach, half_size, low, high);
            some = and_(some, ends.x <= ends.y);
            real left = x + ends.x;
            real right = x + ends.y;
            for (int column = 0; column < COLUMNS; column++) {
                mask touched = and_(and_(some, left <= R(column * BLOCK_W + BLOCK_W - 0.49)),
                                    right >= R(column * BLOCK_W + 0.49));
                touches[row * COLUMNS + column] |= (uint64_t)mask_bits(touched) << first;
            }
        }
    }
}
