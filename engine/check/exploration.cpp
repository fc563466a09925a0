#include "check/exploration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>

#include "check/counted.hpp"
#include "check/turning.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace wgrun::check {
namespace {

using abstract::Cut;
using abstract::Root;
using abstract::Stop;
using abstract::Symbols;
using abstract::unlimited;
using abstract::Widening;
using abstract::Widenings;
using abstract::Window;

constexpr std::size_t most_cuts = 6000;
constexpr std::size_t most_growth = 100;  ///< cuts that need more numbers than all before
constexpr std::size_t much = 1 << 19;     ///< numbers, after which memory is given back
constexpr int most_restarts = 24;
constexpr int most_values = 600;  ///< of a root, from one cut

/// What has been shown counts no longer: a root may be less than was taken, or a widening was too wide.
struct Again {};
/// Places in the grid are to be numbers as others are.
struct PlaceDecides {};
struct Failed {};

class Explorer {
  public:
    Explorer(const Program& program, const Skeleton& skeleton, const abstract::Live& live,
             const Budget& budget, Gaps* gaps)
        : program_(program),
          skeleton_(skeleton),
          live_(live),
          loops_(skeleton),
          budget_(budget),
          gaps_(gaps) {
        if (gaps != nullptr) before_ = *gaps;
        for (std::size_t reg = 0; reg < skeleton.slots.size(); ++reg)
            if (skeleton.slots[reg] >= 0 && program.registers()[reg].type == isa::Type::pred)
                no_counters_.insert(static_cast<std::uint32_t>(skeleton.slots[reg]));
    }

    Proof prove() {
        Proof out = explored();
        out.operations = operations_ + run_->operations();
        return out;
    }

    /// The most that were kept.
    std::size_t numbers() const { return std::max(peak_, numbers_); }

  private:
    Proof explored() {
        std::optional<Proof> failed;
        for (int restart = 0; restart < most_restarts; ++restart) try {
                begin();
                while (!open_.empty()) follow();
                come_to_ends();
                out_.proved = true;
                out_.boxes = run_->boxes();
                for (const Root& root : symbols_.roots)
                    if (root.is_parameter())
                        out_.numbers.push_back(root.name);
                    else if (root.loaded_from >= 0)
                        out_.loaded.insert(root.loaded_from);
                return out_;
            } catch (const Again&) {
                continue;
            } catch (const PlaceDecides&) {
                forget_roots(true, symbols_.residues);
            } catch (const Failed&) {
                if (std::exchange(lowers_, false)) {
                    may_lower_ = false;
                    forget_roots(symbols_.places, symbols_.residues);
                    continue;
                }
                if (failed) return *failed;
                if (!symbols_.takes_residues()) return out_;
                failed = std::exchange(out_, {});
                forget_roots(symbols_.places, true);
            }
        if (failed) return *failed;
        out_.stopped = Stop{program_.where(), "the loops have no common period"};
        return out_;
    }

    /// A cut that is explored, unless a wider one is in its place.
    struct Seen {
        Cut cut;
        std::shared_ptr<const AbstractExecution::Saved> saved;
        std::size_t number = 0;   ///< of the cut
        std::size_t numbers = 0;  ///< that it holds
        bool replaced = false;
        mutable std::map<std::size_t, int> values{};  ///< by root: how many were followed
    };
    /// A cut with some of its values, from which the abstract execution is yet to be followed.
    struct Open {
        std::shared_ptr<const Seen> from;
        std::vector<Window> windows;
    };

    [[noreturn]] void fail(Where where, std::string reason) {
        out_.stopped = Stop{where, std::move(reason)};
        throw Failed{};
    }

    void forget_roots(bool places, bool residues) {
        symbols_.begin_anew(places, residues);
        told_apart_.clear();
    }

