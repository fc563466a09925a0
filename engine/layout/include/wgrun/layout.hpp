// Layouts and their algebra, in CuTe's notation and with CuTe's results.
//
// A layout maps coordinates to integer offsets: ((8,2),64):((64,512),1) is a nested shape and a stride of the
// same nesting; the offset is the inner product of coordinate and stride. One-dimensional indices are
// colexicographic: the first mode runs fastest. A swizzle may follow: Swizzle<3,4,3> o (8,128):(128,1).
//
// Units: extents, sizes and indices count coordinates. Strides, offsets and cosizes count units that a layout
// itself does not know: elements everywhere in wgrun, or bytes where a name says so.
//
// Every function here throws ArgumentError for what CuTe refuses, for results that would contradict the
// definition (some of which CuTe accepts), and when 64-bit integers would overflow.
//
// The classes are values, as thread-safe as std::string: any number of threads may read one object, and a
// thread that writes it must be alone.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace wgrun {

/// A nested tuple of integers: a leaf 8, or modes (8,(2,64)). (8) is a tuple of one mode and not the leaf 8.
class IntTuple {
  public:
    IntTuple(std::int64_t value = 0) : value_(value) {}
    IntTuple(int value) : value_(value) {}
    IntTuple(std::initializer_list<IntTuple> modes) : modes_(modes), is_leaf_(false) {}
    IntTuple(std::vector<IntTuple> modes) : modes_(std::move(modes)), is_leaf_(false) {}

    bool is_leaf() const { return is_leaf_; }
    /// The integer of a leaf; throws ArgumentError on a tuple.
    std::int64_t value() const;
    /// Number of modes; a leaf has one (itself).
    int rank() const { return is_leaf_ ? 1 : static_cast<int>(modes_.size()); }
    /// Levels of nesting: 0 for a leaf.
    int depth() const;
    /// Mode `i`; mode 0 of a leaf is the leaf. Throws ArgumentError outside [0, rank).
    const IntTuple& operator[](int i) const;
    /// The modes of a tuple (empty for a leaf).
    const std::vector<IntTuple>& modes() const { return modes_; }
    /// Number of leaves.
    int leaf_count() const;
    /// The leaves from left to right.
    std::vector<std::int64_t> leaves() const;
    /// Product of the leaves; throws ArgumentError on overflow.
    std::int64_t product() const;
    /// True if the nesting is the same, whatever the numbers.
    bool congruent(const IntTuple& other) const;

    /// "(8,(2,64))"
    std::string to_string() const;
    /// Reads what to_string writes (blanks are allowed). Throws ArgumentError with the text and a caret.
    static IntTuple parse(std::string_view text);

    bool operator==(const IntTuple&) const = default;

  private:
    std::int64_t value_ = 0;
    std::vector<IntTuple> modes_;
    bool is_leaf_ = true;
};

/// Swizzle<B,M,S>: XORs the B bits that start at bit M+S into the B bits that start at bit M (for S < 0: from
/// bit M into bit M-S). It is its own inverse.
class Swizzle {
  public:
    /// Throws ArgumentError unless bits >= 0, base >= 0, |shift| >= bits and all bits lie below 2^62.
    Swizzle(int bits, int base, int shift);

    /// B: bits that change.
    int bits() const { return bits_; }
    /// M: a bit number of the offset.
    int base() const { return base_; }
    /// S: a distance in bits.
    int shift() const { return shift_; }
    /// The permuted offset.
    std::int64_t operator()(std::int64_t offset) const {
        return offset ^ (shift_ >= 0 ? (offset & source_) >> shift_ : (offset & source_) << -shift_);
    }
    /// True for Swizzle<0,M,S>, which changes nothing.
    bool is_identity() const { return bits_ == 0; }
    /// The same permutation when offsets count units `factor` times as large (a power of two): bytes to
    /// elements. Bits below the new unit are dropped, as CuTe's upcast does.
    Swizzle upcast(int factor) const;
    /// The same permutation when offsets count units `factor` times as small: elements to bytes.
    Swizzle downcast(int factor) const;

    /// "Swizzle<3,4,3>"
    std::string to_string() const;
    bool operator==(const Swizzle&) const = default;

  private:
    int bits_;
    int base_;
    int shift_;
    std::int64_t source_ = 0;
};

