// Splats that matter least to the photos go. How much one matters is the sum of its blending weights over all
// pixels of all photos: what the gradient by its colour is where that by every pixel is 1, so that the
// backward pass finds it.
#include "render/training/splat_schedule.h"
#include "render/training/splat_trainer_state.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BY_RED = 6 }; // of a row: the gradient by the colour's first channel

// 1 in the first channel, of pixels that are learned from.
static orr_result take_ones(orr_splat_trainer *t, const orr_splat_photo_picture *photo,
                            orr_loss_planes *gradient, orr_error *error)
{
    ORR_TRY(orr_loss_planes_take(&t->arena, photo->planes.width, photo->planes.height, gradient, error));
    for (int y = 0; y < gradient->height; y++) {
        float *row = orr_loss_row(gradient, 0, y);
        for (int x = 0; x < gradient->width; x++) {
            row[x] = !photo->kept || photo->kept[(int64_t)y * gradient->width + x] ? 1.0f : 0.0f;
        }
    }
    return ORR_OK;
}

static void add_rows(const orr_splat_trainer *t, const orr_splat_rows *rows, double *weights)
{
    for (int64_t i = 0; i < t->params.count; i++) {
        if (rows->record[i] == ORR_NO_RECORD) {
            continue;
        }
        const orr_tile_box box = rows->frame.boxes[rows->record[i]];
        const int tiles = (box.x1 - box.x0 + 1) * (box.y1 - box.y0 + 1);
        for (int n = 0; n < tiles; n++) {
            weights[i] +=
                (double)rows->rows[((size_t)rows->first[i] + (size_t)n) * (size_t)rows->members + BY_RED];
        }
    }
}

static orr_result add_photo(orr_splat_trainer *t, int image, int shrink, double *weights, orr_error *error)
{
    const orr_lens lens = orr_splat_photo_lens(&t->photos[image], shrink);
    orr_splat_drawing d;
    orr_splat_photo_picture photo;
    orr_splat_rows rows = {0};
    orr_loss_planes ones;
    orr_arena_reset(&t->arena);
    ORR_TRY(orr_splat_trainer_draw(t, &lens, false, &t->arena, &d, &t->profile, error));
    ORR_TRY(orr_splat_photo_take(&t->photos[image], shrink, t->background, t->desc.jobs, &t->arena, &photo,
                                 error));
    ORR_TRY(take_ones(t, &photo, &ones, error));
    ORR_TRY(orr_splat_trainer_plan_rows(t, &d, &rows, error));
    const orr_splat_backward_job job = {
        .rows = &rows, .width = lens.width, .height = lens.height, .rgba = d.rgba, .gradient = &ones};
    orr_splat_trainer_run_tiles(t, &job);
    add_rows(t, &rows, weights);
    return ORR_OK;
}

orr_result orr_splat_trainer_weights(orr_splat_trainer *t, double progress, double *weights, orr_error *error)
{
    if (t->device) {
        return orr_splat_trainer_weights_cuda(t, progress, weights, error);
    }
    memset(weights, 0, (size_t)t->params.count * sizeof *weights);
    for (int i = 0; i < t->desc.image_count; i++) {
        const int image = t->images[i];
        ORR_TRY(add_photo(t, image, orr_splat_shrink_at(&t->photos[image].lens, progress), weights, error));
    }
    return ORR_OK;
}

typedef struct ranked {
    double weight;
    int64_t splat;
} ranked;

static int by_weight(const void *a, const void *b) // ascending, then by number
{
    const ranked *x = a, *y = b;
    return x->weight != y->weight ? (x->weight > y->weight) - (x->weight < y->weight)
                                  : (x->splat > y->splat) - (x->splat < y->splat);
}

// The weights of the `count` least become less than 0.
static orr_result mark_least(double *weights, int64_t all, int64_t count, orr_error *error)
{
    ranked *ranks;
    ORR_ALLOC(ranks, all, "splats", error);
    for (int64_t i = 0; i < all; i++) {
        ranks[i] = (ranked){weights[i], i};
    }
    qsort(ranks, (size_t)all, sizeof *ranks, by_weight);
    for (int64_t n = 0; n < count; n++) {
        weights[ranks[n].splat] = -1.0;
    }
    orr_free(ranks);
    return ORR_OK;
}

// Leaves the splats whose weights are not less than 0, in their order.
static void keep_marked(orr_splat_params *params, const double *weights)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < params->count; i++) {
        if (weights[i] >= 0.0) {
            orr_splat_params_move(params, i, kept++);
        }
    }
    orr_splat_params_cut(params, kept);
}

// The same of the device's splats, of which the host needs nothing but their order.
static orr_result keep_marked_cuda(orr_splat_trainer *t, const double *weights, orr_error *error)
{
    ORR_TRY(orr_splat_params_track(&t->params, t->params.count, error));
    keep_marked(&t->params, weights);
    t->device_ahead = true; // whatever fails from here on
    const orr_result result = orr_cuda_splat_steps_select(t->device, &t->params, error);
    orr_splat_params_untrack(&t->params);
    return result;
}

orr_result orr_splat_trainer_prune(orr_splat_trainer *t, double progress, double share, orr_error *error)
{
    double *weights;
    const int64_t all = t->params.count;
    int64_t count = (int64_t)(share * (double)all);
    count = count < all ? count : all - 1; // a training goes on
    ORR_ALLOC(weights, all, "splats", error);
    orr_result result = orr_splat_trainer_weights(t, progress, weights, error);
    if (result == ORR_OK) {
        result = mark_least(weights, all, count, error);
    }
    if (result == ORR_OK && t->device) {
        result = keep_marked_cuda(t, weights, error);
    } else if (result == ORR_OK) {
        keep_marked(&t->params, weights);
        orr_splat_trainer_prepare(t);
    }
    orr_free(weights);
    return result;
}
