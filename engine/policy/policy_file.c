// Policy files: eight letters, sizes, then numbers, all little-endian.
//
//     char[8]   "ORRPOL02"
//     char[64]  the task, zeros behind its name
//     int32[5]  observations n, actions m, width and number of the hidden layers, letters of the task's text
//     char[]    the task's text (docs/task-file.md); none for one of ours
//     int64     environment steps that it has learnt from
//     float64   observations that the next two are of; n means; n variances
//     float32   m lowest actions, m highest; the network's parameters (neural/network/mlp.h) for n + 1
//               inputs, the last of which is 1; m logarithms of deviations
//
// Behind that may be the state of its training (trainer_file.c): "ORRTRN01" and what follows.
#include "engine/core/bytes.h"
#include "engine/core/entry.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/policy/policy.h"

#include <math.h>
#include <string.h>

const char orr_policy_training_magic[8] = {'O', 'R', 'R', 'T', 'R', 'N', '0', '1'};
static const char magic[8] = {'O', 'R', 'R', 'P', 'O', 'L', '0', '2'};

void orr_policy_put(const orr_policy *p, orr_file_writer *writer)
{
    const int32_t letters = p->task_text ? (int32_t)strlen(p->task_text) : 0;
    const int32_t sizes[5] = {p->observation_count, p->action_count, p->mlp.config.width,
                              p->mlp.config.hidden_layers, letters};
    const size_t n = (size_t)p->observation_count, m = (size_t)p->action_count;
    orr_file_put(writer, magic, sizeof magic);
    orr_file_put(writer, p->task, sizeof p->task);
    orr_file_put(writer, sizes, sizeof sizes);
    orr_file_put(writer, p->task_text, (size_t)letters);
    orr_file_put(writer, &p->steps, sizeof p->steps);
    orr_file_put(writer, &p->observations, sizeof p->observations);
    orr_file_put(writer, p->mean, n * sizeof *p->mean);
    orr_file_put(writer, p->variance, n * sizeof *p->variance);
    orr_file_put(writer, p->action_low, m * sizeof *p->action_low);
    orr_file_put(writer, p->action_high, m * sizeof *p->action_high);
    orr_file_put(writer, p->parameters, (size_t)orr_policy_parameters(p) * sizeof *p->parameters);
}

orr_result orr_policy_save(const orr_policy *p, const char *path, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(p, error);
    ORR_REQUIRE(path, error);
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, path, error));
    orr_policy_put(p, &writer);
    return orr_file_commit(&writer, error);
}

static bool all_finite(const orr_policy *p)
{
    bool good = p->observations >= 0.0 && p->steps >= 0;
    for (int i = 0; i < p->observation_count; i++) {
        good = good && isfinite(p->mean[i]) && isfinite(p->variance[i]) && p->variance[i] >= 0.0;
    }
    for (int i = 0; i < p->action_count; i++) {
        good = good && isfinite(p->action_low[i]) && isfinite(p->action_high[i]);
    }
    for (int64_t i = 0; i < orr_policy_parameters(p); i++) {
        good = good && isfinite(p->parameters[i]);
    }
    return good;
}

orr_result orr_policy_read(const char *name, const uint8_t *data, size_t size, orr_policy **out, size_t *used,
                           orr_error *error)
{
    const uint8_t *at = data, *end = data + size;
    char start[sizeof magic], task[ORR_POLICY_NAME];
    int32_t sizes[5] = {0};
    *out = NULL;
    if (!orr_take_bytes(&at, end, start, sizeof start) || memcmp(start, magic, sizeof magic) != 0) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: expected a policy (it begins with ORRPOL02)", name);
    }
    if (!orr_take_bytes(&at, end, task, sizeof task) || !orr_take_bytes(&at, end, sizes, sizeof sizes) ||
        task[sizeof task - 1] != '\0') {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: header: expected %zu bytes", name,
                        sizeof magic + sizeof task + sizeof sizes);
    }
    const float limits[ORR_POLICY_ACTIONS] = {0};
    char text[ORR_POLICY_TEXT + 1];
    if (sizes[4] < 0 || sizes[4] > ORR_POLICY_TEXT || !orr_take_bytes(&at, end, text, (size_t)sizes[4])) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: a task of %d letters: expected 0 to %d, and as many",
                        name, sizes[4], ORR_POLICY_TEXT);
    }
    text[sizes[4]] = 0;
    const orr_env_info env = {.observation_count = sizes[0],
                              .action_count = sizes[1],
                              .action_low = limits,
                              .action_high = limits,
                              .task = task,
                              .task_text = sizes[4] > 0 ? text : NULL};
    if (sizes[0] < 1 || sizes[1] < 1) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: %d observations, %d actions: expected 1 or more",
                        name, sizes[0], sizes[1]);
    }
    orr_policy *p;
    orr_error why = {0};
    if (orr_policy_create(&env, sizes[2], sizes[3], 0, &p, &why) != ORR_OK) {
        return orr_fail(error, (orr_code)why.code, "%s: %s", name, why.message);
    }
    const size_t n = (size_t)sizes[0], m = (size_t)sizes[1];
    bool whole =
        orr_take_bytes(&at, end, &p->steps, sizeof p->steps) &&
        orr_take_bytes(&at, end, &p->observations, sizeof p->observations) &&
        orr_take_bytes(&at, end, p->mean, n * sizeof *p->mean) &&
        orr_take_bytes(&at, end, p->variance, n * sizeof *p->variance) &&
        orr_take_bytes(&at, end, p->action_low, m * sizeof *p->action_low) &&
        orr_take_bytes(&at, end, p->action_high, m * sizeof *p->action_high) &&
        orr_take_bytes(&at, end, p->parameters, (size_t)orr_policy_parameters(p) * sizeof *p->parameters) &&
        (at == end || ((size_t)(end - at) >= sizeof orr_policy_training_magic &&
                       memcmp(at, orr_policy_training_magic, 8) == 0));
    if (!whole || !all_finite(p)) {
        orr_policy_destroy(p);
        return whole ? orr_fail(error, ORR_CODE_FILE_VALUE, "%s: expected finite numbers", name)
                     : orr_fail(error, ORR_CODE_FILE_VALUE,
                                "%s: %zu bytes: not of the size that its header says", name, size);
    }
    orr_policy_renew(p);
    *out = p;
    *used = (size_t)(at - data);
    return ORR_OK;
}

orr_result orr_policy_load(const char *path, orr_policy **policy, orr_error *error)
{
    ORR_ENTER;
    orr_bytes bytes;
    ORR_REQUIRE(policy, error);
    *policy = NULL;
    ORR_REQUIRE(path, error);
    ORR_TRY(orr_file_read(path, &bytes, error));
    size_t used;
    orr_result result = orr_policy_read(path, bytes.data, bytes.size, policy, &used, error);
    orr_free(bytes.data);
    return result;
}