/// A layout: shape, stride and, when composed with a swizzle, Swizzle o offset o shape:stride.
class Layout {
  public:
    /// One leaf mode.
    struct Mode {
        std::int64_t shape;   ///< coordinates, at least 1
        std::int64_t stride;  ///< offset from a coordinate to the next
        bool operator==(const Mode&) const = default;
    };

    /// 1:0
    Layout();
    /// Compact, first mode fastest (LayoutLeft).
    explicit Layout(const IntTuple& shape);
    /// Throws ArgumentError unless shape and stride are congruent, every extent is at least 1 and the nesting
    /// has at most 64 levels.
    Layout(IntTuple shape, IntTuple stride);
    /// `swizzle` applied to the offsets of `layout` plus `offset`.
    Layout(Swizzle swizzle, const Layout& layout, std::int64_t offset = 0);

    /// The layouts as modes of one: (shape a, shape b, ...):(stride a, stride b, ...). Throws ArgumentError
    /// if one has a swizzle.
    static Layout join(std::vector<Layout> modes);

    /// Reads what to_string writes, or a shape ("(8,64)": compact). Throws ArgumentError with text and caret.
    static Layout parse(std::string_view text);

    const IntTuple& shape() const { return shape_; }
    const IntTuple& stride() const { return stride_; }
    const std::optional<Swizzle>& swizzle() const { return swizzle_; }
    /// What is added to offsets before the swizzle; 0 without one.
    std::int64_t offset() const { return offset_; }
    /// The layout without its swizzle and offset.
    Layout unswizzled() const;

    /// Number of top-level modes; 1 for a leaf.
    int rank() const { return shape_.rank(); }
    /// Levels of parentheses; 0 for a leaf, at most 64.
    int depth() const { return shape_.depth(); }
    /// Number of coordinates.
    std::int64_t size() const { return size_; }
    /// One more than the largest offset (for negative strides: than the largest magnitude), before a swizzle.
    std::int64_t cosize() const;
    /// Mode `i` as a layout of its own, without the swizzle. Throws ArgumentError outside [0, rank).
    Layout mode(int i) const;
    /// The leaf modes from left to right.
    std::span<const Mode> leaves() const { return leaves_; }

    /// Offset at a one-dimensional index. Past size() the last mode continues, as in CuTe; throws
    /// ArgumentError below 0.
    std::int64_t operator()(std::int64_t index) const;
    /// Offset at a coordinate: an index, a natural coordinate or any mixture that fits the shape's nesting.
    std::int64_t operator()(const IntTuple& coordinate) const;
    /// Offset at the indices `row` of mode 0 and `column` of mode 1.
    std::int64_t operator()(std::int64_t row, std::int64_t column) const;
    /// The natural coordinate of a one-dimensional index.
    IntTuple coordinate(std::int64_t index) const;
    /// The offsets at 0 .. size()-1. Throws ArgumentError above 2^24 of them.
    std::vector<std::int64_t> offsets() const;

    /// "((8,2),64):((64,512),1)", "Swizzle<3,4,3> o 8 o (8,64):(64,1)" with an offset of 8.
    std::string to_string() const;
    /// Equal in shape, stride, swizzle and offset; same_function compares the offsets.
    bool operator==(const Layout&) const = default;

  private:
    IntTuple shape_;
    IntTuple stride_;
    std::vector<Mode> leaves_;
    std::int64_t size_ = 1;
    std::optional<Swizzle> swizzle_;
    std::int64_t offset_ = 0;
};

/// True if sizes and offsets at every index are equal, however the shapes are nested.
bool same_function(const Layout& a, const Layout& b);

/// What a tiler does with a mode: nothing (_) leaves it unchanged, a layout tiles it, and a tiler tiles the
/// modes inside it.
struct TilerMode {
    TilerMode(std::nullopt_t = std::nullopt) {}
    TilerMode(Layout layout) : what(std::move(layout)) {}
    TilerMode(std::vector<TilerMode> inside) : what(std::move(inside)) {}

    std::variant<std::monostate, Layout, std::vector<TilerMode>> what;
};
/// A tiler by mode, <4:2, <8:1, _>>.
using Tiler = std::vector<TilerMode>;
/// The second operand of divides and products: a layout (for the whole domain) or a tiler (mode by mode).
using Tiling = std::variant<Layout, Tiler>;

