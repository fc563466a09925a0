// The table of driver functions whose driver is in another process.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>

#include "gpu/cublas.hpp"
#include "gpu/driver.hpp"
#include "gpu/link.hpp"
#include "memory/shared_block.hpp"

namespace wgrun::gpu {

namespace {

using abi::Handle;
using abi::Result;

constexpr std::uint32_t kind(SpecialCall special) { return static_cast<std::uint32_t>(special); }

// ---- Plain calls

template <class Argument>
void pack(Packer& to, Argument argument) {
    if constexpr (!comes_back<Argument>) to.put(argument);
}

template <class Argument>
void unpack(Unpacker& from, Argument argument) {
    if constexpr (comes_back<Argument>) {
        const auto value = from.get<std::remove_pointer_t<Argument>>();
        if (argument != nullptr) *argument = value;
    }
}

template <auto Member, class Type = std::remove_cvref_t<decltype(std::declval<Driver>().*Member)>>
struct Plain;

template <auto Member, class... Arguments>
struct Plain<Member, Result (*)(Arguments...)> {
    static Result ask(Arguments... arguments) {
        Link& link = Link::instance();
        const auto lock = link.lock();
        Packer message;
        (pack(message, arguments), ...);
        const Result result = link.ask(kind_of<Member>(), message.bytes(), call_limit);
        if (result >= 0) (unpack(link.answer(), arguments), ...);
        return result;
    }
    static Result tell(Arguments... arguments) {
        Link& link = Link::instance();
        const auto lock = link.lock();
        Packer message;
        (pack(message, arguments), ...);
        return link.tell(kind_of<Member>() | told, message.bytes());
    }
};

// ---- The others

Result init(unsigned flags) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    if (const Result begun = link.begin(); begun != abi::success) return begun;
    Packer message;
    message.put(flags);
    return link.ask(kind_of<&Driver::init>(), message.bytes(), start_limit);
}

// CUDA's description of a result, asked for once, since it is needed most when the worker is gone.
struct Texts {
    std::mutex mutex;
    std::map<Result, std::array<std::string, 2>> known;
};

const std::array<std::string, 2>* texts_of(Result error) {
    static Texts* const texts = new Texts;
    const std::lock_guard lock(texts->mutex);
    if (const auto it = texts->known.find(error); it != texts->known.end()) return &it->second;
    Link& link = Link::instance();
    const auto talking = link.lock();
    Packer message;
    message.put(error);
    if (link.ask(kind(SpecialCall::error_texts), message.bytes(), call_limit) != abi::success) return nullptr;
    const std::string name(link.answer().get_text()), text(link.answer().get_text());
    return &texts->known.emplace(error, std::array{name, text}).first->second;
}

Result get_error_name(Result error, const char** text) {
    const auto* texts = texts_of(error);
    *text = texts == nullptr || (*texts)[0].empty() ? nullptr : (*texts)[0].c_str();
    return *text == nullptr ? abi::invalid_value : abi::success;
}

Result get_error_string(Result error, const char** text) {
    const auto* texts = texts_of(error);
    *text = texts == nullptr || (*texts)[1].empty() ? nullptr : (*texts)[1].c_str();
    return *text == nullptr ? abi::invalid_value : abi::success;
}

Result device_get_name(char* name, int length, abi::DeviceOrdinal device) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    Packer message;
    message.put(device);
    const Result result = link.ask(kind(SpecialCall::device_name), message.bytes(), call_limit);
    if (result != abi::success) return result;
    const std::string_view text = link.answer().get_text();
    const std::size_t size = std::min(text.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(name, text.data(), size);
    name[size] = 0;
    return result;
}

Result primary_context_retain(Handle* context, abi::DeviceOrdinal device) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    Packer message;
    message.put(device);
    const Result result = link.ask(kind(SpecialCall::retain), message.bytes(), start_limit);
    if (result == abi::success) *context = link.answer().get<Handle>();
    return result;
}

// The worker's context ends with the worker, and its thread has no other.
Result primary_context_release(abi::DeviceOrdinal) { return abi::success; }
Result context_set_current(Handle) { return abi::success; }

/// A copy slower than 100 MB/s counts as hanging.
std::chrono::milliseconds copy_limit(std::size_t bytes) {
    return call_limit + std::chrono::milliseconds(bytes / 100000);
}

