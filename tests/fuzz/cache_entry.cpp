#include "gpu/cache_entry.hpp"

#include "gpu/cache.hpp"
#include "tests/fuzz/bodies.hpp"

namespace wgrun::fuzz {
namespace {

void expect(bool holds, const char* law) {
    if (!holds) throw Broken(law);
}

}  // namespace

// The first byte says what is done with the rest: it is a file, or an entry that is damaged in one place.
void cache_entry(Bytes bytes) {
    const std::string key = gpu::Cache::key({"fuzz"});
    const std::string text(bytes.begin(), bytes.end());
    if (const auto entry = gpu::decode_entry(key, text))
        expect(gpu::encode_entry(key, *entry) == text, "decoded and encoded");
    if (bytes.size() < 4) return;
    gpu::CacheEntry entry;
    const std::size_t log_bytes = bytes[0] % bytes.size();
    entry.log = text.substr(0, log_bytes);
    for (const std::uint8_t byte : bytes.subspan(log_bytes)) entry.image.push_back(std::byte{byte});
    std::string file = gpu::encode_entry(key, entry);
    const auto back = gpu::decode_entry(key, file);
    expect(back && back->log == entry.log && back->image == entry.image, "encoded and decoded");
    expect(!gpu::decode_entry(gpu::Cache::key({"other"}), file), "believed under another key");
    const std::size_t at = (bytes[1] * 256U + bytes[2]) % file.size();
    const char changed = static_cast<char>(file[at] ^ (bytes[3] == 0 ? 1 : bytes[3]));
    file[at] = changed;
    expect(!gpu::decode_entry(key, file), "believed with a byte changed");
    expect(!gpu::decode_entry(key, file.substr(0, at)), "believed in part");
}

}  // namespace wgrun::fuzz
