#include "kernel/message_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "isa/device_print.hpp"

namespace wgrun {

MessageBuffer::MessageBuffer(const gpu::Device& device, const Program& program)
    : device_(device),
      program_(program),
      bytes_(message_bytes(program)),
      capacity_(message_capacity(program)),
      records_(device, bytes_ * capacity_),
      control_(device, isa::device_print::control_bytes) {
    write_control();
}

void MessageBuffer::write_control() {
    std::array<std::uint32_t, isa::device_print::control_bytes / 4> control{
        0, static_cast<std::uint32_t>(capacity_)};
    const std::uint64_t first = records_.address();
    std::memcpy(&control[2], &first, sizeof first);
    control_.upload(std::as_bytes(std::span(control)));
}

std::uint64_t MessageBuffer::address() {
    if (control_.lost()) {
        control_ = gpu::Buffer(device_, isa::device_print::control_bytes);
        write_control();
    }
    return control_.address();
}

void MessageBuffer::clear() {
    std::ranges::fill(records_.bytes(), std::byte{0});
    if (control_.lost()) return;
    try {
        write_control();
    } catch (const EnvironmentError&) {  // the context is broken, so there is no further launch
    }
}

MessageLog MessageBuffer::take(Dim3 grid) {
    std::uint64_t taken = capacity_;  // without the count, which was lost with the kernel: all records found
    if (!control_.lost()) try {
            std::uint32_t count = 0;
            control_.download(std::as_writable_bytes(std::span(&count, 1)));
            taken = count;
        } catch (const EnvironmentError&) {  // the context is broken
        }
    MessageLog log(program_, grid, capacity_);
    if (taken > capacity_) log.lose(taken - capacity_);
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < std::min<std::uint64_t>(taken, capacity_); ++i) {
        const std::byte* record = records_.bytes().data() + i * bytes_;
        std::array<std::uint32_t, isa::device_print::header_bytes / 4> header{};
        std::memcpy(header.data(), record, sizeof header);
        if (header[0] == 0 || header[0] > program_.messages().size()) continue;  // the record is incomplete
        const std::uint32_t message = header[0] - 1;
        values.resize(program_.messages()[message].types.size());
        std::copy_n(record + sizeof header, values.size() * isa::device_print::value_bytes,
                    std::as_writable_bytes(std::span(values)).data());
        constexpr std::uint32_t half = 16, low = 0xFFFF;
        log.add({header[1], header[2] & low, header[2] >> half}, header[3], message, values);
    }
    return log;
}

}  // namespace wgrun
