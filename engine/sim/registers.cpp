#include "sim/registers.hpp"

#include <algorithm>

namespace wgrun::sim {

Registers::Registers(const Code& code, std::byte* data)
    : offsets_(code.register_offset), bytes_(code.register_bytes), data_(data) {}

void Registers::reset() {
    state_data_.reset();
    state_data_.emplace((offsets_.size() + 1) * sizeof(RegisterUse));
    states_ = reinterpret_cast<RegisterUse*>(state_data_->data());
    groups_ = {};
    fences_ = committed_ = finished_ = waited_ = 0;
    last_issued_pc_ = wait_pc_ = no_pc;
}

void Registers::poison(isa::Reg reg) {
    const std::size_t end = reg.id + 1 < offsets_.size() ? offsets_[reg.id + 1] : bytes_;
    std::fill(data(reg), data_ + end, std::byte{0xFF});
}

void Registers::commit(std::uint32_t pc) {
    committed_ = groups_.issued();
    groups_.commit(isa::Mask{1} << whole, {last_issued_pc_, pc});
}

void Registers::wait(int pending, std::uint32_t pc) {
    waited_ = groups_.issued();
    wait_pc_ = pc;
    finish(groups_.awaited(whole, pending));
}

void Registers::assume_waited(std::uint32_t serial) {
    for (const auto& group : groups_.running())
        if (group.last >= serial) return finish(group.last);
    finish(committed_);
}

void Registers::finish(std::uint32_t last) {
    finished_ = std::max(finished_, last);
    groups_.finish(whole, last);
}

}  // namespace wgrun::sim
