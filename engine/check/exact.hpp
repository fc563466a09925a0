// Values that depend on constants and the thread index alone: known exactly, for every thread of the CTA.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "isa/value.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// The value of a register in each thread, if it is known.
class Exact {
  public:
    Exact() = default;
    Exact(std::int64_t value) : all_(value) {}
    /// values[t] is that of thread t.
    explicit Exact(std::vector<std::int64_t> values);

    bool known() const { return all_ || each_; }
    /// The value, if it is the same in all threads.
    std::optional<std::int64_t> uniform() const { return all_; }
    std::int64_t of(int thread) const { return each_ ? (*each_)[static_cast<std::size_t>(thread)] : *all_; }
    /// The least and the greatest value.
    std::pair<std::int64_t, std::int64_t> range() const;
    /// Over which threads the value is the same; it must be known.
    isa::Uniform spread() const;
    /// f of every value.
    Exact map(const std::function<std::int64_t(std::int64_t)>& f) const;

    /// a where `condition` is true, b elsewhere; not known unless all three are.
    static Exact choose(const Exact& condition, const Exact& a, const Exact& b);

    bool operator==(const Exact& other) const;

  private:
    std::optional<std::int64_t> all_;
    std::shared_ptr<const std::vector<std::int64_t>> each_;
};

struct Known;

/// The value that a step gives its one destination.
struct Folded {
    Exact value;
    int origin;  ///< as Known::origin
};

/// Runs `step` on the exact values of its sources. Nothing if one of them is not known, if the result depends
/// on anything else, or if `budget`, the warps that may still be run, is spent.
std::optional<Folded> fold(const Program& program, const Step& step,
                           const std::function<const Known&(Reg)>& known, int& budget);

}  // namespace wgrun::check