    void begin() {
        for (Root& root : symbols_.roots) root.value = root.least;
        operations_ += run_ ? run_->operations() : 0;
        out_ = {};
        seen_.clear();
        open_.clear();
        turning_.clear();
        peak_ = std::max(peak_, numbers_);
        cuts_ = numbers_ = greatest_ = growth_ = 0;
        if (gaps_ != nullptr) *gaps_ = before_;
        run_.emplace(program_, skeleton_, live_, symbols_, gaps_);
        run_->park(loops_);
        // What kernels draw has no values that could be gone through instead.
        const int share = skeleton_.draws_numbers ? (gaps_ == nullptr ? 2 : 1)
                          : gaps_ == nullptr      ? 4
                          : gaps_->empty()        ? 2
                                                  : 12;
        run_->limit(budget_.operations() / share - operations_, budget_);
        open_.push_back({std::make_shared<Seen>(Seen{Cut(), run_->save()}), {}});
    }

    /// That states come back does not show that a loop ends.
    void come_to_ends() {
        std::set<const Step*> compared;
        for (const std::uint32_t pc : run_->forms().comparisons()) compared.insert(skeleton_.ops[pc].step);
        for (const OpenLoop& loop : uncounted_loops_around(Outline(program_), compared, skeleton_.drawn()))
            if (loop.draws || loop.branches.empty() || !skeleton_.decides_all(loop.branches) ||
                turning_.without_draws(loop.branches))
                fail(loop.where, "it is not known that this loop ends");
    }

    /// Follows the abstract execution from a cut to the next one.
    void follow() {
        // What comes first may stand for what comes later, if it is followed first.
        Open from = std::move(lowers_ ? open_.front() : open_.back());
        lowers_ ? open_.pop_front() : open_.pop_back();
        if (from.from->replaced) return;
        run_->restore(*from.from->saved);
        spend_on_roots();
        for (std::size_t root = from.windows.size(); root < symbols_.roots.size(); ++root)
            from.windows.push_back(symbols_.window(static_cast<int>(root)));
        run_->forms().choose(from.windows);
        run_->forms().begin_draws(symbols_.drawn.empty() ? std::set<int>()
                                                         : abstract::idle_draws(run_->registers(), symbols_));
        run_->go_on();
        ++out_.executions;
        run_->run();
        examine(from.from->cut.widenings);
        others(from);
        if (run_->at_cut())
            turning_.add(
                {from.from->number, arrive(from.from->cut.widenings), run_->draws(), run_->branches()});
        else if (!run_->complete())
            fail(program_.where(), "a warp is not followed to its end");
    }

    /// Windows that are chosen, read or copied, in the time of an operation.
    void spend_on_roots() {
        constexpr std::size_t chosen = 8;
        run_->spend(static_cast<std::int64_t>(symbols_.roots.size() / chosen));
    }

    void examine(const Widenings& widenings) {
        if (run_->forms().restart()) throw Again{};
        if (const Stop* wait = run_->overtaken())
            out_.contained.add({Property::deadlock, Property::phases}, wait->where, wait->reason);
        for (const abstract::Fault& fault : run_->faults()) {
            if (!is_contained(fault.finding)) fail(fault.finding.where, in_some_state(fault.finding.message));
            out_.contained.add(find_rule(fault.finding.rule)->property, fault.finding.where,
                               in_some_state(fault.finding.message));
        }
        for (const int turns : symbols_.turns)
            if (const Stop* stop = run_->forms().stopped(turns)) {
                const auto why = widenings.find(variable(turns, abstract::Variable::repeated));
                const auto& no_counters = run_->forms().no_counters();
                no_counters_.insert(no_counters.begin(), no_counters.end());
                if (why == widenings.end() || !too_wide_.insert(why->second).second)
                    fail(stop->where, stop->reason);
                throw Again{};
            }
        if (run_->stopped() != nullptr) fail(run_->stopped()->where, run_->stopped()->reason);
        if (run_->gave_up()) fail(program_.where(), "the budget is spent");
        // States that know less may show what none of the kernel's own does.
        if (lowers_ && (!out_.contained.empty() || (gaps_ != nullptr && gaps_->size() != before_.size())))
            fail(program_.where(), "what all ways to a state know does not suffice");
        if (!run_->forms().for_every_cta()) throw PlaceDecides{};
    }

