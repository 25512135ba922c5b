// orrery train: its command line. Trains a field or a cloud, shows how it goes, and leaves a model, a plot
// and a report.
#include "samples/orrery/train/train.h"

#include "samples/orrery/interrupt.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const train_kind kinds[] = {
    {"image", ORR_TRAINER_IMAGE, 60.0},   {"sdf", ORR_TRAINER_SDF, 60.0},
    {"nerf", ORR_TRAINER_NERF, 120.0},    {"splats", ORR_TRAINER_SPLATS, 180.0},
    {"volume", ORR_TRAINER_VOLUME, 60.0},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

// What is given, where the desc says it in another way.
typedef struct train_choices {
    common_options common; // seed UINT64_MAX: not given
    int steps;
    int sh_degree; // -1: not given
    double checkpoint_minutes, depth, prune;
    const char *holdout, *sampling, *masks, *lens, *strategy; // NULL: not given
} train_choices;

static const train_kind *find_kind(const char *name, orr_error *error)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            return &kinds[i];
        }
    }
    orr_fail(error, ORR_CODE_ARGUMENT,
             "train: %s: expected image, sdf, nerf, splats, volume, policy or material", name);
    return NULL;
}

static orr_result read_holdout(const char *holdout, orr_train_desc *desc, orr_error *error)
{
    double every = 0.0;
    const char *rest;
    const bool test = strcmp(holdout, "test") == 0;
    if (!test && !(options_read_real(holdout, 0, 0.0, 1e6, &every, &rest) && every == floor(every))) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "train: --holdout %s: expected a whole number from 0 to 1000000, or test", holdout);
    }
    desc->holdout = test ? -2 : every > 0.0 ? (int)every : -1;
    return ORR_OK;
}

static orr_result read_sampling(const char *sampling, orr_train_desc *desc, orr_error *error)
{
    desc->sampling = strcmp(sampling, "proposal") == 0    ? ORR_SAMPLING_PROPOSAL
                     : strcmp(sampling, "occupancy") == 0 ? ORR_SAMPLING_OCCUPANCY
                                                          : ORR_SAMPLING_AUTO;
    return desc->kind == ORR_TRAINER_NERF && desc->sampling != ORR_SAMPLING_AUTO
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT,
                          "train: --sampling %s: expected occupancy or proposal, with train nerf", sampling);
}

static orr_result read_masks(const char *masks, orr_train_desc *desc, orr_error *error)
{
    desc->masks = strcmp(masks, "empty") == 0 ? ORR_MASKS_EMPTY : ORR_MASKS_IGNORE;
    return desc->masks == ORR_MASKS_EMPTY || strcmp(masks, "ignore") == 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "train: --masks %s: expected ignore or empty", masks);
}

static orr_result read_lens(const char *lens, orr_train_desc *desc, orr_error *error)
{
    desc->lenses = strcmp(lens, "keep") == 0 ? ORR_LENSES_KEEP : ORR_LENSES_UNDISTORT;
    return desc->lenses == ORR_LENSES_KEEP || strcmp(lens, "undistort") == 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "train: --lens %s: expected keep or undistort", lens);
}

static orr_result read_strategy(const char *strategy, orr_train_desc *desc, orr_error *error)
{
    desc->strategy = strcmp(strategy, "mcmc") == 0 ? ORR_STRATEGY_MCMC : ORR_STRATEGY_ADC;
    return desc->strategy == ORR_STRATEGY_MCMC || strcmp(strategy, "adc") == 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "train: --strategy %s: expected adc or mcmc", strategy);
}

// What has no meaning for a cloud is refused.
static orr_result check_splats(const orr_train_desc *desc, orr_error *error)
{
    const char *given = desc->config                        ? "--config"
                        : desc->batch                       ? "--batch"
                        : desc->device == ORR_DEVICE_VULKAN ? "--device vulkan"
                                                            : NULL;
    return given ? orr_fail(error, ORR_CODE_ARGUMENT, "train: %s: expected none with train splats", given)
                 : ORR_OK;
}

