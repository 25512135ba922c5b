// Pictures over their background and through an exposure, lanes over the pixels of a row.
#include "engine/maths/lanes.h"
#include "render/training/picture/picture_compose.h"
#include "render/training/picture/picture_exposure_formula.h"

static exposure_map load_exposure(const float *e)
{
    return (exposure_map){make_real3(R(e[0]), R(e[1]), R(e[2])), make_real3(R(e[4]), R(e[5]), R(e[6])),
                          make_real3(R(e[8]), R(e[9]), R(e[10])), make_real3(R(e[3]), R(e[7]), R(e[11]))};
}

static real3 load_pixels(const orr_loss_planes *planes, int y, int x)
{
    return make_real3(real_load(orr_loss_row(planes, 0, y) + x), real_load(orr_loss_row(planes, 1, y) + x),
                      real_load(orr_loss_row(planes, 2, y) + x));
}

static void store_pixels(const orr_loss_planes *planes, int y, int x, real3 value)
{
    real_store(orr_loss_row(planes, 0, y) + x, value.x);
    real_store(orr_loss_row(planes, 1, y) + x, value.y);
    real_store(orr_loss_row(planes, 2, y) + x, value.z);
}

// pixels behind the row's end are 0
static real3 within(real3 colour, mask there)
{
    return make_real3(sel(there, colour.x, R(0.0)), sel(there, colour.y, R(0.0)),
                      sel(there, colour.z, R(0.0)));
}

static int end_row(const orr_compose_job *job, int i)
{
    const int end = (i + 1) * ORR_COMPOSE_ROWS;
    return end < job->photo.height ? end : job->photo.height;
}

// a pixel of each lane, as drawn; behind the row's end the last one again
typedef struct drawn_pixels {
    real3 colour;
    real alpha;
    mask there;
} drawn_pixels;

static drawn_pixels load_drawn(const orr_compose_job *job, int y, int x)
{
    const int left = job->photo.width - x;
    const sint inside = lane_index() < I(left);
    const sint at = ((lane_index() & inside) | (I(left - 1) & ~inside)) * I(4);
    const float *rgba = job->rgba + 4 * ((int64_t)y * job->photo.width + x);
    return (drawn_pixels){
        make_real3(real_gather(rgba, at), real_gather(rgba + 1, at), real_gather(rgba + 2, at)),
        real_gather(rgba + 3, at), lanes_below(left)};
}

static real3 background_of(const orr_compose_job *job)
{
    return make_real3(R(job->background[0]), R(job->background[1]), R(job->background[2]));
}

static void compose_row(const orr_compose_job *job, const exposure_map *exposure, int y)
{
    const int width = job->photo.width;
    const real3 background = background_of(job);
    for (int x = 0; x < width; x += ORR_LANES) {
        drawn_pixels p = load_drawn(job, y, x);
        real3 c = exposure ? exposure_apply(*exposure, p.colour, p.alpha) : p.colour;
        c = add_scaled3(c, background, R(1.0) - p.alpha);
        store_pixels(&job->picture, y, x, within(c, p.there));
    }
    for (int x = 0; job->mask && x < width; x++) {
        for (int k = 0; job->mask[(int64_t)y * width + x] == 0 && k < 3; k++) {
            orr_loss_row(&job->picture, k, y)[x] = orr_loss_row(&job->photo, k, y)[x];
        }
    }
}

// ---- through a grid: pixel by pixel, vectors over the numbers of a map ----

static void place_of(const orr_compose_job *job, int y, int x, const float *drawn, grid_place *place)
{
    *place = grid_find(grid_middle(x, job->photo.width), grid_middle(y, job->photo.height), drawn);
}

static void compose_row_by_grid(const orr_compose_job *job, int y)
{
    const int width = job->photo.width;
    for (int x = 0; x < width; x++) {
        const int64_t at = (int64_t)y * width + x;
        const float *drawn = job->rgba + 4 * at;
        const bool kept = !job->mask || job->mask[at] != 0;
        float c[3];
        grid_place place;
        place_of(job, y, x, drawn, &place);
        grid_apply(job->grid, &place, drawn, drawn[3], c);
        for (int k = 0; k < 3; k++) {
            orr_loss_row(&job->picture, k, y)[x] =
                kept ? c[k] + (1.0f - drawn[3]) * job->background[k] : orr_loss_row(&job->photo, k, y)[x];
        }
    }
}

