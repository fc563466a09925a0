// Where the metadata of a sparse A come from: codes that are known are judged, and what comes from global
// memory as it is, through registers and shared memory, is data (PTX ISA 9.7.14.6, 9.7.15.6.1).
#pragma once

#include <optional>
#include <string>

#include "check/check.hpp"
#include "check/outline.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::check {

struct MetadataProof {
    std::optional<Gap> gap{};  ///< nothing: they are legal
    std::string assumption{};  ///< if this holds; empty: whatever the data are
};

/// The lanes that the selector names have legal codes if all lanes have. Thread-safe.
MetadataProof prove_metadata(const Outline& outline, Made made);

}  // namespace wgrun::check
