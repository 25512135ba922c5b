// How a piece of space has moved: x -> matrix x + offset. A row of 16 floats, as lanes gather them.
#pragma once

typedef struct orr_affine_piece {
    float matrix[9]; // row-major
    float offset[3];
    float rotation[4]; // of the matrix's polar decomposition: unit quaternion, w x y z
} orr_affine_piece;
