// Named objects of a kernel: registers, arrays, shared buffers, parameters; and where they are stored.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "debug/matrix_text.hpp"

namespace wgrun::debugging {

/// What a command refers to: `acc`, `acc[3]`, `tile[1]` (a stage), `tile[2,5]` and `tile[1][2,5]` (elements).
struct Symbol {
    std::string text;
    enum class Kind : std::uint8_t { registers, buffer, parameter } kind = Kind::registers;
    std::vector<isa::Reg> regs;
    bool array = false;
    int index = -1;  ///< index of the buffer, or of the parameter
    int stage = 0;
    std::optional<std::pair<int, int>> element;
};

/// Bytes that can be watched: in shared or global memory, or a register of a warp.
struct Place {
    std::string text;
    int rank = -1;              ///< CTA whose shared memory it is in
    std::uint64_t address = 0;  ///< offset in it, or the address in global memory
    int bytes = 0;
    isa::Reg reg;  ///< of `warp`
    int warp = -1;
    isa::Mask lanes = UINT32_MAX;  ///< lanes of the register that are watched
};

class Symbols {
  public:
    Symbols(const Program& program, const RunOptions& options) : program_(program), options_(options) {}

    /// The object that `text` names at a line. Throws ArgumentError, with a suggestion.
    Symbol find(std::string_view text, Where where) const;

    /// All names, one per line.
    std::string names() const;

    /// As text, several lines. `warp` (of the cluster) is whose registers and whose CTA's memory; `lanes`:
    /// the registers of the warps of the cluster, as they are or were. `whole`: all of a matrix.
    std::string show(const Symbol& symbol, sim::View view, int warp, const LanesOf& lanes, bool whole) const;
    /// The warps that hold a fragment of a matrix: `warps` warps of the cluster from `first` on.
    struct Holders {
        int first, warps;
    };
    /// Nothing if it is not a fragment.
    std::optional<Holders> holders(const Symbol& symbol, sim::View view, int warp) const;

    /// Where an element, a register or bytes at an address are. Throws ArgumentError unless that is one
    /// place.
    Place place(std::string_view text, Where where, sim::View view, int warp) const;

  private:
    std::string show_registers(const Symbol& symbol, int warp, sim::View view, const LanesOf& lanes,
                               bool whole) const;
    Place register_place(const Symbol& symbol, sim::View view, int warp) const;
    const Tensor* tensor(const Symbol& symbol) const;

    const Program& program_;
    const RunOptions& options_;
};

/// The current bytes of the place.
std::vector<std::byte> bytes_at(const Place& place, sim::View view);

/// A line of the script, or nothing if the file cannot be read.
std::string source_line(Where where);

}  // namespace wgrun::debugging
