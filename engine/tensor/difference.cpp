#include "wgrun/difference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "number/number.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

/// The matrix of wrong elements. Of larger tensors only the first rows are analysed.
struct Errors {
    static constexpr std::int64_t most_elements = std::int64_t{1} << 24;

    std::int64_t rows = 1, columns = 1, count = 0;
    Tolerance tolerance;
    std::vector<bool> wrong;
    std::vector<double> got, want;

    Errors(const Tensor& of_got, const Tensor& of_want, const Tolerance& allowed) : tolerance(allowed) {
        const TensorShape& shape = of_got.shape();
        columns = shape.empty() ? 1 : std::max<std::int64_t>(shape.back(), 1);
        rows = std::min(of_got.items() / columns, std::max<std::int64_t>(most_elements / columns, 1));
        const auto items = static_cast<std::size_t>(rows * columns);
        got.resize(items);
        want.resize(items);
        wrong.resize(items);
        const auto values_of = [&](const Tensor& tensor, std::vector<double>& values) {
            decode(tensor.dtype(),
                   tensor.bytes().first(static_cast<std::size_t>(bytes_of(tensor.dtype(), rows * columns))),
                   values);
        };
        values_of(of_got, got);
        values_of(of_want, want);
        for (std::size_t i = 0; i < items; ++i) {
            const bool same = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]));
            const double error = std::fabs(got[i] - want[i]);
            wrong[i] = !same && !(error <= tolerance.absolute + tolerance.relative * std::fabs(want[i]));
            count += wrong[i] ? 1 : 0;
        }
    }

    std::size_t at(std::int64_t row, std::int64_t column) const {
        return static_cast<std::size_t>(row * columns + column);
    }
};

/// Describes a set of row or column numbers.
std::string set_in_words(const std::vector<bool>& set, std::string_view one, std::string_view many) {
    const auto size = static_cast<std::int64_t>(set.size());
    std::vector<std::int64_t> members;
    for (std::int64_t i = 0; i < size; ++i)
        if (set[static_cast<std::size_t>(i)]) members.push_back(i);
    if (members.empty()) return fmt::format("no {}", one);
    const std::int64_t first = members.front(), last = members.back();
    const auto count = static_cast<std::int64_t>(members.size());
    if (count == size) return fmt::format("all {}", many);
    if (count == 1) return fmt::format("{} {}", one, first);
    if (last - first + 1 == count)
        return last == size - 1 ? fmt::format("the last {} {}, from {} on", count, many, first)
                                : fmt::format("{} {} to {}", many, first, last);
    for (std::int64_t period = 2; period <= size / 2; ++period) {
        bool repeats = true;
        for (std::int64_t i = period; i < size && repeats; ++i)
            repeats = set[static_cast<std::size_t>(i)] == set[static_cast<std::size_t>(i - period)];
        if (!repeats) continue;
        const auto in_period = std::count(set.begin(), set.begin() + period, true);
        const std::int64_t end = std::find(set.begin() + first, set.end(), false) - set.begin();
        if (end - first != in_period) break;
        if (in_period > 1) return fmt::format("{} {} to {} of each {}", many, first, end - 1, period);
        return period == 2 ? fmt::format("every second {}, from {} on", one, first)
                           : fmt::format("{} {} of each {}", one, first, period);
    }
    if (count <= 6) return fmt::format("{} {}", many, fmt::join(members, ", "));
    return fmt::format("{} of {} {}, {} to {}", count, size, many, first, last);
}

