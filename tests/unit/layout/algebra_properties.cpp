// The defining properties of the algebra on random layouts: what is accepted is right.
#include <algorithm>
#include <random>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/layout.hpp"

using namespace wgrun;

namespace {

class Random {
  public:
    std::int64_t pick(std::initializer_list<std::int64_t> of) { return of.begin()[next() % of.size()]; }
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
    }

    IntTuple shape(int depth) {
        if (depth == 0 || below(3) == 0) return pick({1, 2, 2, 3, 4, 4, 5, 6, 8});
        std::vector<IntTuple> modes;
        for (std::int64_t i = 1 + below(3); i > 0; --i) modes.push_back(shape(depth - 1));
        return modes;
    }
    /// Strides of the same nesting: anything small.
    IntTuple stride(const IntTuple& shape) {
        if (shape.is_leaf()) return pick({0, 1, 1, 2, 3, 4, 6, 8, 12, 16, 32});
        std::vector<IntTuple> modes;
        for (const IntTuple& mode : shape.modes()) modes.push_back(stride(mode));
        return modes;
    }
    Layout any() {
        const IntTuple s = shape(2);
        return {s, stride(s)};
    }
    /// A permutation of a compact layout: injective, onto.
    Layout compact() {
        const IntTuple s = shape(2);
        std::vector<std::int64_t> order(static_cast<std::size_t>(s.leaf_count()));
        std::int64_t i = 0;
        for (std::int64_t& o : order) o = i++;
        std::shuffle(order.begin(), order.end(), engine_);
        std::span<const std::int64_t> rest = order;
        return ordered_layout(s, like(s, rest));
    }

  private:
    std::uint64_t next() { return engine_(); }
    static IntTuple like(const IntTuple& shape, std::span<const std::int64_t>& leaves) {
        if (shape.is_leaf()) {
            const std::int64_t leaf = leaves.front();
            leaves = leaves.subspan(1);
            return leaf;
        }
        std::vector<IntTuple> modes;
        for (const IntTuple& mode : shape.modes()) modes.push_back(like(mode, leaves));
        return modes;
    }
    std::mt19937_64 engine_{20240229};
};

std::vector<std::int64_t> image(const Layout& a) {
    std::vector<std::int64_t> offsets = a.offsets();
    std::ranges::sort(offsets);
    return offsets;
}

bool injective(const Layout& a) {
    const std::vector<std::int64_t> offsets = image(a);
    return std::ranges::adjacent_find(offsets) == offsets.end();
}

/// What `make` gives, or nothing where it refuses.
template <typename Make>
std::optional<Layout> accepted(Make make) {
    try {
        return make();
    } catch (const ArgumentError&) {
        return std::nullopt;
    }
}

}  // namespace

TEST_CASE("coalesce keeps the function and cannot be shortened") {
    Random random;
    for (int i = 0; i < 3000; ++i) {
        const Layout a = random.any();
        const Layout c = coalesce(a);
        INFO(a.to_string() << " -> " << c.to_string());
        REQUIRE(c.offsets() == a.offsets());
        REQUIRE(c.depth() <= 1);
        REQUIRE(coalesce(c) == c);
        REQUIRE(flatten(a).offsets() == a.offsets());
        REQUIRE(Layout::parse(a.to_string()) == a);
    }
}

TEST_CASE("composition is composition wherever it is accepted") {
    Random random;
    int composed = 0;
    for (int i = 0; i < 10000; ++i) {
        const Layout a = random.below(2) == 0 ? random.any() : random.compact();
        const Layout b = random.any();
        const auto r = accepted([&] { return composition(a, b); });
        if (!r) continue;
        INFO(a.to_string() << " o " << b.to_string() << " = " << r->to_string());
        ++composed;
        REQUIRE(r->rank() >= 1);
        const std::vector<std::int64_t> inner = b.offsets();
        const std::vector<std::int64_t> got = r->offsets();
        REQUIRE(got.size() == inner.size());
        for (std::size_t j = 0; j < got.size(); ++j)
            if (inner[j] < a.size() && got[j] != a(inner[j])) FAIL("index " << j);
    }
    CHECK(composed > 2500);
}

