// Splats over the points of a lattice, tile by tile. A splat is widened by a ball of SPLAT_WIDTH cells, so
// that thin ones do not fall between points.
#pragma once

#include "engine/collider/collider.h"
#include "engine/collider/lattice.h"

enum { SPLAT_TILE = 32, SPLAT_TILE_POINTS = SPLAT_TILE * SPLAT_TILE * SPLAT_TILE };

typedef enum splat_side {
    SPLAT_UNUSED = 0, // haze, or with no free space beside it
    SPLAT_SURFACE,    // solid behind the normal
    SPLAT_SHEET,      // free space on both sides: a slab behind the surface is solid
    SPLAT_ROD         // the same, without a side that is seen: the slab is around the splat
} splat_side;

// A splat in cells from the lattice's origin.
typedef struct lattice_splat {
    float position[3];
    float inverse[6];   // of the widened covariance: xx, yy, zz, xy, xz, yz
    float reach[3];     // half of the box in which its weight is not negligible
    float normal[3];    // unit: its thinnest axis
    float deviation[2]; // along the normal, and along the next axis
    float surface;      // height of the surface over the position, along the normal; half of a sheet
    float opacity;
    uint8_t side; // splat_side
} lattice_splat;

#define SPLAT_WIDTH 0.7f        // cells, a standard deviation
#define SPLAT_SQUARE 7.0f       // squared deviations up to which a splat has weight
#define SPLAT_SHEET_CELLS 2.25f // thickness of a sheet, in cells of the grid

// Which splats touch which tile.
typedef struct splat_tiles {
    int count[3];    // tiles
    uint32_t *first; // tiles + 1: into `splats`
    uint32_t *splats;
} splat_tiles;

// inverse and reach, from the axes scaled by standard deviations [cells]
void lattice_splat_widen(lattice_splat *splat, double axes[3][3]);

orr_result splat_tiles_create(const orr_lattice *lattice, const lattice_splat *splats, int64_t count,
                              splat_tiles *tiles, orr_error *error);
void splat_tiles_free(splat_tiles *tiles);

// Sums over the splats of one tile, SPLAT_TILE_POINTS each, x innermost. weight: opacity x exp(-squared
// deviation / 2). distance (nullable): weight x the distance to the splat's surface [cells]; then splats that
// are SPLAT_UNUSED are left out of both.
void splat_tile_sum(const splat_tiles *tiles, const lattice_splat *splats, int tile, float *weight,
                    float *distance);
