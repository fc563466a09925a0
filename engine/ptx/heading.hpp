// What a text says at its beginning: the version of PTX that it is written in, and the chip that it is for
// (PTX ISA 11.1).
#pragma once

#include <optional>
#include <string_view>

#include "ptx/module.hpp"
#include "wgrun/form.hpp"

namespace wgrun::ptx {

/// Of a text that says nothing: nothing that it has is missing.
struct Heading {
    isa::PtxVersion version{INT32_MAX, 0};
    isa::Arch arch{90, true};
    Where version_at, arch_at;
    /// A chip after sm_90a, as the text spells it, of which there are no rules; empty: it is none.
    std::string_view later_chip;
};

Heading heading_of(const Module& module);

/// The version that has the chip. Of those before sm_90 nothing is known.
isa::PtxVersion first_version(isa::Arch arch);

/// Returns the error of a module for a chip of which there are no rules.
std::optional<Diagnostic> later_chip(const Module& module);

}  // namespace wgrun::ptx
