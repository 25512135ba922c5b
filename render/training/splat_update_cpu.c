// The splats' part of a step, lanes over splats: gradients are summed over tiles, carried from the screen to
// what is stored, and Adam moves the parameters at once.
#include "neural/network/optimizer_formula.h"
#include "render/formula_inputs.h"
#include "render/splat/splat_photo_inputs.h"
#include "render/splat/splat_unscented_backward_formula.h"
#include "render/training/splat_training.h"
#include "render/training/splat_update_formula.h"

// ---- gradients ----

typedef struct lane_gradients {
    splat_moments moments;
    real3 colour;
    real depth;      // 0: nobody asks
    real2 magnitude; // likewise
    mask visible;
} lane_gradients;

// Sums over tiles of the splats `splat` .., in a fixed order. False: none is on the screen.
static bool sum_rows(const orr_splat_rows *rows, int64_t splat, lane_gradients *g)
{
    const int members = rows->members;
    float sums[ORR_MOMENTS_MOST][ORR_LANES] = {{0}}, bright[3][ORR_LANES] = {{0}};
    int32_t visible[ORR_LANES] = {0};
    bool some = false;
    for (int i = 0; i < ORR_LANES; i++) {
        int32_t record = rows->record[splat + i];
        if (record == ORR_NO_RECORD) {
            continue;
        }
        some = true;
        visible[i] = -1;
        const orr_tile_box box = rows->frame.boxes[record];
        const int count = (box.x1 - box.x0 + 1) * (box.y1 - box.y0 + 1);
        const float *row = rows->rows + (size_t)rows->first[splat + i] * (size_t)members;
        for (int n = 0; n < count; n++, row += members) {
            for (int k = 0; k < members; k++) {
                sums[k][i] += row[k];
            }
        }
        const orr_splat_record *r = &rows->frame.records[record];
        // where a colour is clamped at 0 it has no derivative
        bright[0][i] = r->red > 0.0f ? 1.0f : 0.0f;
        bright[1][i] = r->green > 0.0f ? 1.0f : 0.0f;
        bright[2][i] = r->blue > 0.0f ? 1.0f : 0.0f;
    }
    real s[ORR_MOMENTS_MOST];
    for (int k = 0; k < ORR_MOMENTS_MOST; k++) {
        s[k] = real_load(sums[k]);
    }
    const int last = ORR_MOMENTS + rows->depth;
    g->depth = rows->depth ? s[ORR_MOMENTS] : R(0.0);
    g->magnitude = rows->magnitude ? make_real2(s[last], s[last + 1]) : make_real2(R(0.0), R(0.0));
    g->moments = (splat_moments){s[0], s[1], s[2], s[3], s[4], s[5]};
    g->colour =
        make_real3(s[6] * real_load(bright[0]), s[7] * real_load(bright[1]), s[8] * real_load(bright[2]));
    g->visible = sint_load(visible);
    return some;
}

// ---- Adam ----

FN real adam_move(float *const arrays[3], int64_t at, real gradient, float rate, float correction)
{
    adam_moments m = {real_load(arrays[1] + at), real_load(arrays[2] + at)};
    m = adam_advance(m, gradient, SPLAT_BETA1, SPLAT_BETA2);
    real_store(arrays[1] + at, m.first);
    real_store(arrays[2] + at, m.second);
    return real_load(arrays[0] + at) - adam_step(m, R(correction), rate, SPLAT_EPSILON);
}

// The harmonics' gradient and step; returns the derivative by the direction. at: of the splats' first
// member.
static real3 move_harmonics(const orr_splat_update_job *job, int64_t at, real3 direction,
                            const lane_gradients *g)
{
    const int degree = job->params->degree;
    float *const *arrays = job->params->harmonics;
    sh_band1 one = sh_degree1(direction);
    sh_band2 two = sh_degree2(direction);
    sh_band3 three = sh_degree3(direction);
    const real basis[16] = {R(SH_0), one.a,   one.b,   one.c,   two.a,   two.b,   two.c,   two.d,
                            two.e,   three.a, three.b, three.c, three.d, three.e, three.f, three.g};
    const real by_colour[3] = {g->colour.x, g->colour.y, g->colour.z};
    real by[16];
    for (int k = 0; k < (degree + 1) * (degree + 1); k++) {
        float rate = k == 0 ? job->rates.colour : job->rates.harmonics;
        float correction = k == 0 ? job->rates.correction : job->rates.harmonics_correction;
        by[k] = R(0.0);
        for (int c = 0; c < 3; c++) {
            const int64_t member = at + (3 * k + c) * ORR_PACK_BLOCK;
            by[k] = fma_(real_load(arrays[0] + member), by_colour[c], by[k]);
            if (rate > 0.0f) {
                real gradient = splat_tamed(g->visible, basis[k] * by_colour[c]);
                real_store(arrays[0] + member, adam_move(arrays, member, gradient, rate, correction));
            }
        }
    }
    real3 turn = {R(0.0), R(0.0), R(0.0)};
    if (degree >= 1) {
        turn = add3(turn, sh_degree1_backward((sh_band1){by[1], by[2], by[3]}));
    }
    if (degree >= 2) {
        turn = add3(turn, sh_degree2_backward(direction, (sh_band2){by[4], by[5], by[6], by[7], by[8]}));
    }
    if (degree >= 3) {
        turn = add3(turn, sh_degree3_backward(
                              direction, (sh_band3){by[9], by[10], by[11], by[12], by[13], by[14], by[15]}));
    }
    return turn;
}