/// The flattest layout of the same function (on the domain of `a`).
Layout coalesce(const Layout& a);
/// Applies coalesce to every mode at which `profile` has a leaf: profile (1,1) keeps rank 2.
Layout coalesce(const Layout& a, const IntTuple& profile);
/// All leaf modes at the top level.
Layout flatten(const Layout& a);
/// Removes modes of stride 0 and of extent 1, then coalesces.
Layout filter(const Layout& a);

/// R with R(i) = A(B(i)), congruent to B mode by mode. If there is no such layout, ArgumentError names the
/// mode and the reason.
Layout composition(const Layout& a, const Layout& b);
/// Mode by mode; modes of `a` beyond the tiler are dropped, as in CuTe.
Layout composition(const Layout& a, const Tiler& b);
Layout composition(const Swizzle& swizzle, const Layout& a);
/// Both swizzles as one; throws ArgumentError if that is no swizzle.
Swizzle composition(const Swizzle& a, const Swizzle& b);

/// The ordered layout of the offsets up to `target` that `a` leaves out. A target with several modes is
/// divided mode by mode, as in CuTe. Throws ArgumentError if `a` overlaps itself.
Layout complement(const Layout& a, const IntTuple& target);
/// complement up to cosize().
Layout complement(const Layout& a);
/// R with A(R(i)) = i for the longest run of i from 0.
Layout right_inverse(const Layout& a);
/// L with A(L(A(i))) = A(i), and L(A(i)) = i where `a` is injective. Throws ArgumentError if there is none.
Layout left_inverse(const Layout& a);

/// The indices that `a` maps to offset 0 because of strides of 0, as a layout.
Layout nullspace(const Layout& a);
/// The longest L with a(L(i)) = b(L(i)) = i: the elements that one vector copies from `a` to `b`.
Layout max_common_layout(const Layout& a, const Layout& b);
/// Number of elements (offsets) of that vector; 1 if there is none.
std::int64_t max_common_vector(const Layout& a, const Layout& b);

/// (tile, rest) for a layout; ((tile_0, rest_0), (tile_1, rest_1), ...) for a tiler.
Layout logical_divide(const Layout& a, const Tiling& b);
/// ((tile_0, tile_1, ...), (rest_0, rest_1, ...))
Layout zipped_divide(const Layout& a, const Tiling& b);
/// ((tile_0, tile_1, ...), rest_0, rest_1, ...)
Layout tiled_divide(const Layout& a, const Tiling& b);
/// (tile_0, tile_1, ..., rest_0, rest_1, ...)
Layout flat_divide(const Layout& a, const Tiling& b);

/// (a, copies of `a` arranged as `b`); the others regroup it like the divides.
Layout logical_product(const Layout& a, const Tiling& b);
Layout zipped_product(const Layout& a, const Tiling& b);
Layout tiled_product(const Layout& a, const Tiling& b);
Layout flat_product(const Layout& a, const Tiling& b);
/// Blocks of `a` arranged as `b`: ((a_0, b_0), (a_1, b_1), ...); the shorter one gets modes 1:0.
Layout blocked_product(const Layout& a, const Layout& b);
/// Interleaved: ((b_0, a_0), (b_1, a_1), ...).
Layout raked_product(const Layout& a, const Layout& b);
/// The compact layout whose modes follow each other in the order of the numbers in `order`.
Layout ordered_layout(const IntTuple& shape, const IntTuple& order);
/// `a` repeated until it fills `shape`, first along mode 0, then 1, ..., or in the order that `order` ranks.
Layout tile_to_shape(const Layout& a, const IntTuple& shape,
                     const std::optional<IntTuple>& order = std::nullopt);

/// A coordinate of a slice: nothing (_) keeps the mode, a number fixes it, a tuple descends into the mode.
struct SliceCoordinate {
    std::variant<std::monostate, std::int64_t, std::vector<SliceCoordinate>> what;
};
struct Slice {
    Layout layout;        ///< the kept modes
    std::int64_t offset;  ///< offset of the fixed ones
};
/// The modes of `a` that `coordinate` leaves open and the offset of those it fixes.
Slice slice(const Layout& a, const SliceCoordinate& coordinate);

/// Divides extents; strides and offsets are in units `factor` times as large (elements of more bits).
Layout upcast(const Layout& a, std::int64_t factor);
/// Multiplies extents; strides and offsets are in units `factor` times as small.
Layout downcast(const Layout& a, std::int64_t factor);

}  // namespace wgrun

#pragma GCC visibility pop