// Likewise for a field.
static orr_result check_field(const training *t, const train_choices *c, orr_error *error)
{
    const orr_train_desc *desc = &t->desc;
    const bool nerf = desc->kind == ORR_TRAINER_NERF;
    const char *given = desc->splats                  ? "--splats"
                        : c->sh_degree >= 0           ? "--sh"
                        : desc->antialias             ? "--antialias"
                        : desc->bilateral_grid        ? "--bilateral-grid"
                        : desc->refine_poses          ? "--refine-poses"
                        : c->depth > 0.0              ? "--depth"
                        : c->prune > 0.0              ? "--prune"
                        : c->masks                    ? "--masks"
                        : c->lens                     ? "--lens"
                        : c->strategy                 ? "--strategy"
                        : !nerf && desc->exposures    ? "--exposures"
                        : !nerf && desc->fast_scatter ? "--fast-scatter"
                        : !nerf && c->holdout         ? "--holdout"
                                                      : NULL;
    return given ? orr_fail(error, ORR_CODE_ARGUMENT, "train: %s: expected none with train %s", given,
                            t->kind->name)
                 : ORR_OK;
}

// Likewise of what the file to go on from has.
static orr_result check_resume(const training *t, const train_choices *c, orr_error *error)
{
    const orr_train_desc *desc = &t->desc;
    const char *given = desc->kind != ORR_TRAINER_SPLATS ? (desc->config ? "--config" : NULL)
                        : desc->splats                   ? "--splats"
                        : c->sh_degree >= 0              ? "--sh"
                        : desc->antialias                ? "--antialias"
                        : desc->exposures                ? "--exposures"
                        : desc->bilateral_grid           ? "--bilateral-grid"
                        : desc->refine_poses             ? "--refine-poses"
                        : c->depth > 0.0                 ? "--depth"
                        : c->prune > 0.0                 ? "--prune"
                        : c->masks                       ? "--masks"
                        : c->lens                        ? "--lens"
                        : c->strategy                    ? "--strategy"
                        : c->common.seed != UINT64_MAX   ? "--seed"
                                                         : NULL;
    return given ? orr_fail(error, ORR_CODE_ARGUMENT,
                            "train: %s with --resume: expected none, %s has its own", given, desc->resume)
                 : ORR_OK;
}

static orr_result check(training *t, const train_choices *c, orr_error *error)
{
    if (!t->model_path) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "train: -o missing: expected a name for the model");
    }
    ORR_TRY(c->holdout ? read_holdout(c->holdout, &t->desc, error) : ORR_OK);
    ORR_TRY(c->sampling ? read_sampling(c->sampling, &t->desc, error) : ORR_OK);
    ORR_TRY(c->masks ? read_masks(c->masks, &t->desc, error) : ORR_OK);
    ORR_TRY(c->lens ? read_lens(c->lens, &t->desc, error) : ORR_OK);
    ORR_TRY(c->strategy ? read_strategy(c->strategy, &t->desc, error) : ORR_OK);
    ORR_TRY(t->desc.kind == ORR_TRAINER_SPLATS ? check_splats(&t->desc, error) : check_field(t, c, error));
    ORR_TRY(t->desc.resume ? check_resume(t, c, error) : ORR_OK);
    ORR_TRY(orr_trainer_check_path(t->desc.kind, t->model_path, !t->small, error));
    return t->preview ? train_preview_check(t->preview, error) : ORR_OK;
}

// Warnings, and what the trainer says about its device, once there is an engine.
static void print_log(void *opened, orr_log_level level, int code, const char *line)
{
    if (level == ORR_LOG_INFO && code == ORR_CODE_DEVICE_CHOSEN && *(const bool *)opened) {
        fprintf(stderr, "orrery: %s\n", line);
    }
    command_log().write(NULL, level, code, line);
}

static orr_result train(training *t, const train_choices *c, cJSON *json, orr_error *error)
{
    bool opened = false;
    orr_engine *engine;
    const orr_engine_desc desc = {
        .threads = c->common.threads, .device = ORR_DEVICE_CPU, .log = print_log, .log_user = &opened};
    ORR_TRY(check(t, c, error));
    ORR_TRY(orr_engine_create(&desc, &engine, error));
    opened = true;
    orr_result result = orr_trainer_create(engine, &t->desc, &t->trainer, error);
    if (result == ORR_OK) {
        result = train_run(t, json, error);
    }
    interrupt_call(NULL, NULL);
    orr_trainer_destroy(t->trainer);
    orr_engine_destroy(engine);
    return result;
}

// The desc, from what was given.
static void complete(training *t, const train_choices *c)
{
    orr_train_desc *desc = &t->desc;
    desc->kind = t->kind->kind;
    desc->device = c->common.device;
    desc->seed = c->common.seed != UINT64_MAX ? (uint32_t)c->common.seed : 0;
    desc->depth_weight = (float)c->depth;
    desc->prune = (float)c->prune;
    desc->sh_degree = c->sh_degree < 0 ? 0 : c->sh_degree == 0 ? -1 : c->sh_degree;
    t->checkpoint_seconds = 60.0 * c->checkpoint_minutes;
    t->steps_max = c->steps;
    t->seconds_max = t->seconds_max > 0.0 ? t->seconds_max : c->steps > 0 ? INFINITY : t->kind->seconds;
}

