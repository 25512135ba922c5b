// Training through the public interface: splats and fields, to the same bits, as layers, saved, resumed,
// stopped.
#define _POSIX_C_SOURCE 200809L
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "orr_features.h"
#include "render/training/splat_state.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPLATS = 400, STEPS = 20, NAMES = 8 };

// Stays valid for some further calls.
static const char *in_folder(const char *name)
{
    static char paths[NAMES][300];
    static int next;
    char *path = paths[next++ % NAMES];
    snprintf(path, sizeof paths[0], "%s", scratch_path(name));
    return path;
}

static const char *small_config(void)
{
    return written("small.json", "{\"encoding\": {\"log2_hashmap_size\": 12}}");
}

static const char *capture(void)
{
    static char path[300];
    snprintf(path, sizeof path, "%s", made_asset("capture"));
    return path;
}

static const char *picture(void)
{
    static float ramps[20 * 32 * 4];
    static char path[300];
    orr_output *output;
    for (int i = 0; i < 20 * 32; i++) {
        ramps[4 * i] = (float)(i % 32) / 31.0f;
        ramps[4 * i + 1] = (float)(i / 32) / 19.0f;
        ramps[4 * i + 3] = 1.0f;
    }
    snprintf(path, sizeof path, "%s", scratch_path("ramps.png"));
    assert_ok(orr_output_create(&(orr_output_desc){.path = path, .count = 1}, &output, &error));
    assert_ok(orr_output_put(output, 0, ramps, 32, 20, &error));
    assert_ok(orr_output_finish(output, &error));
    orr_output_destroy(output);
    return path;
}

static orr_train_desc of_splats(void)
{
    return (orr_train_desc){.data = capture(), .splats = SPLATS, .sh_degree = 1, .seed = 3};
}

static orr_train_desc of_photos(void)
{
    return (orr_train_desc){.kind = ORR_TRAINER_NERF, .data = capture(), .batch = 512, .seed = 1};
}

static orr_train_desc of_image(void)
{
    return (orr_train_desc){.kind = ORR_TRAINER_IMAGE, .data = picture(), .batch = 1024, .seed = 5};
}

static orr_trainer *trainer_on(orr_engine *on, const orr_train_desc *desc)
{
    orr_trainer *trainer;
    orr_train_desc own = *desc;
    own.config = own.kind == ORR_TRAINER_SPLATS || own.resume ? NULL : small_config();
    assert_ok(orr_trainer_create(on, &own, &trainer, &error));
    return trainer;
}

static orr_train_info info_of(const orr_trainer *trainer)
{
    orr_train_info info;
    assert_ok(orr_trainer_describe(trainer, &info, &error));
    return info;
}

