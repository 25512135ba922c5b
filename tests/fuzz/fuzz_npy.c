// NumPy arrays from memory.
#include "samples/orrery/npy.h"
#include "tests/fuzz/fuzz_target.h"

#include "engine/core/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npy_array array;
    orr_error error = {0};
    orr_result result = npy_parse(data, size, "fuzz.npy", &array, &error);
    fuzz_expect(result, array.values != NULL, &error);
    orr_free(array.values);
    return 0;
}
