// States of trainings of splats from memory.
#include "render/training/splat_state.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_splat_state state;
    orr_error error = {0};
    orr_result result =
        orr_splat_state_read("fuzz.training", (orr_bytes){(uint8_t *)data, size}, &state, &error);
    fuzz_expect(result, state.images != NULL, &error);
    orr_splat_state_destroy(&state);
    return 0;
}
