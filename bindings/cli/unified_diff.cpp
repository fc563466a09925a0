#include "bindings/cli/unified_diff.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bindings/cli/program_text.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {
namespace {

/// A line of a diff: ' ' in both texts, '-' in the old one, '+' in the new one.
struct DiffLine {
    char mark;
    std::string_view text;
};

/// Returns a shortest edit script (Myers, "An O(ND) Difference Algorithm and Its Variations", 1986): time and
/// memory grow with the number of differences, so that a few changes in a long text cost little.
std::vector<DiffLine> compared(const std::vector<std::string_view>& old,
                               const std::vector<std::string_view>& now) {
    const auto rows = std::ssize(old), columns = std::ssize(now);
    // reached[d][k + d]: how many old lines are behind after d edits, where k more of them than of the new
    // ones are.
    std::vector<std::vector<std::ptrdiff_t>> reached;
    const auto end_of = [&](std::ptrdiff_t d, std::ptrdiff_t k) {
        return reached[static_cast<std::size_t>(d)][static_cast<std::size_t>(k + d)];
    };
    // From diagonal k the previous edit is an insertion if it comes from diagonal k + 1.
    const auto inserts = [&](std::ptrdiff_t d, std::ptrdiff_t k) {
        return k == -d || (k != d && end_of(d - 1, k - 1) < end_of(d - 1, k + 1));
    };
    for (bool done = false; !done;) {
        const auto d = std::ssize(reached);
        std::vector<std::ptrdiff_t> ends(static_cast<std::size_t>(2 * d + 1), -1);
        for (std::ptrdiff_t k = -d; k <= d && !done; k += 2) {
            std::ptrdiff_t x = 0;
            if (d > 0) x = inserts(d, k) ? end_of(d - 1, k + 1) : end_of(d - 1, k - 1) + 1;
            while (x < rows && x - k >= 0 && x - k < columns &&
                   old[static_cast<std::size_t>(x)] == now[static_cast<std::size_t>(x - k)])
                ++x;
            ends[static_cast<std::size_t>(k + d)] = x;
            done = x >= rows && x - k >= columns;
        }
        reached.push_back(std::move(ends));
    }
    std::vector<DiffLine> out;
    std::ptrdiff_t x = rows, y = columns;
    for (auto d = std::ssize(reached) - 1; x > 0 || y > 0; --d) {
        const std::ptrdiff_t k = x - y;
        const bool insertion = d > 0 && inserts(d, k);
        const std::ptrdiff_t from = d == 0 ? 0 : insertion ? end_of(d - 1, k + 1) : end_of(d - 1, k - 1) + 1;
        while (x > from) --x, --y, out.push_back({' ', old[static_cast<std::size_t>(x)]});
        if (d == 0) break;
        if (insertion)
            out.push_back({'+', now[static_cast<std::size_t>(--y)]});
        else
            out.push_back({'-', old[static_cast<std::size_t>(--x)]});
    }
    std::ranges::reverse(out);
    return out;
}

}  // namespace

std::string unified_diff(const std::string& file, const std::string& before, const std::string& after) {
    constexpr std::size_t context = 3;
    const std::vector<DiffLine> lines = compared(lines_of(before), lines_of(after));
    const auto differs = [](const DiffLine& line) { return line.mark != ' '; };
    std::string text = fmt::format("--- {0}\n+++ {0}\n", printable(file));
    std::size_t end = 0, old = 1, now = 1;  // behind the last hunk, and its lines' numbers
    for (std::size_t first = 0; first < lines.size(); ++first) {
        if (!differs(lines[first])) continue;
        const std::size_t from = std::max(end, first < context ? 0 : first - context);
        std::size_t last = first;
        for (std::size_t k = first; k < lines.size() && k <= last + 2 * context; ++k)
            if (differs(lines[k])) last = k;
        old += from - end, now += from - end;
        end = std::min(last + 1 + context, lines.size());
        std::size_t of_old = 0, of_now = 0;
        std::string body;
        for (std::size_t k = from; k < end; ++k) {
            of_old += lines[k].mark != '+';
            of_now += lines[k].mark != '-';
            body += fmt::format("{}{}\n", lines[k].mark, lines[k].text);
        }
        text += fmt::format("@@ -{},{} +{},{} @@\n{}", old, of_old, now, of_now, body);
        old += of_old, now += of_now;
        first = end - 1;
    }
    return text;
}

}  // namespace wgrun::cli
