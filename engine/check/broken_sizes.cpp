#include "check/broken_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/abstract_execution.hpp"
#include "check/sizes.hpp"

namespace wgrun::check {
namespace {

constexpr std::int64_t most = 80;  ///< beyond a period of the usual rings, and of remainders by 64
constexpr std::size_t most_named = 4;

/// What the other parameters are where one has a value: as kernels take an extent and its number of blocks.
struct Others {
    enum class Kind : std::uint8_t { same, fixed, product, quotient };
    Kind kind;
    std::int64_t factor = 1;
    bool too_long = false;  ///< with some value, and with greater ones too

    std::int64_t with(std::int64_t value) const {
        switch (kind) {
            case Kind::same: return value;
            case Kind::fixed: return factor;
            case Kind::product: return value * factor;
            case Kind::quotient: return (value + factor - 1) / factor;
        }
        return value;
    }
};

/// What breaks with a value of a parameter, whatever the others are.
class OneParameter {
  public:
    OneParameter(const Program& program, const Skeleton& skeleton, int index)
        : program_(program), skeleton_(skeleton), index_(static_cast<std::size_t>(index)) {
        others_.push_back({Others::Kind::same});
        if (skeleton.integers.size() > 1)
            for (const std::int64_t factor : {1, 2, 16, 32, 64, 128, 256})
                for (const auto kind : {Others::Kind::fixed, Others::Kind::product, Others::Kind::quotient})
                    others_.push_back({kind, factor});
    }

    /// Nothing if some value of the others is right.
    std::vector<abstract::Fault> faults_with(std::int64_t value, std::int64_t& steps) {
        std::vector<abstract::Fault> out;
        std::set<std::int64_t> tried;
        for (auto others = others_.begin(); others != others_.end(); ++others) {
            const std::int64_t other = others->with(value);
            if (others->too_long || !tried.insert(other).second) continue;
            LaunchSizes sizes{program_.grid_like(program_.cluster()),
                              std::vector<std::int64_t>(program_.params().size(), other)};
            sizes.params[index_] = value;
            raise_to_least(program_, sizes.params);
            AbstractExecution run(program_, skeleton_, sizes);
            run.run();
            steps += run.operations();
            const std::vector<abstract::Fault> faults = run.first_faults();
            others->too_long = run.gave_up();
            if (run.gave_up()) continue;
            if (faults.empty()) {
                // It will be right again.
                std::rotate(others_.begin(), others, std::next(others));
                return {};
            }
            if (!out.empty()) continue;
            out = faults;
            for (abstract::Fault& fault : out)
                fault.finding.launch = launch_of(program_, sizes, skeleton_.integers);
        }
        return out;
    }

  private:
    const Program& program_;
    const Skeleton& skeleton_;
    const std::size_t index_;
    std::vector<Others> others_;
};

/// "n = 13, 29, 45, ...", "n >= 9"
std::string condition(const std::string& name, const std::vector<std::int64_t>& values, std::int64_t last) {
    if (values.back() == last &&
        values.back() - values.front() + 1 == static_cast<std::int64_t>(values.size()))
        return fmt::format("{} >= {}", name, values.front());
    std::string out = name + " =";
    for (std::size_t i = 0; i < std::min(values.size(), most_named); ++i)
        out += fmt::format("{} {}", i == 0 ? "" : ",", values[i]);
    return values.size() > most_named ? out + ", ..." : out;
}

/// Whether the kernel may not be meant for these values: the first ones, or all but the multiples of a
/// number.
bool is_precondition(const std::vector<std::int64_t>& values, std::int64_t first, std::int64_t last) {
    std::int64_t least = first;  // that is right
    while (std::ranges::binary_search(values, least)) ++least;
    if (values.back() < least) return true;
    for (std::int64_t value = first; value <= last; ++value)
        if ((value % least == 0) == std::ranges::binary_search(values, value)) return false;
    return true;
}

}  // namespace

std::vector<Diagnostic> broken_sizes(const Program& program, const Skeleton& skeleton, const Budget& budget) {
    std::vector<Diagnostic> out;
    for (const int index : skeleton.integers) {
        std::map<std::pair<std::string, int>, std::vector<std::int64_t>> broken;  // by rule and line
        std::map<std::pair<std::string, int>, Diagnostic> findings;
        OneParameter parameter(program, skeleton, index);
        const std::int64_t first = program.params()[static_cast<std::size_t>(index)].taken_least();
        std::int64_t last = first - 1;
        const std::int64_t most_of_one = budget.plain_operations() / std::ssize(skeleton.integers);
        for (std::int64_t steps = 0; last < first - 1 + most && steps < most_of_one;) {
            budget.poll();
            if (budget.is_over()) break;
            ++last;
            for (abstract::Fault& fault : parameter.faults_with(last, steps)) {
                const std::pair key(fault.finding.rule, fault.finding.where.line);
                std::vector<std::int64_t>& values = broken[key];
                if (values.empty() || values.back() != last) values.push_back(last);
                findings.try_emplace(key, std::move(fault.finding));
            }
        }
        for (auto& [key, finding] : findings) {
            const std::vector<std::int64_t>& values = broken.at(key);
            if (std::cmp_equal(values.size(), last - first + 1))
                continue;  // another part of the check says so
            if (is_precondition(values, first, last)) finding.severity = Severity::warning;
            finding.notes.push_back(
                {program.where(),
                 fmt::format(
                     "in launches with {}",
                     condition(program.params()[static_cast<std::size_t>(index)].name, values, last))});
            out.push_back(std::move(finding));
        }
        if (!out.empty()) break;
    }
    return out;
}

}  // namespace wgrun::check
