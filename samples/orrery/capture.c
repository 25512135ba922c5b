// orrery capture: photos and videos to captures, with a report.
#include "engine/core/profile.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/progress.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

typedef struct capture_progress {
    progress line;
    const char *stage;
} capture_progress;

// Each stage counts in parts of its own.
static bool show(void *user, const char *stage, int64_t done, int64_t total)
{
    capture_progress *p = user;
    if (p->stage != stage) {
        progress_end(&p->line);
        progress_begin(&p->line, stage, total);
        p->stage = stage;
    }
    p->line.total = total;
    progress_show(&p->line, done);
    return !interrupt_requested();
}

static const char *up_text(orr_up_source up)
{
    switch (up) {
    case ORR_UP_EXIF:
        return "the plane of the cameras' horizontal axes, by EXIF orientation";
    case ORR_UP_MEAN:
        return "the mean of what is up in the photos";
    case ORR_UP_CAMERAS:
        break;
    }
    return "the plane of the cameras' horizontal axes";
}

static void print_report(const orr_registration *registration, const orr_registration_info *info,
                         const char *output, double seconds)
{
    const double degrees = 180.0 / 3.14159265358979323846;
    if (info->frames_read > 0) {
        printf("frames        %d of %lld\n", info->photos, (long long)info->frames_read);
    }
    printf("registered    %d of %d photos\n", info->registered, info->photos);
    printf("points        %lld, each in %.1f photos\n", (long long)info->points, info->photos_per_point);
    printf("reprojection  %.2f px\n", info->reprojection_error);
    printf("lens          %s, %.1f px, %.4g %.4g\n", info->undistorted ? "undistorted" : "kept",
           (double)info->camera.focal[0], (double)info->camera.radial[0], (double)info->camera.radial[1]);
    printf("masks         %d\n", info->masks);
    printf("up            %s; %.1f degrees around it\n", up_text(info->up), info->up_spread * degrees);
    printf("scale         %s\n", info->metric ? "metres" : "not known: the cameras' mean distance is 4");
    if (info->models > 1) {
        printf("parts         %d that do not hang together; the largest is kept\n", info->models);
    }
    for (int i = 0; orr_registration_left_out(registration, i); i++) {
        printf("left out      %s\n", orr_registration_left_out(registration, i));
    }
    fprintf(stderr, "%s: written in %.1f s; cameras.png shows cameras and points\n", output, seconds);
}

static int print_json(const orr_registration *registration, const orr_registration_info *info,
                      const char *output, double seconds)
{
    static const char *const ups[] = {
        [ORR_UP_CAMERAS] = "cameras", [ORR_UP_EXIF] = "exif", [ORR_UP_MEAN] = "mean"};
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "file", output);
    cJSON_AddNumberToObject(json, "photos", info->photos);
    cJSON_AddNumberToObject(json, "registered", info->registered);
    cJSON_AddNumberToObject(json, "frames_read", (double)info->frames_read);
    cJSON_AddNumberToObject(json, "masks", info->masks);
    cJSON_AddNumberToObject(json, "models", info->models);
    cJSON_AddNumberToObject(json, "points", (double)info->points);
    cJSON_AddNumberToObject(json, "reprojection_error", info->reprojection_error);
    cJSON_AddNumberToObject(json, "photos_per_point", info->photos_per_point);
    cJSON_AddStringToObject(json, "up", ups[info->up]);
    cJSON_AddNumberToObject(json, "oriented", info->oriented);
    cJSON_AddNumberToObject(json, "up_spread", info->up_spread);
    cJSON_AddBoolToObject(json, "metric", info->metric);
    cJSON_AddBoolToObject(json, "undistorted", info->undistorted);
    cJSON_AddNumberToObject(json, "focal", (double)info->camera.focal[0]);
    cJSON *left_out = cJSON_AddArrayToObject(json, "left_out");
    for (int i = 0; left_out && orr_registration_left_out(registration, i); i++) {
        cJSON_AddItemToArray(left_out, cJSON_CreateString(orr_registration_left_out(registration, i)));
    }
    cJSON_AddNumberToObject(json, "seconds", seconds);
    return command_print_json(json);
}

// "a.jpg,b.jpg,1.5"
static orr_result read_scale(char *text, orr_registration_desc *desc, orr_error *error)
{
    char *second = text ? strchr(text, ',') : NULL, *metres = second ? strchr(second + 1, ',') : NULL;
    const char *rest;
    if (!text) {
        return ORR_OK;
    }
    if (!metres || !options_read_real(metres + 1, 0, 1e-9, 1e9, &desc->scale_metres, &rest)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "capture: --distance %s: expected two photos and metres: PHOTO,PHOTO,M", text);
    }
    *second = *metres = 0;
    desc->scale_from = text;
    desc->scale_to = second + 1;
    return ORR_OK;
}