#define assert_refused(call, words)                                                                          \
    do {                                                                                                     \
        orr_error why = {0};                                                                                 \
        if ((call) != ORR_ERROR_ARGUMENT || !strstr(why.message, words)) {                                   \
            fail_msg("%s: %s: expected an argument error with \"%s\"", #call, why.message, words);           \
        }                                                                                                    \
    } while (0)

static void keep_line(void *kept, orr_log_level level, int code, const char *line)
{
    if (level == ORR_LOG_WARNING && code == ORR_CODE_IGNORED) {
        snprintf(kept, 300, "%s", line);
    }
}

// The capture as if it were through a fisheye: both kinds learn, and what splats leave out is said.
static void photos_of_a_fisheye_are_learned_from(void **state)
{
    (void)state;
    char path[600], text[60000] = "{\"is_fisheye\": true,", line[300] = "", images[600];
    snprintf(path, sizeof path, "%s/transforms.json", capture());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t begun = strlen(text), size = fread(text + begun, 1, sizeof text - begun - 1, file);
    assert_true(size > 0 && size < sizeof text - begun - 1 && text[begun] == '{');
    text[begun] = ' ';
    text[begun + size] = 0;
    fclose(file);
    snprintf(images, sizeof images, "%s/images", capture());
    unlink(in_folder("images"));
    assert_int_equal(symlink(images, in_folder("images")), 0);
    orr_engine *own;
    const orr_engine_desc engine_desc = {
        .threads = 2, .device = ORR_DEVICE_CPU, .log = keep_line, .log_user = line};
    assert_ok(orr_engine_create(&engine_desc, &own, &error));
    orr_train_desc descs[2] = {of_photos(), of_splats()};
    for (int i = 0; i < 2; i++) {
        descs[i].data = written("fisheyes.json", text);
        orr_trainer *trainer = trainer_on(own, &descs[i]);
        // camera_angle_x is 0.87 rad, as of a pinhole
        assert_true((strstr(line, "24 of 24 photos are a fisheye's") && strstr(line, "50 x 50 degrees")) ==
                    (i == 1));
        assert_ok(orr_trainer_step(trainer, 3, 0.0, &error));
        assert_true(isfinite(info_of(trainer).loss) && info_of(trainer).loss > 0.0);
        orr_trainer_destroy(trainer);
    }
    orr_engine_destroy(own);
    unlink(in_folder("images"));
}

static void figures_follow_the_steps_and_the_plan(void **state)
{
    (void)state;
    const orr_train_desc desc = of_splats();
    orr_trainer *trainer = trainer_on(engine, &desc);
    orr_train_info i = info_of(trainer);
    assert_true(i.steps == 0 && i.loss == 0.0 && i.count > 0 && i.count < SPLATS && i.progress == 0.0);
    assert_true(i.held_out_count > 0 && i.train_count > i.held_out_count && i.psnr == 0.0);
    assert_ok(orr_trainer_plan(trainer, STEPS, 0.0, &error));
    assert_ok(orr_trainer_step(trainer, 5, 0.0, &error));
    i = info_of(trainer);
    assert_true(i.steps == 5 && i.loss > 0.0 && i.samples > 0 && i.steps_per_second > 0.0);
    assert_true(i.progress == 5.0 / STEPS && i.seconds_left > 0.0 && isfinite(i.seconds_left));
    assert_ok(orr_trainer_step(trainer, 1000, 0.0, &error)); // it ends with the plan
    i = info_of(trainer);
    assert_true(i.steps == STEPS && i.progress == 1.0 && i.seconds_left == 0.0);
    assert_ok(orr_trainer_step(trainer, 2, 0.0, &error)); // and goes on after it
    assert_int_equal(info_of(trainer).steps, STEPS + 2);
    assert_ok(orr_trainer_step(trainer, 0, 1.0, &error)); // at least one in so little time
    assert_true(info_of(trainer).steps > STEPS + 2);
    orr_stage_time stages[4];
    assert_true(orr_trainer_stages(trainer, stages, 4) > 4 && stages[3].milliseconds >= 0.0);
    orr_trainer_destroy(trainer);
}

static void time_is_a_plan_too(void **state)
{
    (void)state;
    const orr_train_desc desc = of_image();
    orr_trainer *trainer = trainer_on(engine, &desc);
    assert_true(isinf(info_of(trainer).seconds_left) && info_of(trainer).progress == 0.0);
    const double before = info_of(trainer).seconds;
    assert_ok(orr_trainer_plan(trainer, 0, 0.05, &error));
    assert_ok(orr_trainer_step(trainer, 0, 1e6, &error));
    const orr_train_info i = info_of(trainer);
    assert_true(i.progress == 1.0 && i.seconds - before >= 0.05);
    orr_trainer_destroy(trainer);
}

// Steps of splats begin cheap: by half of the time more than half of the steps are over.
static void time_of_splats_is_spent_as_steps_are(void **state)
{
    (void)state;
    const orr_train_desc desc = of_splats();
    orr_trainer *trainer = trainer_on(engine, &desc);
    double from = info_of(trainer).seconds; // read some us apart from progress
    assert_ok(orr_trainer_plan(trainer, 0, 100.0, &error));
    assert_ok(orr_trainer_step(trainer, 2, 0.0, &error));
    orr_train_info i = info_of(trainer);
    assert_true(i.seconds > from && fabs(i.progress - sqrt((i.seconds - from) / 100.0)) < 1e-5);
    const double then = i.progress;
    from = i.seconds;
    assert_ok(orr_trainer_plan(trainer, 0, 10.0, &error)); // from where it is
    assert_true(fabs(info_of(trainer).progress - then) < 1e-5);
    assert_ok(orr_trainer_step(trainer, 2, 0.0, &error));
    i = info_of(trainer);
    const double square = then * then, share = square + (1.0 - square) * (i.seconds - from) / 10.0;
    assert_true(fabs(i.progress - sqrt(share)) < 1e-5);
    orr_trainer_destroy(trainer);
}

// How many splats there may be, as a training that goes on is told.
static int64_t most_splats(orr_trainer *trainer)
{
    orr_bytes bytes;
    orr_splat_state read;
    char state_path[320];
    const char *cloud = in_folder("most.ply");
    snprintf(state_path, sizeof state_path, "%s.training", cloud);
    assert_ok(orr_trainer_save(trainer, cloud, true, &error));
    assert_ok(orr_file_read(state_path, &bytes, &error));
    assert_ok(orr_splat_state_read(state_path, bytes, &read, &error));
    const int64_t most = read.most;
    orr_splat_state_destroy(&read);
    orr_free(bytes.data);
    return most;
}

// By a plan of time before the first step, where the desc names no number and the file to go on from neither.
static void more_time_allows_more_splats(void **state)
{
    (void)state;
    orr_train_desc desc = of_splats();
    desc.sh_degree = -1;
    orr_trainer *trainer = trainer_on(engine, &desc);
    assert_ok(orr_trainer_plan(trainer, 0, 600.0, &error));
    assert_int_equal(most_splats(trainer), SPLATS);
    orr_trainer_destroy(trainer);
    desc.splats = 0;
    trainer = trainer_on(engine, &desc);
    assert_ok(orr_trainer_plan(trainer, 0, 600.0, &error));
    assert_ok(orr_trainer_plan(trainer, 50, 600.0, &error)); // the steps are over sooner
    assert_int_equal(most_splats(trainer), 150000);
    assert_ok(orr_trainer_plan(trainer, 0, 600.0, &error));
    assert_ok(orr_trainer_step(trainer, 1, 0.0, &error));
    assert_ok(orr_trainer_plan(trainer, 0, 1e6, &error)); // it has begun
    assert_int_equal(most_splats(trainer), 334716);
    orr_trainer_destroy(trainer);
    desc.resume = in_folder("most.ply");
    trainer = trainer_on(engine, &desc);
    assert_ok(orr_trainer_plan(trainer, 0, 1e6, &error));
    assert_int_equal(most_splats(trainer), 334716);
    orr_trainer_destroy(trainer);
}

// The capture's first photos as transforms_train.json, and the others as `name`; returns the folder.
static const char *parted_capture(const char *name, int learned)
{
    static char folder[300];
    char path[600];
    orr_bytes text;
    snprintf(path, sizeof path, "%s/transforms.json", capture());
    assert_ok(orr_file_read(path, &text, &error));
    cJSON *root = cJSON_Parse((const char *)text.data);
    cJSON *frames = cJSON_DetachItemFromObject(root, "frames"), *parts[2], *frame;
    orr_free(text.data);
    snprintf(folder, sizeof folder, "%s", scratch_path("parted"));
    mkdir(folder, 0777);
    for (int k = 0; k < 2; k++) {
        parts[k] = cJSON_Duplicate(root, true);
        cJSON_AddArrayToObject(parts[k], "frames");
    }
    for (int i = 0; (frame = cJSON_DetachItemFromArray(frames, 0)); i++) {
        snprintf(path, sizeof path, "%s/%s", capture(), cJSON_GetObjectItem(frame, "file_path")->valuestring);
        cJSON_ReplaceItemInObject(frame, "file_path", cJSON_CreateString(path));
        cJSON_AddItemToArray(cJSON_GetObjectItem(parts[i >= learned], "frames"), frame);
    }
    for (int k = 0; k < 2; k++) {
        char *printed = cJSON_PrintUnformatted(parts[k]);
        snprintf(path, sizeof path, "%s/%s", folder, k ? name : "transforms_train.json");
        assert_ok(orr_file_write(path, printed, strlen(printed), &error));
        free(printed);
        cJSON_Delete(parts[k]);
    }
    cJSON_Delete(frames);
    cJSON_Delete(root);
    return folder;
}

// As the papers have it: learned from are all photos of one file, and compared those of another.
static void photos_for_testing_have_a_file_of_their_own(void **state)
{
    (void)state;
    enum { LEARNED = 21, LISTED = 24 };
    orr_train_desc descs[] = {of_splats(), of_photos()};
    for (int k = 0; k < 2; k++) {
        orr_train_quality q;
        char train_file[400];
        orr_error why = {0};
        const char *model = in_folder(k ? "parted.ingp" : "parted.ply");
        descs[k].data = parted_capture("transforms_other.json", LEARNED);
        descs[k].holdout = -2;
        orr_trainer *trainer;
        assert_int_equal(orr_trainer_create(engine, &descs[k], &trainer, &why), ORR_ERROR_FILE);
        assert_non_null(strstr(why.message, "parted: no photos for testing: expected transforms_test.json"));
        descs[k].data = parted_capture("transforms_test.json", LEARNED);
        orr_train_desc alone = descs[k]; // what is learned from is no test
        alone.data = scratch_path("parted/transforms_test.json");
        assert_int_equal(orr_trainer_create(engine, &alone, &trainer, &why), ORR_ERROR_FILE);
        trainer = trainer_on(engine, &descs[k]);
        assert_int_equal(info_of(trainer).train_count, LEARNED);
        assert_int_equal(info_of(trainer).held_out_count, LISTED - LEARNED);
        assert_ok(orr_trainer_step(trainer, 2, 0.0, &error));
        assert_ok(orr_trainer_evaluate(trainer, LISTED - LEARNED - 1, 0.0, &q, &error));
        assert_non_null(strstr(q.file, "/23.png"));
        assert_ok(orr_trainer_save(trainer, model, true, &error));
        orr_trainer_destroy(trainer);
        // a field says so itself; the file is as good as its folder
        snprintf(train_file, sizeof train_file, "%s/transforms_train.json", descs[k].data);
        descs[k].data = train_file;
        descs[k].resume = model;
        descs[k].holdout = k ? 0 : -2;
        trainer = trainer_on(engine, &descs[k]);
        assert_int_equal(info_of(trainer).train_count, LEARNED);
        assert_int_equal(info_of(trainer).held_out_count, LISTED - LEARNED);
        orr_trainer_destroy(trainer);
        unlink(scratch_path("parted/transforms_test.json"));
    }
}

// The capture with whole names, in the scratch folder: frame i with the photo of frame `step` i, with names
// first .. first + count - 1 in each list that has a count, and one that no frame has.
typedef struct name_list {
    const char *key;
    int first, count;
    bool unknown;
} name_list;

static const char *rewritten_capture(const char *name, int step, const name_list *lists, int list_count)
{
    char path[600];
    const char *photos[64];
    orr_bytes text;
    snprintf(path, sizeof path, "%s/transforms.json", capture());
    assert_ok(orr_file_read(path, &text, &error));
    cJSON *root = cJSON_Parse((const char *)text.data), *original = cJSON_Duplicate(root, true);
    orr_free(text.data);
    const cJSON *before = cJSON_GetObjectItem(original, "frames");
    const int count = cJSON_GetArraySize(before);
    for (int i = 0; i < count; i++) {
        photos[i] =
            cJSON_GetObjectItem(cJSON_GetArrayItem(before, step * i % count), "file_path")->valuestring;
        snprintf(path, sizeof path, "%s/%s", capture(), photos[i]);
        cJSON *frame = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "frames"), i);
        cJSON_ReplaceItemInObject(frame, "file_path", cJSON_CreateString(path));
    }
    for (int k = 0; k < list_count; k++) {
        cJSON *names = cJSON_AddArrayToObject(root, lists[k].key);
        for (int i = lists[k].first; i < lists[k].first + lists[k].count; i++) {
            snprintf(path, sizeof path, "%s/%s", capture(), photos[i]);
            cJSON_AddItemToArray(names, cJSON_CreateString(path));
        }
        if (lists[k].unknown) {
            cJSON_AddItemToArray(names, cJSON_CreateString("nowhere.png"));
        }
    }
    char *printed = cJSON_PrintUnformatted(root);
    const char *made = written(name, printed);
    free(printed);
    cJSON_Delete(original);
    cJSON_Delete(root);
    return made;
}