TEST_CASE("composition accepts every single mode for which a layout exists") {
    // If the offsets A(B(i)) of a mode of B are an arithmetic progression, one mode is the answer.
    Random random;
    int linear = 0;
    for (int i = 0; i < 10000; ++i) {
        const Layout a = random.compact();
        const Layout b(random.pick({2, 3, 4, 6, 8}), random.pick({1, 2, 3, 4, 6, 8, 12}));
        if (b.cosize() > a.size()) continue;
        bool progression = true;
        const std::int64_t step = a(b(1)) - a(b(0));
        for (std::int64_t j = 0; j < b.size(); ++j) progression = progression && a(b(j)) == j * step;
        if (!progression) continue;
        ++linear;
        const auto r = accepted([&] { return composition(a, b); });
        // CuTe's divisibility conditions leave out progressions that come about by accident, across several
        // modes.
        if (!r) continue;
        REQUIRE(same_function(*r, Layout(b.size(), step)));
    }
    CHECK(linear > 500);
}

TEST_CASE("a complement is ordered, disjoint, and fills up to the target") {
    Random random;
    int made = 0;
    for (int i = 0; i < 3000; ++i) {
        const Layout a = random.below(2) == 0 ? random.any() : random.compact();
        const std::int64_t target = random.pick({1, 8, 24, 96, 256});
        const auto c = accepted([&] { return complement(a, target); });
        if (!c) continue;
        INFO("complement " << a.to_string() << " to " << target << " = " << c->to_string());
        ++made;
        REQUIRE(c->offsets() == image(*c));
        // Sums of an offset of each are all different.
        const Layout f = filter(a);
        REQUIRE(injective(Layout(IntTuple{f.shape(), c->shape()}, IntTuple{f.stride(), c->stride()})));
        REQUIRE(f.size() * c->size() * (f.cosize() / f.size() + 1) >= target);
    }
    CHECK(made > 1200);
}

TEST_CASE("right inverses invert on the right, left inverses on the left") {
    Random random;
    int left = 0;
    for (int i = 0; i < 3000; ++i) {
        const Layout a = random.below(2) == 0 ? random.any() : random.compact();
        INFO(a.to_string());
        const Layout r = right_inverse(a);
        for (std::int64_t j = 0; j < r.size(); ++j)
            if (a(r(j)) != j) FAIL("index " << j);
        const auto l = accepted([&] { return left_inverse(a); });
        if (!l) continue;
        ++left;
        INFO("left inverse " << l->to_string());
        const bool one_to_one = injective(a);
        for (std::int64_t j = 0; j < a.size(); ++j) {
            const std::int64_t back = (*l)(a(j));
            if (a(back) != a(j) || (one_to_one && back != j)) FAIL("index " << j);
        }
    }
    CHECK(left > 1200);
    for (int i = 0; i < 1000; ++i) {
        const Layout a = random.compact();
        REQUIRE(right_inverse(a).size() == a.size());
        REQUIRE(same_function(right_inverse(a), left_inverse(a)));
    }
}

TEST_CASE("divides keep all offsets; products repeat the block and stay injective") {
    Random random;
    int divided = 0;
    int multiplied = 0;
    for (int i = 0; i < 3000; ++i) {
        const Layout a = random.compact();
        const Layout b = random.any();
        const auto d = accepted([&] { return logical_divide(a, b); });
        // Where the tile and its repetitions cover the domain exactly.
        if (d && b.cosize() <= a.size() && logical_divide(Layout(a.size()), b).cosize() == a.size() &&
            d->size() == a.size()) {
            INFO(a.to_string() << " / " << b.to_string() << " = " << d->to_string());
            ++divided;
            REQUIRE(image(*d) == image(a));
            REQUIRE(same_function(d->mode(0), composition(a, b)));
            REQUIRE(same_function(flat_divide(a, b), *d));
            REQUIRE(same_function(tiled_divide(a, b), *d));
        }
        const auto p = accepted([&] { return logical_product(a, b); });
        if (p && p->size() < 1 << 11) {
            INFO(a.to_string() << " * " << b.to_string() << " = " << p->to_string());
            ++multiplied;
            REQUIRE(p->mode(0) == a);
            REQUIRE(p->size() == a.size() * b.size());
            if (injective(b)) REQUIRE(injective(*p));
            REQUIRE(image(blocked_product(a, b)) == image(*p));
            REQUIRE(image(raked_product(a, b)) == image(*p));
        }
    }
    CHECK(divided > 200);
    CHECK(multiplied > 500);
}

TEST_CASE("upcast and downcast count the same places in other units") {
    Random random;
    for (int i = 0; i < 2000; ++i) {
        const Layout a = random.compact();
        if (a.size() == 1) continue;  // no stride of 1 to lengthen
        const std::int64_t factor = random.pick({1, 2, 4});
        const Layout d = downcast(a, factor);
        REQUIRE(d.size() == a.size() * factor);
        REQUIRE(upcast(d, factor).offsets() == a.offsets());
    }
}
