// Projection on the CPU: lanes over the splats of a pack.
#include "render/cpu/splats_cpu.h"
#include "render/formula_inputs.h"
#include "render/splat/pack_inputs.h"
#include "render/splat/splat_photo_inputs.h"
#include "render/splat_detail/splat_cut_formula.h"

FN real3 coefficient(const float *harmonics, int k)
{
    const float *at = harmonics + 3 * k * ORR_PACK_BLOCK;
    return make_real3(real_load(at), real_load(at + ORR_PACK_BLOCK), real_load(at + 2 * ORR_PACK_BLOCK));
}
#define C(k) coefficient(harmonics, k)

// harmonics: the splats' coefficients in a pack's layout
FN real3 splat_colour(const float *harmonics, int degree, real3 direction)
{
    real3 sum = sh_sum0(C(0));
    if (degree >= 1) {
        sum = sh_sum1(sum, direction, C(1), C(2), C(3));
    }
    if (degree >= 2) {
        sum = sh_sum2(sum, direction, C(4), C(5), C(6), C(7), C(8));
    }
    if (degree >= 3) {
        sum = sh_sum3(sum, direction, C(9), C(10), C(11), C(12), C(13), C(14), C(15));
    }
    return sh_clamped(sum);
}

enum { RECORD_NUMBERS = sizeof(orr_splat_record) / sizeof(float) };

// Writes the visible lanes one after another, from record `first` on; returns how many.
static int store_records(const orr_project_job *job, int first, uint32_t visible, const splat_screen *s,
                         real3 colour, const uint32_t *original)
{
    // the members of records in their order, each in the lanes, which then become the records
    real row[RECORD_NUMBERS] = {
        s->centre.x,
        s->centre.y,
        s->shape.sharp_x,
        s->shape.lean,
        s->shape.sharp_y,
        s->log2_opacity,
        colour.x,
        colour.y,
        colour.z,
        s->depth,
        s->reach,
        s->half_size.x,
        s->half_size.y,
        (real)(sint_load((const int32_t *)original) + I((int32_t)job->first_file_index)),
        (real)I((int32_t)job->layer),
        R(0.0)};
    for (int k = 0; k < RECORD_NUMBERS; k += ORR_LANES) {
        real_transpose(row + k);
    }
    const float tiles_x = (float)((job->width + ORR_CPU_TILE - 1) / ORR_CPU_TILE);
    const float tiles_y = (float)((job->height + ORR_CPU_TILE - 1) / ORR_CPU_TILE);
    int32_t box[4][ORR_LANES];
    real2 columns = splat_tile_box(s->centre.x, s->half_size.x, ORR_CPU_TILE, tiles_x);
    real2 rows = splat_tile_box(s->centre.y, s->half_size.y, ORR_CPU_TILE, tiles_y);
    sint_store(box[0], to_int(columns.x));
    sint_store(box[1], to_int(rows.x));
    sint_store(box[2], to_int(columns.y));
    sint_store(box[3], to_int(rows.y));
    int32_t keys[ORR_LANES];
    sint_store(keys, (sint)s->depth); // positive floats sort as their bits do
    int count = 0;
    for (; visible; visible &= visible - 1, count++) {
        int i = __builtin_ctz(visible);
        job->keys[first + count] = (uint32_t)keys[i];
        job->boxes[first + count] = (orr_tile_box){(uint16_t)box[0][i], (uint16_t)box[1][i],
                                                   (uint16_t)box[2][i], (uint16_t)box[3][i]};
        for (int k = 0; k < RECORD_NUMBERS; k += ORR_LANES) {
            real_store((float *)&job->records[first + count] + k, row[k + i]);
        }
    }
    return count;
}

