#include "ptx/unread.hpp"

#include <algorithm>
#include <initializer_list>

namespace wgrun::ptx {
namespace {

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
    return std::ranges::any_of(beginnings, [&](std::string_view b) { return text.starts_with(b); });
}

}  // namespace

bool writes_nothing(std::string_view opcode) {
    return begins_with_any(
               opcode,
               {"st.",          "st ",           "red",           "bar",          "membar",    "fence",
                "cp.",          "prefetch",      "trap",          "brkpt",        "nanosleep", "pmevent",
                "discard",      "applypriority", "wgmma",         "tensormap",    "brx",       "sust",
                "sured",        "setmaxnreg",    "griddep",       "stackrestore", "call",      "multimem.st",
                "multimem.red", "mbarrier.init", "mbarrier.inval"}) &&
           !begins_with_any(opcode, {"barrier.cta.red", "barrier.red", "bar.red", "redux"});
}

isa::Reach reach_of(std::string_view opcode, bool address) {
    // Parameters and local memory are nobody else's.
    if (begins_with_any(opcode, {"ld.param", "st.param", "ld.local", "st.local", "ld.const", "nanosleep",
                                 "cvta", "prefetch", "pmevent", "isspacep", "activemask"}))
        return isa::Reach::registers;
    if (begins_with_any(opcode,
                        {"ld", "st.", "atom", "red.", "multimem.", "tex", "tld4", "suld", "sust", "sured"}) &&
        !begins_with_any(opcode, {"st.async", "red.async", "st.bulk"}))
        return isa::Reach::memory;
    const bool meets =
        begins_with_any(opcode, {"vote", "shfl", "match", "elect", "redux", "mma", "wmma", "ldmatrix"});
    if (meets) return isa::Reach::registers;
    return address || writes_nothing(opcode) || opcode.starts_with("mbarrier") || opcode.starts_with("bar")
               ? isa::Reach::anything
               : isa::Reach::registers;
}

}  // namespace wgrun::ptx
