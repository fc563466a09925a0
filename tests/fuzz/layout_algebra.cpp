#include <optional>

#include "tests/fuzz/bodies.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/layout.hpp"

namespace wgrun::fuzz {
namespace {

/// Layouts from bytes: small numbers mostly, and some at the edge of 64 bits. Zeros when the bytes end.
class Source {
  public:
    explicit Source(Bytes bytes) : bytes_(bytes) {}

    Layout layout() {
        const IntTuple shape = this->shape(2);
        if (next() % 4 == 0) return Layout(shape);
        return {shape, stride(shape)};
    }
    std::int64_t below(std::int64_t n) {
        const std::uint64_t high = next();
        return static_cast<std::int64_t>(
            (high << 24 | std::uint64_t{next()} << 16 | std::uint64_t{next()} << 8 | next()) %
            static_cast<std::uint64_t>(n));
    }

  private:
    std::uint8_t next() {
        if (bytes_.empty()) return 0;
        const std::uint8_t byte = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return byte;
    }
    std::int64_t number(std::int64_t least) {
        const std::uint8_t byte = next();
        if (byte < 192) return least + byte % 13;
        if (byte < 224) return std::int64_t{1} << byte % 32;
        if (byte < 248) return std::int64_t{3} << byte % 24;
        return std::int64_t{1} << (55 + byte % 8);
    }
    IntTuple shape(int depth) {
        if (depth == 0 || next() % 3 == 0) return number(1);
        std::vector<IntTuple> modes;
        for (int left = next() % 4; left > 0; --left) modes.push_back(shape(depth - 1));
        return modes;
    }
    IntTuple stride(const IntTuple& shape) {
        if (shape.is_leaf()) return next() % 16 == 0 ? -number(0) : number(0);
        std::vector<IntTuple> modes;
        for (const IntTuple& mode : shape.modes()) modes.push_back(stride(mode));
        return modes;
    }

    Bytes bytes_;
};

/// What `make` gives, or nothing where it refuses.
template <class Make>
std::optional<Layout> accepted(Make make) {
    try {
        return make();
    } catch (const ArgumentError&) {
        return std::nullopt;
    }
}

void expect(bool holds, const std::string& law, const Layout& a, const Layout& b) {
    if (!holds) throw Broken(law + ": " + a.to_string() + " and " + b.to_string());
}

/// Indices of a domain of `size`: all of a small one, otherwise the ends and some between.
std::vector<std::int64_t> samples(std::int64_t size, Source& source) {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(size, 64); ++i) out.push_back(i);
    for (int i = 0; i < 16 && size > 64; ++i) out.push_back(source.below(size));
    out.push_back(size - 1);
    return out;
}

void check_equal(const std::string& law, const Layout& x, const Layout& y, Source& source) {
    expect(x.size() == y.size(), law + " (size)", x, y);
    for (const std::int64_t i : samples(x.size(), source)) expect(x(i) == y(i), law, x, y);
}

void check_composition(const Layout& a, const Layout& b, Source& source) {
    const auto r = accepted([&] { return composition(a, b); });
    if (!r) return;
    expect(r->size() == b.size(), "size of a composition", a, b);
    for (const std::int64_t i : samples(b.size(), source)) {
        const std::int64_t inner = b(i);
        if (inner < 0 || inner >= a.size()) continue;  // beyond the domain the last mode goes on
        expect((*r)(i) == a(inner), "composition at " + std::to_string(i), a, b);
    }
}

void check_product_and_divide(const Layout& a, const Layout& b, Source& source) {
    const auto product = accepted([&] { return logical_product(a, b); });
    if (!product) return;
    check_equal("the block of a product", product->mode(0), a, source);
    const auto parts = accepted([&] { return logical_divide(*product, Layout(a.size())); });
    if (!parts) return;
    check_equal("the tile of a product divided by its block", parts->mode(0), a, source);
    check_equal("the rest of a product divided by its block", parts->mode(1), product->mode(1), source);
    check_equal("zipped and logical divide", zipped_divide(*product, Layout(a.size())), *parts, source);
}

void check_inverses(const Layout& a, Source& source) {
    const auto right = accepted([&] { return right_inverse(a); });
    if (!right) return;
    for (const std::int64_t i : samples(right->size(), source))
        expect(a((*right)(i)) == i, "right inverse at " + std::to_string(i), a, *right);
    if (right->size() != a.size()) return;
    check_equal("inverse of the inverse", right_inverse(*right), a, source);
    const auto left = accepted([&] { return left_inverse(a); });
    if (left) check_equal("left and right inverse", *left, *right, source);
}

}  // namespace

void layout_algebra(Bytes bytes) {
    Source source(bytes);
    try {
        const Layout a = source.layout();
        const Layout b = source.layout();
        check_equal("coalesce", coalesce(a), a, source);
        check_equal("flatten", flatten(a), a, source);
        check_composition(a, b, source);
        check_product_and_divide(a, b, source);
        check_inverses(a, source);
        accepted([&] { return complement(a, b.size()); });
        accepted([&] { return blocked_product(a, b); });
        accepted([&] { return raked_product(a, b); });
    } catch (const ArgumentError&) {
        // Sizes or offsets beyond 64 bits.
    }
}

}  // namespace wgrun::fuzz
