#include <fmt/format.h>

#include <algorithm>

#include "layout/checked.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/layout.hpp"

namespace wgrun {
namespace {

void collect(const IntTuple& tuple, std::vector<std::int64_t>& out) {
    if (tuple.is_leaf()) out.push_back(tuple.value());
    for (const IntTuple& mode : tuple.modes()) collect(mode, out);
}

void write(const IntTuple& tuple, std::string& out) {
    if (tuple.is_leaf()) {
        out += std::to_string(tuple.value());
        return;
    }
    out += '(';
    bool first = true;
    for (const IntTuple& mode : tuple.modes()) {
        if (!first) out += ',';
        first = false;
        write(mode, out);
    }
    out += ')';
}

}  // namespace

std::int64_t IntTuple::value() const {
    if (!is_leaf_)
        throw ArgumentError(fmt::format("{} is a tuple where one integer is expected", to_string()));
    return value_;
}

int IntTuple::depth() const {
    int deepest = -1;
    for (const IntTuple& mode : modes_) deepest = std::max(deepest, mode.depth());
    return is_leaf_ ? 0 : std::max(deepest, 0) + 1;
}

const IntTuple& IntTuple::operator[](int i) const {
    if (i < 0 || i >= rank())
        throw ArgumentError(fmt::format("mode {} of {}: it has {}", i, to_string(), count_of(rank(), "mode")),
                            "modes count from 0");
    return is_leaf_ ? *this : modes_[static_cast<std::size_t>(i)];
}

int IntTuple::leaf_count() const {
    int count = is_leaf_ ? 1 : 0;
    for (const IntTuple& mode : modes_) count += mode.leaf_count();
    return count;
}

std::vector<std::int64_t> IntTuple::leaves() const {
    std::vector<std::int64_t> out;
    collect(*this, out);
    return out;
}

std::int64_t IntTuple::product() const {
    std::int64_t product = is_leaf_ ? value_ : 1;
    for (const IntTuple& mode : modes_) product = checked_mul(product, mode.product());
    return product;
}

bool IntTuple::congruent(const IntTuple& other) const {
    return is_leaf_ == other.is_leaf_ &&
           std::ranges::equal(modes_, other.modes_,
                              [](const IntTuple& a, const IntTuple& b) { return a.congruent(b); });
}

std::string IntTuple::to_string() const {
    std::string out;
    write(*this, out);
    return out;
}

}  // namespace wgrun
