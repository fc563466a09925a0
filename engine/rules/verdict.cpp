#include "wgrun/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diag/json_writer.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

using enum Property;

constexpr std::array rows{
    PropertyRow{deadlock, "no-deadlock", "no deadlock",
                "Every wait for an mbarrier, a barrier or a value ends, and so does every loop."},
    PropertyRow{
        phases, "phases", "phases and arrivals",
        "Each mbarrier is initialised before its use, and each phase gets the arrivals that it expects "
        "and is waited for by its parity."},
    PropertyRow{copy_bytes, "copy-bytes", "bytes of copies",
                "The copies of a phase bring the bytes that it expects, and their operands are legal."},
    PropertyRow{registers, "wgmma-registers", "register order of wgmma",
                "Registers of a wgmma are ordered by wgmma.fence, and not touched while it runs."},
    PropertyRow{groups, "groups", "groups and lifetimes",
                "Each asynchronous operation is committed, and waited for before its thread ends."},
    PropertyRow{
        proxies, "proxy-order", "generic-to-async proxy order",
        "What threads write is made visible to the async proxy before that reads it, and the reverse."},
    PropertyRow{shared_races, "shared-races", "races in shared memory",
                "Two accesses of one byte of shared memory, of which one writes, are ordered; so it is in a "
                "cluster."},
    PropertyRow{
        global_races, "global-races", "races in global memory",
        "Two accesses of one byte of global memory, of which one writes, are ordered, also between CTAs."},
    PropertyRow{bounds, "bounds", "bounds",
                "Every access lies inside its memory, is aligned, and may write there."},
    PropertyRow{descriptors, "descriptors", "descriptors and tiles",
                "Each matrix descriptor and box fits the tile that lies there."},
    PropertyRow{initialisation, "initialisation", "initialisation",
                "Registers and memory are written before they are read."},
    PropertyRow{convergence, "convergence", "convergence",
                "The threads that execute an .aligned instruction come to it together."},
    PropertyRow{cluster_end, "cluster-end", "end of a cluster",
                "No CTA ends while another may access its shared memory."},
    PropertyRow{register_pool, "register-pool", "register pool",
                "setmaxnreg finds the registers that it asks for, in whole warpgroups."},
    PropertyRow{kept, "kept", "machine code",
                "The machine code keeps the products, the waits, the synchronisation and the stores of the "
                "program."},
};
static_assert(rows.size() == static_cast<std::size_t>(none));

/// "gemm.lua:57: the branch depends on a value in memory; --assume n=..."
std::string why(const Verdict& verdict) {
    std::string out = verdict.kind == Verdict::Kind::refuted ? "refuted: " : "undecided: ";
    if (verdict.where) out += fmt::format("{}:{}: ", verdict.where.file.view(), verdict.where.line);
    out += verdict.reason;
    if (!verdict.assumption.empty()) out += fmt::format(" ({})", verdict.assumption);
    return out;
}

void add(std::string& list, std::string_view item) {
    if (!list.empty()) list += ", ";
    list += item;
}

}  // namespace

std::span<const PropertyRow> properties() { return rows; }

const PropertyRow& row_of(Property property) { return rows.at(static_cast<std::size_t>(property)); }

std::string_view to_string(Verdict::Kind kind) {
    switch (kind) {
        case Verdict::Kind::proved: return "proved";
        case Verdict::Kind::refuted: return "refuted";
        case Verdict::Kind::undecided: break;
    }
    return "undecided";
}

Verdict verdict(Property property, std::span<const Diagnostic> findings, std::span<const Gap> gaps,
                std::string_view domain) {
    Verdict out;
    out.property = property;
    const auto refutes = [&](const Diagnostic& finding) {
        const Rule* rule = find_rule(finding.rule);
        return rule != nullptr && rule->property == property;
    };
    const auto gap = std::ranges::find(gaps, property, &Gap::property);
    if (const auto finding = std::ranges::find_if(findings, refutes); finding != findings.end()) {
        out.kind = Verdict::Kind::refuted;
        out.where = finding->where;
        out.reason = finding->rule;
    } else if (gap != gaps.end()) {
        out.where = gap->where;
        out.reason = gap->reason;
        out.assumption = gap->assumption;
    } else {
        out.kind = Verdict::Kind::proved;
        out.domain = domain;
    }
    return out;
}

std::vector<Verdict> verdicts(std::span<const Diagnostic> findings, std::span<const Gap> gaps,
                              std::string_view domain) {
    std::vector<Verdict> out;
    for (const PropertyRow& row : rows)
        if (row.property != kept) out.push_back(verdict(row.property, findings, gaps, domain));
    return out;
}

std::string to_text(std::string_view kernel, std::span<const Verdict> verdicts) {
    std::string but, domain;
    std::vector<std::pair<std::string, std::string>> reasons;  // reason, properties
    const auto proved = [](const Verdict& verdict) { return verdict.kind == Verdict::Kind::proved; };
    if (const auto first = std::ranges::find_if(verdicts, proved); first != verdicts.end())
        domain = first->domain;
    const auto note = [&](const std::string& reason, std::string_view title) {
        const auto same = std::ranges::find(reasons, reason, &std::pair<std::string, std::string>::first);
        if (same == reasons.end())
            reasons.emplace_back(reason, title);
        else
            add(same->second, title);
    };
    for (const Verdict& verdict : verdicts) {
        const std::string_view title = row_of(verdict.property).title;
        if (proved(verdict)) {
            std::string limits = verdict.domain == domain ? "" : fmt::format(" for {}", verdict.domain);
            if (!verdict.assumption.empty()) limits += fmt::format(" if {}", verdict.assumption);
            if (!limits.empty()) note("proved" + limits, title);
            continue;
        }
        add(but, title);
        note(why(verdict), title);
    }
    std::string out = fmt::format("{}: ", kernel);
    if (domain.empty())
        out += "nothing is proved";
    else
        out += fmt::format("proved for {}{}{}", domain, but.empty() ? "" : " but ", but);
    out += '\n';
    for (const auto& [reason, of] : reasons) out += fmt::format("  {}: {}\n", of, reason);
    return out;
}

std::string to_json(std::span<const Verdict> verdicts) {
    JsonWriter json;
    json.begin('[');
    for (const Verdict& verdict : verdicts) {
        json.begin('{');
        json.member("property", row_of(verdict.property).id);
        json.member("verdict", to_string(verdict.kind));
        if (verdict.kind == Verdict::Kind::proved) {
            json.member("domain", verdict.domain);
        } else {
            json.member("reason", verdict.reason);
            if (verdict.where) {
                json.member("file", verdict.where.file);
                json.member("line", verdict.where.line);
            }
        }
        if (!verdict.assumption.empty()) json.member("assumption", verdict.assumption);
        json.end('}');
    }
    json.end(']');
    return json.take();
}

}  // namespace wgrun
