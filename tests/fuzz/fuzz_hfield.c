// MuJoCo's binary height fields.
#include "tests/fuzz/fuzz_model_part.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char model[] = "<mujoco><asset><hfield name='h' size='1 1 1 .1' file='fuzz.bin'/></asset>"
                                "<worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>";
    return fuzz_model_part(model, "fuzz.bin", data, size);
}
