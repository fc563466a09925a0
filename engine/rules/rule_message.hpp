// What is said of a law that is broken, and the one place where a finding is made of it.
//
// The wordings that the abstract execution, the checker and the simulator share stand beside this file, by
// family, as functions of what they speak of: mbarrier_words.hpp, phase_words.hpp, barrier_words.hpp,
// copy_words.hpp, wgmma_words.hpp, wait_words.hpp. `who` is "warp 3" or "thread 96 of CTA (1, 0, 0)"; `place`
// is one in shared memory, "`tile` + 32".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/fix.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::rules {

/// A law that is broken, in words. Its place is known to who found it.
struct RuleMessage {
    const Rule& rule;
    std::string text;
    Fix fix;
    FindingKind finding_kind = FindingKind::usual;
    std::string_view section = {};  ///< of the instruction, where the law is one of several; else the rule's
    std::vector<Fact> facts = {};   ///< what the message speaks of
};

/// The same, with what its message speaks of as data.
RuleMessage of(RuleMessage message, std::vector<Fact> facts);

/// The same, with the section of the instruction that breaks the law.
RuleMessage cited(RuleMessage message, std::string_view section);

/// All findings are made here: severity and section are the rule's.
Diagnostic finding(RuleMessage message, Where where, std::vector<Note> notes = {});

/// "line 41", or "line 41 of kit.lua" in a finding of another file.
std::string line_of(Where where, Where from);
/// "before line 41", the finding's own, or "before it" where no line is known.
std::string before(Where where);
/// from: where the finding is
std::string after(Where where, Where from);
/// "after line 3 and before line 5", of two accesses, of which the second is found.
std::string between(Where first, Where second);

}  // namespace wgrun::rules
