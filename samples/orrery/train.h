// `orrery train`: what its kinds share. train.c is the loop: it counts, shows, saves and stops; a learner is what is being
// trained, one file each (train_image.c, train_sdf.c, train_nerf.c, train_volume.c).
#pragma once

#include "commands.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "neural/ingp.h"
#include "neural/trainer.h"

#include <cjson/cJSON.h>

typedef struct train_options {
    const char *data;
    const char *config; // NULL: the kind's own
    int holdout;        // nerf: every so manyeth image is for testing
    int batch;          // samples per step; 0: the kind's own
    uint32_t seed;
    orr_isa isa;
    orr_mlp_machine machine;
    orr_jobs *jobs;
    orr_field_model *resume; // NULL: from the beginning; its field goes over to the learner
} train_options;

typedef struct learner learner;

// A kind of learner. Scores and pictures are of the averages, as everybody will see them.
typedef struct learner_kind {
    const char *name;       // "image"
    const char *score_name; // "PSNR", "IoU": larger is better
    double seconds;         // of training when nobody says
    orr_result (*create)(const train_options *options, learner **made, orr_error *error);
    orr_result (*step)(learner *l, double *loss, int64_t *samples, orr_error *error);
    // A quick figure while training.
    orr_result (*score)(learner *l, double *score, orr_error *error);
    orr_result (*preview)(learner *l, const char *path, orr_error *error);
    // Fills in the model that can be saved now, with the state to go on from; its memory stays the learner's until the next
    // step, but for `state`, which the caller frees.
    orr_result (*describe)(learner *l, orr_field_model *model, orr_error *error);
    // The final figures: lines to stderr, or into the JSON object when that is given.
    orr_result (*report)(learner *l, cJSON *json, orr_error *error);
    const orr_profile *(*profile)(learner *l);
    void (*destroy)(learner *l);
} learner_kind;

extern const learner_kind learner_image, learner_sdf, learner_nerf, learner_volume;

// The field to train: that of the model to resume when there is one, otherwise as `desc` says, with seed, machine and
// configuration: `own` makes the kind's, and --config is laid over instant-ngp's.
orr_result train_field(const train_options *options, orr_field_desc desc,
                       orr_result (*own)(orr_field_config *, orr_error *), orr_field **field,
                       orr_error *error);
// The trainer of a field, in the state of the model to resume when there is one. batch: when nobody says.
orr_result train_trainer(const train_options *options, orr_field *field, orr_sample_source source, int batch,
                         orr_trainer **trainer, orr_error *error);
// A square picture of a signed distance or a volume, from a corner above, to a PNG.
orr_result train_draw(const orr_field *field, orr_jobs *jobs, orr_arena *arena, int side, const char *path,
                      orr_error *error);
// What a trainer's learner says of its model: parameters for inference, steps, and the state in memory of its own.
orr_result train_describe(orr_trainer *trainer, orr_field *field, orr_field_model *model, orr_error *error);
// One figure of a report: "PSNR 40.12 dB" to stderr, or a number of the JSON object.
void train_figure(cJSON *json, const char *name, double value, const char *unit);
