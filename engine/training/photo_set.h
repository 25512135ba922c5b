// The photos of a capture: those that are learned from, and those held out to compare with.
#pragma once

#include "engine/core/jobs.h"
#include "engine/scene/scene.h"
#include "neural/capture/capture.h"

enum {
    ORR_HOLDOUT_TEST = -2
}; // of orr_train_desc.holdout: those that the capture has for testing are held out

typedef struct orr_photo_set {
    char *path; // of the capture, as given
    orr_capture *capture;
    int *images; // indices into the capture: those to learn from, then those held out
    int train_count, held_out_count;
} orr_photo_set;

// holdout: every so manyeth photo is held out; 0: none; ORR_HOLDOUT_TEST: those that the file says, by
// nerfstudio's test_filenames or val_filenames, or else all of transforms_test.json beside. On failure there
// is nothing to free.
orr_result orr_photo_set_load(const char *path, int holdout, orr_jobs *jobs, orr_log log, orr_photo_set *set,
                              orr_error *error);
void orr_photo_set_free(orr_photo_set *set); // zero is allowed
// The photo that is compared while training: the first that is held out, or else the first of all.
int orr_photo_set_shown(const orr_photo_set *set);
// PSNR [dB] of a picture of one colour, the photo's own mean, over white and where its mask is: what whoever
// learned anything of it surpasses. Infinite: the photo has one colour.
double orr_photo_set_constant_psnr(const orr_photo_set *set, int image);
// Where the photos were taken, as the cameras of a scene that has none yet.
orr_result orr_photo_set_add_cameras(const orr_photo_set *set, orr_scene *scene, orr_error *error);