std::string places_in_words(const Errors& errors) {
    std::vector<bool> rows(static_cast<std::size_t>(errors.rows)),
        columns(static_cast<std::size_t>(errors.columns));
    bool below = true, above = true;
    for (std::int64_t r = 0; r < errors.rows; ++r)
        for (std::int64_t c = 0; c < errors.columns; ++c)
            if (errors.wrong[errors.at(r, c)]) {
                rows[static_cast<std::size_t>(r)] = columns[static_cast<std::size_t>(c)] = true;
                below = below && r > c;
                above = above && r < c;
            }
    if (errors.count == errors.rows * errors.columns) return "all elements";
    const std::int64_t of_rows = std::count(rows.begin(), rows.end(), true),
                       of_columns = std::count(columns.begin(), columns.end(), true);
    std::string in_rows = set_in_words(rows, "row", "rows"),
                in_columns = set_in_words(columns, "column", "columns");
    if (errors.count == of_rows * of_columns) {
        if (of_columns == errors.columns) return in_rows;
        if (of_rows == errors.rows) return in_columns;
        return in_rows + ", " + in_columns;
    }
    std::string out =
        fmt::format("{:.0f} % of {} and {}",
                    100 * static_cast<double>(errors.count) / static_cast<double>(of_rows * of_columns),
                    in_rows, in_columns);
    if (errors.rows > 1 && errors.columns > 1 && (below || above))
        out += below ? ", all below the diagonal" : ", all above the diagonal";
    return out;
}

/// A place in `want` that would explain the element at another place.
struct Place {
    std::int64_t row, column;
};

class Causes {
  public:
    explicit Causes(const Errors& errors, Dtype dtype) : e_(errors), chunk_(std::max(128 / bits(dtype), 1)) {}

    /// First causes that explain the wrong elements within what is allowed, then those that leave no more
    /// than noise of them.
    std::vector<std::string> find() {
        if (e_.count < 2) return {};
        choose_sample();
        loose_ = !most_wrong([&](auto r, auto c) {
            const double want = e_.want[e_.at(r, c)];
            return std::fabs(e_.got[e_.at(r, c)] - want) <= 10 * usual_slack(want);
        });
        for (noisy_ = false; out_.empty(); noisy_ = true) {
            values();
            // Only elements whose values differ tell a pattern from chance.
            if (distinct()) permutations();
            if (noisy_) break;
        }
        return std::move(out_);
    }

  private:
    /// Wrong elements, spread evenly, by which most causes are refuted.
    void choose_sample() {
        constexpr std::int64_t most = 4096;
        const std::int64_t stride = (e_.count + most - 1) / most;
        std::int64_t seen = 0;
        for (std::int64_t r = 0; r < e_.rows; ++r)
            for (std::int64_t c = 0; c < e_.columns; ++c)
                if (e_.wrong[e_.at(r, c)] && seen++ % stride == 0) sample_.push_back({r, c});
    }

    /// Whether holds(row, column) of all wrong elements, but for a few of many.
    template <class F>
    bool most_wrong(const F& holds) const {
        constexpr std::size_t one_of = 50;
        std::size_t others = 0;
        for (const Place& place : sample_)
            if (!holds(place.row, place.column) && ++others > sample_.size() / one_of) return false;
        return true;
    }

    /// Whether value(row, column) explains what was got there.
    template <class Value>
    bool explains(const Value& value) const {
        if (!noisy_)
            return most_wrong([&](auto r, auto c) { return near(e_.got[e_.at(r, c)], value(r, c)); });
        constexpr double most = 0.05;  // of the difference that there is, as root mean squares
        double left = 0, all = 0;
        for (const Place& place : sample_) {
            const double got = e_.got[e_.at(place.row, place.column)];
            left += square(got - value(place.row, place.column));
            all += square(got - e_.want[e_.at(place.row, place.column)]);
        }
        return left <= most * most * all;  // false with NaN
    }
    static double square(double x) { return x * x; }
    static double usual_slack(double want) { return 1e-6 + 1e-3 * std::fabs(want); }

    bool near(double got, double want) const {
        const double error = std::fabs(got - want);
        return got == want || (loose_ && error <= usual_slack(want)) ||
               error <= e_.tolerance.absolute + e_.tolerance.relative * std::fabs(want);
    }

