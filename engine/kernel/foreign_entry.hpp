// An entry of a PTX text as the origin of a kernel.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "check/evidence.hpp"
#include "kernel/gpu_run.hpp"
#include "kernel/module_memory.hpp"
#include "ptx/lower.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {

/// Returns what is wrong with a kernel that was read from a text, by the rules that need no launch, in
/// the words for its author. part: of the runs that a kernel alone gets, where a text has many.
std::vector<Diagnostic> foreign_findings(const ptx::Module& module, const ptx::Lowered& lowered,
                                         const Assumptions& given = {}, double part = 1);
/// Returns what the text leaves to the launch, and proofs depend on.
std::optional<check::OpenShape> open_shape(const ptx::Lowered& lowered);

/// Returns what is wrong with a script's kernel that was translated from PTX, by the rules that need no
/// launch.
std::vector<Diagnostic> translated_findings(const Program& program);
/// Makes a warning of a finding in such a kernel that is none but a warning in the text.
void tell_translated(Diagnostic& finding);

/// Makes of a finding at a line of the text what the text's author reads: its fix in PTX, the lines of the
/// source, and a warning where compilers rely on more than the ISA promises.
void tell(const ptx::Module& module, Diagnostic& finding);

/// The launch that shows a finding has the numbers that are given.
void add_numbers(const Program& program, const Assumptions& given, Diagnostic& finding);

/// Adds to a finding the lines of the source that it comes from.
void name_sources(const ptx::Module& module, Diagnostic& finding);

/// Immutable.
class ForeignEntry {
  public:
    /// `function` is one of the module's.
    ForeignEntry(std::shared_ptr<const ptx::Module> module, std::size_t function,
                 std::shared_ptr<ModuleMemory> memory)
        : module_(std::move(module)), function_(function), memory_(std::move(memory)) {}

    const ptx::Module& module() const { return *module_; }
    /// The variables of the module, as the simulator has them.
    ModuleMemory& memory() const { return *memory_; }
    const std::string& text() const { return module_->text(); }
    std::string name() const { return std::string(module_->at(function().name)); }
    /// Returns the version of PTX that the text asks for, "8.0".
    std::string version() const;
    /// Returns the place of each line of the text.
    std::vector<Where> lines() const;
    /// Returns whether the text says how many CTAs a cluster has.
    bool tells_cluster() const;
    Dim3 cluster() const;  ///< that the text requires
    /// Returns whether a launch counts clusters, and not CTAs, in its grid (.blocksareclusters, PTX
    /// ISA 11.4.4).
    bool counts_clusters() const { return directive(".blocksareclusters") != nullptr; }

    /// Returns what a report of the assembler on it is about.
    ForeignAssembly assembly() const;

    /// Adds to an error of the simulator the instruction that it does not know, as its line has it.
    void name_instruction(Diagnostic& error) const;

    /// Returns what a launch adds to the text. Throws ArgumentError where it contradicts the text, or leaves
    /// open what the text does, too.
    ptx::LaunchFacts facts(const RunOptions& options) const;
    /// Throws ArgumentError where the block or the cluster of a launch contradicts the text.
    static void agree(const ptx::Module& module, const ptx::Function& function, const RunOptions& options);
    /// Throws CheckError for names that nothing declares.
    ptx::Lowered lower(const ptx::LaunchFacts& facts) const;

  private:
    const ptx::Function& function() const { return module_->functions[function_]; }
    const ptx::Directive* directive(std::string_view name) const { return find(*module_, function(), name); }
    static const ptx::Directive* find(const ptx::Module& module, const ptx::Function& function,
                                      std::string_view name);

    std::shared_ptr<const ptx::Module> module_;
    std::size_t function_;
    std::shared_ptr<ModuleMemory> memory_;
};

}  // namespace wgrun
