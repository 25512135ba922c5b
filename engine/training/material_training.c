// Materials that are learnt as networks, for programs.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/engine.h"
#include "render/appearance/material_trainer.h"

enum { WIDTH = 32, SIZE = 512, STEPS = 3000 }; // by default

struct orr_material_trainer {
    material_trainer *trainer;
};

static orr_result create(orr_engine *engine, const orr_material_train_desc *desc, orr_material_trainer *t,
                         orr_error *error)
{
    orr_mesh *mesh;
    orr_error why = {0};
    ORR_TRY(orr_mesh_load(desc->mesh, &mesh, error));
    const material_training training = {.material = desc->material,
                                        .width = desc->width != 0 ? desc->width : WIDTH,
                                        .side = desc->size != 0 ? desc->size : SIZE,
                                        .steps = desc->steps != 0 ? desc->steps : STEPS,
                                        .seed = desc->seed};
    const orr_result result =
        material_trainer_create(engine->jobs, engine->isa, mesh, &training, &t->trainer, &why);
    orr_mesh_destroy(mesh);
    return result == ORR_OK ? ORR_OK : orr_fail(error, (orr_code)why.code, "%s: %s", desc->mesh, why.message);
}

orr_result orr_material_trainer_create_sized(orr_engine *engine, const orr_material_train_desc *given,
                                             size_t size, orr_material_trainer **trainer, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(trainer, error);
    *trainer = NULL;
    ORR_TRY(orr_engine_check(engine, error));
    ORR_REQUIRE(given, error);
    orr_material_train_desc desc;
    ORR_TRY(orr_sized_read(&desc, sizeof desc, given, size, "orr_material_train_desc", error));
    ORR_REQUIRE(desc.mesh, error);
    if (desc.steps < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "orr_material_train_desc: %lld steps: expected 0 or more",
                        (long long)desc.steps);
    }
    orr_material_trainer *t;
    ORR_ALLOC(t, 1, "a trainer", error);
    t->trainer = NULL;
    const orr_result result = create(engine, &desc, t, error);
    if (result != ORR_OK) {
        orr_free(t);
        return result;
    }
    *trainer = t;
    return ORR_OK;
}

orr_result orr_material_trainer_step(orr_material_trainer *trainer, double *mean, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(trainer, error);
    const double step_mean = material_trainer_step(trainer->trainer);
    if (mean) {
        *mean = step_mean;
    }
    return ORR_OK;
}

orr_result orr_material_trainer_save(orr_material_trainer *trainer, const char *path, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(trainer, error);
    ORR_REQUIRE(path, error);
    orr_neural_material *material;
    ORR_TRY(material_trainer_material(trainer->trainer, &material, error));
    const orr_result result = orr_neural_material_save(material, path, error);
    orr_neural_material_destroy(material);
    return result;
}

void orr_material_trainer_destroy(orr_material_trainer *trainer)
{
    if (trainer) {
        material_trainer_destroy(trainer->trainer);
        orr_free(trainer);
    }
}
