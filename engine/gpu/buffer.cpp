#include <fmt/format.h>

#include <utility>

#include "gpu/context.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::gpu {

namespace {

constexpr std::string_view name = "the buffer";

std::string readable(std::size_t bytes) {
    constexpr std::size_t mib = std::size_t{1} << 20;
    if (bytes < mib) return fmt::format("{}", count_of(bytes, "byte"));
    return fmt::format("{} MiB", (bytes + mib - 1) / mib);
}

}  // namespace

Buffer::Buffer(const Device& device, std::size_t bytes) : context_(device.shared()), bytes_(bytes) {
    if (bytes == 0) throw ArgumentError("a buffer of 0 bytes: it needs at least 1");
    Context::Entered cuda = context_->enter();
    abi::DevicePointer pointer = 0;
    abi::Result result = cuda.driver().mem_alloc(&pointer, bytes);
    if (result == abi::out_of_memory && context_->collect()) {
        cuda = context_->enter();
        result = cuda.driver().mem_alloc(&pointer, bytes);
    }
    if (result == abi::out_of_memory) {
        std::size_t free = 0;
        std::size_t total = 0;
        cuda.driver().mem_get_info(&free, &total);
        throw EnvironmentError("ENOMEM",
                               fmt::format("out of device memory: {} were requested, {} of {} are free",
                                           readable(bytes), readable(free), readable(total)),
                               "close buffers that are no longer needed");
    }
    cuda.check(result, "allocating device memory");
    address_ = pointer;
    generation_ = cuda.generation();
    context_->held_bytes += bytes;
}

Buffer::Buffer(Buffer&& other) noexcept
    : context_(std::move(other.context_)),
      generation_(other.generation_),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    if (this == &other) return *this;
    close();
    context_ = std::move(other.context_);
    generation_ = other.generation_;
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
}

void Buffer::close() noexcept {
    if (context_ == nullptr) return;
    context_->release(Context::Kind::memory, address_, generation_, bytes_);
    context_.reset();
    address_ = 0;
    bytes_ = 0;
}

std::uint64_t Buffer::address() const {
    if (context_ == nullptr) throw ArgumentError("the buffer is closed");
    context_->enter(generation_, name);
    return address_;
}

bool Buffer::lost() const { return context_ != nullptr && context_->generation() != generation_; }

void Buffer::check_range(std::size_t offset, std::size_t size, const char* what) const {
    if (offset > bytes_ || size > bytes_ - offset)
        throw ArgumentError(fmt::format("{} of {} bytes at offset {}: the buffer has {}", what, size, offset,
                                        count_of(bytes_, "byte")));
}

void Buffer::upload(std::span<const std::byte> from, std::size_t offset) {
    const std::uint64_t to = address() + offset;
    check_range(offset, from.size(), "an upload");
    if (from.empty()) return;
    context_->wait();  // with the time limit; the copy itself would wait without one
    const Context::Entered cuda = context_->enter(generation_, name);
    cuda.check(cuda.driver().memcpy_host_to_device(to, from.data(), from.size()), "copying to the device");
}

void Buffer::download(std::span<std::byte> to, std::size_t offset) const {
    const std::uint64_t from = address() + offset;
    check_range(offset, to.size(), "a download");
    if (to.empty()) return;
    context_->wait();
    const Context::Entered cuda = context_->enter(generation_, name);
    cuda.check(cuda.driver().memcpy_device_to_host(to.data(), from, to.size()), "copying from the device");
}

void Buffer::fill(std::byte value) {
    const std::uint64_t to = address();
    const Context::Entered cuda = context_->enter(generation_, name);
    cuda.check(cuda.driver().memset_d8_async(to, std::to_integer<unsigned char>(value), bytes_, nullptr),
               "filling device memory");
    context_->started();
}

}  // namespace wgrun::gpu
