// What a trainer trains: a splat cloud from photos (learn_splats.c), a radiance field from photos
// (learn_photos.c), or a field from samples of a truth (learn_samples.c). One table of functions for each.
#pragma once

#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/loop/engine.h"
#include "engine/training/photo_set.h"
#include "neural/ingp/ingp.h"
#include "neural/nerf/evaluate.h"
#include "render/splat/splat_cloud.h"

typedef struct orr_learner orr_learner;
typedef struct orr_learner_kind orr_learner_kind;

// What a learner is made from.
typedef struct orr_learner_setup {
    const orr_learner_kind *kind;
    const orr_train_desc *desc;
    orr_model_training choices; // holdout, batch, seed, exposures: of the desc, or of the model to resume
    orr_jobs *jobs;
    orr_isa isa;
    orr_mlp_machine machine;
    orr_log log;
    orr_progress progress;
    orr_cuda *cuda;          // NULL: the CPU
    orr_field_model *resume; // fields: to go on from; its field goes over to the learner; NULL: none
    const char *state;       // clouds: the file to go on from; NULL: none
} orr_learner_setup;

typedef struct orr_learner_step {
    double loss;
    int64_t samples; // evaluated
} orr_learner_step;

// Scores and pictures are of what is saved: of the averages, where the configuration has them.
typedef struct orr_learner_functions {
    orr_result (*create)(const orr_learner_setup *setup, orr_learner **made, orr_error *error);
    // share: how much of the training is over, 0 .. 1.
    orr_result (*step)(orr_learner *l, double share, orr_learner_step *step, orr_error *error);
    // Steps since the very beginning, and `share` of the last of them, 0 where nothing depends on it.
    void (*past)(const orr_learner *l, int64_t *steps, double *share);
    int64_t (*count)(const orr_learner *l); // of splats, or of parameters
    // A quick figure while training.
    orr_result (*measure)(orr_learner *l, orr_train_quality *quality, orr_error *error);
    // Its picture as of the last measure: height x width x 4, premultiplied, in memory of the learner's.
    orr_result (*picture)(orr_learner *l, int size[2], const float **rgba, orr_error *error);
    // The final figures, of one held-out photo where there are photos. ORR_ERROR_INTERRUPTED: `stop` said so.
    orr_result (*evaluate)(orr_learner *l, int index, const orr_nerf_stop *stop, orr_train_quality *quality,
                           orr_error *error);
    const orr_photo_set *(*photos)(const orr_learner *l); // NULL: it learns from no photos

    // Fields. Makes what is drawn, compared and saved show all that was learned.
    orr_result (*refresh)(orr_learner *l, orr_error *error);
    // The model as of the last refresh, in memory of the learner's. Returns its grid; NULL: it has none.
    const orr_occupancy *(*describe)(orr_learner *l, orr_field_model *model);
    size_t (*state_size)(const orr_learner *l);
    orr_result (*state_save)(orr_learner *l, void *state, orr_error *error);

    // Clouds, in place of these four: a plan of so many seconds (0: it has none) before the first step, which
    // says how many splats there may be where the desc does not; how many points the capture has and how many
    // of them splats began at; the cloud as it is now; what is saved beside it: the file to go on from (NULL:
    // none), and cameras where they are learned too.
    void (*plan)(orr_learner *l, double seconds);
    void (*points)(const orr_learner *l, int64_t *all, int64_t *used);
    orr_result (*cloud)(orr_learner *l, orr_splats **splats, orr_error *error);
    orr_result (*save)(orr_learner *l, const char *cloud, const char *state, orr_error *error);

    const orr_profile *(*profile)(orr_learner *l);
    void (*destroy)(orr_learner *l);
} orr_learner_functions;

extern const orr_learner_functions orr_learner_of_samples, orr_learner_of_photos, orr_learner_of_splats;

struct orr_learner_kind {
    orr_trainer_kind id;
    const char *name; // "image"
    orr_field_kind field;
    const orr_learner_functions *functions;
    const struct orr_sample_truth *truth; // of those that learn from samples
};

// NULL: there is no such kind.
const orr_learner_kind *orr_learner_kind_of(orr_trainer_kind kind);
// Of a field of this kind in a file.
const orr_learner_kind *orr_learner_kind_of_field(orr_field_kind field);

// The field to train: that of the model to resume when there is one, otherwise as `desc` says, with the
// setup's seed, machine and configuration: `own` makes the kind's, and a file is laid over instant-ngp's.
orr_result orr_learner_field(const orr_learner_setup *setup, orr_field_desc desc,
                             orr_result (*own)(orr_field_config *, orr_error *), orr_field **field,
                             orr_error *error);
