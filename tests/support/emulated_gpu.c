#include "tests/support/emulated_gpu.h"

#include "tests/cuda_emu/emu.h"

int reset_emulated_gpu(void **state)
{
    (void)state;
    static settings usual;
    static bool is_kept;
    if (!is_kept) {
        usual = *current_settings();
        is_kept = true;
    }
    *current_settings() = usual;
    return 0;
}
