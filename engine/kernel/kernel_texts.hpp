// The texts of a kernel: what assemblers get.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/kernel_source.hpp"

namespace wgrun {

/// Each is made when it is asked for first. The source must outlive it.
class KernelTexts {
  public:
    KernelTexts(const KernelSource& source, std::shared_ptr<const Program> program);

    /// The program that the GPU runs: the program itself, unless its threads print.
    const std::shared_ptr<const Program>& printing();

    /// PTX; of a kernel that was read from PTX, the text that it was read from.
    const std::string& ptx();
    const std::vector<Where>& ptx_lines() const;  ///< as in emit::Text; of the last ptx()
    const std::string& cuda();
    const std::vector<Where>& cuda_lines() const;  ///< of the last cuda()
    const std::string& ptx_with_lines();
    const std::string& cuda_with_lines();
    const std::string& guarded_ptx();
    const std::string& guarded_cuda();

  private:
    const KernelSource& source_;
    std::shared_ptr<const Program> program_, printing_;
    std::string ptx_, cuda_, lined_ptx_, lined_cuda_, guarded_ptx_, guarded_cuda_;
    std::vector<Where> ptx_lines_, cuda_lines_;
};

}  // namespace wgrun
