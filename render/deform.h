// Clouds and meshes that follow a deformation which is affine in pieces: those of a cage's tetrahedra.
#pragma once

#include "engine/core/affine_piece.h"
#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "render/mesh.h"
#include "render/splat_cloud.h"

// A cloud or mesh as it is drawn in one frame. Zero is an empty one.
typedef struct orr_deformed {
    orr_splat_pack pack; // owns geometry and turn, borrows the rest
    int64_t blocks;      // that there is memory for
    orr_mesh mesh;       // owns its vertices, borrows the rest
    int64_t vertices;    // likewise
} orr_deformed;

// piece_of: of each splat of the pack (blocks x 16), or of each vertex.
orr_result orr_deform_splats(const orr_splat_pack *rest, const int32_t *piece_of,
                             const orr_affine_piece *pieces, orr_isa isa, orr_jobs *jobs, orr_deformed *out,
                             orr_error *error);
orr_result orr_deform_mesh(const orr_mesh *rest, const int32_t *piece_of, const orr_affine_piece *pieces,
                           orr_jobs *jobs, orr_deformed *out, orr_error *error);
void orr_deformed_clear(orr_deformed *deformed);

// ---- for instruction sets

typedef struct orr_deform_job {
    const orr_splat_pack *rest;
    const int32_t *piece_of;
    const orr_affine_piece *pieces;
    orr_splat_pack *out;
} orr_deform_job;

void orr_deform_blocks_baseline(const orr_deform_job *job, int64_t first, int64_t end);
void orr_deform_blocks_avx2(const orr_deform_job *job, int64_t first, int64_t end);
void orr_deform_blocks_avx512(const orr_deform_job *job, int64_t first, int64_t end);