    /// The values of the roots that may come out otherwise than those that were followed.
    void others(const Open& from) {
        std::vector<Window> windows = from.windows;
        for (std::size_t root = 0; root < symbols_.roots.size(); ++root) {
            if (root >= windows.size()) windows.push_back(symbols_.window(static_cast<int>(root)));
            Window& its = windows[root];
            const std::int64_t room = run_->forms().room(static_cast<int>(root));
            if (room >= its.room) continue;
            if (++from.from->values[root] > most_values) {
                const Root& its_root = symbols_.roots[root];
                fail(its_root.where, fmt::format("{} decides, and takes too many values", its_root.name));
            }
            spend_on_roots();
            std::vector<Window> greater = windows;
            greater[root].value += room + 1;
            if (its.room != unlimited) greater[root].room -= room + 1;
            open_.push_back({from.from, std::move(greater)});
            its.room = room;
        }
    }

    /// Whether a root that is compared in a loop may be compared there again, or a warp is about to compare
    /// it.
    bool is_kept(int root) {
        return std::ranges::any_of(run_->forms().compared_at(root), [&](std::uint32_t pc) {
            const abstract::Loops::Loop* loop = loops_.innermost(pc);
            return loop != nullptr ? run_->any_in(*loop) : run_->any_parked_at(pc);
        });
    }

    Cut cut(const Widenings& widenings) {
        Cut out = run_->cut();
        for (std::size_t root = 0; root < symbols_.roots.size(); ++root)
            out.windows.push_back(run_->forms().window(static_cast<int>(root)));
        out.widenings = widenings;
        return out;
    }

    /// What the cut does not need of the roots is forgotten.
    void forget(Cut& cut) {
        const std::set<int> turns = abstract::turns_in_registers(cut, symbols_);
        for (std::size_t root = 0; root < symbols_.roots.size(); ++root) {
            const bool counted = std::ranges::all_of(
                cut.windows[root].growth, [&](const auto& one) { return turns.contains(one.first); });
            if (!counted || !is_kept(static_cast<int>(root))) free(cut, static_cast<int>(root));
        }
        // The next draw may be any number.
        for (const int drawn : abstract::idle_draws(cut.registers, symbols_))
            for (const int root : symbols_.made_of(drawn)) choose(cut, root, symbols_.window(root));
    }
    void free(Cut& cut, int root) {
        const Window all = symbols_.window(root);
        const auto from = told_apart_.find(root);
        choose(cut, root,
               from == told_apart_.end()
                   ? all
                   : abstract::told_apart(cut.windows[static_cast<std::size_t>(root)], from->second, all));
    }
    void choose(Cut& cut, int root, const Window& window) {
        cut.windows[static_cast<std::size_t>(root)] = window;
        run_->forms().choose(root, window);
    }

    /// For rings whose stages are a cycle in a number of the launch: the proof follows as many of its values
    /// one by one as the ring has stages. Tiles with more blocks fill a ring two at a time at most. If tiles
    /// could have any number, each stage would double the ways to fill it.
    void tell_apart() {
        bool anew = false;
        for (const abstract::Register& one : run_->registers()) {
            if (!one.form.cyclic) continue;
            const Root& root = symbols_.roots[static_cast<std::size_t>(one.form.cyclic->root)];
            if (!root.given || root.of_grid) continue;
            const auto from =
                root.least + static_cast<std::int64_t>(symbols_.cycles[one.form.cyclic->cycle].size());
            const auto [at, added] = told_apart_.try_emplace(one.form.cyclic->root, from);
            anew |= added || from < at->second;
            at->second = std::min(at->second, from);
        }
        if (anew) throw Again{};
    }