// ---- the walk of faint splats ----

static real3 walk(const orr_splat_update_job *job, int64_t splat, splat_shape shape, real opacity)
{
    real share = splat_walk_share(opacity);
    if (!any(share > R(1e-4))) {
        return make_real3(R(0.0), R(0.0), R(0.0));
    }
    float numbers[3][ORR_LANES];
    for (int i = 0; i < ORR_LANES; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            numbers[k][i] = orr_splat_walk_number(job->seed, job->step, (uint32_t)(splat + i), k);
        }
    }
    real3 n = make_real3(real_load(numbers[0]), real_load(numbers[1]), real_load(numbers[2]));
    return splat_walk(shape, share * R(job->rates.noise), n);
}

// ---- the statistic of splats that are divided ----

static void add_statistic(const orr_splat_update_job *job, int64_t splat, const lane_gradients *g)
{
    real length = splat_magnitude_length(g->magnitude, splat_lens_of(job->lens));
    float *sum = job->params->statistic[0] + splat, *visits = job->params->statistic[1] + splat;
    real_store(sum, real_load(sum) + splat_tamed(g->visible, length));
    real_store(visits, real_load(visits) + sel(g->visible, R(1.0), R(0.0)));
}

// ---- all of a block ----

static void write_geometry(float *out, real3 mean, splat_axes axes, real opacity)
{
    const real members[ORR_PACK_GEOMETRY] = {mean.x,   mean.y,   mean.z,   axes.a.x, axes.a.y,
                                             axes.a.z, axes.b.x, axes.b.y, axes.b.z, axes.c.x,
                                             axes.c.y, axes.c.z, opacity};
    for (int k = 0; k < ORR_PACK_GEOMETRY; k++) {
        real_store(out + k * ORR_PACK_BLOCK, members[k]);
    }
}

typedef struct stored_splats {
    real3 mean, log_scale;
    real4 rotation;
    real logit;
} stored_splats;

static stored_splats load_stored(const float *from)
{
    real m[ORR_STORED];
    for (int k = 0; k < ORR_STORED; k++) {
        m[k] = real_load(from + k * ORR_PACK_BLOCK);
    }
    return (stored_splats){{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8], m[9]}, m[10]};
}

// sums over splats of what the camera gets back, in lanes
typedef struct camera_sums {
    real shift[3], turn[3];
} camera_sums;

static void add_camera(camera_sums *sums, mask visible, splat_camera_gradient c)
{
    const real shift[3] = {c.shift.x, c.shift.y, c.shift.z}, turn[3] = {c.turn.x, c.turn.y, c.turn.z};
    for (int k = 0; k < 3; k++) {
        sums->shift[k] = sums->shift[k] + splat_tamed(visible, shift[k]);
        sums->turn[k] = sums->turn[k] + splat_tamed(visible, turn[k]);
    }
}

// What the splats get back from where they are on the picture, and from their depths.
FN splat_gradient project_backward(const orr_splat_update_job *job, splat_lens lens, const stored_splats *s,
                                   splat_shape shape, real opacity, const lane_gradients *g)
{
    splat_gradient by;
    if (!job->photo) {
        by = splat_project_backward(lens, s->mean, shape, opacity, g->moments);
        if (job->rows->depth) {
            by.mean = add3(by.mean, splat_depth_backward(lens, g->depth));
        }
        return by;
    }
    const splat_photo_lens photo = splat_photo_of(job->photo);
    by = splat_unscented_backward(lens, photo, s->mean, shape, opacity, g->moments);
    if (job->rows->depth) {
        by.mean = add3(by.mean, splat_unscented_depth_backward(lens, photo, s->mean, g->depth));
    }
    return by;
}

