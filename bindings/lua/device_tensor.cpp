// The class wgrun.device_tensor: tensors that stay on the device; t:to "gpu" and back.
#include <string>

#include "bindings/lua/args.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/tensor.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

using Shared = std::shared_ptr<DeviceTensor>;

// The tensor at argument 1 with a share in it, pushed: a finalizer may close it meanwhile.
DeviceTensor& hold_device_tensor(lua_State* L) {
    check<DeviceTensorBox>(L, 1);
    auto& share = held<Shared>(L);
    share = check<DeviceTensorBox>(L, 1).tensor;
    return *share;
}

enum class Place { cpu, gpu };

Place place_argument(lua_State* L) {
    const std::string_view name = string_argument(L, 2);
    if (name == "cpu") return Place::cpu;
    if (name == "gpu") return Place::gpu;
    fail(L, [&] {
        return "t:to: `" + std::string(name) + "` is not a place for a tensor (legal: \"gpu\", \"cpu\")";
    });
}

// t:to "gpu": the tensor on the device that kernels run on; t:to "cpu": itself
int tensor_to(lua_State* L) {
    if (place_argument(L) == Place::cpu) {
        check_tensor(L, 1);
        lua_settop(L, 1);
        return 1;
    }
    const Tensor& tensor = hold_tensor(L, 1);
    const bool runs = session(L).mode == Mode::run;
    const Backend backend = runs ? resolve_backend(L, Backend::automatic) : Backend::sim;
    auto& made = held<Shared>(L);
    const Session& here = session(L);
    const LimitState& limits = limit_state(L);
    guarded_collecting(L, [&] {
        const Charging charging(limits);
        const gpu::Patience patience(std::chrono::seconds(10), &here.stop);
        made = std::make_shared<DeviceTensor>(tensor, backend, here.isolation);
    });
    push_object<DeviceTensorBox>(L, [&] { return DeviceTensorBox{made}; });
    made.reset();
    account(L, tensor.size_bytes());
    return 1;
}

// t:to "cpu": a copy in host memory; t:to "gpu": itself
int device_tensor_to(lua_State* L) {
    if (place_argument(L) == Place::gpu) {
        check<DeviceTensorBox>(L, 1);
        lua_settop(L, 1);
        return 1;
    }
    const DeviceTensor& tensor = hold_device_tensor(L);
    const Session& here = session(L);
    push_tensor(L, [&] {
        const gpu::Patience patience(std::chrono::seconds(10), &here.stop);
        return tensor.to_host();
    });
    account(L, tensor.size_bytes());
    return 1;
}

int device_tensor_shape(lua_State* L) {
    const TensorShape& shape = hold_device_tensor(L).shape();
    push_integers(L, shape.data(), shape.size());
    return 1;
}

int device_tensor_dtype(lua_State* L) {
    const std::string_view name = to_string(check<DeviceTensorBox>(L, 1).tensor->dtype());
    lua_pushlstring(L, name.data(), name.size());
    return 1;
}

int device_tensor_bytes(lua_State* L) {
    lua_pushinteger(L, static_cast<lua_Integer>(check<DeviceTensorBox>(L, 1).tensor->size_bytes()));
    return 1;
}

// "gpu", or "sim" for the memory that the simulator has in its place
int device_tensor_device(lua_State* L) {
    const std::string_view name = to_string(check<DeviceTensorBox>(L, 1).tensor->backend());
    lua_pushlstring(L, name.data(), name.size());
    return 1;
}

int device_tensor_len(lua_State* L) {
    std::int64_t items = 1;
    for (const std::int64_t extent : check<DeviceTensorBox>(L, 1).tensor->shape()) items *= extent;
    lua_pushinteger(L, items);
    return 1;
}

int device_tensor_tostring(lua_State* L) {
    auto& text = held<std::string>(L);
    const DeviceTensorBox& box = check<DeviceTensorBox>(L, 1);
    guarded(L, [&] { text = to_string(*box.tensor); });
    lua_pushlstring(L, text.data(), text.size());
    return 1;
}

// t:close(), also __close; may be called again
int device_tensor_close(lua_State* L) {
    check<DeviceTensorBox>(L, 1).tensor->close();
    return 0;
}

}  // namespace

void open_device_tensor(lua_State* L) {
    static const Member of_tensor[] = {{"to", tensor_to, R"(
Moves the tensor: "gpu" copies it to the device that kernels run on, "cpu" returns the tensor itself.
@param place string  "gpu" or "cpu"
@return device_tensor|tensor
@raise when the device has not enough memory.)"},
                                       {}};
    add_methods<HostTensorBox>(L, of_tensor);
    static const Member methods[] = {
        {"to", device_tensor_to, R"(
Moves the tensor: "cpu" copies it to host memory, "gpu" returns the tensor itself.
@param place string  "cpu" or "gpu"
@return tensor|device_tensor)"},
        {"close", device_tensor_close, "Frees its memory at once. Further calls do nothing."},
        {}};
    static const Member fields[] = {{"shape", device_tensor_shape, R"(
The extents.
@return table  a list of integers)"},

                                    {"dtype", device_tensor_dtype, R"(
The element type.
@return string)"},

                                    {"bytes", device_tensor_bytes, R"(
The total size of its elements.
@return integer  bytes)"},

                                    {"device", device_tensor_device, R"(
The place of the tensor.
@return string  "gpu", or "sim" where the simulator stands in for the GPU)"},
                                    {}};
    static const Member metamethods[] = {{"__len", device_tensor_len},
                                         {"__tostring", device_tensor_tostring},
                                         {"__close", device_tensor_close},
                                         {}};
    declare<DeviceTensorBox>(L, {.methods = methods, .fields = fields, .metamethods = metamethods, .text = R"(
A tensor that stays on the device that kernels run on, made by tensor:to. Launches that get it as an argument share it. `#t` is the number of elements.
@operator len: -> integer
@see tensor:to)"});
}

}  // namespace wgrun::lua
