// The tiles of 16x16 pixels that a splat's ellipse reaches: a range of rows, and an exact interval in each row.
#include "render/splat_formula.h"

#define TILE 16

struct tile_walk {
    vec4 place; // x, y, sharp_x, lean
    vec4 shape; // sharp_y, log2 opacity, half size
    int tiles_x;
    int first_row, last_row;
    int first_column, last_column; // of the box
};

int clamp_tile(float pixel, int tiles)
{
    // in float first: positions may be far outside the range of int
    return int(clamp(floor(pixel * (1.0 / float(TILE))), 0.0, float(tiles - 1)));
}

tile_walk begin_tiles(vec4 place, vec4 shape, ivec2 tiles)
{
    tile_walk walk;
    walk.place = place;
    walk.shape = shape;
    walk.tiles_x = tiles.x;
    walk.first_column = clamp_tile(place.x - shape.z - 0.5, tiles.x);
    walk.last_column = clamp_tile(place.x + shape.z - 0.5, tiles.x);
    walk.first_row = clamp_tile(place.y - shape.w - 0.5, tiles.y);
    walk.last_row = clamp_tile(place.y + shape.w - 0.5, tiles.y);
    return walk;
}

// first and last tile of a row; empty when x > y
ivec2 tiles_of_row(tile_walk walk, int row)
{
    ellipse shape;
    shape.sharp_x = walk.place.z;
    shape.lean = walk.place.w;
    shape.sharp_y = walk.shape.x;
    real2 half_size;
    half_size.x = walk.shape.z;
    half_size.y = walk.shape.w;
    // pixel centres of the row, and a hundredth of a pixel for the rounding of these lines
    float low = float(row * TILE) + 0.49 - walk.place.y;
    real2 ends = splat_band(shape, splat_reach(walk.shape.y), half_size, low, low + float(TILE) - 0.98);
    if (ends.x > ends.y) {
        return ivec2(1, 0);
    }
    return ivec2(max(clamp_tile(walk.place.x + ends.x - 0.51, walk.tiles_x), walk.first_column),
                 min(clamp_tile(walk.place.x + ends.y - 0.49, walk.tiles_x), walk.last_column));
}
