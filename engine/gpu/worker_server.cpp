// The worker process: passes its parent's requests to the driver, in order, until the parent is gone.
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "gpu/context.hpp"
#include "gpu/cublas.hpp"
#include "gpu/driver.hpp"
#include "gpu/message.hpp"
#include "gpu/nvrtc_process.hpp"
#include "gpu/protocol.hpp"
#include "gpu/worker_process.hpp"

namespace wgrun::gpu {

namespace {

using abi::Handle;
using abi::Result;

constexpr Result not_initialized = 3;

// Blocks of the parent's memory, mapped when they are first asked for. A block is made known to the driver
// (pinned) before it is copied: that takes less time than the first copy loses without it, and later ones are
// six times as fast.
class Blocks {
  public:
    explicit Blocks(const Driver& driver) : driver_(driver) {}

    /// The bytes at the place; null when they cannot be mapped.
    std::byte* at(const BlockPlace& place) {
        Block* block = find(place);
        return block == nullptr ? nullptr : block->data + place.within;
    }

    std::byte* for_copy(const BlockPlace& place) {
        Block* block = find(place);
        if (block == nullptr) return nullptr;
        if (!block->registered)
            block->registered = driver_.mem_host_register(block->data, block->bytes,
                                                          abi::host_register_portable) == abi::success;
        return block->data + place.within;
    }

    Result register_all(const BlockPlace& place, unsigned flags, abi::DevicePointer& pointer) {
        Block* block = find(place);
        if (block == nullptr) return abi::out_of_memory;
        if (block->registered) driver_.mem_host_unregister(block->data);
        block->registered = false;
        const Result result = driver_.mem_host_register(block->data, block->bytes, flags);
        if (result != abi::success) return result;
        block->registered = true;
        const Result mapped = driver_.mem_host_get_device_pointer(&pointer, block->data, 0);
        pointer += place.within;
        return mapped;
    }

    /// Freed blocks are unmapped when nothing runs, since the driver might wait for that.
    void forget_later(std::uint64_t name) { gone_.push_back(name); }
    void forget_gone() {
        for (const std::uint64_t name : std::exchange(gone_, {})) forget(name);
    }

    void forget(std::uint64_t name) {
        const auto it = blocks_.find(name);
        if (it == blocks_.end()) return;
        if (it->second.registered) driver_.mem_host_unregister(it->second.data);
        ::munmap(it->second.data, it->second.bytes);
        blocks_.erase(it);
    }

  private:
    struct Block {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        bool registered = false;
    };

    Block* find(const BlockPlace& place) {
        if (const auto it = blocks_.find(place.block); it != blocks_.end()) return &it->second;
        void* data = ::mmap(nullptr, place.block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, worker_memory,
                            static_cast<off_t>(place.block));
        if (data == MAP_FAILED) return nullptr;
        return &(blocks_[place.block] = {static_cast<std::byte*>(data),
                                         static_cast<std::size_t>(place.block_bytes)});
    }

    const Driver& driver_;
    std::map<std::uint64_t, Block> blocks_;
    std::vector<std::uint64_t> gone_;
};

class Server {
  public:
    Server(Channel& channel, const Driver& driver) : channel_(channel), driver_(driver), blocks_(driver) {}

    [[noreturn]] void run() {
        for (;;) {
            const Channel::Message message = channel_.receive();
            const bool answers = (message.kind & told) == 0;
            answer_.emplace();
            Unpacker body(message.body);
            Result result = serve(message.kind & ~told, body);
            if (message.kind == kind_of<&Driver::stream_query>() && result == abi::success)
                blocks_.forget_gone();
            if (answers) {
                // An error of a message without an answer is reported with the next answer.
                if (late_ != abi::success) result = std::exchange(late_, abi::success);
                Packer whole;
                whole.put(result).append(answer_->bytes().data(), answer_->bytes().size());
                channel_.done();
                channel_.reply(whole.bytes());
            } else {
                channel_.done();
                if (result != abi::success && late_ == abi::success && matters(message.kind & ~told))
                    late_ = result;
            }
        }
    }

