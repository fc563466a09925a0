#include "bindings/cli/fix.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "bindings/cli/input.hpp"
#include "bindings/cli/ptx_text.hpp"
#include "bindings/cli/silence.hpp"
#include "bindings/cli/unified_diff.hpp"
#include "diag/fix.hpp"
#include "file/replacement.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/foreign.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {
namespace {

constexpr int most_rounds = 64;      // remedies tried one after the other
constexpr int most_candidates = 64;  // texts tried in a round

/// A line that was inserted or changed: where it stands in the text of now, and for what.
struct Changed {
    int line;
    bool inserted;  ///< else an option has another value
    std::string text, rule;
};

void remember(std::vector<Changed>& all, const ProgramText& program, const Remedy& remedy, int out,
              const std::string& rule) {
    Remedy places;
    for (const Change& change : remedy) places.push_back(program.resolved(change, out));
    std::stable_sort(places.begin(), places.end(),
                     [](const Change& a, const Change& b) { return a.where.line < b.where.line; });
    int shift = 0;
    for (const Change& change : places) {
        const bool inserted = change.kind == Change::Kind::before;
        const int count = inserted ? static_cast<int>(change.lines.size()) : 0;
        int line = change.where.line + shift;
        for (Changed& earlier : all)
            if (earlier.line >= line) earlier.line += count;
        if (change.kind == Change::Kind::line)
            all.push_back({line, false,
                           text_of({{}, Change::Kind::option, {}, change.option, change.from, change.to},
                                   program.dialect()),
                           rule});
        for (int i = 0; i < count; ++i) {
            const std::string& text = change.lines[static_cast<std::size_t>(i)].in(program.dialect());
            all.push_back({line++, true, text.substr(text.find_first_not_of(" \t")), rule});
        }
        shift += count;
    }
}

/// Whether the finding is to be mended: errors, and warnings that propose how.
bool to_mend(const Diagnostic& finding) {
    return finding.severity == Severity::error ||
           (finding.severity == Severity::warning && !finding.remedies.empty());
}

std::size_t left(const Checked& found) {
    return static_cast<std::size_t>(std::ranges::count_if(found.findings, to_mend));
}

/// Makes changes, the best of all that are proposed each time, until nothing is to be mended or none helps.
class Mender {
  public:
    Mender(std::string file, Mending mending, std::string text)
        : file_(std::move(file)),
          mending_(std::move(mending)),
          program_(mending_.read(std::move(text))),
          now_(mending_.check(program_->text(), {})) {}

    /// First without proofs, which take most of the time, then with them.
    void run() {
        if (!good(now_) || left(now_) == 0) return;
        judge(false);
        while (make_steps()) {
            if (clean()) leave_out();
            if (proofs_ || !good(now_)) return;
            judge(true);
        }
    }

    bool clean() const { return good(now_) && now_.errors() == 0; }
    const std::string& text() const { return program_->text(); }
    const Checked& found() const { return now_; }
    std::vector<Changed>& changed() { return changed_; }

  private:
    /// From now on candidates are judged with or without proofs.
    void judge(bool proofs) {
        proofs_ = proofs;
        now_ = check(program_->text());
    }
    Checked check(const std::string& text) const {
        return mending_.check(text, proofs_ ? Judging() : Judging{.seconds = 0});
    }

    /// False if interrupted.
    bool make_steps() {
        while (rounds_++ < most_rounds && good(now_) && left(now_) > 0)
            if (!step()) break;
        return good(now_);
    }

    static bool good(const Checked& found) { return found.code == Exit::ok; }

    /// Whether the script now stops with an error that it did not have `before`. Lua's own errors name no
    /// rule.
    static bool stops(const Checked& found, const Checked& before) {
        const auto said = [](const Checked& checked) {
            return std::count_if(checked.findings.begin(), checked.findings.end(),
                                 [](const Diagnostic& finding) { return finding.rule.empty(); });
        };
        return !good(found) || found.kernels < before.kernels || said(found) > said(before);
    }

    /// Whether `a` is better than `b`. A script without static errors is run, and may then show others.
    static bool better(const Checked& a, const Checked& b) {
        if (a.explored != b.explored) return a.explored;
        return std::pair(a.errors(), left(a)) < std::pair(b.errors(), left(b));
    }

    /// Makes the one remedy's changes that leave the fewest errors, then the least to mend, of those at the
    /// places that findings name, else of those outside of the blocks around them. False when none leaves
    /// fewer than there are.
    bool step() {
        for (int out = 0; out <= program_->most_out(); ++out)
            if (step(out)) return true;
        return false;
    }

    bool step(int out) {
        const Checked before = now_;
        const std::unique_ptr<ProgramText> text = mending_.read(program_->text());
        const Remedy* chosen = nullptr;
        std::string rule;
        int tried = 0;
        for (const Diagnostic& finding : before.findings) {
            if (!to_mend(finding)) continue;
            for (const Remedy& remedy : finding.remedies) {
                if (left(now_) == 0 || tried == most_candidates) break;
                if (!concerns(remedy, file_)) continue;
                ++tried;
                std::string candidate = text->with(remedy, out);
                Checked found = check(candidate);
                if (found.code == Exit::interrupted) {
                    now_.code = found.code;
                    return true;
                }
                if (stops(found, before) || !better(found, now_)) continue;
                program_ = mending_.read(std::move(candidate));
                now_ = std::move(found);
                chosen = &remedy;
                rule = finding.rule;
            }
        }
        if (chosen == nullptr) return false;
        remember(changed_, *text, *chosen, out, rule);
        return true;
    }

