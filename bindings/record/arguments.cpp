#include "bindings/record/arguments.hpp"

#include <algorithm>
#include <cstring>

namespace wgrun::record {

namespace {

constexpr std::size_t most_copied = std::size_t{256} << 20;
constexpr std::size_t map_bytes = sizeof(Map::bytes), map_unit = 64;

/// The bytes of each parameter.
std::vector<std::span<const std::byte>> parameters(const Start& start, const Function& function) {
    const auto layout_of = original<Result(Handle, std::size_t, std::size_t*, std::size_t*)>(
        function.is_kernel ? "cuKernelGetParamInfo" : "cuFuncGetParamInfo");
    if (layout_of == nullptr)
        throw std::runtime_error("the driver does not tell the sizes of parameters: that of CUDA 12.4 does");
    const std::byte* buffer = nullptr;
    // CU_LAUNCH_PARAM_BUFFER_POINTER is 1, CU_LAUNCH_PARAM_END 0.
    for (void** it = start.extra; start.parameters == nullptr && it != nullptr && *it != nullptr; it += 2)
        if (it[0] == reinterpret_cast<void*>(1)) buffer = static_cast<const std::byte*>(it[1]);
    std::vector<std::span<const std::byte>> out;
    std::size_t offset = 0, bytes = 0;
    while (layout_of(start.function, out.size(), &offset, &bytes) == success) {
        const std::byte* const from = start.parameters != nullptr
                                          ? static_cast<const std::byte*>(start.parameters[out.size()])
                                      : buffer != nullptr ? buffer + offset
                                                          : nullptr;
        if (from == nullptr) throw std::runtime_error("it gives no parameters");
        out.push_back({from, bytes});
    }
    return out;
}

/// Memory of the device can be read: what came before has run, and no stream is being captured.
bool wait_for_device(Handle stream) {
    int capturing = 0;
    if (const auto ask = original<Result(Handle, int*)>("cuStreamIsCapturing");
        ask != nullptr && stream != nullptr)
        if (ask(stream, &capturing) != success || capturing != 0) return false;
    const auto wait = original<Result()>("cuCtxSynchronize");
    return wait != nullptr && wait() == success;
}

bool copy(void* to, DevicePointer from, std::size_t bytes) {
    const auto copy = original<Result(DevicePointer, DevicePointer, std::size_t)>("cuMemcpy");
    return copy != nullptr && copy(reinterpret_cast<DevicePointer>(to), from, bytes) == success;
}

std::uint64_t number(std::span<const std::byte> bytes) {
    std::uint64_t out = 0;
    std::memcpy(&out, bytes.data(), bytes.size());
    return out;
}

}  // namespace

Arguments::Arguments(const Start& start, const Function& function, const std::deque<Map>& maps,
                     const Files& files)
    : maps_(maps), files_(files), readable_(wait_for_device(start.stream)) {
    for (const std::span<const std::byte> bytes : parameters(start, function))
        list_.push_back(argument(bytes));
}

Arguments::Json Arguments::argument(std::span<const std::byte> bytes) {
    if (bytes.size() == map_bytes)
        if (const std::optional<Json> it = map(bytes)) return *it;
    if (bytes.size() > sizeof(std::uint64_t) || (bytes.size() & (bytes.size() - 1)) != 0)
        return structure(bytes);
    const std::uint64_t value = number(bytes);
    if (bytes.size() == sizeof value) {
        if (const std::optional<Json> it = map_in_memory(value)) return *it;
        if (const std::optional<Json> it = pointer(value)) return *it;
    }
    return {{"bits", value}};
}

/// Words of 8 bytes, of which those that are zero are left out.
Arguments::Json Arguments::structure(std::span<const std::byte> bytes) {
    Json parts = Json::array();
    constexpr std::size_t word = sizeof(std::uint64_t);
    for (std::size_t at = 0; at < bytes.size();) {
        if (at % map_unit == 0 && bytes.size() - at >= map_bytes)
            if (const std::optional<Json> it = map(bytes.subspan(at, map_bytes))) {
                parts.push_back({{"at", at}, {"value", *it}});
                at += map_bytes;
                continue;
            }
        std::size_t width = word;
        while (width > bytes.size() - at) width /= 2;
        const std::uint64_t value = number(bytes.subspan(at, width));
        const std::optional<Json> to = width == word ? pointer(value) : std::nullopt;
        if (to)
            parts.push_back({{"at", at}, {"value", *to}});
        else if (value != 0)
            parts.push_back({{"at", at}, {"value", static_cast<std::int64_t>(value)}, {"bytes", width}});
        at += width;
    }
    return {{"struct", bytes.size()}, {"parts", parts}};
}

const Arguments::Block* Arguments::block(DevicePointer address) {
    for (const Block& block : blocks_)
        if (address >= block.start && address - block.start < block.bytes) return &block;
    constexpr int range_start = 11, range_size = 12;  // CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, _SIZE
    const auto ask = original<Result(void*, int, DevicePointer)>("cuPointerGetAttribute");
    Block found{0, 0, "m" + std::to_string(blocks_.size())};
    if (address == 0 || ask == nullptr || ask(&found.start, range_start, address) != success ||
        ask(&found.bytes, range_size, address) != success || found.start == 0)
        return nullptr;
    tensors_[found.name] = kept(found);
    return &blocks_.emplace_back(std::move(found));
}

Arguments::Json Arguments::kept(const Block& block) {
    const auto left_out = [&](const char* why) -> Json {
        notes_.push_back("zeros stand for the " + std::to_string(block.bytes) + " bytes of " + block.name +
                         ", " + why);
        return {{"dtype", "u8"}, {"shape", block.bytes}, {"fill", "zeros"}};
    };
    if (!readable_) return left_out("which cannot be read while a graph is captured");
    if (block.bytes > most_copied - copied_) return left_out("which would be more than 256 MiB of a launch");
    std::vector<char> bytes(block.bytes);
    if (!copy(bytes.data(), block.start, bytes.size())) return left_out("which the driver does not copy");
    copied_ += bytes.size();
    return {{"file", files_.write_array(block.name, bytes)}, {"dtype", "u8"}};
}

std::optional<Arguments::Json> Arguments::pointer(DevicePointer address) {
    const Block* const to = block(address);
    if (to == nullptr) return std::nullopt;
    if (address == to->start) return to->name;
    return Json{{"pointer", to->name}, {"offset", address - to->start}};
}

std::optional<Arguments::Json> Arguments::map_in_memory(DevicePointer address) {
    std::array<std::byte, map_bytes> bytes;
    if (maps_.empty() || !readable_ || address % map_unit != 0) return std::nullopt;
    const Block* const to = block(address);
    if (to == nullptr || to->bytes - (address - to->start) < map_bytes) return std::nullopt;
    if (!copy(bytes.data(), address, bytes.size())) return std::nullopt;
    return map(bytes);
}

std::optional<Arguments::Json> Arguments::map(std::span<const std::byte> bytes) {
    const auto it = std::find_if(maps_.rbegin(), maps_.rend(),
                                 [&](const Map& map) { return std::ranges::equal(map.bytes, bytes); });
    return it == maps_.rend() ? std::nullopt : described(*it);
}

std::optional<Arguments::Json> Arguments::described(const Map& map) {
    // In the order of CUtensorMapDataType and CUtensorMapSwizzle.
    constexpr std::array<const char*, 13> dtypes = {"u8",  "u16", "u32",  "s32", "u64",  "s64", "f16",
                                                    "f32", "f64", "bf16", "f32", "tf32", "tf32"};
    constexpr std::array<const char*, 4> swizzles = {"none", "32B", "64B", "128B"};
    const auto dtype = static_cast<std::size_t>(map.dtype), swizzle = static_cast<std::size_t>(map.swizzle);
    const Block* const to = block(map.address);
    if (to == nullptr || map.interleave != 0 || dtype >= dtypes.size() || swizzle >= swizzles.size()) {
        notes_.emplace_back("a tensor map is kept as bytes, since launch files have none of its kind");
        return std::nullopt;
    }
    std::vector<std::int64_t> box = map.box;
    // The driver's box is what the copied elements span.
    for (std::size_t d = 1; map.lower.empty() && d < box.size(); ++d)
        box[d] = (box[d] + map.steps[d] - 1) / map.steps[d];
    Json out = {{"map", to->name},           {"offset", map.address - to->start},
                {"dtype", dtypes.at(dtype)}, {"extents", map.extents},
                {"strides", map.strides},    {"box", box}};
    if (swizzle != 0) out["swizzle"] = swizzles.at(swizzle);
    if (map.nan_fill) out["nan_fill"] = true;
    if (std::ranges::any_of(map.steps, [](std::int64_t step) { return step != 1; })) out["steps"] = map.steps;
    if (!map.lower.empty()) {
        out["lower"] = map.lower;
        out["upper"] = map.upper;
    }
    return out;
}

}  // namespace wgrun::record