// nerfstudio's: what is learned from and what is compared is in the file. It is not asked without holdout.
static void a_file_names_its_photos_for_testing(void **state)
{
    (void)state;
    enum { LISTED = 24 };
    static const struct {
        name_list lists[3];
        int list_count, learned, held_out;
        const char *first;
    } cases[] = {
        {{{"train_filenames", 0, 16, false},
          {"val_filenames", 16, 3, false},
          {"test_filenames", 20, 4, true}},
         3,
         16,
         4,
         "/20.png"},
        {{{"train_filenames", 2, 16, false}, {"val_filenames", 21, 3, false}}, 2, 16, 3, "/21.png"},
        {{{"test_filenames", 5, 2, false}}, 1, LISTED - 2, 2, "/05.png"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        orr_engine *own;
        orr_train_quality q;
        char line[300] = "";
        const orr_engine_desc engine_desc = {
            .threads = 2, .device = ORR_DEVICE_CPU, .log = keep_line, .log_user = line};
        assert_ok(orr_engine_create(&engine_desc, &own, &error));
        orr_train_desc desc = of_splats();
        desc.data = rewritten_capture("listed.json", 1, cases[k].lists, cases[k].list_count);
        desc.holdout = -2;
        orr_trainer *trainer = trainer_on(own, &desc);
        assert_int_equal(info_of(trainer).train_count, cases[k].learned);
        assert_int_equal(info_of(trainer).held_out_count, cases[k].held_out);
        assert_ok(orr_trainer_evaluate(trainer, 0, 0.0, &q, &error));
        assert_non_null(strstr(q.file, cases[k].first));
        orr_trainer_destroy(trainer);
        assert_int_equal(strstr(line, "1 of 5 names of test_filenames") != NULL, k == 0);
        desc.holdout = -1;
        trainer = trainer_on(own, &desc);
        assert_int_equal(info_of(trainer).train_count, LISTED);
        orr_trainer_destroy(trainer);
        orr_engine_destroy(own);
    }
    orr_trainer *trainer;
    orr_error why = {0};
    orr_train_desc desc = of_splats();
    desc.holdout = -2;
    desc.data = written("listed.json", "{\"fl_x\": 9, \"test_filenames\": [7], \"frames\": "
                                       "[{\"file_path\": \"a.png\", \"transform_matrix\": "
                                       "[[1,0,0,0],[0,1,0,0],[0,0,1,0]]}]}");
    assert_int_equal(orr_trainer_create(engine, &desc, &trainer, &why), ORR_ERROR_FORMAT);
    assert_non_null(strstr(why.message, "test_filenames: expected an array of file names"));
}

typedef struct doubts {
    int count;
    char line[300];
} doubts;

static void keep_doubt(void *kept, orr_log_level level, int code, const char *line)
{
    doubts *d = kept;
    if (level == ORR_LOG_WARNING && code == ORR_CODE_CAMERA_FILE) {
        d->count++;
        snprintf(d->line, sizeof d->line, "%s", line);
    }
}

// What is learned of photos that are not their cameras' shows in those that are held out: once early, and at
// the end.
static void photos_of_other_cameras_are_told(void **state)
{
    (void)state;
    enum { LONG = 120, HELD_OUT = 3, MIRRORED = 23 };
    for (int k = 0; k < 2; k++) {
        orr_engine *own;
        orr_train_quality q;
        doubts told = {0};
        const bool mixed = k == 1;
        double above = 0.0;
        const orr_engine_desc engine_desc = {
            .threads = 2, .device = ORR_DEVICE_CPU, .log = keep_doubt, .log_user = &told};
        assert_ok(orr_engine_create(&engine_desc, &own, &error));
        orr_train_desc desc = of_splats();
        desc.data = rewritten_capture("order.json", mixed ? MIRRORED : 1, NULL, 0);
        orr_trainer *trainer = trainer_on(own, &desc);
        assert_ok(orr_trainer_plan(trainer, LONG, 0.0, &error));
        assert_ok(orr_trainer_measure(trainer, &error)); // there is nothing yet to tell by
        assert_false(info_of(trainer).mismatch);
        for (int half = 0; half < 2; half++) {
            assert_ok(orr_trainer_step(trainer, LONG / 2, 0.0, &error));
            assert_ok(orr_trainer_measure(trainer, &error));
            assert_int_equal(info_of(trainer).mismatch, mixed);
            assert_int_equal(told.count, mixed);
        }
        for (int i = 0; i < HELD_OUT; i++) {
            assert_ok(orr_trainer_evaluate(trainer, i, 0.0, &q, &error));
            assert_in_range(q.constant_psnr, 5, 40);
            above += (q.psnr - q.constant_psnr) / HELD_OUT;
        }
        // 7.2 dB in order, 3.6 otherwise, where 5 are expected; the first photo alone at least 1.8, and -0.3
        print_message("%s: %.1f dB above one colour\n", mixed ? "mixed" : "in order", above);
        assert_int_equal(info_of(trainer).mismatch, mixed);
        assert_int_equal(told.count, mixed ? 2 : 0);
        assert_int_equal(strstr(told.line, "order.json: held-out photos at ") != NULL, mixed);
        orr_trainer_destroy(trainer);
        orr_engine_destroy(own);
    }
}

static void quality_is_measured_quickly_and_in_full(void **state)
{
    (void)state;
    const orr_train_desc descs[] = {of_splats(), of_photos(), of_image()};
    for (int k = 0; k < 3; k++) {
        orr_trainer *trainer = trainer_on(engine, &descs[k]);
        orr_train_picture shown;
        orr_train_quality q;
        assert_refused(orr_trainer_picture(trainer, &shown, &why), "orr_trainer_measure");
        assert_ok(orr_trainer_step(trainer, 20, 0.0, &error));
        assert_ok(orr_trainer_measure(trainer, &error));
        assert_ok(orr_trainer_picture(trainer, &shown, &error));
        assert_true(shown.width >= 16 && shown.height >= 16 && shown.rgba[3] >= 0.0f);
        const orr_train_info i = info_of(trainer);
        assert_true(i.psnr > 5.0 && i.psnr < 60.0);
        assert_int_equal(i.ssim != 0.0, descs[k].kind == ORR_TRAINER_SPLATS);
        assert_ok(orr_trainer_evaluate(trainer, 0, 0.0, &q, &error));
        assert_true(q.psnr > 5.0 && q.psnr < 60.0 && q.iou == 0.0);
        assert_int_equal(q.file != NULL && q.ssim > 0.0, descs[k].kind != ORR_TRAINER_IMAGE);
        print_message("%g dB quickly, %g dB in full\n", i.psnr, q.psnr);
        // of the same photo after the same step; an image of so few pixels is measured in one block of them
        assert_true(descs[k].kind == ORR_TRAINER_IMAGE || fabs(q.psnr - i.psnr) < 3.0);
        assert_refused(orr_trainer_evaluate(trainer, 1000, 0.0, &q, &why), "held-out photo 1000");
        const char *plot = in_folder("plot.png");
        assert_ok(orr_trainer_save_plot(trainer, NULL, plot, &error));
        assert_int_equal(access(plot, F_OK), 0);
        unlink(plot);
        orr_trainer_destroy(trainer);
    }
}

// Trains until `steps` and saves; `planned` in all.
static void train(orr_engine *on, orr_train_desc desc, const char *resume, int steps, int planned,
                  const char *path)
{
    desc.resume = resume;
    orr_trainer *trainer = trainer_on(on, &desc);
    assert_ok(orr_trainer_plan(trainer, planned, 0.0, &error));
    assert_ok(orr_trainer_step(trainer, steps - info_of(trainer).steps, 0.0, &error));
    assert_int_equal(info_of(trainer).steps, steps);
    assert_ok(orr_trainer_save(trainer, path, true, &error));
    orr_trainer_destroy(trainer);
}

// By one thread in one go, and by three with a pause in a file; measuring and saving change nothing.
static void a_training_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    orr_engine *engines[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = 1 + 2 * i},
                                    &engines[i], &error));
    }
    const orr_train_desc descs[] = {of_splats(), of_photos(), of_image()};
    for (int k = 0; k < 3; k++) {
        const bool cloud = descs[k].kind == ORR_TRAINER_SPLATS;
        const char *ending = cloud ? "ply" : "msgpack";
        char paths[3][300];
        for (int i = 0; i < 3; i++) {
            char name[32];
            snprintf(name, sizeof name, "part%d.%s", i, ending);
            snprintf(paths[i], sizeof paths[i], "%s", scratch_path(name));
        }
        train(engines[0], descs[k], NULL, STEPS, STEPS, paths[0]);
        train(engines[1], descs[k], NULL, STEPS / 2, STEPS, paths[1]);
        orr_train_desc rest = descs[k]; // what the file says takes the place of these
        rest.seed = 0;
        rest.batch = 0;
        rest.splats = rest.sh_degree = 0;
        train(engines[1], rest, paths[1], STEPS, STEPS, paths[2]);
        if (cloud) {
            assert_same_files(paths[0], paths[2]);
            strcat(paths[0], ".training");
            strcat(paths[2], ".training");
            assert_same_files(paths[0], paths[2]);
        } else { // the loss in the file is the mean of the steps since the resumption
            orr_scene *scenes[2];
            float *drawn[2];
            for (int i = 0; i < 2; i++) {
                orr_world *world;
                orr_frame *frame;
                orr_view view = {0};
                drawn[i] = calloc(64 * 48 * 4, sizeof *drawn[i]);
                assert_ok(orr_scene_load(engines[0], paths[2 * i], &scenes[i], &error));
                assert_ok(orr_world_create(scenes[i], 1, &world, &error));
                assert_ok(orr_frame_create(engines[0], NULL, &frame, &error));
                view.camera = orr_scene_default_camera(scenes[i], 64, 48);
                assert_ok(orr_frame_submit(frame, scenes[i], world, &view, &error));
                assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = drawn[i]}, &error));
                orr_frame_destroy(frame);
                orr_world_destroy(world);
                orr_scene_destroy(scenes[i]);
            }
            assert_memory_equal(drawn[0], drawn[1], 64 * 48 * 4 * sizeof *drawn[0]);
            free(drawn[0]);
            free(drawn[1]);
        }
    }
    orr_engine_destroy(engines[0]);
    orr_engine_destroy(engines[1]);
}

