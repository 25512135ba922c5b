// `orrery train`: through the public interface alone. train.c reads the command line, train_run.c is the
// loop: it steps, shows, saves and stops; train_report.c has the final figures, train_preview.c the pictures.
#pragma once

#include "samples/orrery/commands.h"
#include "samples/orrery/progress.h"

struct cJSON;

typedef struct train_kind {
    const char *name; // "image"
    orr_trainer_kind kind;
    double seconds; // of training when nobody says
} train_kind;

typedef struct training {
    const train_kind *kind;
    orr_train_desc desc;
    orr_trainer *trainer;
    orr_train_info info; // as of the last look at it
    progress clock;      // since the start of the command
    const char *model_path;
    const char *preview;                        // a folder, or a picture; NULL: none
    bool small;                                 // saved without the state to go on from
    int64_t steps_max;                          // 0: no bound
    double seconds_max;                         // since the start; infinite: no bound
    double seconds_loading;                     // until the first step
    double checkpoint_seconds, next_checkpoint; // between two; of the next, since the start
    double evaluation_seconds;                  // at most
    double next_score;                          // [s] since the start
    int64_t first_step;                         // since the very beginning, when it began
    int64_t steps_before; // those of trainings that this one goes on from, where steps of this command count
    int previews;
} training;

// Steps of the command: of clouds, all since the very beginning.
static inline int64_t train_steps(const training *t)
{
    return t->info.steps - t->steps_before;
}

// "PSNR" or "IoU", and its value.
const char *train_score_name(const training *t);
double train_score(const training *t);

// Trains until the command's end, and saves the model, the plot and the report.
orr_result train_run(training *t, struct cJSON *json, orr_error *error);
orr_result train_report(training *t, struct cJSON *json, orr_error *error);
// Whether previews can be written; and the picture of the last measure.
orr_result train_preview_check(const char *path, orr_error *error);
orr_result train_preview_save(training *t, orr_error *error);
// orrery train policy.
int train_policy(int argc, char **argv);
// orrery train material.
int train_material(int argc, char **argv);
// One figure of a report: "PSNR 40.12 dB" to stderr, or a number of the JSON object.
void train_figure(struct cJSON *json, const char *name, double value, const char *unit);
