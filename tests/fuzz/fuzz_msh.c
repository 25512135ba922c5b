// MuJoCo's binary meshes, and the hulls and inertias that follow from them.
#include "tests/fuzz/fuzz_model_part.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char model[] = "<mujoco><asset><mesh name='m' file='fuzz.msh'/></asset><worldbody><body>"
                                "<freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>";
    return fuzz_model_part(model, "fuzz.msh", data, size);
}