enum { WIDTH = 48, HEIGHT = 36, VALUES = WIDTH * HEIGHT * 4 };

typedef struct shown_scene {
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_layer layer;
    float seen[2][VALUES];
} shown_scene;

static bool draws(shown_scene *s, float *rgba)
{
    orr_view view = {.camera = *orr_scene_camera(s->scene, 0)};
    view.camera.focal[0] *= (float)WIDTH / (float)view.camera.width;
    view.camera.focal[1] *= (float)WIDTH / (float)view.camera.width;
    view.camera.centre[0] = view.camera.centre[1] = 0.0f;
    view.camera.width = WIDTH;
    view.camera.height = HEIGHT;
    assert_ok(orr_frame_submit(s->frame, s->scene, s->world, &view, &error));
    assert_ok(orr_frame_finish(s->frame, &(orr_picture){.rgba = rgba}, &error));
    float sum = 0.0f;
    for (int i = 0; i < VALUES; i++) {
        sum += rgba[i];
    }
    return sum > 1.0f;
}

// A layer shows what was learned as of its last refresh, on each device that there is.
static void show_on(orr_engine *on, orr_device_kind device)
{
    const orr_train_desc descs[] = {of_splats(), of_photos()};
    for (int k = 0; k < 2; k++) {
        static shown_scene s;
        orr_trainer *trainer = trainer_on(on, &descs[k]), *other = trainer_on(on, &descs[k]);
        assert_ok(orr_trainer_plan(trainer, 40, 0.0, &error));
        assert_ok(orr_scene_create(on, &s.scene, &error));
        assert_ok(orr_scene_add_trainer(s.scene, NULL, trainer, NULL, &s.layer, &error));
        const orr_train_info i = info_of(trainer);
        assert_int_equal(orr_scene_camera_count(s.scene), i.train_count + i.held_out_count);
        assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
        assert_ok(orr_frame_create(on, &(orr_frame_desc){.device = device}, &s.frame, &error));
        assert_true(draws(&s, s.seen[0]));
        assert_ok(orr_trainer_step(trainer, 30, 0.0, &error));
        draws(&s, s.seen[1]);
        if (k == 0) { // a field's occupancy goes on to change
            assert_memory_equal(s.seen[0], s.seen[1], sizeof s.seen[0]);
        }
        assert_ok(orr_scene_refresh_trainer(s.scene, s.layer, trainer, &error));
        draws(&s, s.seen[1]);
        assert_true(largest_difference(s.seen[0], s.seen[1], VALUES) > 0.05);
        assert_refused(orr_scene_refresh_trainer(s.scene, s.layer, other, &why), "shows this trainer");
        orr_frame_destroy(s.frame);
        orr_world_destroy(s.world);
        orr_scene_destroy(s.scene);
        orr_trainer_destroy(trainer);
        orr_trainer_destroy(other);
    }
}

