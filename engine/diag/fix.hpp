// What to do about a finding: in words, and where instructions or an option's value are all that is missing,
// as changes to make.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun {

/// Instructions in front of, or behind, the statement at `where`.
Change insert_before(Where where, std::vector<Phrase> lines);
Change insert_after(Where where, std::vector<Phrase> lines);
/// `option = to` instead of `option = from` in the statement at `where`; of no option: the number `to`
/// instead of `from`, which the statement has once.
Change set_option(Where where, Phrase option, std::string from, std::string to);

/// "k:wgmma_commit_group() and k:wgmma_wait_group(0) before line 41", "before it" where no line is known; in
/// PTX "wgmma.commit_group.sync.aligned and ...".
std::string in_words(const Remedy& remedy, Dialect dialect = Dialect::lua);

/// The lines that an insertion adds, each with its end: "wgmma_fence()\n", "wgmma.fence.sync.aligned;\n". Of
/// an option what it should be: "align = 8", ".align 8".
std::string text_of(const Change& change, Dialect dialect = Dialect::lua);

/// What a sentence says of a part of it: k:bar_sync(0) of a call, bar.sync 0 of an instruction.
inline std::string said(const Phrase& part, Dialect dialect) {
    return (dialect == Dialect::lua ? "k:" : "") + part.in(dialect);
}
template <class Part>
const Part& said(const Part& part, Dialect) {
    return part;
}

/// A sentence in both languages, of parts that are phrases, words and numbers: sentence("{} {}", bar_sync(),
/// "before line 41").
template <class... Parts>
Phrase sentence(std::string_view format, const Parts&... parts) {
    const auto in = [&](Dialect dialect) {
        return fmt::format(fmt::runtime(format), said(parts, dialect)...);
    };
    return {in(Dialect::lua), in(Dialect::ptx)};
}

struct Fix {
    Fix() = default;
    Fix(Phrase words) : text(std::move(words.lua)), in_ptx(std::move(words.ptx)) {}
    Fix(std::string words) : text(std::move(words)) {}
    Fix(const char* words) : text(words) {}
    /// The first remedy as text.
    Fix(std::vector<Remedy> alternatives);
    Fix(std::string words, std::vector<Remedy> alternatives)
        : text(std::move(words)), remedies(std::move(alternatives)) {}

    std::string text;
    std::string in_ptx{};  ///< empty: the same, or the first remedy
    std::vector<Remedy> remedies{};
};

}  // namespace wgrun
