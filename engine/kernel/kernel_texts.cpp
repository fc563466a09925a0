#include "kernel/kernel_texts.hpp"

#include <utility>

#include "emit/emit.hpp"
#include "program/guarded.hpp"
#include "program/printing.hpp"

namespace wgrun {

KernelTexts::KernelTexts(const KernelSource& source, std::shared_ptr<const Program> program)
    : source_(source), program_(std::move(program)) {}

const std::shared_ptr<const Program>& KernelTexts::printing() {
    if (!printing_)
        printing_ =
            prints(*program_) ? std::make_shared<const Program>(wgrun::printing(*program_)) : program_;
    return printing_;
}

const std::string& KernelTexts::ptx() {
    if (source_.entry()) return source_.entry()->text();
    if (ptx_.empty()) {
        emit::Text text = emit::ptx(*printing());
        ptx_ = std::move(text.text);
        ptx_lines_ = std::move(text.lines);
    }
    return ptx_;
}

const std::vector<Where>& KernelTexts::ptx_lines() const {
    return source_.entry() ? source_.lines() : ptx_lines_;
}

const std::string& KernelTexts::cuda() {
    if (cuda_.empty()) {
        emit::Text text = emit::cuda(*printing());
        cuda_ = std::move(text.text);
        cuda_lines_ = std::move(text.lines);
    }
    return cuda_;
}

const std::vector<Where>& KernelTexts::cuda_lines() const { return cuda_lines_; }

const std::string& KernelTexts::ptx_with_lines() {
    if (source_.entry()) return source_.entry()->text();
    if (lined_ptx_.empty()) lined_ptx_ = emit::ptx_with_lines(*printing()).text;
    return lined_ptx_;
}

const std::string& KernelTexts::cuda_with_lines() {
    if (lined_cuda_.empty()) lined_cuda_ = emit::cuda_with_lines(*printing()).text;
    return lined_cuda_;
}

const std::string& KernelTexts::guarded_ptx() {
    if (guarded_ptx_.empty()) guarded_ptx_ = emit::ptx(guarded(*printing()).program).text;
    return guarded_ptx_;
}

const std::string& KernelTexts::guarded_cuda() {
    if (guarded_cuda_.empty()) guarded_cuda_ = emit::cuda(guarded(*printing()).program).text;
    return guarded_cuda_;
}

}  // namespace wgrun