static void update_lanes(const orr_splat_update_job *job, int64_t block, int part, camera_sums *sums)
{
    const orr_splat_params *params = job->params;
    const orr_splat_rates *rates = &job->rates;
    const int64_t splat = block * ORR_PACK_BLOCK + part;
    const int64_t at = block * ORR_STORED * ORR_PACK_BLOCK + part;
    const int members = orr_harmonics_members(params->degree);
    const splat_lens lens = splat_lens_of(job->lens);
    lane_gradients g;
    splat_gradient by = {0};
    bool some = sum_rows(job->rows, splat, &g);
    stored_splats s = load_stored(params->stored[0] + at);
    splat_shape shape = splat_make_shape(s.log_scale, s.rotation);
    real opacity = splat_opacity(s.logit);
    real3 direction = splat_direction(lens, s.mean);
    real3 turn = move_harmonics(job, block * members * ORR_PACK_BLOCK + part, direction, &g);
    if (some) {
        by = project_backward(job, lens, &s, shape, opacity, &g);
        real3 by_direction = splat_direction_backward(lens, s.mean, direction, turn);
        if (job->motion) {
            add_camera(sums, g.visible, splat_camera_backward(lens, s.mean, shape, by, by_direction));
        }
        by.mean = add3(by.mean, by_direction);
    }
    if (job->rows->magnitude) {
        add_statistic(job, splat, &g);
    }
    by = splat_pulled(by, g.visible, shape, opacity, rates->opacity_pull, rates->scale_pull);
    const real gradients[ORR_STORED] = {by.mean.x,      by.mean.y,      by.mean.z,     by.log_scale.x,
                                        by.log_scale.y, by.log_scale.z, by.rotation.x, by.rotation.y,
                                        by.rotation.z,  by.rotation.w,  by.logit};
    real moved[ORR_STORED];
    for (int k = 0; k < ORR_STORED; k++) {
        float rate = k < 3    ? rates->position
                     : k < 6  ? rates->scale
                     : k < 10 ? rates->rotation
                              : rates->opacity;
        moved[k] = adam_move(params->stored, at + k * ORR_PACK_BLOCK, gradients[k], rate, rates->correction);
    }
    for (int k = 3; k < 6; k++) {
        moved[k] = min_(max_(moved[k], R(rates->log_scale_low)), R(rates->log_scale_high));
    }
    if (rates->noise > 0.0f) {
        real3 step = walk(job, splat, shape, opacity);
        moved[0] = moved[0] + step.x;
        moved[1] = moved[1] + step.y;
        moved[2] = moved[2] + step.z;
    }
    mask there = lanes_below((int)(params->count - splat < ORR_LANES ? params->count - splat : ORR_LANES));
    for (int k = 0; k < ORR_STORED; k++) {
        float *to = params->stored[0] + at + k * ORR_PACK_BLOCK;
        real_store(to, sel(there, moved[k], real_load(to)));
    }
}

static void prepare_block(const orr_splat_params *params, int64_t block)
{
    for (int part = 0; part < ORR_PACK_BLOCK; part += ORR_LANES) {
        stored_splats s = load_stored(params->stored[0] + block * ORR_STORED * ORR_PACK_BLOCK + part);
        splat_shape shape = splat_make_shape(s.log_scale, s.rotation);
        write_geometry(params->geometry + block * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK + part, s.mean,
                       shape.axes, splat_opacity(s.logit));
    }
}

void ORR_ISA_NAME(orr_splat_prepare)(const orr_splat_params *params, int64_t first_block, int64_t end_block)
{
    for (int64_t block = first_block; block < end_block; block++) {
        prepare_block(params, block);
    }
}

void ORR_ISA_NAME(orr_splat_update)(const orr_splat_update_job *job)
{
    const real none = R(0.0);
    camera_sums sums = {{none, none, none}, {none, none, none}};
    for (int64_t block = job->first_block; block < job->end_block; block++) {
        for (int part = 0; part < ORR_PACK_BLOCK; part += ORR_LANES) {
            update_lanes(job, block, part, &sums);
        }
        prepare_block(job->params, block);
    }
    for (int k = 0; job->motion && k < 3; k++) {
        job->motion[k] = real_sum_double(sums.shift[k]);
        job->motion[3 + k] = real_sum_double(sums.turn[k]);
    }
}