  private:
    static constexpr std::uint32_t number(SpecialCall special) { return static_cast<std::uint32_t>(special); }

    // An error while freeing is ignored.
    static bool matters(std::uint32_t kind) {
        return kind == number(SpecialCall::launch) || kind == number(SpecialCall::cublas_run) ||
               kind == kind_of<&Driver::memset_d8_async>() || kind == kind_of<&Driver::event_record>();
    }

    // ---- Plain calls

    template <class Argument>
    using Stored =
        std::conditional_t<comes_back<Argument>,
                           std::remove_pointer_t<std::conditional_t<comes_back<Argument>, Argument, void*>>,
                           Argument>;

    template <class Argument>
    static Argument passed(Stored<Argument>& value) {
        if constexpr (comes_back<Argument>)
            return &value;
        else
            return value;
    }

    template <class... Arguments>
    Result plain(Result (*function)(Arguments...), Unpacker& body) {
        std::tuple<Stored<Arguments>...> values{};
        std::apply(
            [&](auto&... value) {
                const auto read = [&]<class Argument>(std::type_identity<Argument>, auto& to) {
                    if constexpr (!comes_back<Argument>) to = body.get<Argument>();
                };
                (read(std::type_identity<Arguments>{}, value), ...);
            },
            values);
        const Result result =
            std::apply([&](auto&... value) { return function(passed<Arguments>(value)...); }, values);
        std::apply(
            [&](auto&... value) {
                const auto write = [&]<class Argument>(std::type_identity<Argument>, const auto& from) {
                    if constexpr (comes_back<Argument>) answer_->put(from);
                };
                (write(std::type_identity<Arguments>{}, value), ...);
            },
            values);
        return result;
    }

    template <auto Member>
    Result plain_member(Unpacker& body) {
        if (driver_.*Member == nullptr) return not_initialized;
        return plain(driver_.*Member, body);
    }

    template <auto... Members>
    Result plain_number(std::uint32_t kind, Unpacker& body, Calls<Members...>) {
        using Handler = Result (Server::*)(Unpacker&);
        static constexpr std::array<Handler, sizeof...(Members)> handlers{&Server::plain_member<Members>...};
        return kind < handlers.size() ? (this->*handlers[kind])(body) : not_initialized;
    }

    // ---- The others

    Result serve(std::uint32_t kind, Unpacker& body) {
        switch (static_cast<SpecialCall>(kind)) {
            case SpecialCall::error_texts: return error_texts(body);
            case SpecialCall::device_name: return device_name(body);
            case SpecialCall::retain: return retain(body);
            case SpecialCall::copy_in:
            case SpecialCall::copy_in_staged:
            case SpecialCall::copy_out:
            case SpecialCall::copy_out_staged: return copy(static_cast<SpecialCall>(kind), body);
            case SpecialCall::forget_block:
                return blocks_.forget_later(body.get<std::uint64_t>()), abi::success;
            case SpecialCall::load: return load(body);
            case SpecialCall::function: return function(body);
            case SpecialCall::clusters: return clusters(body);
            case SpecialCall::launch: return launch(body);
            case SpecialCall::tensor_map: return tensor_map(body);
            case SpecialCall::register_host: return register_host(body);
            case SpecialCall::unregister_host:
                return blocks_.forget(body.get<BlockPlace>().block), abi::success;
            case SpecialCall::cublas_make: return cublas_make(body);
            case SpecialCall::cublas_run: return cublas_run(body);
            case SpecialCall::cublas_drop: return cublas_.erase(body.get<std::uint64_t>()), abi::success;
        }
        return plain_number(kind, body, PlainCalls{});
    }

    Result error_texts(Unpacker& body) {
        const auto error = body.get<Result>();
        const auto put = [&](Result (*ask)(Result, const char**)) {
            const char* text = nullptr;
            answer_->put_text(ask(error, &text) == abi::success && text != nullptr ? text : "");
        };
        put(driver_.get_error_name);
        put(driver_.get_error_string);
        return abi::success;
    }

