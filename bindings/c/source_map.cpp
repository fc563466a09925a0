// Which line of a kernel's text comes from which line of the script.
#include "bindings/c/structs.hpp"
#include "bindings/c/with_kernel.hpp"

using namespace wgrun::c;

extern "C" {

int wgrun_kernel_source_map(wgrun_kernel* kernel, int text, const wgrun_place** lines, size_t* count) {
    return with_limited_work(kernel, [&](KernelRef& ref) {
        result(lines, "lines");
        result(count, "count");
        if (text != WGRUN_PTX_TEXT && text != WGRUN_CUDA_TEXT)
            refuse_argument("text " + std::to_string(text) + ": not a wgrun_text");
        SourceMap& map = text == WGRUN_PTX_TEXT ? ref.ptx_map : ref.cuda_map;
        SourceMap made;
        for (const wgrun::Where& where :
             text == WGRUN_PTX_TEXT ? ref.kernel->ptx_lines() : ref.kernel->cuda_lines()) {
            const char* file = nullptr;
            if (where) file = made.files.emplace(where.file).first->c_str();
            made.places.push_back({file, where ? where.line : 0});
        }
        map = std::move(made);
        *lines = map.places.data();
        *count = map.places.size();
    });
}

}  // extern "C"