    void values() {
        const auto got = [&](std::int64_t r, std::int64_t c) { return e_.got[e_.at(r, c)]; };
        const auto want = [&](std::int64_t r, std::int64_t c) { return e_.want[e_.at(r, c)]; };
        if (most_wrong([&](auto r, auto c) { return got(r, c) == 0; }))
            out_.emplace_back("they are 0: not written, or multiplied by 0");
        else if (most_wrong([&](auto r, auto c) { return std::isnan(got(r, c)); }))
            out_.emplace_back("they are NaN: read before they were written, or computed from infinities");
        else if (explains([&](auto r, auto c) { return -want(r, c); }))
            out_.emplace_back("they have the opposite sign");
        else
            factor();
    }

    /// One factor, or one addend, for all.
    void factor() {
        double products = 0, squares = 0, differences = 0, count = 0;
        for (const Place& place : sample_) {
            const double got = e_.got[e_.at(place.row, place.column)],
                         want = e_.want[e_.at(place.row, place.column)];
            if (!std::isfinite(got) || !std::isfinite(want)) continue;
            products += got * want, squares += want * want, differences += got - want, ++count;
        }
        if (count == 0) return;
        const double ratio = products / squares, difference = differences / count;
        const bool same_ratio =
            squares > 0 && explains([&](auto r, auto c) { return ratio * e_.want[e_.at(r, c)]; });
        const bool same_difference =
            difference != 0 && explains([&](auto r, auto c) { return e_.want[e_.at(r, c)] + difference; });
        const bool whole = std::fabs(ratio - std::round(ratio)) < 1e-3 && ratio != 0;
        if (same_ratio)
            out_.push_back(fmt::format(
                "they are {:.4g} times what they should be{}", ratio,
                whole && ratio > 1 ? ": accumulated more than once, or a scale factor is missing" : ""));
        else if (same_difference)
            out_.push_back(fmt::format("they are {:.4g} too {}: a bias, or an old accumulator",
                                       std::fabs(difference), difference > 0 ? "large" : "small"));
    }

    bool distinct() const {
        std::vector<double> some;
        for (std::size_t i = 0; i < e_.wrong.size() && some.size() < 4; ++i)
            if (e_.wrong[i] && std::find(some.begin(), some.end(), e_.want[i]) == some.end())
                some.push_back(e_.want[i]);
        return some.size() >= 4;
    }

    /// Whether every wrong element is the one of `want` at another place.
    template <class Map>
    bool explained(const Map& map) const {
        return explains([&](std::int64_t r, std::int64_t c) {
            const Place from = map(r, c);
            const bool inside =
                from.row >= 0 && from.row < e_.rows && from.column >= 0 && from.column < e_.columns;
            return inside ? e_.want[e_.at(from.row, from.column)] : std::nan("");
        });
    }

    void permutations() {
        if (e_.rows == e_.columns && explained([](auto r, auto c) { return Place{c, r}; }))
            out_.emplace_back("they are the elements of the transpose: rows and columns are exchanged");
        for (std::int64_t by = 1; by < e_.columns; by *= 2)
            if (explained([&](auto r, auto c) { return Place{r, c ^ by}; }))
                out_.push_back(fmt::format(
                    "neighbouring blocks of {} are swapped{}", count_of(by, "column"),
                    by == chunk_ ? ": two core matrices (16 bytes), as if LBO and SBO were exchanged "
                                   "or another swizzle"
                                 : ""));
        for (std::int64_t by = 1; by < e_.rows; by *= 2)
            if (explained([&](auto r, auto c) { return Place{r ^ by, c}; }))
                out_.push_back(fmt::format("neighbouring blocks of {} are swapped{}", count_of(by, "row"),
                                           by == 8 ? ": two core matrices" : ""));
        swizzles();
        for (std::int64_t by = 1; by <= 64; ++by)
            for (const std::int64_t sign : {1, -1}) {
                if (by < e_.columns && explained([&](auto r, auto c) { return Place{r, c + sign * by}; }))
                    out_.push_back(fmt::format("they are {} too far to the {}", count_of(by, "column"),
                                               sign > 0 ? "left" : "right"));
                if (by < e_.rows && explained([&](auto r, auto c) { return Place{r + sign * by, c}; }))
                    out_.push_back(
                        fmt::format("they are {} too {}", count_of(by, "row"), sign > 0 ? "high" : "low"));
            }
    }

