#include "check/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>

#include "check/broken_sizes.hpp"
#include "check/exploration.hpp"

namespace wgrun::check {
namespace {

using abstract::Root;
using abstract::Stop;
using abstract::Symbols;

constexpr std::size_t most_executions = 1500;
constexpr std::uint64_t most_clusters = 64;  ///< of a grid that is given

class Prover {
  public:
    /// taken: operations of the budget that are spent. at: a cluster of the grid that `sizes` has; nothing:
    /// every cluster of every grid.
    Prover(const Program& program, const Skeleton& skeleton, const Budget& budget, Gaps* gaps,
           std::int64_t taken = 0, std::optional<Symbols::Place> at = {})
        : program_(program),
          skeleton_(skeleton),
          live_(skeleton),
          budget_(budget),
          gaps_(gaps),
          taken_(taken),
          operations_(taken) {
        symbols_.place = at;
    }

    Proof prove() {
        std::optional<Proof> failed;
        for (int restart = 0; restart < most_restarts; ++restart) try {
                for (Root& root : symbols_.roots) root.value = root.least;
                cover({});
                out_.proved = true;
                out_.numbers = numbers();
                return out_;
            } catch (const Again&) {
                continue;
            } catch (const PlaceDecides&) {
                symbols_.begin_anew(true, symbols_.residues);
                out_ = {};
                operations_ = taken_;
            } catch (const Failed&) {
                if (failed) return *failed;
                if (!symbols_.takes_residues()) return out_;
                failed = std::exchange(out_, {});
                symbols_.begin_anew(symbols_.places, true);
            }
        if (failed) return *failed;
        out_.stopped = Stop{program_.where(), "the loops have no common period"};
        return out_;
    }

  private:
    static constexpr int most_restarts = 12;
    /// A root has got another step: what was shown with the one before does not count.
    struct Again {};
    /// Places in the grid are to be numbers as others are.
    struct PlaceDecides {};
    /// There is no proof.
    struct Failed {};

    /// Of the abstract executions of all values of some roots.
    struct Shown {
        std::map<int, std::int64_t> room;  ///< of the other roots
        std::map<int, bool> repeated;      ///< whether each showed any number of periods more
    };

    [[noreturn]] void fail(Where where, std::string reason, std::string assumption = {}) {
        out_.stopped = Stop{where, std::move(reason)};
        out_.launches.push_back(sizes());
        out_.assumption = std::move(assumption);
        throw Failed{};
    }
    /// Why the values of a root do not come to an end.
    [[noreturn]] void fail(const Root& of, const Stop& stop) {
        fail(stop.where, stop.reason,
             of.given ? fmt::format("--assume {}=VALUE decides it for one value", of.name) : std::string());
    }

    Root& root(int index) { return symbols_.roots[static_cast<std::size_t>(index)]; }

    [[noreturn]] void out_of_time() {
        // Why the last root went on and on.
        for (int index = static_cast<int>(symbols_.roots.size()) - 1; index >= 0; --index)
            if (const auto stop = stops_.find(index);
                stop != stops_.end() && root(index).value > root(index).least)
                fail(root(index), stop->second);
        fail(program_.where(),
             fmt::format("the budget is spent, after abstract executions with {} sizes ({})", out_.executions,
                         values()),
             Budget::more);
    }

