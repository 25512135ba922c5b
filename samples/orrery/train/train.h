// `orrery train`: what its kinds share. train.c is the loop: it counts, shows, saves and stops; a learner is
// what is being trained: a field that learns from samples of a truth (train_samples.h), or a radiance field
// from photos (train_nerf.c).
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/device/cuda.h"
#include "neural/ingp/ingp.h"
#include "neural/nerf/evaluate.h"
#include "neural/training/field_trainer.h"
#include "neural/training/nerf_trainer.h"
#include "samples/orrery/commands.h"

#include <cjson/cJSON.h>

typedef struct train_options {
    const struct learner_kind *kind;
    const char *data;
    const char *config;   // NULL: the kind's own
    int holdout;          // nerf: every so manyeth image is for testing; -1: not given
    bool exposures;       // nerf: learn a gain per photo and channel; splats: an affine map of colours
    const char *sampling; // nerf: "occupancy" or "proposal"; NULL: the first, or that of the model to resume
    bool fast_scatter;    // nerf: faster by 2 %, with bits that depend on chance
    bool unbounded;       // what it means
    int batch;            // samples per step; 0: the kind's own
    int splats;           // splats: no more than these; 0: not given
    int sh_degree;        // splats: of the harmonics; -1: not given
    bool antialias;       // splats: with the 2D filter
    bool refine_poses;    // splats: of the photos
    const char *masks;    // splats: "ignore" or "empty"; NULL: the first
    uint32_t seed;
    orr_isa isa;
    orr_mlp_machine machine;
    orr_jobs *jobs;
    orr_cuda *cuda;          // NULL: the CPU
    orr_field_model *resume; // NULL: from the beginning; its field goes over to the learner
    const char *state;       // splats: the file to go on from; NULL: from the beginning
} train_options;

typedef struct learner learner;

// How a learner learns. Scores and pictures are of the averages, as everybody will see them.
typedef struct learner_functions {
    orr_result (*create)(const train_options *options, learner **made, orr_error *error);
    // share: how much of the training is over, 0 .. 1; 0 while nobody can know.
    orr_result (*step)(learner *l, double share, double *loss, int64_t *samples, orr_error *error);
    // A quick figure while training.
    orr_result (*score)(learner *l, double *score, orr_error *error);
    // Its picture as of the last score: height x width x 4, premultiplied, in memory of the learner's until
    // the next.
    orr_result (*picture)(learner *l, int size[2], float **rgba, orr_error *error);
    // Fills in the model that can be saved now, with the state to go on from; its memory stays the learner's
    // until the next step, but for `state`, which the caller frees.
    orr_result (*describe)(learner *l, orr_field_model *model, orr_error *error);
    // Of those that are no field, in place of describe: saves what there is now, `state` too, the name of the
    // file to go on from, unless that is NULL; NULL: a field.
    orr_result (*save)(learner *l, const char *path, const char *state, orr_error *error);
    // Of those that count all steps of a training that goes on: steps and share so far; NULL: only the steps
    // of this command count.
    void (*past)(const learner *l, int64_t *steps, double *share);
    // The final figures: lines to stderr, or into the JSON object when that is given. Ends early where `stop`
    // says so.
    orr_result (*report)(learner *l, const orr_nerf_stop *stop, cJSON *json, orr_error *error);
    const orr_profile *(*profile)(learner *l);
    void (*destroy)(learner *l);
} learner_functions;

extern const learner_functions learner_of_samples, learner_of_photos, learner_of_splats;

typedef struct learner_kind {
    const char *name; // "image"
    orr_field_kind field;
    const char *score_name; // "PSNR", "IoU": larger is better
    double seconds;         // of training when nobody says
    const learner_functions *functions;
    const struct sample_truth *truth; // of those that learn from samples
} learner_kind;

// The field to train: that of the model to resume when there is one, otherwise as `desc` says, with seed,
// machine and configuration: `own` makes the kind's, and --config is laid over instant-ngp's.
orr_result train_field(const train_options *options, orr_field_desc desc,
                       orr_result (*own)(orr_field_config *, orr_error *), orr_field **field,
                       orr_error *error);
// What is said of a radiance field by the model that can be saved now: learner_functions.describe.
orr_result train_describe_nerf(orr_nerf_trainer *trainer, orr_field *field, const orr_capture *capture,
                               orr_field_model *model, orr_error *error);
// Photos of a capture that were not learned from.
typedef struct held_out_photos {
    const orr_capture *capture;
    const int *images; // count
    int count;
    // One of them with the learner's picture of it; no photo in the score: it was stopped.
    orr_result (*compare)(learner *l, int image, const orr_nerf_stop *stop, orr_nerf_score *score,
                          orr_error *error);
} held_out_photos;

// The part of a report about them: each, then the means.
orr_result train_compare(learner *l, const held_out_photos *held_out, const orr_nerf_stop *stop, cJSON *json,
                         orr_error *error);
// orrery train policy.
int train_policy(int argc, char **argv);
// One figure of a report: "PSNR 40.12 dB" to stderr, or a number of the JSON object.
void train_figure(cJSON *json, const char *name, double value, const char *unit);
