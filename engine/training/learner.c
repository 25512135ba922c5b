#include "engine/training/truth.h"

static const orr_learner_kind kinds[] = {
    [ORR_TRAINER_SPLATS] = {ORR_TRAINER_SPLATS, "splats", ORR_FIELD_NERF, &orr_learner_of_splats, NULL},
    [ORR_TRAINER_NERF] = {ORR_TRAINER_NERF, "nerf", ORR_FIELD_NERF, &orr_learner_of_photos, NULL},
    [ORR_TRAINER_SDF] = {ORR_TRAINER_SDF, "sdf", ORR_FIELD_SDF, &orr_learner_of_samples, &orr_truth_sdf},
    [ORR_TRAINER_IMAGE] = {ORR_TRAINER_IMAGE, "image", ORR_FIELD_IMAGE, &orr_learner_of_samples,
                           &orr_truth_image},
    [ORR_TRAINER_VOLUME] = {ORR_TRAINER_VOLUME, "volume", ORR_FIELD_VOLUME, &orr_learner_of_samples,
                            &orr_truth_volume},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

const orr_learner_kind *orr_learner_kind_of(orr_trainer_kind kind)
{
    return (unsigned)kind < KIND_COUNT ? &kinds[kind] : NULL;
}

const orr_learner_kind *orr_learner_kind_of_field(orr_field_kind field)
{
    for (int i = ORR_TRAINER_NERF; i < KIND_COUNT; i++) {
        if (kinds[i].field == field) {
            return &kinds[i];
        }
    }
    return NULL;
}

static orr_result read_config(const orr_learner_setup *setup, orr_field_kind kind, orr_field_config *config,
                              orr_error *error)
{
    const char *path = setup->desc->config;
    ORR_TRY(orr_field_config_base(kind, config, error));
    orr_result result = orr_field_config_load(path, config, error);
    if (result != ORR_OK) {
        orr_field_config_free(config);
    } else if (config->ignored[0]) {
        orr_log_line(setup->log, ORR_LOG_WARNING, ORR_CODE_IGNORED, "%s: %s: known, and without effect here",
                     path, config->ignored);
    }
    return result;
}

orr_result orr_learner_field(const orr_learner_setup *setup, orr_field_desc desc,
                             orr_result (*own)(orr_field_config *, orr_error *), orr_field **field,
                             orr_error *error)
{
    if (setup->resume) {
        *field = setup->resume->field;
        setup->resume->field = NULL; // it is the learner's now
        return ORR_OK;
    }
    desc.seed = setup->choices.seed;
    desc.isa = setup->isa;
    desc.machine = setup->machine;
    ORR_TRY(setup->desc->config ? read_config(setup, desc.kind, &desc.config, error)
                                : own(&desc.config, error));
    orr_result result = orr_field_create(&desc, field, error);
    orr_field_config_free(&desc.config);
    return result;
}
