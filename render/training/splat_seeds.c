#include "render/training/splat_seeds.h"

#include "engine/maths/morton.h"
#include "engine/maths/radix_sort.h"
#include "engine/maths/rng.h"
#include "engine/maths/solve3.h"
#include "render/training/nearest.h"

#include <math.h>
#include <string.h>

enum {
    CANDIDATES = 24, // points tried for each seed
    CANDIDATES_MAX = 512,
    WITNESSES = 12, // photos that judge a candidate
    SEEN_LEAST = 3, // photos that must see a point
    SEEN_OF_OBJECT = 7,
    BLOCK = 1024 // seeds per job
};

// What a seed's scale is of the distance to its neighbours, how far it may be from the usual one, and its
// opacity.
static const float SCALE_SHARE = 0.5f, SCALE_MOST = 10.0f, SCALE_LEAST = 0.01f, OPACITY_LOGIT = 0.0f;
static const float NEAR_CAMERA = 0.01f; // of the extent: no point is a seed there

// Badness, besides the variance of colours in 0 .. 1: of a point that few photos see, and of each that does
// not.
#define UNKNOWN 10.0f
#define UNSEEN_COST 0.01f

typedef struct seeds_job {
    const orr_splat_photo *photos;
    const int *images;
    int image_count;
    uint32_t seed;
    float focus[3]; // the point that the cameras look at
    int64_t count;
    orr_splat_seed *out;
} seeds_job;

static void camera_axis(const orr_lens *lens, float axis[3])
{
    memcpy(axis, lens->view + 8, 3 * sizeof *axis);
}

float orr_splat_extent(const orr_splat_photo *photos, const int *images, int image_count)
{
    double middle[3] = {0};
    float extent = 0.0f;
    for (int i = 0; i < image_count; i++) {
        for (int k = 0; k < 3; k++) {
            middle[k] += (double)photos[images[i]].lens.position[k] / image_count;
        }
    }
    for (int i = 0; i < image_count; i++) {
        double squared = 0.0;
        for (int k = 0; k < 3; k++) {
            double d = (double)photos[images[i]].lens.position[k] - middle[k];
            squared += d * d;
        }
        extent = fmaxf(extent, (float)sqrt(squared));
    }
    return 1.1f * extent;
}

// The point nearest to all optical axes. Axes that are nearly parallel have none: then it is one extent
// before the cameras.
static void find_focus(const seeds_job *job, float extent, float focus[3])
{
    double a[3][4] = {{0}};
    double forward[3] = {0}, middle[3] = {0};
    for (int i = 0; i < job->image_count; i++) {
        const orr_lens *lens = &job->photos[job->images[i]].lens;
        float axis[3];
        camera_axis(lens, axis);
        for (int r = 0; r < 3; r++) {
            forward[r] += (double)axis[r] / job->image_count;
            middle[r] += (double)lens->position[r] / job->image_count;
            for (int c = 0; c < 3; c++) {
                double projector = (r == c) - (double)axis[r] * (double)axis[c];
                a[r][c] += projector / job->image_count;
                a[r][3] += projector * (double)lens->position[c] / job->image_count;
            }
        }
    }
    for (int r = 0; r < 3; r++) { // a weak pull to the point one extent ahead
        const double weight = 1e-3;
        a[r][r] += weight;
        a[r][3] += weight * (middle[r] + (double)extent * forward[r]);
    }
    solve3_positive(a, middle);
    for (int i = 0; i < 3; i++) {
        focus[i] = (float)middle[i];
    }
}

// ---- candidates ----

typedef struct witness {
    float colour[3], alpha;
} witness;

// What a photo shows at a point; false: it does not see it.
static bool look(const orr_splat_photo *photo, const float point[3], witness *seen)
{
    float pixel[2], depth;
    if (!orr_splat_lens_sees(&photo->lens, photo->lens.distorted ? &photo->distortion : NULL, point, pixel,
                             &depth)) {
        return false;
    }
    int64_t at = (int64_t)(int)pixel[1] * photo->lens.width + (int)pixel[0];
    if (photo->mask && photo->mask[at] == 0) {
        return false;
    }
    const uint8_t *bytes = photo->pixels + at * photo->channels;
    seen->alpha = photo->channels == 4 ? (float)bytes[3] / 255.0f : 1.0f;
    for (int c = 0; c < 3; c++) {
        seen->colour[c] = (float)bytes[c] / 255.0f;
    }
    return true;
}

