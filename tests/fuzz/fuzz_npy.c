// NumPy arrays from memory: an array or one line of error, never both and never neither.
#include "samples/orrery/npy.h"
#include "tests/fuzz/fuzz_target.h"

#include "engine/core/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npy_array array;
    orr_error error = {0};
    orr_result result = npy_parse(data, size, "fuzz.npy", &array, &error);
    if ((result == ORR_OK) != (array.values != NULL) || (result != ORR_OK && error.message[0] == 0)) {
        abort();
    }
    orr_free(array.values);
    return 0;
}
