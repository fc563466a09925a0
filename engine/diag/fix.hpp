// What to do about a finding: in words, and where instructions or an option's value are all that is missing,
// as changes to make.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun {

/// Instructions in front of, or behind, the statement at `where`.
Change insert_before(Where where, std::vector<Phrase> lines);
Change insert_after(Where where, std::vector<Phrase> lines);
/// `option = to` instead of `option = from` in the statement at `where`.
Change set_option(Where where, Phrase option, std::string from, std::string to);

/// "k:wgmma_commit_group() and k:wgmma_wait_group(0) before line 41", "before it" where no line is known; in
/// PTX "wgmma.commit_group.sync.aligned and ...".
std::string in_words(const Remedy& remedy, Dialect dialect = Dialect::lua);

/// The lines that an insertion adds, each with its end: "wgmma_fence()\n", "wgmma.fence.sync.aligned;\n". Of
/// an option what it should be: "align = 8", ".align 8".
std::string text_of(const Change& change, Dialect dialect = Dialect::lua);

struct Fix {
    Fix() = default;
    Fix(std::string words) : text(std::move(words)) {}
    Fix(const char* words) : text(words) {}
    /// The first remedy as text.
    Fix(std::vector<Remedy> alternatives);
    Fix(std::string words, std::vector<Remedy> alternatives)
        : text(std::move(words)), remedies(std::move(alternatives)) {}

    std::string text;
    std::vector<Remedy> remedies;
};

}  // namespace wgrun
