// Entries of a PTX text as a script (wgrun lua).
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "emit/lua.hpp"
#include "kernel/foreign_entry.hpp"
#include "kernel/symbol_recovery.hpp"
#include "wgrun/foreign.hpp"

namespace wgrun {
namespace {

emit::LuaNotes notes_of(const ptx::Module& module, ptx::Lowered& kernel) {
    emit::LuaNotes out;
    out.names = std::move(kernel.register_names);
    for (ptx::UnreadText& text : kernel.texts)
        out.opaque.push_back({std::move(text.text), std::move(text.registers), text.written, text.replaces});
    const bool tells = !module.locations.empty();
    if (tells)
        out.source = [&module](int line) {
            std::string text;
            for (const Where& where : ptx::sources_of(module, line))
                text += fmt::format("{}{}:{}", text.empty() ? "" : ", inlined at ", where.file.view(),
                                    where.line);
            return text;
        };
    // With types, of C++ (Itanium's mangled names begin with _Z).
    const std::unique_ptr<char, decltype(&std::free)> readable(
        kernel.name.starts_with("_Z") ? abi::__cxa_demangle(kernel.name.c_str(), nullptr, nullptr, nullptr)
                                      : nullptr,
        &std::free);
    if (readable != nullptr)
        out.heading.emplace_back(readable.get());
    else if (kernel.name != kernel.program.name())
        out.heading.push_back(kernel.name);
    if (kernel.unknown.threads)
        out.heading.push_back(fmt::format("The text does not say how many threads a CTA has: {} are assumed.",
                                          kernel.program.threads()));
    if (kernel.unknown.cluster)
        out.heading.emplace_back("The launch decides how many CTAs a cluster has: one is assumed.");
    return out;
}

}  // namespace

TranslatedText ForeignModule::script(const std::vector<std::string>& names, const RunOptions* launch) const {
    TranslatedText out;
    out.text = fmt::format("-- {}, as wgrun lua has translated it.\nlocal wg = require \"wgrun\"\n\n{}",
                           module_->file, emit::lua_helpers());
    std::string list;
    for (const std::string& name : names) {
        (void)kernel(name);  // refuses what it does not have
        const auto function = std::ranges::find_if(module_->functions, [&](const ptx::Function& one) {
            return one.entry && one.body && module_->at(one.name) == name;
        });
        const ForeignEntry entry(module_, static_cast<std::size_t>(function - module_->functions.begin()),
                                 memory_);
        ptx::LaunchFacts facts = launch != nullptr ? entry.facts(*launch) : ptx::LaunchFacts();
        facts.whole = true;
        ptx::Lowered lowered = entry.lower(facts);
        emit::LuaNotes notes = notes_of(*module_, lowered);
        notes.variable = fmt::format("kernel_{}", &name - names.data() + 1);
        // The run is that of a program without what only who prints it needs.
        facts.whole = false;
        notes.meanings =
            recovered_symbols(lowered.program, seen_in_shared(entry.lower(facts).program), notes.names);
        notes.assumed = {lowered.unknown.threads, lowered.unknown.cluster};
        if (entry.counts_clusters()) {
            const std::string_view said =
                "a grid counts clusters in the text (.blocksareclusters), and CTAs here";
            notes.heading.emplace_back(said);
            out.remarks.push_back(fmt::format("{}: {}", name, said));
        }
        emit::LuaText text = emit::lua(lowered.program, notes);
        out.text += "\nlocal " + text.text;
        for (std::string& remark : text.remarks) out.remarks.push_back(fmt::format("{}: {}", name, remark));
        list += fmt::format("{}[\"{}\"] = {}", list.empty() ? "" : ", ", name, notes.variable);
    }
    out.text += fmt::format("\nreturn {{ {} }}\n", list);
    return out;
}

}  // namespace wgrun