    /// The 16-byte chunks of a line are permuted depending on its row, as by a swizzle (PTX ISA 5.5.6).
    void swizzles() {
        struct Mode {
            std::string_view name;
            int shift, mask;
        };
        for (const Mode& mode : {Mode{"128B", 0, 7}, Mode{"64B", 1, 3}, Mode{"32B", 2, 1}})
            if (explained([&](std::int64_t r, std::int64_t c) {
                    return Place{r, c ^ (((r >> mode.shift) & mode.mask) * chunk_)};
                }))
                out_.push_back(fmt::format(
                    "16-byte chunks are permuted as by swizzle {}, which is applied on one side only",
                    mode.name));
    }

    const Errors& e_;
    std::vector<Place> sample_;
    bool loose_ = true;  ///< what is wrong is so by far more than the usual slack
    bool noisy_ = false;
    std::int64_t chunk_;  ///< elements in 16 bytes
    std::vector<std::string> out_;
};

/// At most 64 by 32 characters; each stands for a block of elements.
std::string picture_of(const Errors& errors) {
    const auto block = [](std::int64_t extent, std::int64_t most) {
        std::int64_t size = 1;
        while ((extent + size - 1) / size > most) size *= 2;
        return size;
    };
    const std::int64_t high = block(errors.rows, 32), wide = block(errors.columns, 64);
    std::string out;
    for (std::int64_t r = 0; r < errors.rows; r += high) {
        out += fmt::format("{:>8} ", r);
        for (std::int64_t c = 0; c < errors.columns; c += wide) {
            std::int64_t wrong = 0, all = 0;
            for (std::int64_t i = r; i < std::min(r + high, errors.rows); ++i)
                for (std::int64_t j = c; j < std::min(c + wide, errors.columns); ++j, ++all)
                    wrong += errors.wrong[errors.at(i, j)] ? 1 : 0;
            out += wrong == 0 ? '.' : wrong == all ? '#' : '+';
        }
        out += '\n';
    }
    if (high > 1 || wide > 1)
        out += fmt::format("         each character: {} and {}\n", count_of(high, "row"),
                           count_of(wide, "column"));
    return out;
}

}  // namespace

Difference difference(const Tensor& got, const Tensor& want, std::optional<Tolerance> tolerance) {
    Difference out;
    out.comparison = compare(got, want, tolerance);
    if (out.comparison.ok) return out;
    const Errors errors(got, want, tolerance.value_or(default_tolerance(want.dtype())));
    if (errors.count == 0) {
        out.places = "beyond the elements that are analysed";
        return out;
    }
    out.places = places_in_words(errors);
    out.causes = Causes(errors, got.dtype()).find();
    out.picture = picture_of(errors);
    return out;
}

std::string to_string(const Difference& difference, const Tensor& got) {
    const Comparison& c = difference.comparison;
    if (c.ok) return fmt::format("{}: equal (largest difference {:.3g})", to_string(got), c.worst);
    std::string out = fmt::format("{}: {} wrong; the worst is at {{{}}}: got {:.6g}, want {:.6g}\n",
                                  to_string(got), part_of(c.mismatches, got.items(), "elements", "is", "are"),
                                  fmt::join(c.index, ", "), c.got, c.want);
    out += fmt::format("  where: {}\n", difference.places);
    for (const std::string& cause : difference.causes) out += fmt::format("  it seems that {}\n", cause);
    return out + difference.picture;
}

}  // namespace wgrun
