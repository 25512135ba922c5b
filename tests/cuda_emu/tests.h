// What the test files of the emulated device share.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

extern "C" {
#include <cmocka.h>
}

#include "emu.h"
#include "engine/device/cuda_kernel.h"

#include <vector>

// Device memory that frees itself, with what a vector holds.
template <typename T> struct device_array {
    T *at = nullptr;
    size_t count;
    explicit device_array(size_t count) : count(count)
    {
        assert_int_equal(cudaMalloc((void **)&at, count * sizeof(T)), cudaSuccess);
        assert_int_equal(cudaMemset(at, 0, count * sizeof(T)), cudaSuccess);
    }
    explicit device_array(const std::vector<T> &values) : device_array(values.size())
    {
        assert_int_equal(cudaMemcpy(at, values.data(), count * sizeof(T), cudaMemcpyHostToDevice),
                         cudaSuccess);
    }
    device_array(const device_array &) = delete;
    ~device_array()
    {
        cudaFree(at);
    }
    std::vector<T> read() const
    {
        std::vector<T> values(count);
        assert_int_equal(cudaMemcpy(values.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost),
                         cudaSuccess);
        return values;
    }
};

extern const CMUnitTest emulation_tests[], failure_tests[];
extern const size_t emulation_test_count, failure_test_count;
