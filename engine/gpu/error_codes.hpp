// The errors of CUDA's driver and runtime: what each usually means in kernels, and what helps.
#pragma once

#include <span>
#include <string_view>

namespace wgrun::gpu {

/// One error. The runtime has the driver's numbers, and sometimes a name of its own.
struct ErrorCode {
    int number;
    std::string_view name;     ///< the driver's, without CUDA_ERROR_; empty: it has none
    std::string_view runtime;  ///< the runtime's, without cudaError, where it is another one
    std::string_view meaning;
    std::string_view cause;  ///< in kernels, launches and their set-up, the likeliest first
    std::string_view remedy;
};

/// By number.
std::span<const ErrorCode> error_codes();

/// Returns the error with that number or name, as the driver or the runtime spells it
/// (CUDA_ERROR_INVALID_PTX, cudaErrorInvalidPtx, invalid_ptx, 218), or null.
const ErrorCode* find_error(std::string_view word);
const ErrorCode* find_error(int number);

}  // namespace wgrun::gpu
