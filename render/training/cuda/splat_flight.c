// Steps under way: the host puts a step into the stream while the device still takes the one before it, and
// then looks at what that one left. A step that found no room for its pairs changes nothing, and neither do
// those behind it: they are put again, in their order, so that results have the bits that enough room gives.
#include "render/training/cuda/splat_steps_state.h"

#include <string.h>

// ---- what a step left ----

static orr_result add_stage(const char *name, cudaEvent_t from, cudaEvent_t to, int64_t items,
                            orr_profile *profile, orr_error *error)
{
    float milliseconds;
    ORR_CUDA_TRY(cudaEventElapsedTime(&milliseconds, from, to));
    orr_profile_add(profile, name, (double)milliseconds, items);
    return ORR_OK;
}

static orr_result add_stages(const orr_cuda_splat_steps *s, const orr_cuda_flight *f, orr_error *error)
{
    const orr_cuda_control *counted = &f->landed->control;
    const int64_t tile = (int64_t)ORR_CUDA_TILE * ORR_CUDA_TILE;
    const cudaEvent_t *drawn = f->drawn, *marks = f->marks;
    orr_profile *profile = f->profile;
    ORR_TRY(add_stage("project", drawn[ORR_CUDA_MARK_FIELDS], drawn[ORR_CUDA_MARK_PROJECT], s->params.count,
                      profile, error));
    ORR_TRY(add_stage("sort", drawn[ORR_CUDA_MARK_PROJECT], drawn[ORR_CUDA_MARK_SORT], counted->visible,
                      profile, error));
    ORR_TRY(add_stage("bin", drawn[ORR_CUDA_MARK_SORT], drawn[ORR_CUDA_MARK_BIN], counted->pairs, profile,
                      error));
    ORR_TRY(add_stage("blend", drawn[ORR_CUDA_MARK_BIN], drawn[ORR_CUDA_MARK_BLEND], counted->pairs * tile,
                      profile, error));
    ORR_TRY(add_stage("loss", marks[ORR_CUDA_STEP_DRAWN], marks[ORR_CUDA_STEP_LOSS],
                      3 * (int64_t)f->lens.width * f->lens.height, profile, error));
    ORR_TRY(add_stage("backward", marks[ORR_CUDA_STEP_LOSS], marks[ORR_CUDA_STEP_BACKWARD],
                      counted->pairs * tile, profile, error));
    return add_stage("update", marks[ORR_CUDA_STEP_BACKWARD], marks[ORR_CUDA_STEP_UPDATE], s->params.count,
                     profile, error);
}

static orr_cuda_splat_stepped found_by(const orr_cuda_flight *f)
{
    const orr_cuda_splat_step *step = &f->step;
    const double pixels = (double)f->lens.width * f->lens.height, values = 3.0 * pixels;
    const double share = (double)step->dissimilarity;
    const orr_cuda_step_totals *t = f->landed;
    orr_cuda_splat_stepped found = {.loss = (1.0 - share) * t->loss[0] / values +
                                            share * (1.0 - t->loss[1] / values),
                                    .evaluated = (int64_t)t->control.pairs * ORR_CUDA_TILE * ORR_CUDA_TILE};
    if (step->exposure || f->photo->has_alpha) {
        found.loss += (double)step->alpha_weight * t->alpha[ORR_EXPOSURE] / pixels;
        memcpy(found.by_exposure, t->alpha, sizeof found.by_exposure);
    }
    if (step->depths && step->depths->count > 0 && t->shown > 0.0) {
        found.loss += (double)step->depth_weight * t->depth / t->shown;
    }
    found.loss += step->grid_steps > 0 ? t->variation : 0.0;
    if (step->motion) {
        memcpy(found.motion, t->motion, sizeof found.motion);
    }
    return found;
}

// ---- putting and looking ----

static orr_result end(orr_cuda_splat_steps *s, orr_cuda_flight *f, orr_error *error)
{
    ORR_CUDA_TRY(cudaEventRecord(f->done, s->cuda->stream));
    return ORR_OK;
}

static orr_result begin(orr_cuda_splat_steps *s, orr_cuda_flight *f, orr_error *error)
{
    bool put = false;
    // how many points a photo sees differs from step to step, and so do the kernels for them
    const bool repeats = !s->uncaptured && !f->step.depths;
    ORR_TRY(repeats ? orr_cuda_step_graphs_put(s, f, &put, error) : ORR_OK);
    ORR_TRY(put ? ORR_OK : orr_cuda_splat_steps_put(s, f, error));
    if (repeats && !put) {
        orr_cuda_step_graphs_note(s, f);
    }
    return end(s, f, error);
}

