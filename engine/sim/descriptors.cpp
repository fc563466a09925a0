#include "sim/descriptors.hpp"

#include <algorithm>

#include "machine/mma_matrix.hpp"

namespace wgrun::sim {

bool Descriptors::judge(Report& report, std::uint32_t pc, const isa::AsyncMma& mma, char name,
                        std::uint64_t bits) {
    const auto key = std::tuple(pc, name, bits);
    if (right_.contains(key)) return true;
    const Descriptor descriptor = Descriptor::decode(bits);
    const std::int64_t start = std::int64_t{descriptor.start} - SharedMemory::base;
    const auto buffer = std::ranges::find_if(program_.shared(), [&](const SharedBuffer& b) {
        return b.offset <= start && start < b.offset + b.bytes;
    });
    // Reads outside every buffer are reported one by one.
    const machine::Matrix matrix = name == 'A' ? machine::Matrix::a(mma) : machine::Matrix::b(mma);
    if (!origins_) origins_.emplace(program_);
    if (const int from = origins_->of(name == 'A' ? *mma.a_descriptor : *mma.b_descriptor); from >= 0) {
        const SharedBuffer& origin = program_.shared()[static_cast<std::size_t>(from)];
        if (auto misfit = machine::astray(matrix, origin, start - origin.offset))
            return report.fault(std::move(misfit->message)), false;
    }
    if (buffer != program_.shared().end() && buffer->tile) {
        if (auto misfit = machine::unlike(matrix, *buffer, report.where(pc)))
            return report.fault(std::move(misfit->message)), false;
        if (auto misfit = machine::misplaced(matrix, *buffer, start - buffer->offset, descriptor))
            return report.fault(std::move(misfit->message)), false;
    }
    if (buffer != program_.shared().end() && !buffer->tile)
        if (auto misfit = machine::inside_pattern(matrix, *buffer, start - buffer->offset, descriptor))
            return report.fault(std::move(misfit->message)), false;
    right_.insert(key);
    return true;
}

}  // namespace wgrun::sim
