// Where the metadata of a sparse A come from: codes that are known are judged, and what comes from global
// memory as it is, through registers and shared memory, is data (PTX ISA 9.7.14.6, 9.7.15.6.1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "isa/sparse.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::check {

/// All words of what a parameter points to are codes of that kind.
struct LegalWords {
    int param;
    isa::Codes codes;
    std::string text;  ///< "every word of E is legal sparse metadata of bf16"
};

struct MetadataProof {
    std::optional<Gap> gap{};         ///< nothing: they are legal
    std::vector<LegalWords> words{};  ///< if these are

    std::string assumption() const;  ///< in words; empty: whatever the data are
};

/// The lanes that the selector names have legal codes if all lanes have. Thread-safe.
MetadataProof prove_metadata(const Program& program, Made made);

}  // namespace wgrun::check
