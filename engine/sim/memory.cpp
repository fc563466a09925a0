#include "sim/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "isa/generic.hpp"
#include "sim/map_bytes.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::sim {
namespace {

bool holds(std::uint64_t begin, std::int64_t size, std::uint64_t address, int bytes) {
    return address >= begin && size >= bytes && address - begin <= static_cast<std::uint64_t>(size - bytes);
}

}  // namespace

GlobalMemory::GlobalMemory(const Program& program, const SimulatedLaunch& launch) {
    for (const GlobalBuffer& buffer : launch.buffers) {
        Piece piece{buffer, {}, {}};
        for (std::size_t i = 0; i < launch.params.size(); ++i) {
            const std::size_t count = program.params().size(), device = i / count;
            const Param& param = program.params()[i % count];
            const auto name = [&] {
                piece.name = param.name;
                if (launch.devices.count > 1) piece.device = fmt::format(" of device {}", device);
            };
            if (param.pointee && holds(buffer.address, buffer.bytes, launch.params[i], 0)) name();
            for (const TensorMap& map : launch.tensor_maps)
                if (param.box && map.device == device && map.handle == launch.params[i] &&
                    holds(buffer.address, buffer.bytes, map.address, 0))
                    name();
        }
        pieces_.push_back(std::move(piece));
    }
    std::sort(pieces_.begin(), pieces_.end(),
              [](const Piece& a, const Piece& b) { return a.buffer.address < b.buffer.address; });
    for (const TensorMap& map : launch.tensor_maps) tensors_.push_back({&map, find(map.address, 1)});
}

MappedTensor GlobalMemory::tensor(std::uint64_t handle, std::uint32_t device) const {
    for (const MappedTensor& tensor : tensors_)
        if (tensor.map->handle == handle && tensor.map->device == device) return tensor;
    return {};
}

std::byte* GlobalMemory::find(std::uint64_t address, int bytes) {
    const auto inside = [&](const Piece& p) {
        return holds(p.buffer.address, p.buffer.bytes, address, bytes);
    };
    if (pieces_.empty()) return nullptr;
    if (!inside(pieces_[last_])) {
        const auto found = std::find_if(pieces_.begin(), pieces_.end(), inside);
        if (found == pieces_.end()) return nullptr;
        last_ = static_cast<std::size_t>(found - pieces_.begin());
    }
    const GlobalBuffer& buffer = pieces_[last_].buffer;
    return buffer.data + (address - buffer.address);
}

std::optional<std::uint64_t> GlobalMemory::address_of(const std::byte* place) const {
    for (const Piece& piece : pieces_)
        if (const GlobalBuffer& buffer = piece.buffer;
            place >= buffer.data && place < buffer.data + buffer.bytes)
            return buffer.address + static_cast<std::uint64_t>(place - buffer.data);
    return std::nullopt;
}

bool GlobalMemory::in_buffer(std::uint64_t address, std::int64_t bytes) const {
    return std::ranges::any_of(pieces_, [&](const Piece& piece) {
        const GlobalBuffer& buffer = piece.buffer;
        return address >= buffer.address && bytes <= buffer.bytes &&
               address - buffer.address <= static_cast<std::uint64_t>(buffer.bytes - bytes);
    });
}

bool GlobalMemory::constant(std::uint64_t address) const {
    const auto inside = [&](const Piece& p) { return holds(p.buffer.address, p.buffer.bytes, address, 1); };
    if (pieces_.empty()) return false;
    if (inside(pieces_[last_])) return pieces_[last_].buffer.constant;
    const auto found = std::find_if(pieces_.begin(), pieces_.end(), inside);
    return found != pieces_.end() && found->buffer.constant;
}

std::string GlobalMemory::place(std::uint64_t address) const {
    for (const Piece& piece : pieces_)
        if (holds(piece.buffer.address, piece.buffer.bytes, address, 1))
            return fmt::format("`{}` + {}{}", piece.name, address - piece.buffer.address, piece.device);
    return fmt::format("{:#x}", address);
}

