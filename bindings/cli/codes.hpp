// wgrun explain CODE: notes of ptxas, and errors of CUDA's driver and runtime.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace wgrun::cli {

struct ExplainedCode {
    std::string text;
    nlohmann::ordered_json json;
};

/// What a code means (C7510, 700, CUDA_ERROR_ILLEGAL_ADDRESS, cudaErrorIllegalAddress); nothing: it is none.
std::optional<ExplainedCode> explain_code(std::string_view word);

}  // namespace wgrun::cli
