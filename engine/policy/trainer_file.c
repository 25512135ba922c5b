// Trainings in files, behind the policy: eight letters, then all that changes, little-endian.
//
//     char[8]   "ORRTRN01"
//     int32[3]  environments, horizon, width
//     uint32    the seed
//     then what `walk` lists, and the environments (engine/env/env_state.c)
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/env/archive.h"
#include "engine/env/env.h"
#include "engine/policy/trainer.h"

#include <math.h>
#include <string.h>

static orr_result walk(orr_policy_trainer *t, orr_archive *archive, orr_error *error)
{
#define WALK(value) orr_archive_bytes(archive, &(value), sizeof(value))
    WALK(t->iterations);
    WALK(t->env_steps);
    WALK(t->episodes);
    WALK(t->rate);
    WALK(t->reward_mean);
    WALK(t->reward_variance);
    WALK(t->reward_count);
    WALK(t->recent);
#undef WALK
    orr_archive_bytes(archive, t->reward_sums, (size_t)t->info.count * sizeof *t->reward_sums);
    orr_archive_bytes(archive, t->parameters, (size_t)t->parameter_count * sizeof *t->parameters);
    const size_t size = orr_optimizer_state_size(t->optimizer);
    char *state;
    ORR_ALLOC(state, (int64_t)size, "a policy's training", error);
    orr_optimizer_state_save(t->optimizer, state);
    orr_archive_bytes(archive, state, size);
    orr_result result = archive->writer || archive->broken
                            ? ORR_OK
                            : orr_optimizer_state_load(t->optimizer, state, size, error);
    orr_free(state);
    ORR_TRY(result);
    return env_archive(t->env, archive, error);
}

orr_result orr_policy_trainer_save(orr_policy_trainer *t, const char *path, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_REQUIRE(path, error);
    ORR_TRY(orr_engine_check(t->engine, error));
    const int32_t sizes[3] = {t->info.count, t->blocks / t->step_blocks, t->policy->mlp.config.width};
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, path, error));
    orr_policy_put(t->policy, &writer);
    orr_file_put(&writer, orr_policy_training_magic, sizeof orr_policy_training_magic);
    orr_file_put(&writer, sizes, sizeof sizes);
    orr_file_put(&writer, &t->seed, sizeof t->seed);
    orr_archive archive = {.writer = &writer};
    orr_result result = walk(t, &archive, error);
    if (result != ORR_OK) {
        orr_file_abort(&writer);
        return result;
    }
    return orr_file_commit(&writer, error);
}

orr_result policy_training_open(const char *path, policy_training_file *file, orr_error *error)
{
    *file = (policy_training_file){0};
    ORR_TRY(orr_file_read(path, &file->bytes, error));
    size_t used;
    orr_result result =
        orr_policy_read(path, file->bytes.data, file->bytes.size, &file->policy, &used, error);
    if (result != ORR_OK) {
        policy_training_close(file);
        return result;
    }
    int32_t sizes[3] = {0};
    file->archive = (orr_archive){.at = file->bytes.data + used, .end = file->bytes.data + file->bytes.size};
    char magic[sizeof orr_policy_training_magic];
    orr_archive_bytes(&file->archive, magic, sizeof magic);
    orr_archive_bytes(&file->archive, sizes, sizeof sizes);
    orr_archive_bytes(&file->archive, &file->seed, sizeof file->seed);
    file->count = sizes[0], file->horizon = sizes[1], file->width = sizes[2];
    if (file->archive.broken) {
        policy_training_close(file);
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "%s: a policy without the state of its training: expected one of orrery train policy "
                        "without --small",
                        path);
    }
    return ORR_OK;
}

void policy_training_close(policy_training_file *file)
{
    orr_policy_destroy(file->policy);
    orr_free(file->bytes.data);
    *file = (policy_training_file){0};
}

static bool all_finite(const orr_policy_trainer *t)
{
    bool good = isfinite(t->rate) && t->rate > 0.0 && isfinite(t->reward_mean) && t->reward_variance >= 0.0 &&
                isfinite(t->reward_variance) && t->iterations >= 0 && t->iterations < INT64_C(1) << 40 &&
                t->episodes >= 0;
    for (int64_t i = 0; i < t->parameter_count; i++) {
        good = good && isfinite(t->parameters[i]);
    }
    return good;
}

orr_result policy_training_restore(policy_training_file *file, const char *path, orr_policy_trainer *t,
                                   orr_error *error)
{
    orr_policy *p = t->policy;
    const orr_policy *from = file->policy;
    if (strcmp(p->task, from->task) != 0 || p->observation_count != from->observation_count ||
        p->action_count != from->action_count) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "%s: training of %s, %d observations, %d actions: expected "
                        "%s, %d and %d",
                        path, from->task, from->observation_count, from->action_count, p->task,
                        p->observation_count, p->action_count);
    }
    const size_t n = (size_t)p->observation_count;
    memcpy(p->mean, from->mean, n * sizeof *p->mean);
    memcpy(p->variance, from->variance, n * sizeof *p->variance);
    p->observations = from->observations;
    p->steps = from->steps;
    ORR_TRY(walk(t, &file->archive, error));
    if (file->archive.broken || file->archive.at != file->archive.end || !all_finite(t)) {
        return orr_fail(
            error, ORR_CODE_FILE_VALUE,
            "%s: state of a training: expected finite numbers, as many as %d environments of %s need", path,
            t->info.count, p->task);
    }
    policy_trainer_set_parameters(t);
    return ORR_OK;
}
