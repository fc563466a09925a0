#include "bindings/cli/verdicts.hpp"

#include <nlohmann/json.hpp>

namespace wgrun::cli {

nlohmann::ordered_json verdicts_as_json(std::span<const Verdict> verdicts) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Verdict& verdict : verdicts) {
        nlohmann::ordered_json& one = out.emplace_back();
        one["property"] = row_of(verdict.property).id;
        one["verdict"] = to_string(verdict.kind);
        if (verdict.kind == Verdict::Kind::proved) {
            one["domain"] = verdict.domain;
            continue;
        }
        one["reason"] = verdict.reason;
        if (verdict.where) {
            one["file"] = verdict.where.file;
            one["line"] = verdict.where.line;
        }
        if (!verdict.assumption.empty()) one["assumption"] = verdict.assumption;
    }
    return out;
}

}  // namespace wgrun::cli
