// Density grids from memory: a grid or one line of error, never both and never neither.
#include "neural/fields/density.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_density density;
    orr_error error = {0};
    orr_result result = orr_density_parse(data, size, "fuzz.npy", &density, &error);
    if ((result == ORR_OK) != (density.values != NULL) || (result != ORR_OK && error.message[0] == 0)) {
        abort();
    }
    orr_density_free(&density);
    return 0;
}
