#include "bindings/cli/remedies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/cli/script_text.hpp"
#include "bindings/cli/silence.hpp"
#include "diag/fix.hpp"
#include "rules/phrases.hpp"

namespace wgrun::cli {
namespace {

constexpr int most_attempts = 48;    // of a check
constexpr int most_of_finding = 16;  // of them
constexpr int most_judged = 6;       // remedies that are judged with proofs
constexpr double seconds_of_proofs = 1;
constexpr std::chrono::seconds most_time{20};
constexpr std::size_t most_text = 8 << 20;  // bytes: judging a text again costs as much as judging it

/// Where the lines of a text are, once a remedy has been applied to it.
class Shift {
  public:
    Shift(const ProgramText& program, const Remedy& remedy, int out) {
        for (const Change& change : remedy) {
            const Change here = program.resolved(change, out);
            if (here.kind == Change::Kind::before)
                inserted_[here.where.line] += static_cast<int>(here.lines.size());
            else
                changed_.insert(here.where.line);
        }
    }

    int of(int line) const {
        int out = line;
        for (const auto& [before, count] : inserted_)
            if (before <= line) out += count;
        return out;
    }

    std::set<int> changed() const {
        std::set<int> out;
        for (const int line : changed_) out.insert(of(line));
        for (const auto& [before, count] : inserted_)
            for (int i = 1; i <= count; ++i) out.insert(of(before) - i);
        return out;
    }

  private:
    std::map<int, int> inserted_;  // before a line: how many
    std::set<int> changed_;
};

/// The remedies of a program's findings, tried one by one, and those that work together at the end.
class Trials {
  public:
    Trials(FindingSet& findings, const std::string& file, const std::string& text, const Mending& mending)
        : file_(file),
          program_(mending.read(text.size() > most_text ? std::string() : text)),
          mending_(mending),
          all_(findings.list()),
          states_(all_.size()) {
        if (program_->text().empty() ||
            std::ranges::all_of(all_, [](const Diagnostic& one) { return one.remedies.empty(); }))
            return;
        quick_ = check(text, {.seconds = 0, .runs = false});
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (!all_[i].remedies.empty() && states_[i].fate != Fate::works) try_all(i);
        if (std::ranges::any_of(states_, [](const State& state) { return state.masked; })) try_together();
    }

    void write_to(FindingSet& findings) const {
        std::size_t i = 0;
        for (Diagnostic& finding : findings) write(finding, states_[i++]);
    }

  private:
    enum class Fate : unsigned char {
        untried,  ///< not all of its remedies
        works,
        fails
    };
    struct State {
        Fate fate = Fate::untried;
        Remedy remedy{};      ///< that works, in the place where it does
        bool masked = false;  ///< errors remained, behind which a run that ends with them shows no others
    };

    /// Looks for the first remedy that works, at its place and then further out.
    void try_all(std::size_t i) {
        int attempts = 0;
        bool all = true;
        std::set<std::string> seen;
        for (int out = 0; out <= program_->most_out(); ++out)
            for (const Remedy& remedy : all_[i].remedies) {
                const bool here = concerns(remedy, file_);
                all = all && here;
                if (!here) continue;
                const std::string candidate = program_->with(counted(remedy), out);
                if (candidate == program_->text() || !seen.insert(candidate).second) continue;
                if (attempts++ == most_of_finding || out_of_time()) return;
                if (works(i, candidate, remedy, out)) return;
            }
        states_[i].fate = all ? Fate::fails : Fate::untried;
    }

    /// With barriers that count the threads of the CTA: one without a number does not wait for threads that
    /// have ended, so that it would pass for one that a role can execute by itself.
    Remedy counted(Remedy remedy) const {
        if (quick_.threads.size() != 1 || *quick_.threads.begin() == 0) return remedy;
        for (Change& change : remedy)
            std::ranges::replace(change.lines, rules::bar_sync(),
                                 rules::bar_sync(0, *quick_.threads.begin()));
        return remedy;
    }

    bool out_of_time() const {
        return attempts_ >= most_attempts || judged_ >= most_judged || interrupted_ ||
               std::chrono::steady_clock::now() - begin_ > most_time;
    }

    /// Judged in two steps: most remedies that do not work show it without proofs.
    bool works(std::size_t i, const std::string& candidate, const Remedy& remedy, int out) {
        const Diagnostic& finding = all_[i];
        const Shift shift(*program_, remedy, out);
        ++attempts_;
        Judging judging{.seconds = 0, .runs = by_run(finding), .lines = shift.changed()};
        if (judging.runs) judging.seed = std::max<std::uint64_t>(finding.launch->seed, 1);
        if (!ends(finding, check(candidate, judging), shift)) return false;
        ++judged_;
        judging = {.runs = judging.runs};
        if (!by_proof(finding)) judging.seconds = seconds_of_proofs;
        const Checked now = check(candidate, judging);
        if (!ends(finding, now, shift)) return false;
        const bool masked = now.errors() > 0;
        for (std::size_t j = 0; j < all_.size(); ++j)
            if (j == i ||
                (states_[j].fate == Fate::untried && !all_[j].remedies.empty() &&
                 by_run(all_[j]) == judging.runs && !by_proof(all_[j]) && !remains(all_[j], now, shift)))
                states_[j] = {Fate::works, shown(remedy, out), masked};
        return true;
    }