    /// Removes insertions that later ones have made unnecessary.
    void leave_out() {
        if (changed_.size() < 2) return;
        for (std::size_t i = changed_.size(); i-- > 0;) {
            if (!changed_[i].inserted) continue;
            const int line = changed_[i].line;
            std::string candidate = program_->without(line);
            Checked found = check(candidate);
            if (found.code == Exit::interrupted) {
                now_.code = found.code;
                return;
            }
            if (stops(found, now_) || better(now_, found)) continue;
            program_ = mending_.read(std::move(candidate));
            now_ = std::move(found);
            changed_.erase(changed_.begin() + static_cast<std::ptrdiff_t>(i));
            for (Changed& other : changed_)
                if (other.line > line) --other.line;
        }
    }

    std::string file_;
    Mending mending_;
    std::unique_ptr<ProgramText> program_;
    Checked now_;
    std::vector<Changed> changed_;
    bool proofs_ = true;
    int rounds_ = 0;
};

/// The result.
struct Mended {
    const Checked& found;                 ///< what remains
    const std::vector<Changed>& changed;  ///< by line; written, or with --diff to be written
    std::string diff;
    std::string problem;  ///< why nothing was written; empty if it was, or if nothing had to be
    const char* line;     ///< what a line of the program is: a call, an instruction
};

std::string why_not(const Checked& found) {
    if (found.code == Exit::interrupted) return "interrupted";
    const std::size_t errors = found.errors();
    return fmt::format("{} that no proposed change mends", count_of(errors, "error"));
}

std::string as_text(const Request& request, const Mended& outcome) {
    std::string text;
    std::size_t lines = 0, options = 0;
    for (const Changed& change : outcome.changed) {
        text += fmt::format("{}:{}: {} {} [{}]\n", printable(request.file), change.line, change.text,
                            change.inserted ? "inserted" : "set", change.rule);
        ++(change.inserted ? lines : options);
    }
    text += fmt::format("{}: {} {}{} inserted, ", printable(request.file), lines, outcome.line,
                        lines == 1 ? "" : "s");
    if (options > 0) text += fmt::format("{} set, ", count_of(options, "option"));
    return text + "0 errors\n";
}

/// As check --json: the findings that remain, and besides what was done. Lines are those of the text with all
/// changes.
std::string as_json(const Mended& outcome, bool diff) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(outcome.found.findings));
    json["inserted"] = json["set"] = nlohmann::ordered_json::array();
    for (const Changed& change : outcome.changed)
        json[change.inserted ? "inserted" : "set"].push_back(
            {{"line", change.line},
             {change.inserted ? "call" : "option", change.text},
             {"rule", change.rule}});
    json["written"] = outcome.problem.empty() && !diff && !outcome.changed.empty();
    if (diff) json["diff"] = outcome.diff;
    if (!outcome.problem.empty()) json["problem"] = outcome.problem;
    return json.dump(2);
}

}  // namespace

std::optional<ScriptText> read_script(const std::string& file) {
    try {
        return ScriptText(contents(file));
    } catch (const Unreadable&) {
        return {};
    }
}

namespace {

int mend(const Request& request, Mending mending, const std::string& before, const char* line, bool diff,
         Results& results) {
    Mender mender(request.file, std::move(mending), before);
    mender.run();
    std::vector<Changed>& changed = mender.changed();
    std::sort(changed.begin(), changed.end(),
              [](const Changed& a, const Changed& b) { return a.line < b.line; });
    const std::string& after = mender.text();
    Mended outcome{mender.found(), changed, {}, {}, line};
    if (!mender.clean())
        outcome.problem = fmt::format("{} was not changed: {}", request.file, why_not(mender.found()));
    else if (!changed.empty() && diff)
        outcome.diff = unified_diff(request.file, before, after);
    else if (!changed.empty())
        try {
            file::replace(request.file, after);
        } catch (const EnvironmentError& error) {
            outcome.problem = fmt::format("cannot write {}", error.what());
        }

    if (!request.json) print_findings(request, outcome.found.findings);
    if (!outcome.problem.empty()) remark("wgrun: " + outcome.problem);
    if (request.json)
        results.write(as_json(outcome, diff));
    else if (outcome.problem.empty())
        results.write(diff ? outcome.diff : as_text(request, outcome));
    if (!results.finish()) return Exit::failed;
    if (outcome.found.code != Exit::ok) return outcome.found.code;
    return outcome.problem.empty() ? Exit::ok : Exit::failed;
}

/// Whether there is no file to change. What would change can be shown of a text that has a name.
bool is_standard_input(const Request& request, bool diff) {
    return request.file == "-" || (request.text && !diff);
}

int refuse_standard_input() {
    remark("wgrun: check --fix needs a file, since standard input cannot be written");
    return Exit::usage;
}

}  // namespace

int fix(const Request& request, const Search& search, bool diff, Results& results) {
    if (is_standard_input(request, diff)) return refuse_standard_input();
    return mend(request, mending_of(request, search), request.text ? *request.text : contents(request.file),
                "call", diff, results);
}

int fix_ptx(const Request& request, const std::string& text, const Mending& mending, bool diff,
            Results& results) {
    if (is_standard_input(request, diff)) return refuse_standard_input();
    return mend(request, mending, text, "instruction", diff, results);
}

}  // namespace wgrun::cli