// The mean colour that photos show at a point, and how badly they agree: 0 is best, infinity impossible.
static float judge(const seeds_job *job, orr_rng *rng, const float point[3], float colour[3])
{
    float sum[3] = {0}, squares = 0.0f;
    int seen = 0;
    bool nowhere = false, object = false;
    for (int i = 0; i < WITNESSES; i++) {
        int photo = job->images[(int)(orr_rng_uniform(rng) * (float)job->image_count)];
        witness w;
        if (!look(&job->photos[photo], point, &w)) {
            continue;
        }
        seen++;
        object = object || job->photos[photo].channels == 4;
        nowhere = nowhere || w.alpha < 0.1f;
        for (int c = 0; c < 3; c++) {
            sum[c] += w.colour[c];
            squares += w.colour[c] * w.colour[c];
        }
    }
    float variance = seen > 0 ? squares / (float)seen : 0.0f;
    for (int c = 0; c < 3; c++) {
        colour[c] = seen > 0 ? sum[c] / (float)seen : 0.5f;
        variance -= seen > 0 ? colour[c] * colour[c] : 0.0f;
    }
    // what is transparent somewhere is an object that all photos show
    bool known = seen >= (object ? SEEN_OF_OBJECT : SEEN_LEAST);
    return nowhere ? INFINITY : variance + UNSEEN_COST * (float)(WITNESSES - seen) + (known ? 0.0f : UNKNOWN);
}

// A point before a random camera: a random pixel's ray, at a depth about that of the focus or beyond.
static void draw_candidate(const seeds_job *job, orr_rng *rng, float point[3])
{
    const orr_splat_photo *photo =
        &job->photos[job->images[(int)(orr_rng_uniform(rng) * (float)job->image_count)]];
    const orr_lens *lens = &photo->lens;
    float depth = 0.0f, pixel[2], direction[3];
    for (int k = 0; k < 3; k++) {
        depth += lens->view[8 + k] * (job->focus[k] - lens->position[k]);
    }
    depth = fmaxf(depth, 10.0f * lens->near_plane);
    depth *= orr_rng_uniform(rng) < 0.7f ? orr_rng_range(rng, 0.5f, 1.5f)
                                         : expf(orr_rng_range(rng, logf(0.3f), logf(4.0f)));
    pixel[0] = orr_rng_uniform(rng) * (float)lens->width;
    pixel[1] = orr_rng_uniform(rng) * (float)lens->height;
    orr_splat_photo_direction(photo, pixel, direction);
    for (int k = 0; k < 3; k++) {
        direction[k] *= depth;
    }
    for (int k = 0; k < 3; k++) { // the view's rotation, transposed
        point[k] = lens->position[k] + lens->view[k] * direction[0] + lens->view[4 + k] * direction[1] +
                   lens->view[8 + k] * direction[2];
    }
}

static void draw_seeds(void *context, int block, int worker)
{
    (void)worker;
    const seeds_job *job = context;
    int64_t end = (int64_t)(block + 1) * BLOCK < job->count ? (int64_t)(block + 1) * BLOCK : job->count;
    for (int64_t i = (int64_t)block * BLOCK; i < end; i++) {
        orr_rng rng = {job->seed, (uint32_t)i, 0};
        float best = INFINITY;
        // many more while none is good
        for (int n = 0; n < CANDIDATES || (best >= UNKNOWN && n < CANDIDATES_MAX); n++) {
            orr_splat_seed s = {.logit = OPACITY_LOGIT};
            draw_candidate(job, &rng, s.position);
            float badness = judge(job, &rng, s.position, s.colour);
            if (badness < best || n == 0) {
                best = badness;
                job->out[i] = s;
            }
        }
    }
}

void orr_splat_seeds_draw(const orr_splat_photo *photos, const int *images, int image_count, int64_t count,
                          uint32_t seed, orr_jobs *jobs, orr_splat_seed *seeds)
{
    seeds_job job = {.photos = photos,
                     .images = images,
                     .image_count = image_count,
                     .seed = seed,
                     .count = count,
                     .out = seeds};
    find_focus(&job, orr_splat_extent(photos, images, image_count), job.focus);
    orr_jobs_for(jobs, orr_blocks(count, BLOCK), draw_seeds, &job);
}

// ---- points of the capture ----

static bool near_camera(const orr_splat_photo *photos, int count, float distance, const float point[3])
{
    for (int i = 0; i < count; i++) {
        const float *eye = photos[i].lens.position;
        const float x = point[0] - eye[0], y = point[1] - eye[1], z = point[2] - eye[2];
        if (x * x + y * y + z * z < distance * distance) {
            return true;
        }
    }
    return false;
}

