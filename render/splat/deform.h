// Meshes that follow a deformation which is affine in pieces: that of a cage's tetrahedra. Clouds follow one
// where they are projected (orr_draw_deformation).
#pragma once

#include "engine/core/jobs.h"
#include "engine/maths/affine_piece.h"
#include "render/mesh.h"

// A mesh as it is drawn in one frame. Zero is an empty one.
typedef struct orr_deformed {
    orr_mesh mesh;    // owns its vertices, borrows the rest
    int64_t vertices; // that there is memory for
} orr_deformed;

// piece_of: of each vertex.
orr_result orr_deform_mesh(const orr_mesh *rest, const int32_t *piece_of, const orr_affine_piece *pieces,
                           orr_jobs *jobs, orr_deformed *out, orr_error *error);
void orr_deformed_clear(orr_deformed *deformed);
