// DLPack: wg.from_dlpack, t:to_dlpack, for C modules of the same process. A script cannot make a pointer, and
// a capsule gives its pointer away only once.
#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/tensor.hpp"
#include "wgrun/dlpack.hpp"

namespace wgrun::lua {

/// The result of t:to_dlpack: the userdata begins with the pointer. A C module that takes the tensor sets it
/// to null; otherwise the deleter is called when the capsule is collected.
struct Capsule {
    dlpack::ManagedTensorVersioned* managed = nullptr;

    explicit Capsule(dlpack::ManagedTensorVersioned* given) : managed(given) {}
    Capsule(const Capsule&) = delete;
    Capsule& operator=(const Capsule&) = delete;
    ~Capsule() {
        if (managed != nullptr) dlpack::Release{}(managed);
    }
};

template <>
inline constexpr const char* class_name<Capsule> = "wgrun.dlpack";
template <>
inline constexpr bool stays_inside<Capsule> = true;

namespace {

// t:to_dlpack(): a capsule
int to_capsule(lua_State* L) {
    check_unrestricted(L, "tensor:to_dlpack");  // it would expose the memory of the process to the script
    const Tensor& tensor = hold_tensor(L, 1);
    push_object<Capsule>(L, [&] { return Capsule(dlpack::to_dlpack_versioned(tensor)); });
    return 1;
}

constexpr Option dlpack_keys[] = {
    {"dtype", "string?", "the element type, where DLPack has no name for it"},
    {"copy", "boolean = false", "copies the elements"},
    {"versioned", "boolean = true",
     "whether a light userdata points to a DLManagedTensorVersioned or, with false, to a DLManagedTensor"}};

// wg.from_dlpack(capsule or light userdata [, { dtype =, copy = false, versioned = true }]): the tensor,
// which then owns the memory. A light userdata points to a DLManagedTensorVersioned, or, with versioned =
// false, to a DLManagedTensor; after an error it is still the caller's.
int from_pointer(lua_State* L) {
    check_unrestricted(L, "wg.from_dlpack");
    lua_settop(L, 2);
    Capsule* const capsule = test<Capsule>(L, 1);
    void* const pointer = lua_type(L, 1) == LUA_TLIGHTUSERDATA ? lua_touserdata(L, 1) : nullptr;
    if (capsule == nullptr && pointer == nullptr)
        fail_argument(L, 1, "a capsule of to_dlpack, or a light userdata");
    dlpack::ImportOptions asked;
    bool versioned = true;
    if (!lua_isnil(L, 2)) {
        const Options options(L, 2, "wg.from_dlpack", dlpack_keys);
        const std::string_view dtype = options.string("dtype", "");
        if (!dtype.empty()) asked.dtype = guarded(L, [&] { return dtype_named(dtype); });
        asked.copy = options.boolean("copy", false);
        versioned = options.boolean("versioned", true);
    }
    HostTensorBox& box = push_object<HostTensorBox>(L, [] { return HostTensorBox{}; });
    charged(L, [&] {
        // From here on no Lua code runs that could take the capsule's tensor, and once it is ours nothing can
        // fail.
        if (capsule != nullptr && capsule->managed == nullptr)
            throw ArgumentError("DLPack: the capsule's tensor has already been taken");
        auto tensor = std::make_shared<Tensor>(Tensor::zeros(Dtype::u8, {0}));
        if (capsule != nullptr) {
            *tensor = dlpack::from_dlpack(capsule->managed, asked);
            capsule->managed = nullptr;
        } else if (versioned) {
            *tensor = dlpack::from_dlpack(static_cast<dlpack::ManagedTensorVersioned*>(pointer), asked);
        } else {
            *tensor = dlpack::from_dlpack(static_cast<dlpack::ManagedTensor*>(pointer), asked);
        }
        box.tensor = std::move(tensor);
    });
    account(L, box.tensor->size_bytes());
    return 1;
}

}  // namespace

void add_dlpack(lua_State* L) {
    declare<Capsule>(L, {.text = R"(
A DLPack capsule, which passes a tensor to another library of the process, made by tensor:to_dlpack.)"});
    static const Member of_tensor[] = {{"to_dlpack", to_capsule, R"(
Makes a DLPack capsule of the tensor, without a copy, for a C module of the same process.
@return userdata  begins with a pointer to a DLManagedTensorVersioned, which the C module that takes the tensor sets to null)"},
                                       {}};
    static const Member functions[] = {{"from_dlpack", from_pointer, R"(
Makes a tensor from one of another library in the same process, without a copy where that is possible.
@param capsule userdata  made by tensor:to_dlpack or a C module; the tensor then owns it
@param options table?
@return tensor
@raise when the capsule's tensor has already been taken, the memory is not the host's, or the type is unknown.)",
                                        dlpack_keys},
                                       {}};
    add_methods<HostTensorBox>(L, of_tensor);
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