static orr_result run(const common_options *common, const orr_registration_desc *desc, int *exit_code,
                      orr_error *error)
{
    orr_engine *engine;
    orr_registration *registration;
    orr_registration_info info;
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(command_engine(common, &engine, error));
    interrupt_begin();
    orr_result result = orr_registration_create(engine, desc, &registration, error);
    capture_progress *p = desc->progress_user;
    progress_end(&p->line);
    if (result == ORR_OK) {
        double seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9;
        result = orr_registration_describe(registration, &info, error);
        if (common->json) {
            *exit_code = print_json(registration, &info, desc->output, seconds);
        } else {
            print_report(registration, &info, desc->output, seconds);
        }
        orr_registration_destroy(registration);
    }
    orr_engine_destroy(engine);
    return result;
}

int command_capture(int argc, char **argv)
{
    common_options common = {.device = ORR_DEVICE_CPU};
    capture_progress shown = {0};
    orr_registration_desc desc = {.progress = show, .progress_user = &shown};
    char *distance = NULL;
    const option list[] = {
        {.name = "--output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .value = &desc.output,
         .expect = "CAPTURE",
         .help = "new or empty folder, for transforms.json, images, masks, points.ply, cameras.png and "
                 "sparse/0 (a COLMAP model)"},
        {.name = "--undistort",
         .kind = OPTION_FLAG,
         .value = &desc.undistort,
         .help = "resample the photos to remove the distortion of the lens (default: keep it, and record the "
                 "lens)"},
        {.name = "--masks",
         .kind = OPTION_TEXT,
         .value = &desc.masks,
         .expect = "DIR",
         .help = "folder with a mask NAME.png for each photo NAME.jpg, black where the photo is ignored "
                 "(default: a folder masks in or beside PHOTOS, or dynamic_mask_NAME.png beside a photo)"},
        {.name = "--frames",
         .kind = OPTION_INT,
         .value = &desc.frames,
         .expect = "N",
         .help = "of a video, use at most N frames (default 150)",
         .low = 3,
         .high = 10000},
        {.name = "--features",
         .kind = OPTION_INT,
         .value = &desc.features,
         .expect = "N",
         .help = "find at most N features in each photo (default 2048)",
         .low = 100,
         .high = 100000},
        {.name = "--feature-size",
         .kind = OPTION_INT,
         .value = &desc.feature_side,
         .expect = "N",
         .help = "scale photos to N pixels on the longer side before finding features (default 1600)",
         .low = 200,
         .high = 16384},
        {.name = "--sequential",
         .kind = OPTION_FLAG,
         .value = &desc.sequential,
         .help = "match each photo only with its neighbours in the order of names"},
        {.name = "--distance",
         .kind = OPTION_TEXT,
         .value = &distance,
         .expect = "A,B,M",
         .help = "the cameras of photos A and B are M metres apart: scales the capture to metres"},
    };
    const command_usage usage = {
        .name = "capture",
        .operands = "PHOTOS|VIDEO -o CAPTURE",
        .purpose = "Finds the cameras of photos, or of the sharpest frames of a video, with COLMAP.",
        .notes =
            "PHOTOS is a folder of .jpg .jpeg .png .bmp files, or one with a COLMAP model and its images.\n"
            "VIDEO is a .mp4 .mov .mkv .webm .avi or .ts file. The program colmap must be on PATH.\n"
            "\n"
            "Next: orrery train splats CAPTURE -o scene.ply. Captures that have cameras already "
            "(transforms.json,\n"
            "nerfstudio, Blender, COLMAP) need only orrery train.",
        .operand_min = 1,
        .operand_max = 1,
        .options = list,
        .option_count = sizeof list / sizeof list[0],
        .common = &common,
        .common_used = COMMON_THREADS | COMMON_JSON};
    int operand_count, exit_code;
    if (!options_read(&usage, argc, argv, &operand_count, &exit_code)) {
        return exit_code;
    }
    orr_error error;
    desc.source = argv[0];
    orr_result result = desc.output ? read_scale(distance, &desc, &error)
                                    : orr_fail(&error, ORR_CODE_ARGUMENT,
                                               "capture: -o missing: expected a name for the capture");
    exit_code = 0;
    if (result == ORR_OK) {
        result = run(&common, &desc, &exit_code, &error);
    }
    return result == ORR_OK ? exit_code : command_fail(result, &error);
}
