#include "bindings/record/recorder.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bindings/record/arguments.hpp"
#include "bindings/record/files.hpp"

namespace wgrun::record {

namespace {

constexpr std::size_t most_maps = 4096;

using Json = nlohmann::ordered_json;

/// The text of an image, which ends with a zero; null: it is an ELF file or a fatbin, and not read.
Text text_of(const char* image) {
    if (image == nullptr || image[0] == '\x7f') return nullptr;
    std::uint32_t magic = 0;
    std::memcpy(&magic, image, strnlen(image, sizeof magic));
    constexpr std::uint32_t fatbin = 0xba55ed50, wrapped_fatbin = 0x466243b1;
    if (magic == fatbin || magic == wrapped_fatbin) return nullptr;
    return std::make_shared<const std::string>(image);
}

/// One number stands for {n, 1, 1}.
Json extents(const std::array<unsigned, 3>& of) {
    if (of[1] == 1 && of[2] == 1) return of[0];
    return of;
}

}  // namespace

Recorder::Recorder() {
    if (const char* folder = std::getenv("WGRUN_RECORD")) folder_ = folder;
}

Recorder& Recorder::get() {
    // Never destroyed: threads may launch while the process ends.
    static Recorder* const only = new Recorder;
    return *only;
}

void Recorder::loaded(Handle module, const void* image) {
    const std::lock_guard held(lock_);
    texts_[module] = text_of(static_cast<const char*>(image));
}

void Recorder::loaded_file(Handle module, const char* file) {
    std::ifstream in(file, std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(in), {}};
    loaded(module, image.c_str());
}

void Recorder::same_text(Handle library, Handle module) {
    const std::lock_guard held(lock_);
    texts_[module] = texts_[library];
}

void Recorder::found(Handle function, Handle module, const char* name, bool is_kernel) {
    const std::lock_guard held(lock_);
    functions_[function] = {name, texts_[module], is_kernel};
}

void Recorder::same_function(Handle kernel, Handle function) {
    const std::lock_guard held(lock_);
    functions_[function] = functions_[kernel];
    functions_[function].is_kernel = false;
}

void Recorder::encoded(Map map) {
    const std::lock_guard held(lock_);
    maps_.push_back(std::move(map));
    if (maps_.size() > most_maps) maps_.pop_front();
}

/// Of a function that came another way (from the runtime's own tables) the driver may tell the name.
Function Recorder::named(Handle function) const {
    if (const auto it = functions_.find(function); it != functions_.end()) return it->second;
    const auto name_of = original<Result(const char**, Handle)>("cuFuncGetName");
    const char* name = nullptr;
    if (name_of == nullptr || name_of(&name, function) != success) return {};
    return {name, nullptr, false};
}

void Recorder::starts(const Start& start) noexcept try {
    const std::lock_guard held(lock_);
    if (folder_.empty()) return;
    const Function function = named(start.function);
    if (!kept_.emplace(function.name, function.text ? *function.text : "").second) return;
    keep(start, function);
} catch (const std::exception& error) {
    std::fprintf(stderr, "wgrun: a launch is not recorded: %s\n", error.what());
}

void Recorder::keep(const Start& start, const Function& function) {
    if (function.name.empty()) throw std::runtime_error("the driver does not tell the name of its kernel");
    Files files(folder_, function.name);
    Arguments arguments(start, function, maps_, files);
    Json launch = {{"kernel", function.name}, {"grid", extents(start.grid)}, {"block", extents(start.block)}};
    if (start.cluster[0] != 0) launch["cluster"] = extents(start.cluster);
    if (start.shared != 0) launch["shared"] = start.shared;
    launch["tensors"] = arguments.tensors();
    launch["arguments"] = arguments.list();
    if (function.text) files.write_text(*function.text);
    files.write_launch(launch.dump(1) + "\n");
    std::string notes;
    if (!function.text) notes = ", without the PTX, which the program has not given to the driver";
    for (const std::string& note : arguments.notes()) notes += "; " + note;
    std::fprintf(stderr, "wgrun: recorded %s%s\n", files.launch().c_str(), notes.c_str());
}

}  // namespace wgrun::record
