// Batches of samples for training, from a source: drawn, sorted along the Morton curve, so that samples near
// in space are near in memory, and given their targets.
#pragma once

#include "engine/core/jobs.h"
#include "neural/training/sample_source.h"

typedef struct orr_sample_batches orr_sample_batches;

// dims: of a position, 2 or 3; channels: of a target; batch_size: a multiple of ORR_SAMPLES. The jobs are
// borrowed.
orr_result orr_sample_batches_create(const orr_sample_source *source, orr_jobs *jobs, int dims, int channels,
                                     int batch_size, orr_sample_batches **batches, orr_error *error);
void orr_sample_batches_destroy(orr_sample_batches *batches); // NULL is allowed
// The batch of step number `step`, a pure function of the source and the step: blocks of positions (dims x
// ORR_SAMPLES) and of targets (channels x ORR_SAMPLES), until the next call.
orr_result orr_sample_batches_choose(orr_sample_batches *batches, int64_t step, const float **positions,
                                     const float **targets, orr_error *error);
// To be called when the next step does not follow the one before: what the step may use is then drawn again.
void orr_sample_batches_restart(orr_sample_batches *batches);
