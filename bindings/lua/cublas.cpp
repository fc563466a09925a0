// wg.cublas: products by cuBLAS, to compare with.
#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

constexpr Option cublas_keys[] = {{"a", "tensor", "A"},
                                  {"b", "tensor", "B"},
                                  {"d", "tensor", "D, the result"},
                                  {"a_major", R"(string = "K")", R"("K" or "MN")"},
                                  {"b_major", R"(string = "K")", R"("K" or "MN")"}};

// wg.cublas{ a =, b =, d =, a_major = "K", b_major = "K" }: a product by cuBLAS, or nil, message, code
int cublas_new(lua_State* L) {
    check_unrestricted(L, "wg.cublas");
    const Options options(L, 1, "wg.cublas", cublas_keys);
    CublasBox& box = push_object<CublasBox>(L, [] { return CublasBox{}; });
    for (int i = 0; i < 3; ++i) {
        options.push(cublas_keys[i].name);
        const std::shared_ptr<Tensor>* tensor = test_tensor(L, -1);
        if (tensor == nullptr) options.fail_value(cublas_keys[i].name, "a tensor");
        guarded(L, [&] { box.tensors.push_back(*tensor); });
        lua_pop(L, 1);
    }
    const std::string_view a_major = options.string("a_major", "K"), b_major = options.string("b_major", "K");
    const Session& here = session(L);
    const auto make = [&] {
        const gpu::Patience patience(std::chrono::seconds(10), &here.stop);
        box.cublas.emplace(*box.tensors[0], parse_major(a_major), *box.tensors[1], parse_major(b_major),
                           *box.tensors[2], here.isolation);
    };
    bool full = false;
    if (const int failed = attempted(L, [&] { full = lacks_memory(make); })) return failed;
    if (full) {
        lua_gc(L, LUA_GCCOLLECT);
        if (const int failed = attempted(L, make)) return failed;
    }
    return 1;
}

int cublas_run(lua_State* L) {
    CublasBox& box = check<CublasBox>(L, 1);
    const Session& here = session(L);
    guarded(L, [&] {
        const gpu::Patience patience(std::chrono::seconds(10), &here.stop);
        box.cublas->run();
    });
    return 0;
}

}  // namespace

void open_cublas(lua_State* L) {
    static const Member methods[] = {{"run", cublas_run, "Computes D on the GPU with cuBLAS."}, {}};
    declare<CublasBox>(L, {.methods = methods, .text = R"(
A matrix product by cuBLAS, made by wg.cublas.)"});
    static const Member functions[] = {{"cublas", cublas_new, R"(
The product D = A * B by cuBLAS: a reference, and a comparison for kernel:time. The majors are those of wg.gemm.
@param options table
@return cublas  or nil, message, code where there is no GPU or no cuBLAS)",
                                        cublas_keys},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