static void a_layer_shows_what_was_learned(void **state)
{
    (void)state;
    show_on(engine, ORR_DEVICE_CPU);
}

#if ORR_HAVE_VULKAN
static void a_gpu_takes_the_new_cloud(void **state)
{
    (void)state;
    orr_engine *on;
    if (orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_VULKAN, .threads = 2}, &on, NULL) !=
        ORR_OK) {
        skip();
    }
    show_on(on, ORR_DEVICE_VULKAN);
    orr_engine_destroy(on);
}
#endif

static void the_cloud_is_that_of_the_file(void **state)
{
    (void)state;
    const orr_train_desc desc = of_splats(), field = of_image();
    orr_trainer *trainer = trainer_on(engine, &desc), *other = trainer_on(engine, &field);
    orr_splats *made, *read;
    const char *path = in_folder("made.ply");
    assert_ok(orr_trainer_step(trainer, 3, 0.0, &error));
    assert_ok(orr_trainer_splats(trainer, &made, &error));
    assert_ok(orr_trainer_save(trainer, path, false, &error));
    char state_file[320];
    snprintf(state_file, sizeof state_file, "%s.training", path);
    assert_int_equal(access(state_file, F_OK), -1);
    assert_ok(orr_splats_load(path, &read, &error));
    const orr_splats_view a = orr_splats_data(made), b = orr_splats_data(read);
    assert_true(a.count == b.count && a.count > 50);
    assert_memory_equal(a.position, b.position, (size_t)a.count * 3 * sizeof *a.position);
    assert_refused(orr_trainer_splats(other, &made, &why), "expected splats");
    assert_null(made);
    orr_splats_destroy(read);
    orr_trainer_destroy(trainer);
    orr_trainer_destroy(other);
}

