#include "bindings/cli/verdicts.hpp"

#include <nlohmann/json.hpp>

#include "bindings/cli/cli.hpp"

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

int strict_code(std::span<const Verdict> verdicts, int code) {
    for (const Verdict& verdict : verdicts) {
        if (verdict.kind == Verdict::Kind::refuted) return Exit::failed;
        if (verdict.kind == Verdict::Kind::undecided && code == Exit::ok) code = Exit::undecided;
    }
    return code;
}

}  // namespace wgrun::cli