int command_train(int argc, char **argv)
{
    enum { CHECKPOINT_MINUTES = 10, EVALUATION_SECONDS = 120 };
    if (argc > 1 && strcmp(argv[1], "policy") == 0) {
        return train_policy(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "material") == 0) {
        return train_material(argc - 1, argv + 1);
    }
    training t = {.evaluation_seconds = EVALUATION_SECONDS};
    train_choices c = {
        .common = {.seed = UINT64_MAX}, .sh_degree = -1, .checkpoint_minutes = CHECKPOINT_MINUTES};
    progress_begin(&t.clock, "s", 0);
    const option list[] = {
        {.name = "--output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .value = &t.model_path,
         .expect = "MODEL",
         .help = "model (.ingp), or cloud (.ply, .spz, .sog); a plot of the training is written beside it"},
        {.name = "--steps",
         .kind = OPTION_INT,
         .value = &c.steps,
         .expect = "N",
         .help = "stop after N steps",
         .low = 1,
         .high = 1e9},
        {.name = "--seconds",
         .kind = OPTION_REAL,
         .value = &t.seconds_max,
         .expect = "S",
         .help = "stop S seconds after the start (default 60, nerf 120, splats 180; no limit with --steps)",
         .low = 1e-3,
         .high = 1e7},
        {.name = "--config",
         .kind = OPTION_TEXT,
         .value = &t.desc.config,
         .expect = "FILE",
         .help = "configuration of encodings and networks, as JSON of instant-ngp"},
        {.name = "--batch",
         .kind = OPTION_INT,
         .value = &t.desc.batch,
         .expect = "N",
         .help = "samples per step (default: depends on the kind)",
         .low = 64,
         .high = 1 << 22},
        {.name = "--splats",
         .kind = OPTION_INT,
         .value = &t.desc.splats,
         .expect = "N",
         .help = "splats: largest number of splats (default 150000; with --seconds S above 180 and no "
                 "--steps: 150000 x (S / 180)^(2/3), at most 1000000)",
         .low = 1,
         .high = 1 << 28},
        {.name = "--sh",
         .kind = OPTION_INT,
         .value = &c.sh_degree,
         .expect = "D",
         .help = "splats: degree of the spherical harmonics, 0 to 3 (default 3)",
         .low = 0,
         .high = 3},
        {.name = "--antialias",
         .kind = OPTION_FLAG,
         .value = &t.desc.antialias,
         .help = "splats: train with the 2D filter of Mip-Splatting, for views from far away"},
        {.name = "--holdout",
         .kind = OPTION_TEXT,
         .value = &c.holdout,
         .expect = "K|test",
         .help = "nerf, splats: hold out every Kth photo for testing (default 8; 0: none), or test on the "
                 "photos of transforms_test.json beside the capture's file (Blender), or of test_filenames "
                 "or val_filenames in it (nerfstudio)"},
        {.name = "--sampling",
         .kind = OPTION_TEXT,
         .value = &c.sampling,
         .expect = "occupancy|proposal",
         .help = "nerf: sample rays by an occupancy grid (default), or by a proposal field, for unbounded "
                 "captures"},
        {.name = "--exposures",
         .kind = OPTION_FLAG,
         .value = &t.desc.exposures,
         .help = "for photos of different exposures; nerf: learn a gain per photo and channel; splats: learn "
                 "an affine colour map per photo, and fit held-out photos on their left half before "
                 "comparing the right one"},
        {.name = "--bilateral-grid",
         .kind = OPTION_FLAG,
         .value = &t.desc.bilateral_grid,
         .help = "splats: instead of --exposures, learn colour maps that depend on position and brightness "
                 "in the photo"},
        {.name = "--refine-poses",
         .kind = OPTION_FLAG,
         .value = &t.desc.refine_poses,
         .help = "splats: also correct the poses of the photos; writes NAME.transforms.json beside NAME.ply"},
        {.name = "--depth",
         .kind = OPTION_REAL,
         .value = &c.depth,
         .expect = "W",
         .help = "splats: weight in the loss of the depths of the COLMAP points (points3D), 0 to 100 "
                 "(default 0; for few photos 0.1)",
         .low = 0.0,
         .high = 100.0},
        {.name = "--prune",
         .kind = OPTION_REAL,
         .value = &c.prune,
         .expect = "SHARE",
         .help = "splats: fraction of the splats, 0 to 0.95, to remove in the second half: those that "
                 "contribute least to the photos (default 0)",
         .low = 0.0,
         .high = 0.95},
        {.name = "--masks",
         .kind = OPTION_TEXT,
         .value = &c.masks,
         .expect = "ignore|empty",
         .help = "splats: ignore what masks leave out of the photos (default), or learn it as empty, for an "
                 "object without its surroundings"},
        {.name = "--lens",
         .kind = OPTION_TEXT,
         .value = &c.lens,
         .expect = "undistort|keep",
         .help = "splats: resample photos with lens distortion to a pinhole camera, of a fisheye only the "
                 "middle (default), or keep them, and draw splats through the lens"},
        {.name = "--strategy",
         .kind = OPTION_TEXT,
         .value = &c.strategy,
         .expect = "adc|mcmc",
         .help = "splats: how new splats are made: by splitting those with the largest gradients (default), "
                 "or by copying opaque ones"},
        {.name = "--fast-scatter",
         .kind = OPTION_FLAG,
         .value = &t.desc.fast_scatter,
         .help = "nerf: add gradients in any order: about 2 % faster, but bits differ between runs"},
        {.name = "--preview",
         .kind = OPTION_TEXT,
         .value = &t.preview,
         .expect = "DIR|FILE.png",
         .help = "write pictures during training: all of them into DIR, or the latest to FILE.png"},
        {.name = "--resume",
         .kind = OPTION_TEXT,
         .value = &t.desc.resume,
         .expect = "MODEL",
         .help = "continue from a model of this command, bit for bit: configuration, batch, seed, holdout "
                 "and exposures are those of the model; splats: from CLOUD.training beside the cloud, with "
                 "the same --holdout, and --steps counts from the very beginning"},
        {.name = "--checkpoint",
         .kind = OPTION_REAL,
         .value = &c.checkpoint_minutes,
         .expect = "MINUTES",
         .help = "interval at which the model is saved while it trains (default 10; 0: only at the end)",
         .low = 0.0,
         .high = 1e6},
        {.name = "--no-state",
         .kind = OPTION_FLAG,
         .value = &t.small,
         .help = "save without the state that --resume needs, which makes the file smaller; splats: no "
                 "CLOUD.training"},
        {.name = "--evaluation",
         .kind = OPTION_REAL,
         .value = &t.evaluation_seconds,
         .expect = "S",
         .help = "nerf, splats: compare held-out photos for at most S seconds at the end (default 120)",
         .low = 0.0,
         .high = 1e7},
    };
    const command_usage usage = {
        .name = "train",
        .operands = "image|sdf|nerf|splats|volume DATA -o MODEL | policy TASK ROBOT -o MODEL |\n       "
                    "material MESH -o MODEL",
        .purpose = "Trains a field or a splat cloud until --steps, --seconds or Ctrl-C, and saves it.",
        .notes = "DATA\n"
                 "  image         .png .jpg .webp .exr .hdr .bmp .tga .gif\n"
                 "  sdf           .obj .stl .glb .ply\n"
                 "  nerf, splats  a transforms.json, its folder, or a folder with a COLMAP model; splats "
                 "start from\n"
                 "                its points (points3D, or the ply_file_path of a transforms.json)\n"
                 "  volume        a three-dimensional .npy, or the word cloud for a computed one\n"
                 "  policy, material  see orrery train policy --help and orrery train material --help",
        .operand_min = 2,
        .operand_max = 2,
        .options = list,
        .option_count = sizeof list / sizeof list[0],
        .common = &c.common,
        .common_used = COMMON_DEVICE | COMMON_THREADS | COMMON_SEED | COMMON_JSON};
    int operand_count, exit_code;
    if (!options_read(&usage, argc, argv, &operand_count, &exit_code)) {
        return exit_code;
    }
    orr_error error;
    t.desc.data = argv[1];
    t.kind = find_kind(argv[0], &error);
    cJSON *json = c.common.json ? cJSON_CreateObject() : NULL;
    orr_result result = ORR_ERROR_ARGUMENT;
    if (t.kind) {
        complete(&t, &c);
        result = train(&t, &c, json, &error);
    }
    if (result != ORR_OK) {
        cJSON_Delete(json);
        return command_fail(result, &error);
    }
    exit_code = json ? command_print_json(json) : 0;
    return interrupt_requested() ? 130 : exit_code;
}