static void a_training_can_be_stopped(void **state)
{
    (void)state;
    const orr_train_desc desc = of_photos();
    orr_trainer *trainer = trainer_on(engine, &desc);
    orr_train_quality q;
    orr_trainer_cancel(trainer);
    assert_int_equal(orr_trainer_step(trainer, 5, 0.0, NULL), ORR_ERROR_INTERRUPTED);
    assert_int_equal(info_of(trainer).steps, 0);
    assert_ok(orr_trainer_step(trainer, 2, 0.0, &error)); // that was for one call
    assert_int_equal(info_of(trainer).steps, 2);
    orr_trainer_cancel(trainer);
    assert_int_equal(orr_trainer_evaluate(trainer, 0, 0.0, &q, NULL), ORR_ERROR_INTERRUPTED);
    assert_int_equal(orr_trainer_evaluate(trainer, 0, 1e-6, &q, NULL),
                     ORR_ERROR_INTERRUPTED); // too little time
    assert_ok(orr_trainer_step(trainer, 1, 0.0, &error));
    orr_trainer_destroy(trainer);
}

static bool stop_reading(void *user, const char *path, const char *stage, double share)
{
    int *calls = user;
    (void)path, (void)stage;
    assert_true(share >= 0.0 && share <= 1.0);
    return ++*calls < 2;
}

