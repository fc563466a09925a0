#include "sass/thread.hpp"

#include <algorithm>

#include "isa/generic.hpp"

namespace wgrun::sass {
namespace {

/// splitmix64: Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014.
std::uint64_t mixed(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    return value ^ (value >> 31);
}

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(mixed(seed)) {}
    std::uint64_t next() { return state_ = mixed(state_); }
    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(next() % end); }

  private:
    std::uint64_t state_;
};

/// Sizes, strides and counts: small ones, so that loops end, and some that are no powers of two; or large
/// ones, so that tiles are whole.
std::uint32_t drawn_size(Random& random, bool large) {
    if (large) return 256 * (1 + random.below(8));
    switch (random.below(3)) {
        case 0: return random.below(5);
        case 1: return 1 + random.below(64);
        default: return 64 * (1 + random.below(16));
    }
}

void put(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count && at + i < bytes.size(); ++i)
        bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

}  // namespace

Drawn draw(const Program& program, std::uint64_t seed, std::uint32_t thread,
           const std::vector<std::size_t>& order) {
    Random random(seed);
    Drawn out;
    out.seed = random.next();
    out.block = program.block();
    out.thread = thread;
    const Dim3 cluster = program.cluster();
    // Of the first CTA of a cluster.
    const auto along = [&](std::uint32_t size, std::uint32_t& count, std::uint32_t& at) {
        const std::uint32_t clusters = 1 + random.below(6);
        count = size * clusters;
        at = size * random.below(clusters);
    };
    along(cluster.x, out.grid.x, out.cta.x);
    along(cluster.y, out.grid.y, out.cta.y);
    along(cluster.z, out.grid.z, out.cta.z);
    std::int64_t next = sm_90a.shared_base;
    for (const SharedBuffer& buffer : program.shared())
        out.buffers.push_back(static_cast<std::uint32_t>(next + buffer.offset));
    for (const std::size_t i : order) {
        const SharedBuffer& buffer = program.shared()[i];
        next = (next + buffer.align - 1) / buffer.align * buffer.align;
        out.buffers[i] = static_cast<std::uint32_t>(next);
        next += buffer.bytes;
    }
    const bool large = seed % 2 == 0;
    for (const Param& param : program.params()) {
        const auto bytes = static_cast<std::size_t>(param.bytes()),
                   align = static_cast<std::size_t>(param.align());
        const std::size_t place = isa::param_base + out.params.size();
        const std::size_t at = (place + align - 1) / align * align - isa::param_base;
        out.places.push_back(at);
        out.params.resize(at + bytes);
        if (param.structure == 0 && bytes == 8)
            put(out.params, at, (random.next() & 0x7FFFFFFFFF00), 8);
        else
            for (std::size_t part = 0; part < bytes; part += 4)
                put(out.params, at + part, drawn_size(random, large), std::min<std::size_t>(4, bytes - part));
    }
    return out;
}

Contents::Byte Contents::at(std::uint64_t address) const {
    if (const auto found = stored_.find(address); found != stored_.end()) return found->second;
    const std::uint64_t word = mixed(seed_ ^ mixed(address / 8) ^ static_cast<std::uint64_t>(space_));
    return {static_cast<std::uint8_t>(word >> (8 * (address % 8))), !forgotten_, 0, 0};
}

Known64 Contents::load(std::uint64_t address, int bytes) const {
    Known64 out{0, true};
    for (int i = 0; i < bytes; ++i) {
        const Byte byte = at(address + static_cast<std::uint64_t>(i));
        out.bits |= std::uint64_t{byte.bits} << (8 * i);
        out.known = out.known && byte.known;
    }
    return out;
}

void Contents::store(std::uint64_t address, int bytes, Known64 value, int line, std::uint32_t number) {
    for (int i = 0; i < bytes; ++i)
        stored_.insert_or_assign(
            address + static_cast<std::uint64_t>(i),
            Byte{static_cast<std::uint8_t>(i < 8 ? value.bits >> (8 * i) : 0), value.known, line, number});
}

}  // namespace wgrun::sass
