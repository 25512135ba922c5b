// Radiance fields trained in seconds from few photos, and assertions that hold for all of them.
#pragma once

#include "neural/training/nerf_trainer.h"
#include "tests/support/scenes/photos.h"

// changes: JSON over the trainer's own configuration
orr_field *small_field(int aabb_scale, bool unbounded, const char *changes);
// Trains on the first p->learned photos.
orr_nerf_trainer *small_trainer(orr_field *field, const photos *p, orr_jobs *jobs);
void train(orr_nerf_trainer *trainer, int steps);              // afterwards the field can be drawn
void *training_state(orr_nerf_trainer *trainer, size_t *size); // for orr_free

void assert_same_field(const orr_field *a, const orr_field *b); // to the last bit
void assert_threads_change_no_bit(const photos *p, bool unbounded, int steps);
void assert_resuming_changes_no_bit(const photos *p, bool unbounded, int steps_before, int steps_after);
