// What is known of a register's value at a point of a path.
#pragma once

#include "check/exact.hpp"
#include "check/fact.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

struct Known {
    isa::Value value;
    /// The value itself; if `origin` is a buffer, the value it would have if that buffer began at address 0
    /// of the shared window.
    Exact exact;
    int origin = no_buffer;
    bool written = false;          ///< on some path to here
    Roots inputs = 0;              ///< none for a constant
    const void* writer = nullptr;  ///< the step that wrote it, or the branch or loop where values meet

    static constexpr int no_buffer = -1, many_buffers = -2;

    std::optional<std::int64_t> constant() const {
        return origin == no_buffer ? exact.uniform() : std::nullopt;
    }
    bool operator==(const Known& other) const;
};

std::size_t hash_of(const Known& value);

/// Returns the value where two paths meet that a condition chose between: `a` if it is true. `place` is the
/// branch, loop or step.
Known join(const Known& a, const Known& b, const Known& condition, const void* place);

}  // namespace wgrun::check
