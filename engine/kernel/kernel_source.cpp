#include "kernel/kernel_source.hpp"

#include <fmt/format.h>

#include <utility>

namespace wgrun {

KernelSource::KernelSource(Program program) {
    ptx::Lowered lowered;
    lowered.program = std::move(program);
    script_ = std::make_shared<const ptx::Lowered>(std::move(lowered));
}

KernelSource::KernelSource(std::shared_ptr<const ForeignEntry> entry)
    : entry_(std::move(entry)), lines_(entry_->lines()) {}

check::Made KernelSource::made() const {
    return entry_ || script_->program.translated() ? check::Made::by_compiler : check::Made::by_author;
}

void KernelSource::refuse_shape() const {
    throw ArgumentError(
        fmt::format("kernel {}: block, cluster and shared are the launch's where a kernel was "
                    "read from PTX; this one has its own",
                    entry_ ? entry_->name() : script_->program.name()));
}

ptx::LaunchFacts KernelSource::facts(const RunOptions& options) const {
    if (entry_) return entry_->facts(options);
    if (options.block || options.cluster || options.shared) refuse_shape();
    return {};
}

RunOptions KernelSource::in_ctas(RunOptions options) const {
    if (!entry_ || !entry_->counts_clusters()) return options;
    const Dim3 cluster = entry_->cluster();
    options.grid = {options.grid.x * cluster.x, options.grid.y * cluster.y, options.grid.z * cluster.z};
    return options;
}

std::shared_ptr<const ptx::Lowered> KernelSource::lower(const ptx::LaunchFacts& facts) const {
    return entry_ ? std::make_shared<const ptx::Lowered>(entry_->lower(facts)) : script_;
}

std::vector<Diagnostic> KernelSource::laws(const ptx::Lowered& lowered) const {
    if (entry_) return foreign_findings(entry_->module(), lowered);
    return lowered.program.translated() ? translated_findings(lowered.program)
                                        : check::check(lowered.program);
}

std::optional<check::OpenShape> KernelSource::open_shape(const ptx::Lowered& lowered) const {
    return entry_ ? wgrun::open_shape(lowered) : std::nullopt;
}

void KernelSource::tell(std::vector<Diagnostic>& findings) const {
    if (!entry_) return;
    for (Diagnostic& finding : findings) wgrun::tell(entry_->module(), finding);
}

}  // namespace wgrun