    Result device_name(Unpacker& body) {
        std::array<char, 256> name{};
        const Result result =
            driver_.device_get_name(name.data(), name.size() - 1, body.get<abi::DeviceOrdinal>());
        answer_->put_text(name.data());
        return result;
    }

    Result retain(Unpacker& body) {
        Handle context = nullptr;
        Result result = driver_.primary_context_retain(&context, body.get<abi::DeviceOrdinal>());
        if (result == abi::success) result = driver_.context_set_current(context);
        answer_->put(context);
        return result;
    }

    Result copy(SpecialCall special, Unpacker& body) {
        const auto device = body.get<abi::DevicePointer>();
        const auto bytes = body.get<std::uint64_t>();
        const auto place = body.get<BlockPlace>();
        const bool staged = special == SpecialCall::copy_in_staged || special == SpecialCall::copy_out_staged;
        std::byte* const host = staged ? channel_.staging().data() : blocks_.for_copy(place);
        if (host == nullptr) return abi::out_of_memory;
        if (special == SpecialCall::copy_in || special == SpecialCall::copy_in_staged)
            return driver_.memcpy_host_to_device(device, host, bytes);
        return driver_.memcpy_device_to_host(host, device, bytes);
    }

    Result load(Unpacker& body) {
        const auto request = body.get<LoadRequest>();
        const std::byte* image =
            request.image.staged != 0 ? channel_.staging().data() : blocks_.at(request.image.place);
        if (image == nullptr) return abi::out_of_memory;
        // The logs use the area of the image.
        std::vector<char> info(request.info_bytes), error(request.error_bytes);
        const auto value = [](std::uint32_t number) { return std::bit_cast<void*>(std::uintptr_t{number}); };
        std::array options = {abi::JitOption::info_log_buffer, abi::JitOption::info_log_buffer_size_bytes,
                              abi::JitOption::error_log_buffer, abi::JitOption::error_log_buffer_size_bytes,
                              abi::JitOption::log_verbose};
        std::array<void*, 5> values = {info.data(), value(request.info_bytes), error.data(),
                                       value(request.error_bytes), value(request.verbose)};
        Handle module = nullptr;
        const Result result = driver_.module_load_data_ex(
            &module, image, request.logs != 0 ? options.size() : 0, options.data(), values.data());
        answer_->put(module);
        if (request.logs != 0) {
            std::memcpy(channel_.staging().data(), info.data(), info.size());
            std::memcpy(channel_.staging().data() + info.size(), error.data(), error.size());
        }
        return result;
    }

    Result function(Unpacker& body) {
        const auto module = body.get<Handle>();
        const std::string name(body.get_text());
        Handle function = nullptr;
        const Result result = driver_.module_get_function(&function, module, name.c_str());
        answer_->put(function);
        return result;
    }

    LaunchRequest config(Unpacker& body) {
        auto request = body.get<LaunchRequest>();
        for (unsigned i = 0; i < request.config.attribute_count && i < attributes_.size(); ++i)
            attributes_[i] = body.get<abi::LaunchAttribute>();
        request.config.attributes = attributes_.data();
        return request;
    }

    Result clusters(Unpacker& body) {
        const LaunchRequest request = config(body);
        int clusters = 0;
        const Result result =
            driver_.occupancy_max_active_clusters(&clusters, request.function, &request.config);
        answer_->put(clusters);
        return result;
    }

    Result launch(Unpacker& body) {
        const LaunchRequest request = config(body);
        // The driver reads the parameters in place, in the ring.
        parameters_.clear();
        for (std::uint32_t i = 0; i < request.parameters; ++i)
            parameters_.push_back(const_cast<std::byte*>(body.take(body.get<std::uint32_t>()).data()));
        return driver_.launch_kernel_ex(&request.config, request.function, parameters_.data(), nullptr);
    }

