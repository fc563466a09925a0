// Diagnostics: what is wrong, where, and how to mend it.
//
// A Diagnostic is data that is rendered late (as text, JSON or SARIF). An Error is a Diagnostic that is
// thrown. Both are plain values; all functions are thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "wgrun/file_name.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// A line of a script.
struct Where {
    FileName file;
    int line = 0;

    /// The line of a file by its name. Thread-safe.
    static Where at(std::string_view file, int line) { return {FileName(file), line}; }

    explicit operator bool() const { return line > 0; }
    bool operator==(const Where&) const = default;
};

/// Where a run that the static checker makes by itself ended before its end.
struct EndOfRunAhead {
    Where where;
    bool limit = false;  ///< after as many steps, or as long, as such a run takes; else a value decides
                         ///< there that is not known before a run

    explicit operator bool() const { return static_cast<bool>(where); }
};

enum class Severity { note, warning, error };

std::string_view to_string(Severity severity);

/// A further place that belongs to a finding: "issued here".
struct Note {
    Where where;
    std::string message;
};

/// The languages that a program can be written in.
enum class Dialect : std::uint8_t { lua, ptx };

/// The same code in both languages: "wgmma_wait_group(0)", since only the script knows its name of the
/// builder, and "wgmma.wait_group.sync.aligned 0".
struct Phrase {
    std::string lua, ptx;
    const std::string& in(Dialect dialect) const { return dialect == Dialect::lua ? lua : ptx; }
    bool operator==(const Phrase&) const = default;
};

/// One change of a program: instructions before or after a statement, or another value of an option that the
/// statement gives.
struct Change {
    enum class Kind : std::uint8_t {
        before,
        after,
        option,  ///< `option` becomes `to` instead of `from`
        line     ///< as `option`, resolved for a script: the line becomes `lines`
    };
    Where where;  ///< the statement
    Kind kind = Kind::before;
    std::vector<Phrase> lines{};  ///< instructions, one a line
    Phrase option{};              ///< "align", ".align"
    std::string from{}, to{};
    Dialect dialect = Dialect::lua;  ///< of the program that it is resolved for
    bool operator==(const Change&) const = default;
};

/// Changes that together mend a finding.
using Remedy = std::vector<Change>;

/// How a law is broken, where that matters besides the law.
enum class FindingKind : std::uint8_t {
    usual,
    /// Not a thread lacks what is missing, but an engine that works beside the threads: what they do next is
    /// not affected.
    of_engine,
    /// Both of two unordered writes store one value. Compilers let all threads store what is the same for
    /// all.
    same_value,
    /// The step itself has done what is to be done once, in another lane or another turn.
    same_step
};

/// What the message of a finding says, as data: { "phase", 2 }, { "buffer", "ring" }.
struct Fact {
    std::string name;  ///< docs/schema/finding.json lists them
    std::variant<std::int64_t, std::string> value;
    bool operator==(const Fact&) const = default;
};

/// A launch that shows a finding on the simulator: `wgrun check --replay` makes it again.
struct FoundIn {
    /// Who makes the launch: wgrun, as what follows says; the script; a launch file (`file`).
    enum class By : std::uint8_t { wgrun, script, file };
    By by = By::wgrun;
    std::string kernel{};
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};  ///< CTAs, threads, CTAs
    /// The numbers among the arguments, by name; of a script that declares sizes: those. Numbers that are not
    /// named are none that matter, or `others`.
    std::vector<std::pair<std::string, std::int64_t>> numbers{};
    /// What the other numbers are, and the words of memory. Nothing: the run ends where they decide.
    std::optional<std::uint32_t> others{};
    std::uint64_t first = 0;  ///< the cluster of the grid that is run first
    std::uint64_t seed = 0;   ///< of the schedule
    std::string file{};       ///< the launch file
    bool operator==(const FoundIn&) const = default;
};

/// One finding. `rule` is an id of the catalogue (`wgrun explain ID`), empty for plain errors;
/// `section` is the place in the PTX ISA, such as "9.7.15.7.1".
struct Diagnostic {
    std::string rule;
    Severity severity = Severity::error;
    Where where;
    std::string message;
    std::string fix;
    std::string section;
    std::vector<Note> notes;
    std::vector<Remedy> remedies{};  ///< alternatives to choose from, the most likely first
    FindingKind finding_kind = FindingKind::usual;
    std::string fix_in_ptx{};  ///< `fix` as it is said of PTX; empty: in the same words
    std::vector<Fact> facts{};
    std::optional<FoundIn> launch{};  ///< nothing: no launch is needed to see it
};

/// An error that breaks no law.
Diagnostic plain_error(std::string message, std::string fix = {}, Where where = {});

/// "file:line: error: message [RULE]" and, indented below it, the notes and the fix.
std::string to_text(const Diagnostic& finding, bool colour = false);

/// "file:line: message [RULE]" on one line: what an error object prints as.
std::string to_line(const Diagnostic& finding);

/// {"findings": [{rule, severity, file, line, message, fix, section, notes: [{file, line, message}], fixes:
/// [[{file, line, position, text}]], facts: {name: value}, launch: {by, kernel, grid, ...}}]}. `text` is
/// inserted before the line (position "before") or after the statement that begins there ("after"), replaces
/// the line ("line"), or states the value of an option of the statement ("option": "align = 8").
std::string to_json(std::span<const Diagnostic> findings);

/// Root of all exceptions that the engine throws. `code` is a short stable word for programs:
/// EINVAL (the caller's mistake) and, for the environment, ENOENT, EIO, ENODEV, ENOMEM, ETIMEDOUT, ECOMPILE,
/// EFAULT.
class Error : public std::runtime_error {
  public:
    Error(std::string code, Diagnostic finding);

    const std::string& code() const { return code_; }
    const Diagnostic& finding() const { return finding_; }
    Diagnostic& finding() { return finding_; }

  private:
    std::string code_;
    Diagnostic finding_;
};

/// The caller asked for something impossible; Lua raises it as an error. Code EINVAL.
class ArgumentError : public Error {
  public:
    explicit ArgumentError(std::string message, std::string fix = {});
    explicit ArgumentError(Diagnostic finding);
};

/// The machine lacks something (no GPU, no file); Lua functions return nil, message, code.
class EnvironmentError : public Error {
  public:
    EnvironmentError(std::string code, std::string message, std::string fix = {});
};

/// "did you mean `x`?", with the nearest of `choices` to `word` by edit distance; empty if none is near.
std::string nearest(std::string_view word, std::span<const std::string_view> choices);

}  // namespace wgrun

#pragma GCC visibility pop
