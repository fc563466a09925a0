// Bank conflicts: how many passes shared memory needs for an access. It has 32 banks of 4 bytes; lanes that
// touch different words of one bank in the same phase are served one after the other. All functions are
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/tile.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Ways to access a matrix in shared memory. A line runs along the contiguous dimension; a unit is 16 bytes
/// of a line.
enum class SharedAccess : std::uint8_t {
    wgmma,           ///< 8 lines of one unit at a time (core matrices)
    ldmatrix,        ///< lanes 8i..8i+7 give 8 consecutive lines of one unit
    stmatrix,        ///< likewise
    st_shared_16,    ///< st.shared.v4.b32 after coalesced global loads: lanes run along a line, then the
                     ///< next
    st_accumulator,  ///< st.shared of pairs of a D fragment: lane l has elements 2(l % 4), 2(l % 4) + 1 of
                     ///< line l / 4
};
std::string_view to_string(SharedAccess access);
/// Their names, in the order of the enumeration.
std::span<const std::string_view> shared_access_names();

/// Lanes that are served together: 8 lanes of 16 bytes, 16 of 8, 32 of 4 or less.
struct BankPhase {
    int first_lane = 0;
    int degree = 1;                        ///< passes needed: distinct words in the worst bank
    int bank = 0;                          ///< the worst bank
    std::vector<int> guilty;               ///< the lanes that access it; empty if degree is 1
    std::vector<std::uint32_t> addresses;  ///< byte address of each lane of the phase
};

/// The phases of one warp-wide access of `bytes` (1, 2, 4, 8 or 16) per lane at the byte `addresses`, at most
/// 32. Throws ArgumentError for other widths and for addresses that are not a multiple of the width.
std::vector<BankPhase> bank_phases(std::span<const std::uint32_t> addresses, int bytes);

/// The conflicts of accessing a whole matrix in one way.
struct BankConflicts {
    SharedAccess access = SharedAccess::wgmma;
    int bytes = 16;                ///< that each lane accesses
    int degree = 1;                ///< of the worst phase; 1: no conflicts
    int phases = 0;                ///< over the whole matrix
    int passes = 0;                ///< over the whole matrix; equals phases if there are no conflicts
    int line = 0;                  ///< first line of the worst access
    int unit = 0;                  ///< its first unit: 16 bytes along the line
    std::vector<BankPhase> worst;  ///< the phases of that access

    /// "ldmatrix: 8-way conflict (lanes 0 1 2 3 4 5 6 7 on bank 0), 64 passes instead of 8"
    std::string to_string() const;
};

/// The conflicts of a tile at an aligned address. Throws ArgumentError for accumulators of b1.
BankConflicts bank_conflicts(const Tile& tile, SharedAccess access);
/// The same for every access that the tile's type and major-ness allow.
std::vector<BankConflicts> bank_conflicts(const Tile& tile);
/// The same for any layout (mn, k) -> element offset of rank 2 whose lines hold whole 16-byte units. Throws
/// ArgumentError if a unit is not contiguous, and names the first such place.
BankConflicts bank_conflicts(const Layout& layout, int element_bits, SharedAccess access);
std::vector<BankConflicts> bank_conflicts(const Layout& layout, int element_bits);

/// Where in a matrix an access has its conflicts: for each block of 8 lines and one 16-byte unit, the worst
/// of the phases that access the block.
struct ConflictBlocks {
    BankConflicts total;
    bool along_rows = false;       ///< lines run along mode 0 (mn)
    int groups = 0;                ///< of 8 lines each, in the matrix
    int units = 0;                 ///< of 16 bytes each, in a line
    std::vector<BankPhase> worst;  ///< [g * units + u]: of group g, unit u; without addresses: not accessed
};
/// Both throw what bank_conflicts throws.
ConflictBlocks conflict_blocks(const Tile& tile, SharedAccess access);
ConflictBlocks conflict_blocks(const Layout& layout, int element_bits, SharedAccess access);

}  // namespace wgrun

#pragma GCC visibility pop