FN int project(const orr_project_job *job, bool deformed, bool distorted)
{
    const splat_lens lens = splat_lens_of(job->lens);
    splat_photo_lens photo;
    if (distorted) {
        photo = splat_photo_of(job->photo);
    }
    const clip_plane clip = clip_plane_of(job->clip);
    const int degree = job->pack->sh_degree;
    const int members = 3 * (degree + 1) * (degree + 1);
    int count = 0;
    for (int64_t block = job->first_block; block < job->end_block; block++) {
        for (int part = 0; part < ORR_PACK_BLOCK; part += ORR_LANES) {
            const float *g = job->pack->geometry + block * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK + part;
            const packed_splats p = packed_splats_at(g);
            real3 mean = p.mean;
            splat_axes axes = p.axes;
            splat_deformation deformation;
            if (deformed) {
                deformation = splat_deformation_at(job->deformation, block * ORR_PACK_BLOCK + part);
                mean = deform_mean(deformation, mean);
                axes = deform_axes(deformation, axes);
            }
            splat_screen s = distorted ? splat_project_unscented(lens, photo, mean, axes, p.opacity)
                                       : splat_project(lens, mean, axes, p.opacity);
            uint32_t visible = mask_bits(and_(s.visible, clip_height(clip, mean) >= R(0.0)));
            if (!visible) {
                continue;
            }
            if (job->only_shape) {
                count += store_records(job, count, visible, &s, make_real3(R(0.0), R(0.0), R(0.0)),
                                       job->pack->original + block * ORR_PACK_BLOCK + part);
                continue;
            }
            const float *harmonics = job->pack->harmonics + block * members * ORR_PACK_BLOCK + part;
            real3 direction =
                deformed ? deform_direction(deformation, lens, mean) : splat_direction(lens, mean);
            real3 colour = splat_colour(harmonics, degree, direction);
            count += store_records(job, count, visible, &s, colour,
                                   job->pack->original + block * ORR_PACK_BLOCK + part);
        }
    }
    return count;
}

// The same of nodes, merged or not.
static int project_nodes(const orr_project_job *job)
{
    const splat_lens lens = splat_lens_of(job->lens);
    const clip_plane clip = clip_plane_of(job->clip);
    const int degree = job->detail->sh_degree;
    const int members = 3 * (degree + 1) * (degree + 1);
    int count = 0;
    for (int64_t i = job->first_block; i < job->end_block; i++) {
        const orr_splat_run run = job->runs[i];
        const orr_splat_level *level = &job->detail->levels[run.level];
        const size_t at = (size_t)run.block * ORR_PACK_BLOCK;
        for (int part = 0; part < ORR_PACK_BLOCK; part += ORR_LANES) {
            const uint32_t nodes = (uint32_t)run.nodes >> part & ORR_ALL_LANES;
            if (!nodes) {
                continue;
            }
            const float *g = level->geometry + at * ORR_PACK_GEOMETRY + part;
            const packed_splats p = packed_splats_at(g);
            splat_screen s;
            if (level->merged) {
                const float *merged = level->merged + at * ORR_DETAIL_MERGED + part;
                const merged_splat node = {p.opacity, real_load(merged), real_load(merged + ORR_PACK_BLOCK),
                                           real_load(merged + 2 * ORR_PACK_BLOCK)};
                s = merged_project(lens, p.mean, p.axes, node);
            } else {
                s = splat_project(lens, p.mean, p.axes, p.opacity);
            }
            uint32_t visible = nodes & mask_bits(and_(s.visible, clip_height(clip, p.mean) >= R(0.0)));
            if (visible) {
                real3 colour = make_real3(R(0.0), R(0.0), R(0.0));
                if (!job->only_shape) {
                    colour = splat_colour(level->harmonics + at * (size_t)members + part, degree,
                                          splat_direction(lens, p.mean));
                }
                count += store_records(job, count, visible, &s, colour, level->original + at + part);
            }
        }
    }
    return count;
}

int ORR_ISA_NAME(orr_splat_project)(const orr_project_job *job)
{
    const bool deformed = job->deformation && job->deformation->piece_of;
    if (job->detail) {
        return project_nodes(job);
    }
    if (job->photo) {
        return deformed ? project(job, true, true) : project(job, false, true);
    }
    return deformed ? project(job, true, false) : project(job, false, false);
}
