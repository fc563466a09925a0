#include "kernel/foreign_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ptx/heading.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/device_tensor.hpp"
#include "wgrun/foreign.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

Dim3 extents_of(const ptx::Directive& directive) {
    std::array<std::uint32_t, 3> out{1, 1, 1};
    for (std::size_t i = 0; i < std::min(out.size(), directive.numbers.size()); ++i)
        out[i] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(directive.numbers[i], 1, INT32_MAX));
    return {out[0], out[1], out[2]};
}

std::string text_of(Dim3 extents) { return fmt::format("{}, {}, {}", extents.x, extents.y, extents.z); }

Dtype dtype_of(const TensorView& view) {
    return std::visit([](const auto* tensor) { return tensor->dtype(); }, view.tensor);
}

ptx::LaunchFacts::Passed passed(const Argument& argument) {
    if (const auto* view = std::get_if<TensorView>(&argument))
        return view->box ? ptx::LaunchFacts::Passed{.box = view->box}
                         : ptx::LaunchFacts::Passed{.pointee = dtype_of(*view)};
    if (const auto* tensor = std::get_if<Tensor*>(&argument)) return {.pointee = (*tensor)->dtype()};
    if (const auto* tensor = std::get_if<DeviceTensor*>(&argument)) return {.pointee = (*tensor)->dtype()};
    return {.structure = std::holds_alternative<Structure>(argument)};
}

}  // namespace

const ptx::Directive* ForeignEntry::find(const ptx::Module& module, const ptx::Function& function,
                                         std::string_view name) {
    const auto& all = function.directives;
    const auto found = std::ranges::find_if(
        all, [&](const ptx::Directive& directive) { return module.at(directive.name) == name; });
    return found == all.end() ? nullptr : &*found;
}

std::string ForeignEntry::version() const {
    for (const ptx::Directive& directive : module_->directives) {
        if (module_->at(directive.name) != ".version") continue;
        const std::string_view text = module_->at(directive.text);
        return std::string(text.substr(std::min(text.find_first_of("0123456789"), text.size())));
    }
    return {};
}

std::vector<Where> ForeignEntry::lines() const {
    const std::string& text = module_->text();
    std::vector<Where> out;
    const Where first = Where::at(module_->file, 1);
    const auto count = std::ranges::count(text, '\n') + (text.ends_with('\n') ? 0 : 1);
    for (std::ptrdiff_t i = 1; i <= count; ++i) out.push_back({first.file, static_cast<int>(i)});
    return out;
}

ForeignAssembly ForeignEntry::assembly() const {
    ForeignAssembly out{name(), {}, {}, false};
    std::vector<std::string_view> declared;
    for (const ptx::Function& other : module_->functions) {
        if (other.entry && other.body && &other != &function())
            out.others.emplace_back(module_->at(other.name));
        if (!other.entry && !other.body) declared.push_back(module_->at(other.name));
    }
    for (std::uint32_t i = function().first; i < function().last; ++i) {
        const ptx::Statement& statement = module_->statements[i];
        if (statement.kind != ptx::Statement::Kind::instruction ||
            !module_->at(statement.name).starts_with("call"))
            continue;
        out.calls.push_back(module_->where(statement.text));
        for (std::uint32_t at = statement.operands; at != ptx::nothing; at = module_->nodes[at].next)
            out.linked |= std::ranges::find(declared, module_->at(module_->nodes[at].text)) != declared.end();
    }
    return out;
}

bool ForeignEntry::tells_cluster() const { return directive(".reqnctapercluster") != nullptr; }

Dim3 ForeignEntry::cluster() const {
    const ptx::Directive* given = directive(".reqnctapercluster");
    return given == nullptr ? Dim3{} : extents_of(*given);
}

namespace {

[[noreturn]] void refuse(std::string_view kernel, const std::string& what, const std::string& fix = {}) {
    throw rules::refusal(rules::WG_FORM_05, fmt::format("kernel {}: {}", kernel, what), fix);
}

}  // namespace

