#include "wgrun/export.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit/emit.hpp"
#include "export/folder.hpp"
#include "export/manifest.hpp"
#include "export/sources.hpp"
#include "kernel/assembler_notes.hpp"
#include "program/printing.hpp"

namespace wgrun {
namespace {

using exporting::Assembled;
using exporting::Bundle;
using exporting::Facts;

/// The cubin, or nothing with the reason in `assembled`.
std::optional<gpu::Cubin> assemble(const emit::Text& ptx, const Program& program, const std::string& entry,
                                   Assembled& assembled) {
    try {
        gpu::Cubin cubin = gpu::ptxas_assemble(ptx.text);
        for (const gpu::FunctionReport& function : cubin.log.functions)
            if (function.name == entry) assembled.report = function;
        return cubin;
    } catch (gpu::CompileError& error) {
        error.finding().where = place_of_error(error.log(), ptx.lines, program);
        throw;
    } catch (const EnvironmentError& error) {
        if (error.code() != "ENOENT") throw;
        assembled.missing = error.what();
        return std::nullopt;
    }
}

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Exported make(const Export& wanted) {
    Kernel& kernel = *wanted.kernel;
    const std::optional<Kernel::TextLaunch> text = kernel.text_launch();  // which fits the program
    const Program& program = kernel.program();
    refuse_messages(program, "an exported kernel");
    check_launch_rule(program, wanted.rule);
    const std::string& checked = kernel.ptx();  // throws where the checker found an error
    const emit::Text ptx = text ? emit::Text{checked, {}} : emit::ptx(program);
    const Facts facts = exporting::facts_of(program, wanted.rule, text);
    Assembled assembled;
    const std::optional<gpu::Cubin> cubin = assemble(ptx, program, facts.entry, assembled);
    const std::span<const std::byte> image =
        cubin ? std::span(cubin->image) : std::as_bytes(std::span(ptx.text));

    Exported made;
    auto& files = made.files;
    const auto add = [&](std::string_view ending, std::string content) {
        files.push_back({fmt::format("{}.{}", program.name(), ending), std::move(content)});
    };
    add("ptx", ptx.text);
    if (cubin) add("cubin", text_of(cubin->image));
    if (!text) add("cu", exporting::runtime::source(facts));
    add("h", exporting::driver::header(facts));
    add("c", exporting::driver::source(facts, image, !cubin));
    add("json", exporting::manifest(facts, assembled, files));
    made.name = program.name();
    if (assembled.report) made.registers = assembled.report->registers;
    made.no_cubin = assembled.missing;
    return made;
}

}  // namespace

void check_launch_rule(const Program& program, const LaunchRule& rule) {
    const auto fail = [&](const std::string& what) {
        throw ArgumentError(fmt::format("kernel {}, launch rule: {}", program.name(), what));
    };
    const auto find = [&](const std::string& name) -> const Param& {
        const auto found = std::ranges::find(program.params(), name, &Param::name);
        if (found == program.params().end()) fail(fmt::format("there is no parameter `{}`", name));
        return *found;
    };
    for (const auto& [name, note] : rule.notes) {
        find(name);
        const auto breaks = [](unsigned char c) { return c < ' ' || c == '\\'; };  // it becomes a comment
        if (std::ranges::any_of(note, breaks) || note.find("*/") != std::string::npos)
            fail(fmt::format("the note about `{}` must be one line without \\ and */", name));
    }
    if (!rule.tiles) return;
    for (const std::string& name : {rule.tiles->rows, rule.tiles->columns})
        if (find(name).type != isa::Type::u32) fail(fmt::format("`{}` is not u32", name));
    if (rule.tiles->rows == rule.tiles->columns)
        fail(fmt::format("rows and columns are the same parameter, `{}`", rule.tiles->rows));
    constexpr std::int64_t most = 0xFFFFFFFF;
    for (const std::int64_t number : {rule.tiles->m, rule.tiles->n, rule.tiles->parts})
        if (number < 1 || number > most) fail(fmt::format("m, n and parts must be 1 to {}", most));
    if (program.cluster().y != 1 || program.cluster().z != 1) fail("clusters must extend along x only");
}

std::vector<Exported> exported(std::span<const Export> kernels) {
    std::vector<Exported> out;
    for (const Export& wanted : kernels) {
        const std::string& name = wanted.kernel->program().name();
        const auto same = std::ranges::find(out, name, &Exported::name);
        if (same == out.end()) {
            out.push_back(make(wanted));
        } else if (same->files.front().content != wanted.kernel->ptx()) {
            throw ArgumentError(
                fmt::format("two different kernels are called `{}`: their files would have the same names",
                            name),
                "give each a name of its own");
        }
    }
    return out;
}

void write_exported(std::span<const Exported> kernels, const std::filesystem::path& folder) {
    std::vector<Bundle> bundles;
    for (const Exported& kernel : kernels)
        bundles.push_back({std::span(kernel.files).first(kernel.files.size() - 1), kernel.files.back()});
    exporting::place(folder, bundles);
}

std::vector<Exported> export_kernels(std::span<const Export> kernels, const std::filesystem::path& folder) {
    std::vector<Exported> out = exported(kernels);
    write_exported(out, folder);
    return out;
}

}  // namespace wgrun
