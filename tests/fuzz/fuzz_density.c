// Density grids from memory.
#include "neural/fields/density.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_density density;
    orr_error error = {0};
    orr_result result = orr_density_parse(data, size, "fuzz.npy", &density, &error);
    fuzz_expect(result, density.values != NULL, &error);
    orr_density_free(&density);
    return 0;
}