void ForeignEntry::agree(const ptx::Module& module, const ptx::Function& function,
                         const RunOptions& options) {
    const std::string_view name = module.at(function.name);
    const ptx::Directive* required = find(module, function, ".reqntid");
    const ptx::Directive* most = find(module, function, ".maxntid");
    if (options.block && required != nullptr && extents_of(*required) != *options.block)
        refuse(name, fmt::format("block {{{}}}: the text requires {} (.reqntid)", text_of(*options.block),
                                 text_of(extents_of(*required))));
    if (options.block && most != nullptr && options.block->volume() > extents_of(*most).volume())
        refuse(name, fmt::format("block {{{}}}: the text allows {} at most (.maxntid)",
                                 text_of(*options.block), count_of(extents_of(*most).volume(), "thread")));
    const ptx::Directive* clusters = find(module, function, ".reqnctapercluster");
    if (options.cluster && clusters != nullptr && extents_of(*clusters) != *options.cluster)
        refuse(name, fmt::format("cluster {{{}}}: the text requires {} (.reqnctapercluster)",
                                 text_of(*options.cluster), text_of(extents_of(*clusters))));
}

ptx::LaunchFacts ForeignEntry::facts(const RunOptions& options) const {
    const auto refuse = [&](const std::string& what, const std::string& fix = {}) {
        wgrun::refuse(name(), what, fix);
    };
    agree(*module_, function(), options);
    ptx::LaunchFacts out;
    out.block = options.block;
    out.cluster = options.cluster;
    out.dynamic_shared = options.shared.value_or(0);
    if (!options.block && directive(".reqntid") == nullptr && directive(".maxntid") == nullptr)
        refuse("the text does not say how many threads a CTA has", "block = 128, or { x, y, z }");
    if (!options.cluster && directive(".reqnctapercluster") == nullptr &&
        directive(".explicitcluster") != nullptr)
        refuse("the text leaves the size of its clusters to the launch (.explicitcluster)", "cluster = 2");
    if (options.shared && (*options.shared < 0 || *options.shared > max_shared_bytes))
        refuse(fmt::format("{} of shared memory: 0 to {} are possible", count_of(*options.shared, "byte"),
                           max_shared_bytes));
    for (const Argument& argument : options.args) out.params.push_back(passed(argument));
    return out;
}

void ForeignEntry::name_instruction(Diagnostic& error) const {
    if (error.where.line < 1) return;
    std::string_view line = module_->line_text(error.where.line);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    error.message =
        fmt::format("a thread has reached an instruction that the simulator does not know: {}", line);
    error.fix = "run it on a GPU";
    name_sources(*module_, error);
}

ptx::Lowered ForeignEntry::lower(const ptx::LaunchFacts& facts) const {
    ptx::Lowered out = ptx::lower(*module_, function(), facts);
    if (!out.errors.empty()) throw CheckError(out.errors);
    for (const ptx::ModuleVariable& variable : out.variables) memory_->declare(variable.name, variable.bytes);
    return out;
}

ForeignModule::ForeignModule(std::string file, std::string text) {
    ptx::Parsed parsed = ptx::parse(std::move(file), std::move(text));
    if (std::optional<Diagnostic> chip = ptx::later_chip(parsed.module))
        parsed.errors.push_back(std::move(*chip));
    if (!parsed.errors.empty()) throw CheckError(std::move(parsed.errors));
    for (const ptx::Function& function : parsed.module.functions)
        if (function.entry && function.body) names_.emplace_back(parsed.module.at(function.name));
    module_ = std::make_shared<const ptx::Module>(std::move(parsed.module));
    memory_ = std::make_shared<ModuleMemory>();
}

Kernel ForeignModule::kernel(std::string_view name) const {
    for (std::size_t i = 0; i < module_->functions.size(); ++i) {
        const ptx::Function& function = module_->functions[i];
        if (function.entry && function.body && module_->at(function.name) == name)
            return Kernel(std::make_shared<const ForeignEntry>(module_, i, memory_));
    }
    const std::vector<std::string_view> known(names_.begin(), names_.end());
    throw ArgumentError(fmt::format("{} has no kernel `{}`{}", module_->file, name, nearest(name, known)));
}

}  // namespace wgrun
