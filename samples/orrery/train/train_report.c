// What `orrery train` says at the end: figures of the training, and how good what was learned is.
#include "samples/orrery/train/train.h"

#include "samples/orrery/interrupt.h"

#include <cjson/cJSON.h>
#include <stdio.h>

enum { STAGES = 64 };

void train_figure(cJSON *json, const char *name, double value, const char *unit)
{
    if (json) {
        cJSON_AddNumberToObject(json, name, value);
    } else {
        fprintf(stderr, "  %-24s %.6g%s%s\n", name, value, unit[0] ? " " : "", unit);
    }
}

static void add_photo(cJSON *photos, const orr_train_quality *q)
{
    if (photos) {
        cJSON *photo = cJSON_CreateObject();
        cJSON_AddStringToObject(photo, "file", q->file);
        cJSON_AddNumberToObject(photo, "PSNR", q->psnr);
        cJSON_AddNumberToObject(photo, "SSIM", q->ssim);
        cJSON_AddNumberToObject(photo, "one colour PSNR", q->constant_psnr);
        cJSON_AddItemToArray(photos, photo);
    }
}

// Compares for as long as is allowed. Ctrl-C ends it too: the model is saved by then. *compared: it came to
// its end.
static orr_result evaluate(training *t, int index, double end, orr_train_quality *q, bool *compared,
                           orr_error *error)
{
    const double left = end - progress_seconds(&t->clock);
    *compared = !interrupt_requested() && left > 0.0;
    if (*compared) {
        orr_result result = orr_trainer_evaluate(t->trainer, index, 1e3 * left, q, error);
        *compared = result == ORR_OK;
        return result == ORR_ERROR_INTERRUPTED ? ORR_OK : result;
    }
    return ORR_OK;
}

// Each held-out photo, then the means.
static orr_result compare_photos(training *t, double end, cJSON *json, orr_error *error)
{
    const int held_out = t->info.held_out_count;
    double psnr = 0.0, ssim = 0.0;
    int photos = 0;
    bool compared = true;
    cJSON *list = json ? cJSON_AddArrayToObject(json, "held out") : NULL;
    progress p;
    progress_begin(&p, "held-out photos", held_out);
    while (photos < held_out && compared) {
        orr_train_quality q;
        ORR_TRY(evaluate(t, photos, end, &q, &compared, error));
        if (compared) {
            psnr += q.psnr;
            ssim += q.ssim;
            photos++;
            add_photo(list, &q);
            progress_show(&p, photos);
        }
    }
    progress_end(&p);
    train_figure(json, "training photos", t->info.train_count, "");
    train_figure(json, "held-out photos", held_out, "");
    if (photos < held_out) {
        train_figure(json, "compared photos", photos, "");
    }
    if (photos > 0) {
        train_figure(json, "PSNR", psnr / photos, "dB");
        train_figure(json, "SSIM", ssim / photos, "");
        ORR_TRY(orr_trainer_describe(t->trainer, &t->info, error));
    }
    if (json && held_out > 0) {
        cJSON_AddBoolToObject(json, "photos belong to cameras", !t->info.mismatch);
    }
    return ORR_OK;
}

static orr_result compare(training *t, double end, cJSON *json, orr_error *error)
{
    orr_train_quality q;
    bool compared;
    ORR_TRY(evaluate(t, 0, end, &q, &compared, error));
    if (compared && t->desc.kind == ORR_TRAINER_SDF) {
        train_figure(json, "IoU", q.iou, "");
        train_figure(json, "normal error", q.normal_degrees, "degrees");
        train_figure(json, "smooth normal error", q.smooth_normal_degrees, "degrees");
        train_figure(json, "surface error", q.surface_error, "units of the mesh");
    } else if (compared) {
        train_figure(json, "PSNR", q.psnr, t->desc.kind == ORR_TRAINER_IMAGE ? "dB" : "dB of the density");
    }
    return ORR_OK;
}

orr_result train_report(training *t, cJSON *json, orr_error *error)
{
    const double end = progress_seconds(&t->clock) + t->evaluation_seconds;
    orr_stage_time stages[STAGES];
    ORR_TRY(orr_trainer_describe(t->trainer, &t->info, error));
    if (!json) {
        fprintf(stderr, "%s: %lld steps in %.1f s\n", t->model_path, (long long)train_steps(t),
                progress_seconds(&t->clock));
    }
    train_figure(json, "steps", (double)train_steps(t), "");
    train_figure(json, "samples", (double)t->info.samples, "");
    if (t->info.points > 0) {
        train_figure(json, "points of the capture", (double)t->info.points, "");
        train_figure(json, "first splats at points", (double)t->info.points_used, "");
    }
    if (t->desc.kind == ORR_TRAINER_SPLATS) {
        train_figure(json, "splats", (double)t->info.count, "");
    }
    train_figure(json, "loss", t->info.loss, "");
    ORR_TRY(t->info.train_count > 0 ? compare_photos(t, end, json, error) : compare(t, end, json, error));
    train_figure(json, "seconds", progress_seconds(&t->clock), "s");
    train_figure(json, "load seconds", t->seconds_loading, "s");
    const int count = orr_trainer_stages(t->trainer, stages, STAGES);
    for (int i = 0; i < count && i < STAGES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s seconds", stages[i].name);
        train_figure(json, name, stages[i].milliseconds * 1e-3, "s");
    }
    return ORR_OK;
}
