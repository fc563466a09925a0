// Shared-memory tiles of wgmma operands: the eight canonical layouts, their atoms, the matrix descriptor, and
// the addresses that wgmma reads through a descriptor. PTX ISA 9.7.15.5.1.2.
//
// Rows are the M or N extent ("mn"), columns the K extent ("k"). Extents count elements; offsets and strides
// are in bytes, unless a name says otherwise.
//
// The classes are values, as thread-safe as std::string: any number of threads may read one object, and a
// thread that writes it must be alone. Functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/dtype.hpp"
#include "wgrun/layout.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// The contiguous dimension: imm-trans 0 (K-major) or 1 (MN-major).
enum class Major : std::uint8_t { k, mn };
/// How far the 16-byte units are permuted: within 16 (none), 32, 64 or 128 bytes.
enum class SwizzleMode : std::uint8_t { none, b32, b64, b128 };
/// The dimension along which whole atoms follow each other first.
enum class AtomOrder : std::uint8_t { mn, k };

/// "K", "MN"
std::string_view to_string(Major major);
std::string_view to_string(AtomOrder order);
/// "none", "32B", "64B", "128B"
std::string_view to_string(SwizzleMode mode);
/// The inverses. They throw ArgumentError with the list of names.
Major parse_major(std::string_view name);
AtomOrder parse_atom_order(std::string_view name);
SwizzleMode parse_swizzle_mode(std::string_view name);

/// Bits 62-63 of a descriptor: none 0, 128B 1, 64B 2, 32B 3.
int encoding(SwizzleMode mode);
/// Bytes of one swizzled line: 16 (none), 32, 64, 128.
int width(SwizzleMode mode);
/// The permutation of byte addresses: Swizzle<0|1|2|3,4,3>.
Swizzle byte_swizzle(SwizzleMode mode);
/// The byte address after the swizzle: 128B: bits[6:4] ^= bits[9:7]; 64B: [5:4] ^= [8:7]; 32B: [4] ^= [7].
constexpr std::uint32_t swizzled(SwizzleMode mode, std::uint32_t address) {
    constexpr std::uint32_t masks[]{0, 0x10, 0x30, 0x70};
    return address ^ (address >> 3 & masks[static_cast<int>(mode)]);
}

/// The 64-bit matrix descriptor of wgmma, decoded. PTX ISA 9.7.15.5.1.2.2.
struct Descriptor {
    std::uint32_t start = 0;  ///< byte address in the shared window, multiple of 16, below 256 KiB
    std::uint32_t lbo = 0;    ///< leading dimension byte offset, multiple of 16, at most 262128
    std::uint32_t sbo = 0;    ///< stride dimension byte offset, likewise
    std::uint32_t base_offset =
        0;  ///< rows of 128 bytes, 0..7; 0: the pattern starts on 1024, 512, 256 bytes
    SwizzleMode swizzle = SwizzleMode::none;

    /// The operand of wgmma. Throws ArgumentError that names a field with a value that cannot be encoded.
    std::uint64_t encode() const;
    /// The inverse. Throws ArgumentError if unused bits (14-15, 30-31, 46-48, 52-61) are set.
    static Descriptor decode(std::uint64_t bits);

    bool operator==(const Descriptor&) const = default;
};

/// The shared-memory byte address of the byte that holds element (row, k) of the matrix that `descriptor`
/// describes, as wgmma computes it. For b1 the element is bit k % 8 of that byte. `element_bits`: 1, 8, 16 or
/// 32. This was compared with what an H200 reads, also for starts inside a swizzled line, base offsets,
/// strides that are no multiple of the pattern, and the 64 bytes of K of a sparse wgmma's B.
std::uint32_t walk(const Descriptor& descriptor, Major major, int element_bits, int row, int k);

/// The addresses of all 16-byte units at once. A line is a row (K-major) or a k (MN-major); out[line * units
/// + u] is the address of its unit u, which holds 128 / element_bits consecutive elements along K (K-major)
/// or along M/N (MN-major). Throws ArgumentError unless out holds exactly lines * units addresses.
void walk_units(const Descriptor& descriptor, Major major, int lines, int units,
                std::span<std::uint32_t> out);

/// The types that wgmma multiplies, and the elements of K of one dense wgmma, 32 bytes: 16 for 16-bit types,
/// 8 for tf32, 32 for 8-bit types, 256 for b1. wgmma_k throws ArgumentError for other types.
std::span<const Dtype> wgmma_types();
int wgmma_k(Dtype dtype);

/// The parameters of a tile. Without a swizzle, it gets the widest one whose atoms fill the tile.
struct TileSpec {
    Dtype dtype = Dtype::bf16;
    int mn = 0;  ///< rows, elements
    int k = 0;   ///< columns, elements
    Major major = Major::k;
    std::optional<SwizzleMode> swizzle = std::nullopt;
    AtomOrder order = AtomOrder::mn;
};