std::string GlobalMemory::describe(std::uint64_t address, int bytes) const {
    if (pieces_.empty()) return fmt::format("{:#x}: the launch has no global buffers", address);
    const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                        [](std::uint64_t a, const Piece& p) { return a < p.buffer.address; });
    const Piece& near = after == pieces_.begin() ? pieces_.front() : *(after - 1);
    const GlobalBuffer& buffer = near.buffer;
    const std::string name = near.name.empty() ? "a buffer" : '`' + near.name + '`' + near.device;
    if (address < buffer.address)
        return fmt::format("{:#x}, {} before {} ({})", address, count_of(buffer.address - address, "byte"),
                           name, count_of(buffer.bytes, "byte"));
    const std::uint64_t offset = address - buffer.address;
    const auto size = static_cast<std::uint64_t>(buffer.bytes);
    if (offset < size)
        return fmt::format("{:#x}: its last {} lie past the end of {} ({})", address,
                           count_of(offset + static_cast<std::uint64_t>(bytes) - size, "byte"), name,
                           count_of(size, "byte"));
    return fmt::format("{:#x}, {} past the end of {} ({})", address, count_of(offset - size, "byte"), name,
                       count_of(size, "byte"));
}

ParameterMemory::ParameterMemory(const Program& program, const SimulatedLaunch& launch, std::uint32_t device)
    : program_(program),
      data_(static_cast<std::size_t>(program.param_offset(static_cast<int>(program.params().size())))) {
    const std::size_t count = program.params().size(), first = device * count;
    const auto given = launch.params.subspan(first, count);
    values_.assign(given.begin(), given.end());
    for (std::size_t i = 0; i < count; ++i) {
        const Param& param = program.params()[i];
        std::byte* const to = data_.data() + program.param_offset(static_cast<int>(i));
        const auto bytes = static_cast<std::size_t>(param.bytes());
        std::uint64_t& value = values_[i];
        if (first + i < launch.structures.size() && !launch.structures[first + i].empty()) {
            const std::vector<std::byte>& structure = launch.structures[first + i];
            const std::size_t part = std::min(bytes, structure.size());
            std::memcpy(to, structure.data(), part);
            std::memcpy(&value, to, std::min(part, sizeof value));
        } else {
            std::memcpy(to, &value, std::min(bytes, sizeof value));
        }
    }
    for (const TensorMap& map : launch.tensor_maps) {
        if (map.device != device || isa::space_of(map.handle) != isa::Space::param) continue;
        const auto of = std::ranges::find_if(launch.buffers, [&](const GlobalBuffer& buffer) {
            return holds(buffer.address, buffer.bytes, map.address, 1);
        });
        const MapBytes bytes =
            to_bytes(map, of == launch.buffers.end() ? nullptr : of->data + (map.address - of->address));
        const std::uint64_t at = isa::within_space(map.handle);
        if (find(at, static_cast<int>(bytes.size())) != nullptr)
            std::memcpy(data_.data() + (at - isa::param_base), bytes.data(), bytes.size());
    }
}

const std::byte* ParameterMemory::find(std::uint64_t address, int bytes) const {
    if (!holds(isa::param_base, this->bytes(), address, bytes)) return nullptr;
    return data_.data() + (address - isa::param_base);
}

std::uint64_t ParameterMemory::address_of(int param) const {
    return isa::param_base + static_cast<std::uint64_t>(program_.param_offset(param));
}

SharedMemory::SharedMemory(const Program& program)
    : buffers_(program.shared()), data_(static_cast<std::size_t>(program.shared_bytes())) {}

void SharedMemory::poison() { std::fill(data_.begin(), data_.end(), std::byte{0xFF}); }

bool SharedMemory::find(std::uint64_t address, int bytes) {
    for (const SharedBuffer& b : buffers_) {
        const std::uint64_t begin = base + static_cast<std::uint64_t>(b.offset);
        if (!holds(begin, b.bytes, address, bytes)) continue;
        begin_ = begin;
        end_ = begin + static_cast<std::uint64_t>(b.bytes);
        return true;
    }
    return false;
}

std::uint32_t SharedMemory::address_of(int buffer) const {
    return base + static_cast<std::uint32_t>(buffers_[static_cast<std::size_t>(buffer)].offset);
}

}  // namespace wgrun::sim