    /// Where errors remain beside each remedy, all of them have to leave none. A change that is sure by the
    /// rule, and not by its place, stays.
    void try_together() {
        Remedy all;
        bool runs = false;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (states_[i].fate != Fate::works) continue;
            runs = runs || by_run(all_[i]);
            for (const Change& change : states_[i].remedy)
                if (std::ranges::find(all, change) == all.end()) all.push_back(change);
        }
        const Checked now = check(program_->with(counted(all)), {.seconds = seconds_of_proofs, .runs = runs});
        if (now.code == Exit::ok && now.errors() == 0) return;
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (states_[i].masked && !is_sure(all_[i])) states_[i].fate = Fate::fails;
    }

    Checked check(const std::string& text, const Judging& judging) {
        Checked out = mending_.check(text, judging);
        if (out.code == Exit::interrupted) interrupted_ = true;
        return out;
    }

    static bool by_run(const Diagnostic& finding) {
        return finding.launch && finding.launch->by != FoundIn::By::wgrun;
    }

    /// Whether a proof has found it, which takes its time.
    bool by_proof(const Diagnostic& finding) const {
        return !by_run(finding) && !quick_.findings.has(finding);
    }

    bool remains(const Diagnostic& finding, const Checked& now, const Shift& shift) const {
        return std::ranges::any_of(now.findings,
                                   [&](const Diagnostic& other) { return same(finding, other, shift); });
    }

    /// Whether the finding is gone, and no other has come.
    bool ends(const Diagnostic& finding, const Checked& now, const Shift& shift) const {
        if (now.code != Exit::ok || remains(finding, now, shift)) return false;
        return std::ranges::all_of(now.findings, [&](const Diagnostic& other) {
            return std::ranges::any_of(all_, [&](const Diagnostic& old) { return same(old, other, shift); });
        });
    }

    bool same(const Diagnostic& old, const Diagnostic& now, const Shift& shift) const {
        const int line = old.where.file == file_ ? shift.of(old.where.line) : old.where.line;
        return now.where.file == old.where.file && now.where.line == line && now.severity <= old.severity &&
               old.rule == now.rule && (!old.rule.empty() || old.message == now.message);
    }

    /// Of a remedy outside of blocks: before which statement it stands.
    Remedy shown(const Remedy& remedy, int out) const {
        if (out == 0) return remedy;
        Remedy made = remedy;
        for (Change& change : made) {
            if (change.kind == Change::Kind::option) continue;
            change.where = program_->resolved(change, out).where;
            change.kind = Change::Kind::before;
        }
        return made;
    }

    /// Whether the fix says no more than the first remedy: the rule asks for that instruction.
    bool is_sure(const Diagnostic& finding) const {
        return !finding.remedies.empty() &&
               finding.fix == in_words(finding.remedies.front(), program_->dialect());
    }

    void write(Diagnostic& finding, const State& state) const {
        if (finding.remedies.empty() || (state.fate == Fate::untried && is_sure(finding))) return;
        if (state.fate == Fate::works) {
            finding.fix = in_words(state.remedy, program_->dialect());
            finding.remedies = {state.remedy};
            return;
        }
        if (state.fate == Fate::fails && is_sure(finding))
            finding.fix = fmt::format("more than one change is missing: wgrun explain {}", finding.rule);
        finding.remedies.clear();
    }

    std::string file_;
    std::unique_ptr<ProgramText> program_;
    const Mending& mending_;
    std::vector<Diagnostic> all_;  // before anything is changed
    std::vector<State> states_;    // of each
    Checked quick_;                // without proofs and runs
    int attempts_ = 0, judged_ = 0;
    bool interrupted_ = false;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Mending mending_of(const Request& request, const Search& search) {
    const auto check = [request, search](const std::string& text, const Judging& judging) {
        const Silence silence;
        Request here = request;
        here.text = text;
        Search how = search;
        how.perf = how.assemble = false;
        how.dynamic = search.dynamic && judging.runs;
        how.seed = judging.seed;
        how.given.seconds = std::min(how.given.seconds, judging.seconds);
        if (!judging.lines.empty()) how.lines = &judging.lines;
        return gather(here, how);
    };
    return {[](std::string text) { return std::make_unique<ScriptText>(std::move(text)); }, check};
}

bool concerns(const Remedy& remedy, const std::string& file) {
    for (const Change& change : remedy)
        if (change.where.file != file || !change.where) return false;
    return !remedy.empty();
}

void keep_what_works(FindingSet& findings, const std::string& file, const std::string& text,
                     const Mending& mending) {
    Trials(findings, file, text, mending).write_to(findings);
}

}  // namespace wgrun::cli