// Takes a step again until there is room for its pairs, and puts the one behind it again.
static orr_result repeat(orr_cuda_splat_steps *s, orr_cuda_flight *f, orr_error *error)
{
    orr_cuda_flight *behind = &s->flights[f == &s->flights[0]];
    bool complete = false;
    ORR_TRY(orr_cuda_wait(s->cuda, error));
    for (;;) {
        *s->frame.counted = f->landed->control;
        ORR_TRY(orr_cuda_stages_judge(&s->stages, &s->frame, &complete, error));
        if (complete) {
            break;
        }
        ORR_CUDA_TRY(cudaMemsetAsync(s->halted, 0, sizeof *s->halted, s->cuda->stream));
        ORR_TRY(orr_cuda_splat_steps_put(s, f, error));
        ORR_TRY(orr_cuda_wait(s->cuda, error));
    }
    if (!behind->pending) {
        return ORR_OK;
    }
    ORR_TRY(orr_cuda_splat_steps_put(s, behind, error));
    return end(s, behind, error);
}

static orr_result settle(orr_cuda_splat_steps *s, orr_cuda_flight *f, orr_error *error)
{
    if (!f->pending) {
        return ORR_OK;
    }
    ORR_CUDA_TRY(cudaEventSynchronize(f->done));
    f->pending = false;
    if (f->landed->control.needed > f->landed->control.pairs) {
        ORR_TRY(repeat(s, f, error));
    }
    s->last = found_by(f);
    s->has_last = true;
    return add_stages(s, f, error);
}

orr_result orr_cuda_splat_steps_settle(orr_cuda_splat_steps *s, orr_error *error)
{
    for (int i = 0; i < ORR_CUDA_FLIGHTS; i++) { // the older one first
        ORR_TRY(settle(s, &s->flights[(s->begun + i) % ORR_CUDA_FLIGHTS], error));
    }
    return ORR_OK;
}

// The points of a step to the device.
static orr_result send_depths(orr_cuda_splat_steps *s, const orr_depth_seen *seen, orr_error *error)
{
    const size_t count = (size_t)seen->count;
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->depth_pixel, count, sizeof *seen->pixel, error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->depth_expected, count, sizeof *seen->depth, error));
    ORR_TRY(orr_cuda_upload(s->cuda, s->depth_pixel.memory, seen->pixel, count * sizeof *seen->pixel, error));
    return orr_cuda_upload(s->cuda, s->depth_expected.memory, seen->depth, count * sizeof *seen->depth,
                           error);
}

static orr_result take(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step, orr_profile *profile,
                       orr_error *error)
{
    orr_cuda_flight *f = &s->flights[s->begun % ORR_CUDA_FLIGHTS];
    const orr_cuda_photo *photo;
    const bool sends = step->photo || (step->depths && step->depths->count > 0);
    // what is sent waits for the stream, and may take the place of what a step is put again with
    ORR_TRY(sends ? orr_cuda_splat_steps_settle(s, error) : ORR_OK);
    ORR_TRY(orr_cuda_splat_steps_photo(s, step, &photo, error));
    ORR_TRY(step->depths && step->depths->count > 0 ? send_depths(s, step->depths, error) : ORR_OK);
    ORR_TRY(orr_cuda_splat_steps_load(s, f, step, photo, error));
    f->profile = profile;
    ORR_TRY(begin(s, f, error));
    f->pending = true;
    s->begun++;
    ORR_TRY(settle(s, &s->flights[s->begun % ORR_CUDA_FLIGHTS], error));
    // the next step depends on these, and a caller is told of a step at least
    const bool waits = step->exposure || step->motion || !s->has_last;
    return waits ? orr_cuda_splat_steps_settle(s, error) : ORR_OK;
}

orr_result orr_cuda_splat_steps_take(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step,
                                     orr_cuda_splat_stepped *stepped, orr_profile *profile, orr_error *error)
{
    ORR_TRY(orr_cuda_use(s->cuda, error));
    orr_cuda_range_begin("splats");
    const orr_result result = take(s, step, profile, error);
    orr_cuda_range_end();
    if (result != ORR_OK) { // part of it may be in the stream and use memory that is let go of now
        orr_cuda_wait(s->cuda, NULL);
        for (int i = 0; i < ORR_CUDA_FLIGHTS; i++) {
            s->flights[i].pending = false;
        }
        return result;
    }
    *stepped = s->last;
    return ORR_OK;
}
