// Splats on the screen, from the records that splat_project writes.
#include "render/splat/splat_formula.h"

#define TILE float(SPLAT_TILE) // pixels per side

// centre: x, y, sharp_x, lean; shape: sharp_y, log2 opacity, half size
splat_footprint footprint_of(vec4 centre, vec4 shape)
{
    splat_footprint s;
    s.centre = make_real2(centre.x, centre.y);
    s.shape.sharp_x = centre.z;
    s.shape.lean = centre.w;
    s.shape.sharp_y = shape.x;
    s.log2_opacity = shape.y;
    s.half_size = make_real2(shape.z, shape.w);
    return s;
}

// First and last row of tiles.
ivec2 tile_rows(splat_footprint s, ivec2 tiles)
{
    real2 range = splat_tile_box(s.centre.y, s.half_size.y, TILE, float(tiles.y));
    return ivec2(int(range.x), int(range.y));
}

// First and last tile of a row that the splat reaches, exactly; empty when x > y.
ivec2 tiles_of_row(splat_footprint s, int row, ivec2 tiles)
{
    real2 range = splat_tile_row(s, float(row), TILE, float(tiles.x));
    return ivec2(int(range.x), int(range.y));
}
