// Values that depend only on constants and the thread index: they are known exactly, for every thread of the
// CTA.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isa/value.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// The value of a register in each thread, if it is known.
class Exact {
  public:
    Exact() = default;
    Exact(std::int64_t value) : all_(value) {}
    /// values[t] is the value in thread t.
    explicit Exact(std::vector<std::int64_t> values);

    bool known() const { return all_ || each_; }
    /// Returns the value if it is the same in all threads.
    std::optional<std::int64_t> uniform() const { return all_; }
    /// Returns the values by thread; none if it is the same in all of them.
    std::span<const std::int64_t> each() const {
        return each_ ? std::span(*each_) : std::span<const std::int64_t>();
    }
    std::int64_t of(int thread) const { return each_ ? (*each_)[static_cast<std::size_t>(thread)] : *all_; }
    /// Returns the least and the greatest value; the value must be known.
    std::pair<std::int64_t, std::int64_t> range() const;
    /// Returns the widest group of threads within which the value is the same; the value must be known.
    isa::Uniform spread() const;
    /// Returns f of every value; unknown if the value is.
    Exact map(const std::function<std::int64_t(std::int64_t)>& f) const;

    /// Returns a where `condition` is true, b elsewhere; unknown unless all three are known.
    static Exact choose(const Exact& condition, const Exact& a, const Exact& b);

    bool operator==(const Exact& other) const;

  private:
    std::optional<std::int64_t> all_;
    std::shared_ptr<const std::vector<std::int64_t>> each_;
};

struct Known;

/// The value that a step gives to its only destination.
struct Folded {
    Exact value;
    int origin;  ///< as Known::origin
};

/// Executes `step` on the exact values of its sources. Returns nothing if one of them is unknown, if the
/// result depends on anything else, or if `budget`, the warps that may still be executed, is spent.
std::optional<Folded> fold(const Program& program, const Step& step,
                           const std::function<const Known&(Reg)>& known, int& budget);

}  // namespace wgrun::check
