#include "sim/registers.hpp"

#include <algorithm>

namespace wgrun::sim {

Registers::Registers(const Code& code)
    : offsets_(code.register_offset), data_(code.register_bytes), states_(code.register_offset.size()) {
    reset();
}

void Registers::reset() {
    std::fill(data_.begin(), data_.end(), std::byte{0xFF});
    std::fill(states_.begin(), states_.end(), RegisterState());
    groups_.clear();
    fences_ = issued_ = committed_ = finished_ = waited_ = 0;
    last_issued_pc_ = wait_pc_ = no_pc;
}

void Registers::commit(std::uint32_t pc) {
    committed_ = issued_;
    groups_.push_back({issued_, last_issued_pc_, pc});
}

void Registers::wait(int pending, std::uint32_t pc) {
    waited_ = issued_;
    wait_pc_ = pc;
    while (groups_.size() > static_cast<std::size_t>(pending)) {
        finished_ = groups_.front().last;
        groups_.pop_front();
    }
}

void Registers::assume_waited(std::uint32_t serial) {
    while (!groups_.empty() && finished_ < serial) {
        finished_ = groups_.front().last;
        groups_.pop_front();
    }
}

}  // namespace wgrun::sim
