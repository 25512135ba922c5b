// orrery info: policies.
#include "samples/orrery/info/info.h"

#include <stdio.h>

orr_result info_policy(const char *path, cJSON *json, orr_error *error)
{
    orr_policy *policy;
    orr_policy_info info;
    ORR_TRY(orr_policy_load(path, &policy, error));
    orr_result result = orr_policy_describe(policy, &info, error);
    if (result == ORR_OK && json) {
        cJSON_AddStringToObject(json, "kind", "policy");
        cJSON_AddStringToObject(json, "task", info.task);
        cJSON_AddNumberToObject(json, "observations", info.observation_count);
        cJSON_AddNumberToObject(json, "actions", info.action_count);
        cJSON_AddNumberToObject(json, "parameters", (double)info.parameter_count);
        cJSON_AddNumberToObject(json, "steps", (double)info.steps);
        if (info.task_text) {
            cJSON_AddStringToObject(json, "task_text", info.task_text);
        }
    } else if (result == ORR_OK) {
        printf("%s: a policy\n  task        %s%s\n  network     from %d observations to %d actions, %lld "
               "parameters\n  trained     %lld steps\n",
               path, info.task, info.task_text ? " (its text is in the file: --json)" : "",
               info.observation_count, info.action_count, (long long)info.parameter_count,
               (long long)info.steps);
    }
    orr_policy_destroy(policy);
    return result;
}
