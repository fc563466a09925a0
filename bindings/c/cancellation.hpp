// Tokens by which other threads end calls, and functions that hear how far calls are.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "bindings/c/handle.hpp"
#include "wgrun.h"
#include "wgrun/cancellation.hpp"
#include "wgrun/progress.hpp"

namespace wgrun::c {

/// Any thread may set `requested`.
struct Token {
    wgrun_poll_function poll = nullptr;
    void* user = nullptr;
    std::atomic<bool> requested = false;
};

template <>
inline constexpr Kind kind_of<Token> = Kind::cancellation;

/// While it lives, the token that the calling thread uses ends the thread's work, and its function hears of
/// progress.
class TokenInUse {
  public:
    TokenInUse();

    /// Whether the calling thread uses one.
    static bool any() noexcept;

  private:
    std::shared_ptr<Token> token_;
    // In the order in which they begin.
    std::optional<ProgressWatch> watch_;
    std::optional<Cancellation> requested_, asked_;
};

}  // namespace wgrun::c
