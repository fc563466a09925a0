// What `wgrun check` says of a kernel: for each property whether it is proved for every launch, refuted by a
// finding, or undecided, and why (docs/verdicts.md). All functions are thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// What a correct kernel has. Each law of the catalogue that a kernel can break belongs to one property;
/// `none` is for laws that the builder alone enforces, and for speed.
enum class Property : std::uint8_t {
    deadlock,
    phases,
    copy_bytes,
    registers,
    groups,
    proxies,
    shared_races,
    global_races,
    bounds,
    descriptors,
    initialisation,
    convergence,
    cluster_end,
    register_pool,
    kept,  ///< of machine code: judged where it is looked at (check --sass)
    none
};

/// A property as reports name it.
struct PropertyRow {
    Property property;
    std::string_view id;     ///< "no-deadlock": in JSON
    std::string_view title;  ///< "no deadlock": in text
    std::string_view what;   ///< one sentence: what is proved
};

/// The rows, in the order of the enumeration, without `none`.
std::span<const PropertyRow> properties();
const PropertyRow& row_of(Property property);

/// What stopped a proof of a property.
struct Gap {
    Property property = Property::none;
    Where where;             ///< the instruction
    std::string reason;      ///< "the branch depends on a value in memory"
    std::string assumption;  ///< what would decide it: a command, or an assumption; may be empty
    bool operator==(const Gap&) const = default;
};

struct Verdict {
    enum class Kind : std::uint8_t { proved, refuted, undecided };
    Property property = Property::none;
    Kind kind = Kind::undecided;
    std::string domain;  ///< proved: of which launches, "all launches", "n >= 1"
    Where where;         ///< refuted: the finding; undecided: what stopped the proof
    std::string reason;  ///< refuted: the rule; undecided: why
    /// Undecided: what would decide it. Proved: what is taken for granted of the data. May be empty.
    std::string assumption;
};

std::string_view to_string(Verdict::Kind kind);

/// What a check amounts to for a kernel.
struct Judged {
    std::string kernel;
    Where where;  ///< the declaration; of a PTX text: the entry
    std::vector<Verdict> verdicts;
};

/// The verdict of each property of the program: refuted where an error or a warning of a run says so,
/// undecided where there is a gap (the first counts), and else proved.
std::vector<Verdict> verdicts(std::span<const Diagnostic> findings, std::span<const Gap> gaps,
                              std::string_view domain);

/// The verdict of one property, in the same way.
Verdict verdict(Property property, std::span<const Diagnostic> findings, std::span<const Gap> gaps,
                std::string_view domain);

/// "gemm: proved for all launches but races in global memory, bounds", and an indented line for each reason
/// why a property is not proved. Each line ends with a line feed.
std::string to_text(std::string_view kernel, std::span<const Verdict> verdicts);

/// [{"property", "verdict", "domain"}], and where it is not proved "reason", "file", "line", "assumption" in
/// place of "domain" (docs/schema/check.json).
std::string to_json(std::span<const Verdict> verdicts);

}  // namespace wgrun

#pragma GCC visibility pop
