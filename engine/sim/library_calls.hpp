// What kernels call of CUDA's library (isa/library.hpp), over the accesses of a cluster.
#pragma once

#include <array>
#include <string>

#include "program/c_format.hpp"
#include "sim/accesses.hpp"

namespace wgrun::sim {

class LibraryCalls {
  public:
    LibraryCalls(Scene& scene, Accesses& accesses) : scene_(scene), accesses_(accesses) {}

    /// Adds what the active lanes print to `log`, lane after lane.
    void print(const isa::Addresses& format, const isa::Addresses& values,
               std::array<std::uint32_t, isa::lanes>& count, MessageLog& log);
    /// Reports that an assertion of the first active lane does not hold.
    void fail(const isa::Addresses& message, const isa::Addresses& file,
              const std::array<std::uint32_t, isa::lanes>& line, const isa::Addresses& function);

  private:
    class Values;
    /// Calls f(lane) for each active lane, which then is the only one.
    template <class F>
    void for_each_alone(F f);
    /// Returns `bytes` bytes, 8 at most, that the active lane reads at a generic address; 0 where it may not.
    std::uint64_t read(std::uint64_t address, int bytes);
    std::string text(std::uint64_t address, std::size_t most);

    Scene& scene_;
    Accesses& accesses_;
};

}  // namespace wgrun::sim