struct Copy {
    abi::DevicePointer device;
    std::uint64_t bytes;
    BlockPlace place;
};

Result ask_copy(Link& link, SpecialCall special, const Copy& copy) {
    return link.ask(kind(special), std::as_bytes(std::span(&copy, 1)), copy_limit(copy.bytes));
}

// Memory that the worker cannot map goes through the staging area, piece by piece.
Result memcpy_host_to_device(abi::DevicePointer to, const void* from, std::size_t bytes) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    if (const std::optional<BlockPlace> place = link.shared_place(from, bytes))
        return ask_copy(link, SpecialCall::copy_in, {to, bytes, *place});
    const auto* next = static_cast<const std::byte*>(from);
    for (std::size_t done = 0; done < bytes;) {
        if (!link.running()) return abi::worker_gone;
        const std::size_t size = std::min(bytes - done, Channel::staging_bytes);
        std::memcpy(link.staging().data(), next + done, size);
        if (const Result result = ask_copy(link, SpecialCall::copy_in_staged, {to + done, size, {}});
            result != abi::success)
            return result;
        done += size;
    }
    return abi::success;
}

Result memcpy_device_to_host(void* to, abi::DevicePointer from, std::size_t bytes) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    if (const std::optional<BlockPlace> place = link.shared_place(to, bytes))
        return ask_copy(link, SpecialCall::copy_out, {from, bytes, *place});
    auto* next = static_cast<std::byte*>(to);
    for (std::size_t done = 0; done < bytes;) {
        const std::size_t size = std::min(bytes - done, Channel::staging_bytes);
        if (const Result result = ask_copy(link, SpecialCall::copy_out_staged, {from + done, size, {}});
            result != abi::success)
            return result;
        std::memcpy(next + done, link.staging().data(), size);
        done += size;
    }
    return abi::success;
}

Result load(Handle* module, std::span<const std::byte> image, unsigned count, abi::JitOption* options,
            void** values) {
    LoadRequest request;
    char* info = nullptr;
    char* error = nullptr;
    for (unsigned i = 0; i < count; ++i) {
        const auto size = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(values[i]));
        switch (options[i]) {
            case abi::JitOption::info_log_buffer: info = static_cast<char*>(values[i]); break;
            case abi::JitOption::info_log_buffer_size_bytes: request.info_bytes = size; break;
            case abi::JitOption::error_log_buffer: error = static_cast<char*>(values[i]); break;
            case abi::JitOption::error_log_buffer_size_bytes: request.error_bytes = size; break;
            case abi::JitOption::log_verbose: request.verbose = size; break;
        }
    }
    request.logs = info != nullptr && error != nullptr ? 1 : 0;
    request.image.bytes = image.size();
    Link& link = Link::instance();
    const auto lock = link.lock();
    if (!link.running()) return abi::worker_gone;
    std::optional<memory::SharedBlock> block;
    if (request.image.bytes <= Channel::staging_bytes) {
        request.image.staged = 1;
        std::ranges::copy(image, link.staging().data());
    } else {
        block = memory::SharedBlock::make(request.image.bytes);
        if (!block) return abi::out_of_memory;
        std::ranges::copy(image, block->data());
        request.image.place = *link.shared_place(block->data(), block->bytes());
    }
    const Result result =
        link.ask(kind(SpecialCall::load), std::as_bytes(std::span(&request, 1)), load_limit);
    if (result < 0) return result;
    *module = link.answer().get<Handle>();
    if (request.logs != 0) {
        std::memcpy(info, link.staging().data(), request.info_bytes);
        std::memcpy(error, link.staging().data() + request.info_bytes, request.error_bytes);
    }
    return result;
}

Result module_get_function(Handle* function, Handle module, const char* name) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    Packer message;
    message.put(module).put_text(name);
    const Result result = link.ask(kind(SpecialCall::function), message.bytes(), load_limit);
    if (result == abi::success) *function = link.answer().get<Handle>();
    return result;
}

void pack_config(Packer& message, const abi::LaunchConfig& config, Handle function, std::size_t parameters) {
    message.put(LaunchRequest{config, function, static_cast<std::uint32_t>(parameters)});
    for (unsigned i = 0; i < config.attribute_count; ++i) message.put(config.attributes[i]);
}

