// The logs of the driver's assembler, and the options that request them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <string_view>

#include "gpu/cuda_abi.hpp"

namespace wgrun::gpu {

/// Options of cuModuleLoadDataEx and cuLinkCreate that point into the object, which is large and stays where
/// it is.
class JitLogs {
  public:
    JitLogs() = default;
    JitLogs(const JitLogs&) = delete;
    JitLogs& operator=(const JitLogs&) = delete;

    unsigned count() const { return static_cast<unsigned>(options_.size()); }
    abi::JitOption* options() { return options_.data(); }
    void** values() { return values_.data(); }
    const char* info() const { return info_.data(); }
    const char* error() const { return error_.data(); }

  private:
    static void* value(std::size_t number) { return std::bit_cast<void*>(number); }

    std::array<char, 256 << 10> info_{};
    std::array<char, 64 << 10> error_{};
    std::array<abi::JitOption, 5> options_ = {
        abi::JitOption::info_log_buffer, abi::JitOption::info_log_buffer_size_bytes,
        abi::JitOption::error_log_buffer, abi::JitOption::error_log_buffer_size_bytes,
        abi::JitOption::log_verbose};
    std::array<void*, 5> values_ = {info_.data(), value(info_.size() - 1), error_.data(),
                                    value(error_.size() - 1), value(1)};
};

/// Throws CompileError if the driver's assembler refuses a text: with its log or, where that is empty, with
/// the result by its name, and the versions of both.
void throw_if_refused(const Driver& driver, abi::Result result, std::string_view text, const JitLogs& logs);

}  // namespace wgrun::gpu
