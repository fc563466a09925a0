// Files: wg.load.
#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/tensor.hpp"
#include "wgrun/safetensors.hpp"

namespace wgrun::lua {
namespace {

// The argument after the path: a dtype, or { dtype =, mmap = }.
struct LoadOptions {
    std::optional<Dtype> dtype;
    std::optional<bool> map;
};

constexpr Option load_keys[] = {
    {"dtype", R"(string?)",
     R"(the type of a .npy file, where numpy has no name for it: "bf16", "e4m3", ...)"},
    {"mmap", "boolean?", "maps the file instead of reading it; by default true for .safetensors"}};

LoadOptions read_load_options(lua_State* L) {
    LoadOptions out;
    const auto read_dtype = [&](std::string_view name) {
        if (!name.empty()) out.dtype = guarded(L, [&] { return dtype_named(name); });
    };
    if (lua_type(L, 2) == LUA_TTABLE) {
        const Options options(L, 2, "wg.load", load_keys);
        read_dtype(options.string("dtype", ""));
        if (options.has("mmap")) out.map = options.boolean("mmap");
    } else if (!lua_isnil(L, 2)) {
        read_dtype(string_argument(L, 2));
    }
    return out;
}

Loading loading(bool map) { return map ? Loading::map : Loading::read; }

int load_npy(lua_State* L, std::string_view path, const LoadOptions& options) {
    const bool map = options.map.value_or(false);
    HostTensorBox& box = push_object<HostTensorBox>(L, [] { return HostTensorBox{}; });
    const LimitState& here = limit_state(L);
    if (int failed = attempted(L, [&] {
            const Charging charging(here);
            box.tensor = std::make_shared<Tensor>(Tensor::load(path, options.dtype, loading(map)));
        }))
        return failed;
    if (!map) account(L, box.tensor->size_bytes());
    return 1;
}

int load_weights(lua_State* L, std::string_view path, const LoadOptions& options) {
    if (options.dtype)
        fail(L, [] {
            return std::string(
                "wg.load: `dtype` is for .npy files; a .safetensors file states the types of its tensors");
        });
    const bool map = options.map.value_or(true);
    auto& file = held<Safetensors>(L);
    const LimitState& here = limit_state(L);
    if (int failed = attempted(L, [&] {
            const Charging charging(here);
            file = load_safetensors(path, loading(map));
        }))
        return failed;
    luaL_checkstack(L, 8, nullptr);
    lua_newtable(L);
    std::size_t bytes = 0;
    for (auto& [name, tensor] : file.tensors) {
        bytes += tensor.size_bytes();
        lua_pushlstring(L, name.data(), name.size());
        push_tensor(L, [&tensor = tensor] { return std::move(tensor); });
        lua_rawset(L, -3);
    }
    lua_newtable(L);
    for (const auto& [key, text] : file.metadata) {
        lua_pushlstring(L, key.data(), key.size());
        lua_pushlstring(L, text.data(), text.size());
        lua_rawset(L, -3);
    }
    if (!map) account(L, bytes);
    return 2;
}

// wg.load(path [, dtype or { dtype =, mmap = }]): a tensor; for a .safetensors file its tensors by name, and
// its metadata. Or nil, message, code.
int load(lua_State* L) {
    check_unrestricted(L, "wg.load");
    lua_settop(L, 2);
    const std::string_view path = name_argument(L, 1);
    const LoadOptions options = read_load_options(L);
    return path.ends_with(".safetensors") ? load_weights(L, path, options) : load_npy(L, path, options);
}

}  // namespace

void add_files(lua_State* L) {
    static const Member functions[] = {{"load", load, R"(
Reads tensors from a file.
@param path string  a .npy or .safetensors file
@param options table|string?  an option table, or just the dtype
@return tensor|table  the tensor; for a .safetensors file, its tensors by name; or nil, message, code
@return table?  the metadata of a .safetensors file)",
                                        load_keys},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
