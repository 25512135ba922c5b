// orrery train material: a material of a mesh as a network; through the public interface alone.
#include "engine/core/file.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/progress.h"
#include "samples/orrery/train/train.h"

#include <cjson/cJSON.h>
#include <string.h>

typedef struct material_options {
    const char *mesh, *path;
    int material, width, size, steps;
    uint32_t seed;
} material_options;

// Returns the mean error of the last steps, a tenth of all.
static orr_result learn(const material_options *o, orr_material_trainer *trainer, int *done, double *mean,
                        double *seconds, orr_error *error)
{
    const int tenth = o->steps / 10 > 1 ? o->steps / 10 : 1;
    double recent = 0.0; // a running mean over about a tenth
    progress line;
    progress_begin(&line, "steps", o->steps);
    for (*done = 0; *done < o->steps && !interrupt_requested(); ++*done) {
        double step;
        ORR_TRY(orr_material_trainer_step(trainer, &step, error));
        const int over = *done < tenth ? *done + 1 : tenth;
        recent += (step - recent) / over;
        if (progress_due(&line)) {
            const double rate = (*done + 1) / progress_seconds(&line);
            progress_line(&line, "%d of %d steps, error %.4f, %.0f steps/s, %.0f s left", *done + 1, o->steps,
                          recent, rate, (o->steps - *done - 1) / rate);
        }
    }
    *mean = recent;
    *seconds = progress_seconds(&line);
    progress_end(&line);
    return ORR_OK;
}

static orr_result run(const material_options *o, orr_engine *engine, orr_material_trainer **trainer,
                      cJSON *json, orr_error *error)
{
    if (!orr_path_has_ending(o->path, ".material")) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: expected a name that ends in .material", o->path);
    }
    ORR_TRY(orr_file_try(o->path, error));
    const orr_material_train_desc desc = {.mesh = o->mesh,
                                          .material = o->material,
                                          .width = o->width,
                                          .size = o->size,
                                          .steps = o->steps,
                                          .seed = o->seed};
    ORR_TRY(orr_material_trainer_create(engine, &desc, trainer, error));
    interrupt_begin(); // from here on Ctrl-C saves
    int steps;
    double mean, seconds;
    ORR_TRY(learn(o, *trainer, &steps, &mean, &seconds, error));
    ORR_TRY(orr_material_trainer_save(*trainer, o->path, error));
    train_figure(json, "steps", steps, "");
    train_figure(json, "error", mean, "mean, of the cube root of reflectance times cosine");
    train_figure(json, "seconds", seconds, "s");
    return ORR_OK;
}

int train_material(int argc, char **argv)
{
    common_options common = {.seed = UINT64_MAX};
    material_options o = {.width = 32, .size = 512, .steps = 3000};
    orr_error error = {0};
    int count = 0, exit_code = 0;
    const option list[] = {
        {"--output", 'o', OPTION_TEXT, &o.path, "FILE.material", "material to write", 0, 0},
        {"--material", 0, OPTION_INT, &o.material, "N",
         "index of the material in the mesh's file, from 0 (default 0)", 0, 1e6},
        {"--steps", 0, OPTION_INT, &o.steps, "N",
         "training steps, each of 8192 pairs of directions (default 3000)", 1, 1e8},
        {"--width", 0, OPTION_INT, &o.width, "N",
         "neurons in each of the two hidden layers: 16, which draws faster, or 32 (default 32)", 16, 32},
        {"--size", 0, OPTION_INT, &o.size, "N",
         "upper limit in texels of its texture, which is as large as the mesh's largest (default 512)", 1,
         4096},
    };
    const command_usage usage = {
        .name = "train material",
        .operands = "MESH -o FILE.material",
        .purpose = "Trains a small network to reproduce a material of a mesh, with its layers and textures.",
        .notes =
            "MESH is a .glb or .gltf file. Scene files name the material in \"materials\" of a mesh's layer\n"
            "(docs/scene-file.md). Ctrl-C saves what was learned so far.",
        .operand_min = 1,
        .operand_max = 1,
        .options = list,
        .option_count = sizeof list / sizeof list[0],
        .common = &common,
        .common_used = COMMON_THREADS | COMMON_SEED | COMMON_JSON};
    if (!options_read(&usage, argc, argv, &count, &exit_code)) {
        return exit_code;
    }
    o.mesh = argv[0];
    o.seed = common.seed == UINT64_MAX ? 0 : (uint32_t)common.seed;
    cJSON *json = common.json ? cJSON_CreateObject() : NULL;
    orr_engine *engine = NULL;
    orr_material_trainer *trainer = NULL;
    orr_result result =
        o.path ? command_engine(&common, &engine, &error)
               : orr_fail(&error, ORR_CODE_ARGUMENT, "train material: expected -o FILE.material");
    if (result == ORR_OK) {
        result = run(&o, engine, &trainer, json, &error);
    }
    orr_material_trainer_destroy(trainer);
    orr_engine_destroy(engine);
    if (result != ORR_OK) {
        cJSON_Delete(json);
        return command_fail(result, &error);
    }
    return json ? command_print_json(json) : 0;
}
