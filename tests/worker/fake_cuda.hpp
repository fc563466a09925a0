// What the stand-in for the driver knows of its memory.
#pragma once

#include <cstddef>

#include "gpu/cuda_abi.hpp"

struct FakeBlock {
    wgrun::gpu::abi::DevicePointer start;
    std::size_t bytes;  ///< 0: there is none
};

/// The allocation that an address lies in.
FakeBlock fake_block(wgrun::gpu::abi::DevicePointer address);