static void backward_row_by_grid(const orr_compose_job *job, int y, float *by_grid)
{
    const int width = job->photo.width;
    for (int x = 0; x < width; x++) {
        const int64_t at = (int64_t)y * width + x;
        const float *drawn = job->rgba + 4 * at;
        float by[3], by_map[ORR_GRID_MAP], by_colour[3];
        grid_place place;
        place_of(job, y, x, drawn, &place);
        for (int k = 0; k < 3; k++) {
            by[k] = orr_loss_row(&job->gradient, k, y)[x];
        }
        grid_backward(job->grid, &place, drawn, drawn[3], by, by_map, by_colour, &job->by_alpha[at]);
        grid_spread(&place, by_map, by_grid);
        for (int k = 0; k < 3; k++) {
            orr_loss_row(&job->gradient, k, y)[x] = by_colour[k];
            job->by_alpha[at] -= by[k] * job->background[k];
        }
    }
}

void ORR_ISA_NAME(orr_compose_forward)(const orr_compose_job *job, int i)
{
    exposure_map exposure;
    if (job->exposure) {
        exposure = load_exposure(job->exposure);
    }
    for (int y = i * ORR_COMPOSE_ROWS; y < end_row(job, i); y++) {
        if (job->grid) {
            compose_row_by_grid(job, y);
        } else {
            compose_row(job, job->exposure ? &exposure : NULL, y);
        }
    }
}

// What alpha itself adds: |alpha - photo_alpha|, 0 where the mask leaves out.
static void add_alpha_loss(const orr_compose_job *job, int y, double *sum)
{
    const int width = job->photo.width;
    const float weight = job->alpha_weight / ((float)width * (float)job->photo.height);
    for (int64_t at = (int64_t)y * width; at < (int64_t)(y + 1) * width; at++) {
        const float difference = job->rgba[4 * at + 3] - job->photo_alpha[at];
        if (!job->mask || job->mask[at] != 0) {
            job->by_alpha[at] += difference > 0.0f ? weight : difference < 0.0f ? -weight : 0.0f;
            *sum += difference > 0.0f ? (double)difference : -(double)difference;
        }
    }
}

// The gradient is 0 where the mask leaves out.
void ORR_ISA_NAME(orr_compose_backward)(const orr_compose_job *job, int i)
{
    static const float identity[ORR_EXPOSURE] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const exposure_map exposure = load_exposure(job->exposure ? job->exposure : identity);
    const real3 lift = sub3(exposure.shift, background_of(job)); // what a colour gains by alpha
    const real3 zero = make_real3(R(0.0), R(0.0), R(0.0));
    exposure_map sum = {zero, zero, zero, zero};
    double alpha_sum = 0.0;
    const int width = job->photo.width;
    for (int y = i * ORR_COMPOSE_ROWS; y < end_row(job, i); y++) {
        if (job->grid) {
            backward_row_by_grid(job, y, job->by_grid + (size_t)i * ORR_GRID);
        }
        for (int x = 0; !job->grid && x < width; x += ORR_LANES) {
            drawn_pixels p = load_drawn(job, y, x);
            real3 g = within(load_pixels(&job->gradient, y, x), p.there);
            float by_alpha[ORR_LANES];
            sum = exposure_add(sum, g, p.colour, p.alpha);
            store_pixels(&job->gradient, y, x, exposure_backward(exposure, g));
            real_store(by_alpha, dot3(g, lift));
            for (int n = 0; n < ORR_LANES && x + n < width; n++) {
                job->by_alpha[(int64_t)y * width + x + n] = by_alpha[n];
            }
        }
        if (job->photo_alpha) {
            add_alpha_loss(job, y, &alpha_sum);
        }
    }
    const real by[ORR_EXPOSURE] = {sum.x.x, sum.x.y,     sum.x.z, sum.shift.x, sum.y.x, sum.y.y,
                                   sum.y.z, sum.shift.y, sum.z.x, sum.z.y,     sum.z.z, sum.shift.z};
    for (int k = 0; k < ORR_EXPOSURE; k++) {
        job->sums[i * ORR_COMPOSE_SUMS + k] = real_sum_double(by[k]);
    }
    job->sums[i * ORR_COMPOSE_SUMS + ORR_EXPOSURE] = alpha_sum;
}
