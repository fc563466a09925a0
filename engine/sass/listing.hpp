// The text that nvdisasm prints of a cubin (-c -hex, with -g or -gp), read into instructions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sass/instruction.hpp"

namespace wgrun::sass {

/// The functions of a cubin. Their instructions refer to the text, which a copy of the listing shares.
struct Listing {
    std::shared_ptr<const std::string> text;
    std::string_view target;  ///< "sm_90a", as far as the text says it
    std::vector<Function> functions;
};

/// Reads a text of nvdisasm. Lines that are no instructions, labels or places are passed over; NOP at the end
/// of a function is padding, and left out.
Listing read_listing(std::string text);

/// Whether the text of a function was cut: it goes on behind its last instruction, or branches to a label
/// that is not there.
bool is_cut(const Function& function);

/// Whether a text looks like one of nvdisasm.
bool is_listing(std::string_view text);

}  // namespace wgrun::sass
