// One thread of a launch that is drawn at random, and what it does: by its program, and by its machine code.
//
// All threads of its warp are taken to do what it does. Memory has contents that are drawn, too: a byte for
// each address, so that loads give the same values wherever they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sass/graph.hpp"
#include "sass/record.hpp"
#include "wgrun/program.hpp"

namespace wgrun::sass {

/// Steps and instructions after which an execution ends in any case.
inline constexpr std::size_t longest_run = 30'000;
/// The lower bits of an address of shared memory are the place in the CTA's own; the upper ones its CTA.
inline constexpr std::uint64_t shared_window = (std::uint64_t{1} << 24) - 1;

/// A value, if it is known.
struct Known64 {
    std::uint64_t bits = 0;
    bool known = false;
};
struct Word {
    std::uint32_t bits = 0;
    bool known = false;
};

/// A launch, and a thread of it.
struct Drawn {
    std::uint64_t seed = 0;
    Dim3 grid, block, cta;
    std::uint32_t thread = 0;          ///< of the CTA
    std::vector<std::uint8_t> params;  ///< the parameter space, from isa::param_base on
    /// By parameter: where it begins there. Its alignment is that of the place in the bank of constants.
    std::vector<std::size_t> places;
    std::vector<std::uint32_t> buffers;  ///< by buffer of shared memory: its address
    std::uint32_t lane() const { return thread % 32; }
    Dim3 place() const { return {thread % block.x, thread / block.x % block.y, thread / block.x / block.y}; }
};
/// Pointers are multiples of 256, other numbers are small, or large and multiples of 64. order: of the
/// buffers in shared memory, where they do not lie as the program says.
Drawn draw(const Program& program, std::uint64_t seed, std::uint32_t thread,
           const std::vector<std::size_t>& order);

/// Memory of one space: what is drawn, and what the thread has stored.
class Contents {
  public:
    Contents(std::uint64_t seed, Memory space) : seed_(seed), space_(space) {}
    struct Byte {
        std::uint8_t bits = 0;
        bool known = true;
        int line = 0;  ///< of the PTX; 0: the thread has not stored it
        std::uint32_t number = 0;
    };
    Byte at(std::uint64_t address) const;
    /// Little-endian; not known where one of the bytes is not.
    Known64 load(std::uint64_t address, int bytes) const;
    void store(std::uint64_t address, int bytes, Known64 value, int line, std::uint32_t number);
    /// Something was stored somewhere.
    void forget() { forgotten_ = true; }
    bool forgotten() const { return forgotten_; }
    const std::unordered_map<std::uint64_t, Byte>& stored() const { return stored_; }

  private:
    std::uint64_t seed_;
    Memory space_;
    bool forgotten_ = false;
    std::unordered_map<std::uint64_t, Byte> stored_;
};

/// Something besides computing and storing that the thread does.
struct Deed {
    Does does = Does::other;
    int line = 0;              ///< of the PTX
    std::uint32_t number = 0;  ///< of machine code: the instruction
    /// Of a product: A's descriptor (or none), B's, scale-d. Of a barrier: its number, the threads. Of an
    /// mbarrier: its address. Of a copy: the address in shared memory, the mbarrier's or, of cp.async, that
    /// in global memory, the tensor map's, the coordinates.
    std::vector<Known64> values;
};

struct Loaded {
    std::uint64_t address = 0;
    int bytes = 0;
    int line = 0;
    std::uint32_t number = 0;
};

struct Behaviour {
    Behaviour(std::uint64_t seed) : shared(seed, Memory::shared), global(seed, Memory::global) {}
    bool complete = false;  ///< it came to its end, and no branch was open
    std::vector<Deed> deeds;
    Contents shared, global;
    std::vector<Loaded> loads_of_shared, loads_of_global;
    bool loads_anywhere = false;  ///< the address of a load is not known
};

Behaviour behaviour_of(const Program& program, const Drawn& drawn);
Behaviour behaviour_of(const Function& function, const Graph& graph, const Drawn& drawn);

}  // namespace wgrun::sass