Result occupancy_max_active_clusters(int* clusters, Handle function, const abi::LaunchConfig* config) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    Packer message;
    pack_config(message, *config, function, 0);
    const Result result = link.ask(kind(SpecialCall::clusters), message.bytes(), load_limit);
    if (result == abi::success) *clusters = link.answer().get<int>();
    return result;
}

Result launch(const KernelStart& start) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    Packer message;
    pack_config(message, *start.config, start.function, start.parameters.size());
    for (std::size_t i = 0; i < start.parameters.size(); ++i)
        message.put(start.sizes[i]).append(start.parameters[i], start.sizes[i]);
    if (start.again) return link.tell(kind(SpecialCall::launch) | told, message.bytes());
    return link.ask(kind(SpecialCall::launch), message.bytes(), load_limit);
}

Result ask_for_map(const TensorMapRequest& request, void* map) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    const Result result =
        link.ask(kind(SpecialCall::tensor_map), std::as_bytes(std::span(&request, 1)), call_limit);
    if (result == abi::success)
        std::memcpy(map, link.answer().take(sizeof(TensorMap)).data(), sizeof(TensorMap));
    return result;
}

Result tensor_map_encode_tiled(void* map, int type, std::uint32_t rank, void* address,
                               const std::uint64_t* extents, const std::uint64_t* strides,
                               const std::uint32_t* box, const std::uint32_t* element_strides, int interleave,
                               int swizzle, int l2_promotion, int fill) {
    if (rank < 1 || rank > 5) return abi::invalid_value;
    TensorMapRequest request{type, rank, std::bit_cast<std::uint64_t>(address)};
    request.interleave = interleave;
    request.swizzle = swizzle;
    request.l2_promotion = l2_promotion;
    request.fill = fill;
    std::copy_n(extents, rank, request.extents);
    std::copy_n(strides, rank - 1, request.strides);
    std::copy_n(box, rank, request.box);
    std::copy_n(element_strides, rank, request.element_strides);
    return ask_for_map(request, map);
}

Result tensor_map_encode_im2col(void* map, int type, std::uint32_t rank, void* address,
                                const std::uint64_t* extents, const std::uint64_t* strides, const int* lower,
                                const int* upper, std::uint32_t channels, std::uint32_t pixels,
                                const std::uint32_t* element_strides, int interleave, int swizzle,
                                int l2_promotion, int fill) {
    if (rank < 3 || rank > 5) return abi::invalid_value;
    TensorMapRequest request{type, rank, std::bit_cast<std::uint64_t>(address)};
    request.interleave = interleave;
    request.swizzle = swizzle;
    request.l2_promotion = l2_promotion;
    request.fill = fill;
    request.pixels = 1;
    std::copy_n(extents, rank, request.extents);
    std::copy_n(strides, rank - 1, request.strides);
    std::copy_n(element_strides, rank, request.element_strides);
    std::copy_n(lower, rank - 2, request.lower);
    std::copy_n(upper, rank - 2, request.upper);
    request.box[0] = channels;
    request.box[1] = pixels;
    return ask_for_map(request, map);
}

// The device sees the worker's mapping of the block; the pointer comes with the registration.
std::map<void*, abi::DevicePointer>& registered() {
    static auto* const all = new std::map<void*, abi::DevicePointer>;
    return *all;
}

Result mem_host_register(void* memory, std::size_t bytes, unsigned flags) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    const std::optional<BlockPlace> place = link.shared_place(memory, bytes);
    if (!place) return abi::invalid_value;
    Packer message;
    message.put(*place).put(bytes).put(flags);
    const Result result = link.ask(kind(SpecialCall::register_host), message.bytes(), copy_limit(bytes));
    if (result == abi::success) registered()[memory] = link.answer().get<abi::DevicePointer>();
    return result;
}

Result mem_host_unregister(void* memory) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    const std::optional<BlockPlace> place = link.shared_place(memory, 1);
    if (!place || registered().erase(memory) == 0) return abi::invalid_value;
    Packer message;
    message.put(*place);
    return link.ask(kind(SpecialCall::unregister_host), message.bytes(), call_limit);
}