int64_t orr_splat_seeds_take(const orr_splat_points *points, const orr_splat_photo *photos, int photo_count,
                             float extent, int64_t most, uint32_t seed, orr_splat_seed *seeds)
{
    const float distance = NEAR_CAMERA * extent;
    orr_rng rng = {seed, 0, 1};
    int64_t taken = 0;
    for (int64_t i = 0; i < points->count && taken < most; i++) {
        // each with the share that leaves as many as are wanted in the end (Knuth's algorithm S)
        const double share = (double)(most - taken) / (double)(points->count - i);
        if (share < 1.0 && (double)orr_rng_uniform(&rng) >= share) {
            continue;
        }
        orr_splat_seed s = {.logit = OPACITY_LOGIT};
        memcpy(s.position, points->position + 3 * i, sizeof s.position);
        memcpy(s.colour, points->colour + 3 * i, sizeof s.colour);
        if (!near_camera(photos, photo_count, distance, s.position)) {
            seeds[taken++] = s;
        }
    }
    return taken;
}

// ---- order and scale ----

static uint32_t morton_of(const float position[3], const float low[3], float side)
{
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) {
        cell[k] = (uint32_t)fminf((position[k] - low[k]) / side * 1024.0f, 1023.0f);
    }
    return orr_morton30(cell[0], cell[1], cell[2]);
}

static void find_bounds(const orr_splat_seed *seeds, int64_t count, float low[3], float *side)
{
    float high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            low[k] = fminf(low[k], seeds[i].position[k]);
            high[k] = fmaxf(high[k], seeds[i].position[k]);
        }
    }
    *side = fmaxf(fmaxf(high[0] - low[0], high[1] - low[1]), fmaxf(high[2] - low[2], 1e-12f));
}

// Half the root mean square distance to the nearest three. An outlier is far from all others, and doubles
// have no distance: both get a size near the geometric mean of all.
static void set_scales(orr_splat_seed *seeds, int64_t count, const float *squared)
{
    double logs = 0.0;
    int64_t sized = 0;
    for (int64_t i = 0; i < count; i++) {
        float sum = 0.0f;
        int known = 0;
        for (int k = 0; k < ORR_NEAREST_COUNT && squared[ORR_NEAREST_COUNT * i + k] < INFINITY;
             k++, known++) {
            sum += squared[ORR_NEAREST_COUNT * i + k];
        }
        seeds[i].log_scale = sum > 0.0f ? logf(SCALE_SHARE * sqrtf(sum / (float)known)) : -INFINITY;
        logs += sum > 0.0f ? (double)seeds[i].log_scale : 0.0;
        sized += sum > 0.0f;
    }
    const float usual = sized > 0 ? (float)(logs / (double)sized) : logf(SCALE_SHARE);
    for (int64_t i = 0; i < count; i++) {
        const float low = usual + logf(SCALE_LEAST), high = usual + logf(SCALE_MOST);
        seeds[i].log_scale = fminf(fmaxf(seeds[i].log_scale, low), high);
    }
}

static orr_result finish(orr_splat_seed *seeds, int64_t count, orr_jobs *jobs, orr_arena *arena,
                         orr_error *error)
{
    uint32_t *keys = orr_arena_take(arena, (size_t)count, sizeof *keys);
    uint32_t *order = orr_arena_take(arena, (size_t)count, sizeof *order);
    float *position = orr_arena_take(arena, (size_t)count, 3 * sizeof *position);
    float *squared = orr_arena_take(arena, (size_t)count, ORR_NEAREST_COUNT * sizeof *squared);
    orr_splat_seed *unordered = orr_arena_take(arena, (size_t)count, sizeof *unordered);
    if (!keys || !order || !position || !squared || !unordered) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld splats", (long long)count);
    }
    float low[3], side;
    find_bounds(seeds, count, low, &side);
    for (int64_t i = 0; i < count; i++) {
        keys[i] = morton_of(seeds[i].position, low, side);
        order[i] = (uint32_t)i;
    }
    memcpy(unordered, seeds, (size_t)count * sizeof *unordered);
    ORR_TRY(orr_radix_sort(jobs, arena, keys, order, count, error));
    for (int64_t i = 0; i < count; i++) {
        seeds[i] = unordered[order[i]];
        memcpy(position + 3 * i, seeds[i].position, sizeof seeds[i].position);
    }
    ORR_TRY(orr_nearest_find(position, count, jobs, squared, error));
    set_scales(seeds, count, squared);
    return ORR_OK;
}

orr_result orr_splat_seeds_finish(orr_splat_seed *seeds, int64_t count, orr_jobs *jobs, orr_error *error)
{
    orr_arena arena = {0};
    orr_result result = finish(seeds, count, jobs, &arena, error);
    orr_arena_destroy(&arena);
    return result;
}