    /// Shows that the kernel is right whatever the roots are that are not fixed.
    Shown cover(std::vector<int> fixed) {
        const std::int64_t left = budget_.operations() - operations_;
        if (++out_.executions > most_executions || left < 0 || budget_.is_over()) out_of_time();
        const std::vector<Root> before = symbols_.roots;
        const std::size_t gaps = gaps_ != nullptr ? gaps_->size() : 0;
        AbstractExecution run(program_, skeleton_, live_, symbols_, gaps_);
        run.limit(left + budget_.operations() / 2, budget_);  // the last one may take more
        run.run();
        if (gaps_ != nullptr && gaps_->size() > gaps) out_.launches.push_back(sizes());
        operations_ += run.operations();
        out_.boxes.add(run.boxes());
        if (const auto& where = out_.boxes.contradiction()) fail(*where, std::string(BoxSizes::contradicted));
        if (run.forms().restart()) throw Again{};
        if (run.again()) {
            // A first step takes back nothing: what was shown before was shown without.
            for (std::size_t i = 0; i < before.size(); ++i)
                if (before[i].step != 0 && before[i].step != symbols_.roots[i].step) throw Again{};
            return cover(std::move(fixed));
        }
        if (const Stop* wait = run.overtaken())
            out_.contained.add({Property::deadlock, Property::phases}, wait->where, wait->reason);
        for (const abstract::Fault& fault : run.faults()) {
            if (!is_contained(fault.finding)) fail(fault.finding.where, in_some_state(fault.finding.message));
            out_.contained.add(find_rule(fault.finding.rule)->property, fault.finding.where,
                               in_some_state(fault.finding.message));
        }
        if (run.stopped() != nullptr) fail(run.stopped()->where, run.stopped()->reason);
        if (run.gave_up() && operations_ > budget_.operations()) out_of_time();
        if (run.gave_up()) fail(program_.where(), "the loops are too long to follow");
        if (!run.complete()) fail(program_.where(), "a warp is not followed to its end");
        if (!run.forms().for_every_cta()) throw PlaceDecides{};
        const std::vector<int>& met = run.forms().met();
        const auto open = std::ranges::find_if(met, [&](int index) {
            return std::ranges::find(fixed, index) == fixed.end() && root(index).least < root(index).most;
        });
        if (open != met.end()) return cover_all(*open, std::move(fixed));
        Shown shown;
        for (const int index : fixed) {
            shown.room[index] = run.forms().room(index);
            shown.repeated[index] = run.repeated().contains(index) && run.forms().stopped(index) == nullptr;
            if (const Stop* stop = run.forms().stopped(index)) stops_[index] = *stop;
        }
        return shown;
    }

    Shown cover_all(int index, std::vector<int> fixed) {
        constexpr std::int64_t most_values = 600;
        fixed.push_back(index);
        Shown out;
        std::optional<std::int64_t> streak;  // from which value on each showed any number of periods more
        for (std::int64_t value = root(index).least, tried = 0;; ++tried) {
            root(index).value = value;
            const Shown shown = cover(fixed);
            for (const auto& [other, room] : shown.room) {
                if (other == index) continue;
                const auto [at, added] = out.room.try_emplace(other, room);
                at->second = std::min(at->second, room);
                const auto [flag, first] = out.repeated.try_emplace(other, true);
                flag->second = flag->second && shown.repeated.at(other);
            }
            const std::int64_t room = shown.room.at(index);
            if (room >= root(index).most - std::max(value, std::int64_t{0})) break;
            if (!shown.repeated.at(index))
                streak.reset();
            else if (!streak)
                streak = value;
            value += room + 1;
            if (streak && value - *streak >= root(index).step) break;
            if (tried == most_values) {
                const auto stop = stops_.find(index);
                fail(root(index),
                     stop != stops_.end()
                         ? stop->second
                         : Stop{root(index).where,
                                fmt::format("{} decides, and takes too many values", root(index).name)});
            }
        }
        root(index).value = root(index).least;
        return out;
    }

    /// What the parameters are in this abstract execution.
    std::vector<std::int64_t> sizes() const {
        std::vector<std::int64_t> out;
        for (const Param& param : program_.params()) {
            const auto its = std::ranges::find_if(symbols_.roots, [&](const Root& root) {
                return root.given && root.kind == Root::Kind::number && root.name == param.name;
            });
            out.push_back(its == symbols_.roots.end() ? 1 : its->value);
        }
        return out;
    }

    /// "n = 13, what line 7 computes = 2": as far as it came.
    std::string values() const {
        std::string out;
        for (const Root& root : symbols_.roots)
            if (root.kind == Root::Kind::number)
                out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", root.name, root.value);
        return out;
    }

    std::vector<std::string> numbers() const {
        std::vector<std::string> out;
        for (const Root& root : symbols_.roots)
            if (root.is_parameter()) out.push_back(root.name);
        return out;
    }

