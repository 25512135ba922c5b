// Splats that follow a deformation: lanes over the splats of a pack, compiled once per instruction set.
#include "engine/core/isa.h"
#include "engine/maths/lanes.h"
#include "render/splat/deform.h"
#include "render/splat/deform_formula.h"

enum { PIECE = sizeof(orr_affine_piece) / sizeof(float) };

FN real3 load_row(const float *members, int first)
{
    const float *at = members + (ptrdiff_t)first * ORR_PACK_BLOCK;
    return make_real3(real_load(at), real_load(at + ORR_PACK_BLOCK), real_load(at + 2 * ORR_PACK_BLOCK));
}

FN void store_row(float *members, int first, real3 value)
{
    float *at = members + (ptrdiff_t)first * ORR_PACK_BLOCK;
    real_store(at, value.x);
    real_store(at + ORR_PACK_BLOCK, value.y);
    real_store(at + 2 * ORR_PACK_BLOCK, value.z);
}

void ORR_ISA_NAME(orr_deform_blocks)(const orr_deform_job *job, int64_t first, int64_t end)
{
    for (int64_t block = first; block < end; block++) {
        for (int part = 0; part < ORR_PACK_BLOCK; part += ORR_LANES) {
            const float *from = job->rest->geometry + block * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK + part;
            float *to = job->out->geometry + block * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK + part;
            float *turn = job->out->turn + block * 4 * ORR_PACK_BLOCK + part;
            real p[PIECE];
            real_gather_row((const float *)job->pieces,
                            (const uint32_t *)job->piece_of + block * ORR_PACK_BLOCK + part, PIECE, p);
            const splat_deformation d = {
                {p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}, {p[9], p[10], p[11]}};
            store_row(to, 0, deform_mean(d, load_row(from, 0)));
            for (int axis = 0; axis < 3; axis++) {
                store_row(to, 3 + 3 * axis, deform_axis(d, load_row(from, 3 + 3 * axis)));
            }
            real_store(to + 12 * ORR_PACK_BLOCK, real_load(from + 12 * ORR_PACK_BLOCK));
            for (int k = 0; k < 4; k++) {
                real_store(turn + (ptrdiff_t)k * ORR_PACK_BLOCK, p[12 + k]);
            }
        }
    }
}
