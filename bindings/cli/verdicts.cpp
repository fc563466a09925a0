#include "bindings/cli/verdicts.hpp"

#include <nlohmann/json.hpp>

#include "bindings/cli/cli.hpp"
#include "gpu/sha256.hpp"
#include "wgrun/version.hpp"

namespace wgrun::cli {

Input input_of(const std::string& file, std::string_view text) { return {file, gpu::sha256(text)}; }

void add_inputs(nlohmann::ordered_json& json, std::span<const Input> inputs) {
    json["version"] = version();
    json["inputs"] = nlohmann::ordered_json::array();
    for (const Input& input : inputs)
        json["inputs"].push_back({{"file", input.file}, {"sha256", input.sha256}});
}

nlohmann::ordered_json verdicts_as_json(std::span<const Verdict> verdicts) {
    return nlohmann::ordered_json::parse(to_json(verdicts));
}

int strict_code(std::span<const Verdict> verdicts, int code) {
    for (const Verdict& verdict : verdicts) {
        if (verdict.kind == Verdict::Kind::refuted) return Exit::failed;
        if (verdict.kind == Verdict::Kind::undecided && code == Exit::ok) code = Exit::undecided;
    }
    return code;
}

}  // namespace wgrun::cli
