// The tiles that a splat's ellipse reaches: a range of rows, and an exact interval in each row (splat_formula.h).
#include "render/splat_formula.h"

#define TILE SPLAT_TILE

struct tile_walk {
    vec4 place; // x, y, sharp_x, lean
    vec4 shape; // sharp_y, log2 opacity, half size
    int tiles_x;
    int first_row, last_row;
};

tile_walk begin_tiles(vec4 place, vec4 shape, ivec2 tiles)
{
    real2 rows = splat_tile_box(place.y, shape.w, float(tiles.y));
    return tile_walk(place, shape, tiles.x, int(rows.x), int(rows.y));
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
    real2 centre;
    centre.x = walk.place.x;
    centre.y = walk.place.y;
    real2 range = splat_tile_row(shape, walk.shape.y, half_size, centre, float(row), float(walk.tiles_x));
    return ivec2(int(range.x), int(range.y));
}