    const Program& program_;
    const Skeleton& skeleton_;
    const abstract::Live live_;
    const Budget& budget_;
    Gaps* gaps_;
    Symbols symbols_;
    std::map<int, Stop> stops_;
    Proof out_;
    const std::int64_t taken_;
    std::int64_t operations_;
};

/// Each cluster of the grid by itself. What one of them does to global memory is none of the protocol.
Proof prove_clusters(const Program& program, const Skeleton& skeleton, const Budget& budget, Gaps* gaps,
                     Dim3 grid) {
    const Dim3 size = program.cluster();
    Proof out;
    for (std::uint32_t z = 0; z < grid.z / size.z; ++z)
        for (std::uint32_t y = 0; y < grid.y / size.y; ++y)
            for (std::uint32_t x = 0; x < grid.x / size.x; ++x) {
                BoxSizes before = std::move(out.boxes);
                out = Prover(program, skeleton, budget, gaps, 0, Symbols::Place{grid, {x, y, z}}).prove();
                if (!out.proved) return out;
                before.add(out.boxes);
                out.boxes = std::move(before);
                if (const auto& where = out.boxes.contradiction()) {
                    out.proved = false;
                    out.stopped = Stop{*where, std::string(BoxSizes::contradicted)};
                    return out;
                }
            }
    out.of_grid = true;
    return out;
}

/// gaps: of the values that have been followed last. taken: operations of the budget that are spent.
Proof by_values(const Program& program, const Skeleton& skeleton, const Budget& budget, Gaps* gaps,
                std::optional<Dim3> grid, std::int64_t taken = 0) {
    Gaps of_all, of_one;
    const auto with = [&](Gaps& its) { return gaps == nullptr ? nullptr : &its; };
    const auto take = [&](Gaps& its) {
        if (gaps != nullptr) *gaps = std::move(its);
    };
    Proof out = Prover(program, skeleton, budget, with(of_all), taken).prove();
    take(of_all);
    if (out.proved || !grid || grid->volume() / program.cluster().volume() > most_clusters) return out;
    Proof one = prove_clusters(program, skeleton, budget, with(of_one), *grid);
    if (!one.proved) return out;
    take(of_one);
    return one;
}

constexpr std::initializer_list<Property> of_order{Property::shared_races, Property::proxies,
                                                   Property::initialisation};

/// Of accesses to shared memory, where they go: what remains provable where the values of numbers do not come
/// to an end, as `failed` says.
Proof prove_places(const Program& program, const Skeleton& skeleton, const Budget& budget, Proof failed,
                   Gaps& gaps) {
    gaps = {};
    gaps.add(of_order, failed.stopped->where, failed.stopped->reason, failed.assumption);
    Proof out = explore(program, skeleton, abstract::Live(skeleton), budget, &gaps);
    if (!out.proved) return failed;
    out.launches = std::move(failed.launches);
    return out;
}

}  // namespace

Proof prove(const Program& program, const Skeleton& skeleton, const Budget& budget,
            std::optional<Dim3> grid) {
    Proof out = explore(program, skeleton, abstract::Live(skeleton), budget);
    if (!out.proved) {
        Proof values = by_values(program, skeleton, budget, nullptr, grid);
        // What a kernel draws or shows has no values there.
        std::optional<abstract::Stop> reason = std::move(out.stopped);
        out = std::move(values);
        if (!out.proved && (skeleton.draws_numbers || skeleton.shows_numbers))
            out.stopped = std::move(reason);
    }
    if (!out.proved || !out.contained.empty()) out.findings = broken_sizes(program, skeleton, budget);
    return out;
}

Proof prove_accesses(const Program& program, const Skeleton& skeleton, const Budget& budget, Gaps& gaps,
                     std::optional<Dim3> grid) {
    Proof all = explore(program, skeleton, abstract::Live(skeleton), budget, &gaps);
    // A state that stands for others may show what none of the kernel's own does.
    if (all.proved && gaps.empty()) return all;
    Gaps of_values;
    Proof out = by_values(program, skeleton, budget, &of_values, grid, all.operations);
    if (!out.proved && all.proved) {
        all.launches = std::move(out.launches);
        return all;
    }
    gaps = std::move(of_values);
    return out.proved ? out : prove_places(program, skeleton, budget, std::move(out), gaps);
}

}  // namespace wgrun::check