static void reading_the_data_can_be_stopped(void **state)
{
    (void)state;
    int calls = 0;
    orr_engine *on;
    orr_trainer *trainer;
    const orr_train_desc desc = of_splats();
    const orr_engine_desc engine_desc = {
        .device = ORR_DEVICE_CPU, .threads = 2, .progress = stop_reading, .progress_user = &calls};
    assert_ok(orr_engine_create(&engine_desc, &on, &error));
    assert_int_equal(orr_trainer_create(on, &desc, &trainer, NULL), ORR_ERROR_INTERRUPTED);
    assert_null(trainer);
    assert_int_equal(calls, 2);
    orr_engine_destroy(on);
}

#define assert_desc_refused(base, member, value, words)                                                      \
    do {                                                                                                     \
        orr_train_desc desc = base;                                                                          \
        orr_trainer *trainer;                                                                                \
        desc.member = (value);                                                                               \
        assert_refused(orr_trainer_create(engine, &desc, &trainer, &why), words);                            \
        assert_null(trainer);                                                                                \
    } while (0)

static void what_cannot_be_trained_is_refused(void **state)
{
    (void)state;
    const char *model = in_folder("image.ingp");
    assert_desc_refused(of_splats(), kind, (orr_trainer_kind)9, "kind 9");
    assert_desc_refused(of_splats(), data, NULL, "data is NULL");
    assert_desc_refused(of_splats(), holdout, -3, "holdout -3");
    assert_desc_refused(of_splats(), strategy, (orr_train_strategy)2, "strategy 2");
    assert_desc_refused(of_splats(), holdout, 1, "0 photos to learn splats from");
    assert_desc_refused(of_splats(), splats, -1, "-1 splats");
    assert_desc_refused(of_splats(), sh_degree, 4, "degree 4");
    assert_desc_refused(of_photos(), holdout, 1, "held out");
    assert_desc_refused(of_photos(), batch, 63, "batch 63");
    assert_desc_refused(of_photos(), sampling, (orr_nerf_sampling)3, "sampling 3");
    assert_desc_refused(of_image(), sampling, ORR_SAMPLING_PROPOSAL, "of a radiance field");
    train(engine, of_image(), NULL, 1, 1, model);
    assert_desc_refused(of_photos(), resume, model, "a model of kind image: expected nerf");
    orr_train_desc desc = of_image();
    orr_trainer *trainer;
    desc.resume = model;
    desc.config = small_config();
    assert_refused(orr_trainer_create(engine, &desc, &trainer, &why),
                   "expected no configuration when a training continues");
    desc = of_splats();
    trainer = trainer_on(engine, &desc);
    assert_refused(orr_trainer_step(trainer, 0, 0.0, &why), "not both");
    assert_refused(orr_trainer_step(trainer, -1, 1.0, &why), "-1 steps");
    assert_refused(orr_trainer_step(trainer, 1, NAN, &why), "nan");
    assert_refused(orr_trainer_plan(trainer, -1, 0.0, &why), "-1 steps");
    assert_refused(orr_trainer_plan(trainer, 0, NAN, &why), "nan");
    orr_trainer_destroy(trainer);
    assert_int_equal(orr_trainer_check_path(ORR_TRAINER_SPLATS, "a.ingp", true, NULL), ORR_ERROR_FORMAT);
    assert_int_equal(orr_trainer_check_path(ORR_TRAINER_SDF, "a.ply", true, NULL), ORR_ERROR_FORMAT);
    assert_int_equal(orr_trainer_check_path(ORR_TRAINER_SDF, in_folder("no/a.ingp"), true, NULL),
                     ORR_ERROR_FILE);
    assert_ok(orr_trainer_check_path(ORR_TRAINER_SPLATS, in_folder("a.spz"), true, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(photos_of_a_fisheye_are_learned_from),
        cmocka_unit_test(figures_follow_the_steps_and_the_plan),
        cmocka_unit_test(time_is_a_plan_too),
        cmocka_unit_test(time_of_splats_is_spent_as_steps_are),
        cmocka_unit_test(more_time_allows_more_splats),
        cmocka_unit_test(photos_for_testing_have_a_file_of_their_own),
        cmocka_unit_test(a_file_names_its_photos_for_testing),
        cmocka_unit_test(photos_of_other_cameras_are_told),
        cmocka_unit_test(quality_is_measured_quickly_and_in_full),
        cmocka_unit_test(a_training_goes_on_to_the_same_bits),
        cmocka_unit_test(a_layer_shows_what_was_learned),
#if ORR_HAVE_VULKAN
        cmocka_unit_test(a_gpu_takes_the_new_cloud),
#endif
        cmocka_unit_test(the_cloud_is_that_of_the_file),
        cmocka_unit_test(a_training_can_be_stopped),
        cmocka_unit_test(reading_the_data_can_be_stopped),
        cmocka_unit_test(what_cannot_be_trained_is_refused),
    };
    return cmocka_run_group_tests_name("training", tests, open_engine, close_engine);
}
