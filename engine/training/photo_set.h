// The photos of a capture: those that are learned from, and those held out to compare with.
#pragma once

#include "engine/core/jobs.h"
#include "engine/scene/scene.h"
#include "neural/capture/capture.h"

enum { ORR_HOLDOUT_TEST = -2 }; // of orr_train_desc.holdout: the photos of transforms_test.json are held out

typedef struct orr_photo_set {
    orr_capture *capture;
    int *images; // capture->count indices: those to learn from, then those held out
    int train_count, held_out_count;
} orr_photo_set;

// holdout: every so manyeth photo is held out; 0: none; ORR_HOLDOUT_TEST: none of these, but those of
// transforms_test.json beside. On failure there is nothing to free.
orr_result orr_photo_set_load(const char *path, int holdout, orr_jobs *jobs, orr_log log, orr_photo_set *set,
                              orr_error *error);
void orr_photo_set_free(orr_photo_set *set); // zero is allowed
// The photo that is compared while training: the first that is held out, or else the first of all.
int orr_photo_set_shown(const orr_photo_set *set);
// Where the photos were taken, as the cameras of a scene that has none yet.
orr_result orr_photo_set_add_cameras(const orr_photo_set *set, orr_scene *scene, orr_error *error);
