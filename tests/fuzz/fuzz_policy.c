// Policy files from memory.
#include "engine/policy/policy.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_policy *policy;
    orr_error error = {0};
    size_t used;
    orr_result result = orr_policy_read("fuzz.policy", data, size, &policy, &used, &error);
    fuzz_expect(result, policy != NULL, &error);
    orr_policy_destroy(policy);
    return 0;
}
