#include "render/training/splat_schedule.h"

#include <math.h>

// Schedules, by the share of the training that is over.
enum {
    REFINE_EVERY = 100, // steps between relocations
    REST_EVERY = 8,     // steps between those of the higher harmonics
    SIDE_LEAST = 64,    // [px] of a picture to learn from
    PIXELS_MAX = 1 << 20
};
static const double COUNT_LEAST = 150000.0, COUNT_MOST = 1e6; // splats when nobody says
static const double COUNT_SECONDS = 180.0;                    // of the least
static const double FIRST_SHARE = 0.3;                        // of the splats, at the beginning
static const double GROWN_AT = 0.4;                           // all of them
static const double REFINED_AT = 0.85;                        // no more moves and noise
static const double DEGREE_EVERY = 0.08;                      // a degree of harmonics more
static const double HALVES_UNTIL = 0.45;                      // pictures of half the size
static const double PRUNED_AT[2] = {0.5, 0.65};
static const double WHOLE_FROM = 0.9;      // pictures of more than PIXELS_MAX in full size
static const double QUARTERS_UNTIL = 0.08; // and of a quarter

// Four to sixteen times the learning rates of Kerbl et al., which are for 30,000 steps: minutes of a CPU
// allow a few thousand. Positions' are times the extent of the cameras.
static const float POSITION_RATE = 9.6e-4f, POSITION_RATE_END = 1.6e-5f;
static const float SCALE_RATE = 2e-2f, ROTATION_RATE = 6e-3f, OPACITY_RATE = 0.05f;
static const float COLOUR_RATE = 1e-2f, HARMONICS_RATE = 2e-3f;
static const float NOISE = 1.7e5f;                           // times the rate of positions
static const float OPACITY_PULL = 0.01f, SCALE_PULL = 0.01f; // of their means in the loss

// Of magnitudes, in normalised device coordinates.
const float orr_splat_divide_threshold = 4e-4f;

// Of exposures, and of cameras: shifts are times the extent, turns in radians. Cameras wait until there is
// something to see.
static const float EXPOSURE_RATE = 1e-2f, EXPOSURE_RATE_END = 1e-3f;
static const float GRID_RATE = 2e-3f, GRID_RATE_END = 2e-4f; // faster ones explain what splats should
static const float MOTION_RATE = 1e-3f, MOTION_RATE_END = 1e-5f;
static const double MOVES_FROM = 0.1;

static float between(float begin, float end, double progress)
{
    return begin * powf(end / begin, (float)fmin(fmax(progress, 0.0), 1.0));
}

static float adam_correction(int64_t steps)
{
    return (float)(sqrt(1.0 - pow(0.999, (double)steps)) / (1.0 - pow(0.9, (double)steps)));
}

bool orr_splat_refines_at(double progress)
{
    return progress < REFINED_AT;
}

orr_splat_rates orr_splat_rates_at(const orr_splat_schedule *s, double progress)
{
    const float position = s->extent * between(POSITION_RATE, POSITION_RATE_END, progress);
    const float count = (float)s->splats;
    const bool mcmc = s->strategy == ORR_SPLAT_MCMC; // its pulls make splats free for relocations
    bool rest = s->degree > 0 && s->steps % REST_EVERY == 0;
    return (orr_splat_rates){
        .position = position,
        .scale = SCALE_RATE,
        .rotation = ROTATION_RATE,
        .opacity = OPACITY_RATE,
        .colour = COLOUR_RATE,
        .harmonics = rest ? HARMONICS_RATE : 0.0f,
        .noise = mcmc && orr_splat_refines_at(progress) ? NOISE * position : 0.0f,
        .opacity_pull = mcmc ? OPACITY_PULL / count : 0.0f,
        .scale_pull = mcmc ? SCALE_PULL / (3.0f * count) * 4.0f / s->extent : 0.0f,
        .log_scale_low = logf(1e-6f * s->extent),
        .log_scale_high = logf(10.0f * s->extent),
        .correction = adam_correction(s->steps + 1),
        .harmonics_correction = adam_correction(s->rest_steps + 1),
    };
}

orr_splat_view_rates orr_splat_view_rates_at(float extent, double progress)
{
    const float turn = progress < MOVES_FROM ? 0.0f : between(MOTION_RATE, MOTION_RATE_END, progress);
    return (orr_splat_view_rates){.exposure = between(EXPOSURE_RATE, EXPOSURE_RATE_END, progress),
                                  .grid = between(GRID_RATE, GRID_RATE_END, progress),
                                  .shift = extent * turn,
                                  .turn = turn};
}

int orr_splat_prunings_at(double progress)
{
    return (progress >= PRUNED_AT[0]) + (progress >= PRUNED_AT[1]);
}

int orr_splat_shrink_at(const orr_lens *lens, double progress)
{
    const int side = lens->width < lens->height ? lens->width : lens->height;
    int shrink = progress < QUARTERS_UNTIL ? 4 : progress < HALVES_UNTIL ? 2 : 1;
    // large photos are whole only at the end
    for (int all = lens->width * lens->height; progress < WHOLE_FROM && all > PIXELS_MAX; all /= 4) {
        shrink *= 2;
    }
    while (shrink > 1 && side / shrink < SIDE_LEAST) {
        shrink /= 2;
    }
    return shrink;
}

int orr_splat_degree_at(int degree, double progress)
{
    return (int)fmin((double)degree, progress / DEGREE_EVERY);
}

// The more steps there are, the more splats they can tell apart (docs/measurements/splat-training.md).
int64_t orr_splat_count_for(double seconds)
{
    const double count = COUNT_LEAST * pow(seconds / COUNT_SECONDS, 2.0 / 3.0);
    return (int64_t)fmin(fmax(count, COUNT_LEAST), COUNT_MOST);
}

int64_t orr_splat_first_count(int64_t most)
{
    const int64_t count = (int64_t)(FIRST_SHARE * (double)most);
    return count > 0 ? count : 1;
}

int64_t orr_splat_count_at(int64_t most, int64_t steps, double progress)
{
    if (steps % REFINE_EVERY != 0 || !orr_splat_refines_at(progress)) {
        return 0;
    }
    const double share = FIRST_SHARE * pow(1.0 / FIRST_SHARE, fmin(progress / GROWN_AT, 1.0));
    const int64_t count = (int64_t)(share * (double)most + 0.5);
    return count < most ? count : most;
}
