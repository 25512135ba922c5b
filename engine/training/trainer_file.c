// What a trainer saves, and what it goes on from: a field with the state of its training in its file, a cloud
// with the state in a file beside it.
#include "engine/training/trainer.h"

#include "engine/core/entry.h"
#include "engine/core/file.h"
#include "render/formats/splat_formats.h"

#include <stdio.h>

orr_result orr_training_state_path(const char *cloud, char *path, size_t size, orr_error *error)
{
    return snprintf(path, size, "%s.training", cloud) < (int)size
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "%.64s...: expected a shorter name", cloud);
}

orr_result orr_training_resume(const orr_learner_setup *setup, orr_field_model *model, orr_error *error)
{
    const char *path = setup->desc->resume;
    ORR_TRY(orr_field_model_load(path, setup->isa, setup->machine, model, error));
    const orr_learner_kind *found = orr_learner_kind_of_field(orr_field_kind_of(model->field));
    if (found != setup->kind) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a model of kind %s: expected %s", path, found->name,
                        setup->kind->name);
    }
    if (setup->desc->config) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: expected no configuration when a training continues: %s has its own",
                        setup->desc->config, path);
    }
    if (model->state.size == 0) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "%s: no state of a training in it: expected a model of orrery train", path);
    }
    const bool proposal = setup->desc->sampling == ORR_SAMPLING_PROPOSAL;
    if (setup->desc->sampling != ORR_SAMPLING_AUTO &&
        proposal != orr_field_describe(model->field)->unbounded) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: not trained with %s sampling: expected the same as before", path,
                        proposal ? "proposal" : "occupancy");
    }
    return ORR_OK;
}

orr_result orr_trainer_check_path(orr_trainer_kind kind, const char *path, bool resumable, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(path, error);
    const orr_learner_kind *of = orr_learner_kind_of(kind);
    if (!of) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "kind %d: expected one of orr_trainer_kind", (int)kind);
    }
    if (of->functions->cloud && !orr_splat_format_to_write(path)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE,
                        "%s: expected a name that ends in .ply, .compressed.ply, .splat, .spz or .sog", path);
    }
    if (!of->functions->cloud && !orr_field_model_readable(path)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: expected a name that ends in .ingp or .msgpack",
                        path);
    }
    if (of->functions->cloud && resumable) {
        char state[4096];
        ORR_TRY(orr_training_state_path(path, state, sizeof state, error));
        ORR_TRY(orr_file_try(state, error));
    }
    return orr_file_try(path, error);
}

static orr_result save_field(orr_trainer *t, const char *path, bool resumable, orr_error *error)
{
    orr_field_model model = {.size = 1.0, .loss = orr_trainer_loss(t), .training = t->choices};
    ORR_TRY(orr_trainer_refresh(t, error));
    t->kind->functions->describe(t->learner, &model);
    if (resumable) {
        model.state.size = t->kind->functions->state_size(t->learner);
        ORR_ALLOC(model.state.data, model.state.size, "the state of a training", error);
        orr_result result = t->kind->functions->state_save(t->learner, model.state.data, error);
        if (result != ORR_OK) {
            orr_free(model.state.data);
            return result;
        }
    }
    orr_result result = orr_field_model_save(&model, path, error);
    orr_free(model.state.data);
    return result;
}

// The state first: it alone decides how a training goes on, whichever cloud is beside it.
static orr_result save_cloud(orr_trainer *t, const char *path, bool resumable, orr_error *error)
{
    char state[4096];
    orr_splats *splats;
    ORR_TRY(orr_training_state_path(path, state, sizeof state, error));
    ORR_TRY(t->kind->functions->save(t->learner, path, resumable ? state : NULL, error));
    ORR_TRY(t->kind->functions->cloud(t->learner, &splats, error));
    orr_result result = orr_splats_save(splats, path, error);
    orr_splats_destroy(splats);
    return result;
}

orr_result orr_trainer_save(orr_trainer *t, const char *path, bool resumable, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_REQUIRE(path, error);
    ORR_TRY(orr_trainer_enter(t, error));
    orr_result result = t->kind->functions->cloud ? save_cloud(t, path, resumable, error)
                                                  : save_field(t, path, resumable, error);
    orr_trainer_leave(t);
    return result;
}

orr_result orr_trainer_splats(orr_trainer *t, orr_splats **splats, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(splats, error);
    *splats = NULL;
    ORR_REQUIRE(t, error);
    if (!t->kind->functions->cloud) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a training of kind %s: expected splats", t->kind->name);
    }
    ORR_TRY(orr_trainer_enter(t, error));
    orr_result result = t->kind->functions->cloud(t->learner, splats, error);
    orr_trainer_leave(t);
    return result;
}