    Result tensor_map(Unpacker& body) {
        const auto request = body.get<TensorMapRequest>();
        TensorMap map{};
        void* const address = std::bit_cast<void*>(request.address);
        const Result result =
            request.pixels != 0
                ? driver_.tensor_map_encode_im2col(
                      &map, request.type, request.rank, address, request.extents, request.strides,
                      request.lower, request.upper, request.box[0], request.box[1], request.element_strides,
                      request.interleave, request.swizzle, request.l2_promotion, request.fill)
                : driver_.tensor_map_encode_tiled(&map, request.type, request.rank, address, request.extents,
                                                  request.strides, request.box, request.element_strides,
                                                  request.interleave, request.swizzle, request.l2_promotion,
                                                  request.fill);
        answer_->append(map.bytes, sizeof map.bytes);
        return result;
    }

    Result register_host(Unpacker& body) {
        const auto place = body.get<BlockPlace>();
        body.get<std::size_t>();
        abi::DevicePointer pointer = 0;
        const Result result = blocks_.register_all(place, body.get<unsigned>(), pointer);
        answer_->put(pointer);
        return result;
    }

    Result cublas_make(Unpacker& body) {
        const auto gemm = body.get<Gemm>();
        const auto operands = body.get<std::array<std::uint64_t, 3>>();
        const int candidates = body.get<int>();
        try {
            if (!device_) device_.emplace(driver_);
            auto product = std::make_unique<CublasProduct>(*device_, gemm, operands, candidates);
            answer_->put(++last_product_).put(product->tried());
            cublas_[last_product_] = std::move(product);
            return abi::success;
        } catch (const Error& error) {
            answer_->put_text(error.code()).put_text(error.what()).put_text(error.finding().fix);
            return abi::refused;
        }
    }

    Result cublas_run(Unpacker& body) {
        const auto it = cublas_.find(body.get<std::uint64_t>());
        if (it == cublas_.end()) return abi::invalid_value;
        try {
            it->second->run();
            return abi::success;
        } catch (const Error&) {
            return abi::launch_failed;
        }
    }

    Channel& channel_;
    const Driver& driver_;
    Blocks blocks_;
    std::optional<Packer> answer_;
    std::array<abi::LaunchAttribute, 2> attributes_{};
    std::vector<void*> parameters_;
    std::optional<Device> device_;  // of this process, for cuBLAS
    std::map<std::uint64_t, std::unique_ptr<CublasProduct>> cublas_;
    std::uint64_t last_product_ = 0;
    Result late_ = abi::success;
};

// The end of the parent ends this process, whatever the driver is doing.
void die_with_parent() {
    try {
        std::thread([] {
            pollfd life{worker_life, POLLIN, 0};
            while (::poll(&life, 1, -1) < 0) {
            }
            ::_exit(0);
        }).detach();
    } catch (const std::system_error& error) {
        throw EnvironmentError("EAGAIN",
                               "cannot start a thread that watches the parent: " + error.code().message());
    }
}

}  // namespace

std::optional<int> worker_main(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != worker_command) return std::nullopt;
    const auto refuse = [](const char* why) {
        std::fputs(why, stderr);
        return 2;
    };
    const bool compiles = argc == 5 && std::string_view(argv[3]) == nvrtc_command;
    if (argc != 3 && !compiles) return refuse("wgrun gpu-worker: started by wgrun itself, not by people\n");
    if (std::string_view(argv[2]) != protocol)
        return refuse("wgrun gpu-worker: of another version than its parent\n");
    if (compiles) return nvrtc_main(argv[4]);
    ::prctl(PR_SET_NAME, "wgrun-gpu");
    // Closes the other descriptors that the parent had open.
    ::syscall(SYS_close_range, worker_life + 1, ~0U, 0);
    std::signal(SIGPIPE, SIG_IGN);
    try {
        die_with_parent();
        Channel channel(worker_channel);
        const DriverLibrary library = find_driver();
        if (library.functions == nullptr) return refuse("wgrun gpu-worker: there is no driver\n");
        Server(channel, *library.functions).run();
    } catch (const std::exception& error) {
        refuse(("wgrun gpu-worker: " + std::string(error.what()) + "\n").c_str());
        ::_exit(1);
    }
}

}  // namespace wgrun::gpu
