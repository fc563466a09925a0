// What numbers and conditions are in one thread of a CTA: its place is put in, and what the launch, the CTA
// and the turn of a loop decide is left open.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "check/symbolic/atoms.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check::symbolic {

/// One thread of the block. `atoms` outlives it.
class InThread {
  public:
    InThread(Atoms& atoms, Dim3 block, int thread);

    /// Returns the number; nothing: more than the place of the thread tells it from that of its neighbours.
    std::optional<Polynomial> number(const Polynomial& of);

    /// open: the launch decides, for all threads alike or as a bound of their places (`i < n`).
    enum class Truth : std::uint8_t { no, yes, open, unknown };
    Truth truth(Formula of);

  private:
    std::optional<Polynomial> atom(Atom atom);
    std::optional<Polynomial> quotient(const Polynomial& a, const Polynomial& b);
    std::optional<Polynomial> choice(Definition of);
    Truth compared(const Condition& of);

    Atoms& atoms_;
    std::array<std::int64_t, 3> place_;
};

}  // namespace wgrun::check::symbolic
