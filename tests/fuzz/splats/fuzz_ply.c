#include "tests/fuzz/splats/fuzz_splats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_splats(orr_read_ply, "fuzz.ply", data, size);
}