/// The part of a tile that one wgmma reads, in K steps of 32 bytes and in rows.
struct OperandBlock {
    int kstep = 0;      ///< the first K step
    int ksteps = 1;     ///< steps read at once: 1, but 2 for B of a sparse wgmma
    int mn_offset = 0;  ///< the first row, elements
    int mn = 0;         ///< rows read, elements; 0 means up to the end of the tile
    /// The swizzle pattern starts at the tile's address, any multiple of 128 bytes, which the base offset
    /// states. TMA never writes such a tile: its pattern starts on multiples of align().
    bool base_offset = false;
};

/// The box of one TMA copy: inner x outer elements from tile coordinates (mn, k), copied to `offset`.
struct TmaPanel {
    int offset = 0;  ///< bytes from the tile's start
    int mn = 0;      ///< first row, elements
    int k = 0;       ///< first column, elements
    bool operator==(const TmaPanel&) const = default;
};
/// How TMA fills a tile: one box shape and where each box goes. `inner` runs along the contiguous dimension.
struct TmaBox {
    /// Elements along the contiguous dimension (for b1: bits; a tensor map counts them as bytes).
    int inner = 0;
    int outer = 0;                 ///< elements along the other one, at most 256
    std::vector<TmaPanel> panels;  ///< one for each copy, in the order of their offsets
};

/// A tile in one of the eight canonical layouts (K- or MN-major; none, 32B, 64B, 128B), made of whole atoms,
/// at an address that is a multiple of align().
class Tile {
  public:
    /// Throws ArgumentError for a tile that wgmma cannot read, with the reason and what would be legal.
    explicit Tile(const TileSpec& spec);

    Dtype dtype() const { return dtype_; }
    /// Rows and columns, elements.
    int mn() const { return mn_; }
    int k() const { return k_; }
    Major major() const { return major_; }
    SwizzleMode swizzle() const { return swizzle_; }
    AtomOrder order() const { return order_; }

    /// (mn, k) -> offset in elements, with the swizzle on elements: Swizzle<3,3,3> o
    /// ((8,2),(64,1)):((64,512),(1,0)) is 128B for 16-bit elements (the PTX ISA writes Swizzle<3,4,3>, which
    /// permutes bytes).
    Layout layout() const;
    /// The repeating pattern: layout() of one atom.
    Layout atom() const;
    /// Extents of one atom, elements.
    int atom_mn() const { return atom_mn_; }
    int atom_k() const { return atom_k_; }
    /// Bytes of one atom: 8 lines of the swizzle's width.
    int atom_bytes() const { return 8 * width(swizzle_); }

    /// Leading dimension byte offset: 16 where wgmma ignores it (K-major with a swizzle).
    int lbo() const;
    /// Stride dimension byte offset.
    int sbo() const;
    /// Bytes of the whole tile, without gaps.
    int bytes() const { return bytes_; }
    /// Bytes that the tile's address must be a multiple of: 1024, 512, 256 and, without a swizzle, 128.
    int align() const { return swizzle_ == SwizzleMode::none ? 128 : atom_bytes(); }

    /// Byte offset of element (row, col) = (mn, k) from the tile's start. Throws ArgumentError outside the
    /// tile.
    int offset(int row, int col) const;

    /// Elements of K per K step: wgmma_k of the tile's type.
    int kstep_elements() const;
    /// Number of K steps in the tile.
    int ksteps() const { return k_ / kstep_elements(); }
    /// The descriptor of what one wgmma reads, for a tile at shared-window byte address `address`. Throws
    /// ArgumentError for a misaligned address and for blocks that no single descriptor describes.
    Descriptor descriptor(std::uint32_t address, const OperandBlock& block) const;
    Descriptor descriptor(std::uint32_t address, int kstep = 0, int mn_offset = 0) const {
        return descriptor(address,
                          OperandBlock{.kstep = kstep, .ksteps = 1, .mn_offset = mn_offset, .mn = 0});
    }

    TmaBox tma_box() const;

    bool operator==(const Tile&) const = default;

  private:
    int linear(int row, int col) const;  // byte offset before the swizzle
    Swizzle element_swizzle() const;
    void check_block(const OperandBlock& block) const;

    Dtype dtype_;
    Major major_;
    SwizzleMode swizzle_;
    AtomOrder order_;
    int mn_;
    int k_;
    int bytes_ = 0;
    int atom_mn_ = 0;
    int atom_k_ = 0;
    int stride_mn_ = 0;  // bytes from an atom to the next along mn
    int stride_k_ = 0;   // likewise along k
};

/// The legal swizzles of a tile, widest first (the default is the first); empty if there is none.
std::vector<SwizzleMode> legal_swizzles(Dtype dtype, int mn, int k, Major major);

/// The tile in words, on several lines: the layout, what its descriptor holds and why, the other swizzles and
/// their cost, what is illegal and why, how TMA fills it, bank conflicts.
std::string explain(const Tile& tile);

/// The descriptor in words, field by field, with the bits of each field.
std::string explain(const Descriptor& descriptor);

}  // namespace wgrun

#pragma GCC visibility pop
