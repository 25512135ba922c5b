// What ORR_LAUNCH comes down to on the emulated device.
#pragma once

#include "block.h"

#include <cuda_runtime_api.h>
#include <functional>
#include <tuple>

namespace emu
{

void launch_closure(const char *kernel, const void *function, dim3 grid, dim3 block, size_t shared,
                    cudaStream_t stream, std::function<void()> run);

// Arguments are taken as they are now and turned into what the kernel takes, as a real launch does.
template <typename... Parameters, typename... Arguments>
void launch(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
            cudaStream_t stream, Arguments... arguments)
{
    std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
    launch_closure(name, (const void *)kernel, grid, block, shared, stream,
                   [=] { std::apply(kernel, values); });
}

} // namespace emu