Result mem_host_get_device_pointer(abi::DevicePointer* pointer, void* memory, unsigned) {
    const auto lock = Link::instance().lock();
    const auto it = registered().find(memory);
    if (it == registered().end()) return abi::invalid_value;
    *pointer = it->second;
    return abi::success;
}

Result cublas_make(const Gemm& gemm, const std::array<std::uint64_t, 3>& operands, int candidates,
                   std::uint64_t* number, int* tried) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    Packer message;
    message.put(gemm).put(operands).put(candidates);
    const Result result = link.ask(kind(SpecialCall::cublas_make), message.bytes(), start_limit);
    if (result == abi::refused) {
        const std::string code(link.answer().get_text()), words(link.answer().get_text()),
            fix(link.answer().get_text());
        if (code == "EINVAL") throw ArgumentError(words, fix);
        throw EnvironmentError(code, words, fix);
    }
    if (result == abi::success) {
        *number = link.answer().get<std::uint64_t>();
        *tried = link.answer().get<int>();
    }
    return result;
}

Result cublas_run(std::uint64_t number) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    return link.tell(kind(SpecialCall::cublas_run) | told, std::as_bytes(std::span(&number, 1)));
}

void cublas_drop(std::uint64_t number) {
    Link& link = Link::instance();
    const auto lock = link.lock();
    link.tell(kind(SpecialCall::cublas_drop) | told, std::as_bytes(std::span(&number, 1)));
}

const WorkerCalls worker_calls{
    .load = load,
    .launch = launch,
    .end =
        [] {
            Link& link = Link::instance();
            const auto lock = link.lock();
            link.end();
            registered().clear();
        },
    .last_words =
        [] {
            Link& link = Link::instance();
            const auto lock = link.lock();
            return link.last_words();
        },
    .cublas_make = cublas_make,
    .cublas_run = cublas_run,
    .cublas_drop = cublas_drop,
};

template <auto Member>
void asked(Driver& driver) {
    driver.*Member = Plain<Member>::ask;
}

template <auto Member>
void one_way(Driver& driver) {
    driver.*Member = Plain<Member>::tell;
}

Driver table() {
    Driver d{};
    d.init = init;
    asked<&Driver::driver_get_version>(d);
    d.get_error_name = get_error_name;
    d.get_error_string = get_error_string;
    asked<&Driver::device_get_count>(d);
    asked<&Driver::device_get>(d);
    d.device_get_name = device_get_name;
    asked<&Driver::device_get_attribute>(d);
    asked<&Driver::device_total_mem>(d);
    d.primary_context_retain = primary_context_retain;
    d.primary_context_release = primary_context_release;
    d.context_set_current = context_set_current;
    asked<&Driver::mem_get_info>(d);
    asked<&Driver::mem_alloc>(d);
    one_way<&Driver::mem_free>(d);
    d.memcpy_host_to_device = memcpy_host_to_device;
    d.memcpy_device_to_host = memcpy_device_to_host;
    one_way<&Driver::memset_d8_async>(d);
    d.module_load_data_ex = nullptr;  // worker->load
    one_way<&Driver::module_unload>(d);
    d.module_get_function = module_get_function;
    asked<&Driver::function_get_attribute>(d);
    asked<&Driver::function_set_attribute>(d);
    asked<&Driver::function_get_param_info>(d);
    d.occupancy_max_active_clusters = occupancy_max_active_clusters;
    d.launch_kernel_ex = nullptr;  // worker->launch
    asked<&Driver::stream_query>(d);
    asked<&Driver::event_create>(d);
    one_way<&Driver::event_destroy>(d);
    one_way<&Driver::event_record>(d);
    asked<&Driver::event_query>(d);
    asked<&Driver::event_elapsed_time>(d);
    d.tensor_map_encode_tiled = tensor_map_encode_tiled;
    d.tensor_map_encode_im2col = tensor_map_encode_im2col;
    d.mem_host_register = mem_host_register;
    d.mem_host_unregister = mem_host_unregister;
    d.mem_host_get_device_pointer = mem_host_get_device_pointer;
    d.worker = &worker_calls;
    return d;
}

}  // namespace

const Driver& worker_driver() {
    static const Driver driver = table();
    return driver;
}

}  // namespace wgrun::gpu