    /// Returns the number of the cut that stands for what the run has come to.
    std::size_t arrive(const Widenings& widenings) {
        run_->forms().pack();
        if (may_lower_ && !lowers_ && (skeleton_.draws_numbers || !symbols_.cycles.empty())) {
            lowers_ = true;
            throw Again{};
        }
        if (lowers_) tell_apart();
        Cut now = cut(widenings);
        forget(now);
        now.registers = run_->registers();
        for (const Widening& by : lowerings(now, symbols_, told_apart_))
            if (!too_wide_.contains(by.key)) widen(now, by);
        now.registers = run_->registers();
        auto& alike = seen_[now.hash];
        // Numbers that are compared, and those that are encoded and kept, in the time of an operation.
        constexpr std::size_t compared = 256, kept = 64;
        const std::size_t numbers = now.registers.size() + now.code.known.size() + now.code.numbers.size();
        run_->spend(static_cast<std::int64_t>(numbers / kept + alike.size() * numbers / compared));
        for (const auto& before : alike)
            if (covers(before->cut, now, symbols_)) return before->number;
        if (lowers_ && lower(alike, now)) {
            now = cut(now.widenings);
            replace(alike, now);
        }
        auto saved = run_->save();
        if (const auto [by, of] = narrowest(alike, now); by) {
            const Cut arrived = now;
            if (of != nullptr) {
                run_->restore(*of->saved);
                run_->forms().choose(of->cut.windows);
                Widenings both = of->cut.widenings;
                both.insert(now.widenings.begin(), now.widenings.end());
                now = of->cut;
                now.widenings = std::move(both);
            }
            widen(now, *by);
            now.registers = run_->registers();
            if (covers(now, arrived, symbols_)) {
                saved = run_->save();
                replace(alike, now);
            } else {
                now = arrived;
            }
        }
        numbers_ += numbers;
        if (numbers > greatest_) {
            greatest_ = numbers;
            ++growth_;
        }
        if (++cuts_ > most_cuts || numbers_ > budget_.numbers() || growth_ > most_growth)
            fail(program_.where(), "the loops have no common period");
        std::vector<Window> windows = now.windows;
        alike.push_back(std::make_shared<Seen>(Seen{std::move(now), std::move(saved), cuts_, numbers}));
        open_.push_back({alike.back(), std::move(windows)});
        return cuts_;
    }

    /// Cuts that this one covers need not be followed.
    void replace(std::vector<std::shared_ptr<Seen>>& alike, const Cut& now) {
        std::erase_if(alike, [&](const auto& before) {
            before->replaced = covers(now, before->cut, symbols_);
            if (before->replaced) {
                turning_.add({before->number, cuts_ + 1});
                numbers_ -= before->numbers;
            }
            return before->replaced;
        });
    }

    /// Where two states differ in what warps know, and neither knows less, one in which they know what they
    /// do in both stands for both. Returns whether that is so.
    bool lower(const std::vector<std::shared_ptr<Seen>>& alike, const Cut& now) {
        std::vector<std::uint32_t> most;
        const abstract::Relations relations = this->relations();
        for (const auto& seen : alike) {
            const Cut& before = seen->cut;
            if (before.code.knows_no_more_than(now.code) || now.code.knows_no_more_than(before.code))
                continue;
            if (!covers_but_for_knowledge(before, now, symbols_) &&
                !covers_but_for_knowledge(now, before, symbols_) &&
                !widening(before, now, symbols_, relations))
                continue;
            const std::vector<std::uint32_t> both = now.code.known_in_both(before.code);
            if (most.empty()) most = both;
            for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::min(most[i], both[i]);
        }
        if (!most.empty()) run_->lower(most);
        return !most.empty();
    }

