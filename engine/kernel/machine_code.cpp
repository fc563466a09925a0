#include "kernel/machine_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "check/check.hpp"
#include "gpu/disassemble.hpp"
#include "kernel/foreign_entry.hpp"
#include "ptx/lower.hpp"
#include "ptx/read.hpp"
#include "sass/kept.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/printable.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

/// Of a file that can be read again; of others nothing.
std::string contents(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) return {};
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The first rule of wgmma's registers and groups that the program breaks itself.
std::string broken_by(const Program& program) {
    for (const Diagnostic& finding : check::check(program, check::Made::by_compiler)) {
        const Rule* rule = find_rule(finding.rule);
        if (rule != nullptr && finding.severity == Severity::error &&
            (rule->property == Property::registers || rule->property == Property::groups))
            return fmt::format("{} in line {}", finding.rule, finding.where.line);
    }
    return {};
}

bool has_lines(const sass::Function& function) {
    return std::ranges::any_of(function.instructions,
                               [](const sass::Instruction& one) { return one.line > 0; });
}

KeptKernel judged(std::string name, Where where, const sass::Function& function, sass::Kept kept) {
    KeptKernel out{std::move(name),
                   where,
                   function.instructions.size(),
                   kept.products,
                   kept.events,
                   kept.values,
                   {},
                   {},
                   {}};
    for (const int line : kept.product_lines) out.places.push_back({where.file, line});
    out.verdict = verdict(Property::kept, kept.findings, kept.gaps, "all launches");
    out.findings = std::move(kept.findings);
    return out;
}

KeptKernel undecided(std::string name, Where where, std::string reason, std::string assumption) {
    KeptKernel out;
    out.kernel = std::move(name);
    out.where = where;
    out.verdict = {Property::kept, Verdict::Kind::undecided, {},
                   where,          std::move(reason),        std::move(assumption)};
    return out;
}

KeptKernel kept_of_entry(const ptx::Module& module, const ptx::Function& entry, const sass::Listing& listing,
                         const std::vector<int>& starts, bool performance) {
    ptx::LaunchFacts facts;
    facts.whole = true;
    const ptx::Lowered lowered = ptx::lower(module, entry, facts);
    if (!lowered.errors.empty()) throw CheckError(lowered.errors);
    const auto found = std::ranges::find(listing.functions, lowered.name, &sass::Function::name);
    if (found == listing.functions.end())
        return undecided(lowered.name, lowered.where, "there is no machine code of it", {});
    sass::Function function = *found;
    const auto start = std::ranges::upper_bound(starts, lowered.where.line);
    if (start != starts.begin())
        for (sass::Instruction& one : function.instructions)
            if (one.line > 0) one.line += *std::prev(start);
    if (!has_lines(function))
        return undecided(lowered.name, lowered.where, "the machine code does not name lines of the PTX",
                         "ptxas -lineinfo");
    sass::Context known;
    known.performance = performance;
    known.one_shared_variable = std::ranges::count_if(module.variables, [&](const ptx::Variable& variable) {
                                    return module.at(variable.space) == ".shared";
                                }) == 1;
    known.ignores_setmaxnreg = static_cast<bool>(lowered.unknown.setmaxnreg) || lowered.unknown.registers;
    sass::Kept kept = sass::compare_with_program(function, lowered.program, known);
    const auto about_registers = [](const Diagnostic& finding) {
        return breaks(finding, rules::WG_SASS_01) || breaks(finding, rules::WG_SASS_08);
    };
    if (std::ranges::any_of(kept.findings, about_registers)) {
        known.broken = broken_by(lowered.program);
        if (!known.broken.empty()) kept = sass::compare_with_program(function, lowered.program, known);
    }
    if (lowered.unknown.calls)
        kept.gaps.push_back(
            {Property::kept, lowered.where, "what the functions do that it calls is not followed", {}});
    for (Diagnostic& finding : kept.findings) name_sources(module, finding);
    return judged(lowered.name, lowered.where, function, std::move(kept));
}

/// Other chips have other instructions.
void expect_chip(const std::string& path, const sass::Listing& listing) {
    if (listing.target.empty() || listing.target.starts_with("sm_90")) return;
    throw EnvironmentError("EIO",
                           fmt::format("{} is machine code for {}: only that of sm_90 and sm_90a is read",
                                       path, printable(listing.target)),
                           "ptxas -arch=sm_90a");
}

}  // namespace

sass::Listing machine_code_of(std::string_view ptx, std::span<const std::string> options,
                              const std::atomic<bool>* stop) {
    std::vector<std::string> all{"-lineinfo"};
    all.insert(all.end(), options.begin(), options.end());
    const gpu::Cubin cubin = gpu::ptxas_assemble(ptx, all, std::chrono::minutes(5), stop);
    return sass::read_listing(gpu::disassemble(cubin.image, stop, true));
}

sass::Listing machine_code_in(const std::string& path, const std::atomic<bool>* stop) {
    if (std::string text = contents(path); sass::is_listing(text)) {
        sass::Listing listing = sass::read_listing(std::move(text));
        expect_chip(path, listing);
        const auto cut = std::ranges::find_if(listing.functions, sass::is_cut);
        if (cut == listing.functions.end()) return listing;
        throw EnvironmentError("EIO", fmt::format("{} ends in the middle of {}", path, cut->name),
                               "the whole text that nvdisasm prints");
    }
    std::string all;
    for (const std::vector<std::byte>& cubin : gpu::cubins_of(path, stop))
        all += gpu::disassemble(cubin, stop, true);
    sass::Listing listing = sass::read_listing(std::move(all));
    expect_chip(path, listing);
    return listing;
}

bool has_machine_code_alone(const std::string& path) {
    return gpu::is_cubin(path) || sass::is_listing(contents(path));
}

bool carries_machine_code(const std::string& path) { return gpu::is_binary(path) && !gpu::is_cubin(path); }

std::vector<KeptKernel> kept_of_text(const std::string& file, std::string text, const sass::Listing& listing,
                                     const std::vector<int>& starts, bool performance) {
    const ptx::Parsed parsed = ptx::parse(file, std::move(text));
    if (!parsed.errors.empty()) throw CheckError(parsed.errors);
    std::vector<KeptKernel> out;
    for (const ptx::Function& function : parsed.module.functions)
        if (function.entry && function.body)
            out.push_back(kept_of_entry(parsed.module, function, listing, starts, performance));
    return out;
}

std::vector<KeptKernel> kept_alone(const std::string& file, const sass::Listing& listing) {
    std::vector<KeptKernel> out;
    const Where where = Where::at(file, 1);
    for (const sass::Function& function : listing.functions) {
        sass::Kept kept = sass::check_alone(function, where);
        kept.gaps.push_back({Property::kept, where, "there is no PTX to compare it with",
                             "give the PTX, and the cubin behind it"});
        out.push_back(judged(function.name, where, function, std::move(kept)));
    }
    return out;
}

}  // namespace wgrun
