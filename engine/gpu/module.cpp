#include <fmt/format.h>

#include <memory>

#include "gpu/cache.hpp"
#include "gpu/compile.hpp"
#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "gpu/jit_logs.hpp"
#include "gpu/module_state.hpp"

namespace wgrun::gpu {

namespace {

// The driver assembles a text only once; later it takes the code from a cache of its own and has nothing to
// say. So its words are kept beside ours.
AssemblerLog remembered(const DeviceInfo& device, const std::string& text, const char* said) {
    AssemblerLog log = parse_log(said);
    const Cache cache = Cache::standard();
    const std::string key = Cache::key({"jit-log", fmt::format("{}", device.driver_version),
                                        file_identity(find_driver().part.path), architecture, text});
    if (!log.functions.empty())
        cache.store(key, {log.text, {}});
    else if (const auto found = cache.find(key))
        log = parse_log(found->log);
    return log;
}

abi::Result load_data(const Driver& driver, abi::Handle* module, std::span<const std::byte> image,
                      unsigned count, abi::JitOption* options, void** values) {
    if (driver.worker != nullptr) return driver.worker->load(module, image, count, options, values);
    return driver.module_load_data_ex(module, image.data(), count, options, values);
}

}  // namespace

Module Module::from_ptx(const Device& device, std::string_view ptx) {
    const std::string text = source_text(ptx, "PTX");
    Context& context = device.context();
    context.wait();  // loading may wait for running kernels without a time limit
    const Context::Entered cuda = context.enter();

    const auto logs = std::make_unique<JitLogs>();
    abi::Handle handle = nullptr;
    const abi::Result result =
        load_data(cuda.driver(), &handle, std::as_bytes(std::span(text.c_str(), text.size() + 1)),
                  logs->count(), logs->options(), logs->values());
    throw_if_refused(cuda.driver(), result, text, *logs);
    cuda.check(result, "loading PTX");
    return Module(std::make_shared<State>(device.shared(), cuda.generation(), handle,
                                          remembered(device.info(), text, logs->info())));
}

Module Module::from_cubin(const Device& device, std::span<const std::byte> image) {
    if (image.empty()) throw ArgumentError("the cubin is empty");
    Context& context = device.context();
    context.wait();
    const Context::Entered cuda = context.enter();
    abi::Handle handle = nullptr;
    cuda.check(load_data(cuda.driver(), &handle, image, 0, nullptr, nullptr), "loading a cubin");
    return Module(std::make_shared<State>(device.shared(), cuda.generation(), handle, AssemblerLog{}));
}

const AssemblerLog& Module::log() const { return state_->log; }

}  // namespace wgrun::gpu