    abstract::Relations relations() {
        return {[&](int root) { return is_kept(root); },
                [&](std::uint32_t warp, std::uint32_t slot) { return run_->forms().counted_to(warp, slot); },
                [&](std::uint32_t slot) { return !no_counters_.contains(slot); }, told_apart_};
    }

    /// The widening in which the fewest registers grow: of what the abstract execution has come to, or of a
    /// cut before, which is the one where less is known.
    std::pair<std::optional<Widening>, const Seen*> narrowest(const std::vector<std::shared_ptr<Seen>>& alike,
                                                              const Cut& now) {
        std::pair<std::optional<Widening>, const Seen*> out{};
        const abstract::Relations relations = this->relations();
        for (const auto& seen : alike) {
            const Cut& before = seen->cut;
            const bool less = before.code.knows_no_more_than(now.code);
            if (!less && !now.code.knows_no_more_than(before.code)) continue;
            const auto by = [&](bool in_proportion) {
                return less ? widening(now, before, symbols_, relations, in_proportion)
                            : widening(before, now, symbols_, relations, in_proportion);
            };
            auto its = by(false);
            if (its && too_wide_.contains(its->key)) its = by(true);
            if (!its || too_wide_.contains(its->key)) continue;
            if (!out.first || its->registers.size() < out.first->registers.size())
                out = {std::move(its), less ? seen.get() : nullptr};
        }
        return out;
    }

    void widen(Cut& now, const Widening& by) {
        for (std::size_t root = now.windows.size(); root < symbols_.roots.size(); ++root)
            now.windows.push_back(symbols_.window(static_cast<int>(root)));
        for (const int root : by.freed) free(now, root);
        for (const Widening::Change& change : by.roots) {
            Window& its = now.windows[change.index];
            its.value -= change.back;
            abstract::add(its.growth, change.turns);
            run_->forms().choose(static_cast<int>(change.index), its);
        }
        for (const Widening::Change& change : by.registers) {
            const abstract::Register& at = now.registers[change.index];
            run_->forms().widen(at.warp, at.slot, at.known, change.back, change.turns);
            now.widenings[change.variable] = by.key;
        }
    }

    const Program& program_;
    const Skeleton& skeleton_;
    const abstract::Live& live_;
    const abstract::Loops loops_;
    const Budget& budget_;
    Gaps* gaps_;
    Gaps before_;  ///< those that it begins with
    Symbols symbols_;
    std::optional<AbstractExecution> run_;
    std::deque<Open> open_;
    Turning turning_;
    std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<Seen>>> seen_;  ///< by hash
    std::set<std::uint32_t> no_counters_;  ///< registers that no widening is to make depend on turns
    std::set<std::uint64_t> too_wide_;     ///< keys of widenings
    abstract::ToldApart told_apart_;
    std::size_t cuts_ = 0, numbers_ = 0;     ///< of seen_, and what they hold
    std::size_t peak_ = 0;                   ///< of numbers_, before it began anew
    std::size_t greatest_ = 0, growth_ = 0;  ///< numbers of a cut, and how often a later one had more
    std::int64_t operations_ = 0;
    /// Whether states are merged of which neither knows less. Where registers have places in cycles, or tiles
    /// are drawn, the ways to a state are too many for another proof.
    bool lowers_ = false, may_lower_ = true;
    Proof out_;
};

}  // namespace

Proof explore(const Program& program, const Skeleton& skeleton, const abstract::Live& live,
              const Budget& budget, Gaps* gaps) {
    std::optional<Explorer> explorer(std::in_place, program, skeleton, live, budget, gaps);
    Proof out = explorer->prove();
    [[maybe_unused]] const bool kept_much = explorer->numbers() > much;
    explorer.reset();
#ifdef __GLIBC__
    // Each thread has an arena of its own, which keeps what was freed: eight threads that prove in turn would
    // have the memory of eight proofs.
    if (kept_much) malloc_trim(0);
#endif
    return out;
}

}  // namespace wgrun::check
