// What an mbarrier has counted in a phase, for those who say why it does not complete.
#pragma once

#include "machine/mbarrier.hpp"
#include "rules/wait_words.hpp"

namespace wgrun::machine {

/// where(pc): the place of a step in the script.
template <class PlaceOf>
rules::Account account_of(const Mbarrier& mbarrier, const PlaceOf& where) {
    const auto place = [&](std::uint32_t pc) { return pc == no_pc ? Where() : where(pc); };
    return {mbarrier.expected() - mbarrier.pending(),
            mbarrier.expected(),
            mbarrier.added(),
            mbarrier.tx(),
            mbarrier.to_expect(),
            mbarrier.to_bring(),
            mbarrier.phase(),
            place(mbarrier.made().pc),
            place(mbarrier.arrived_at()),
            place(mbarrier.expected_at()),
            place(mbarrier.copied_at())};
}

}  // namespace wgrun::machine
