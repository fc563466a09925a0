// Kernels as files for programs without wgrun.
#include "wgrun/export.hpp"

#include <filesystem>
#include <span>

#include "bindings/c/structs.hpp"
#include "bindings/c/with_kernel.hpp"
#include "bindings/lua/export.hpp"
#include "bindings/lua/userdata.hpp"

namespace wgrun::c {

/// Immutable, and thread-safe.
struct Files {
    explicit Files(std::vector<Exported> made) : kernels(std::move(made)) {
        for (const Exported& kernel : kernels)
            for (const ExportedFile& file : kernel.files) list.emplace_back(&kernel, &file);
    }
    std::vector<Exported> kernels;
    std::vector<std::pair<const Exported*, const ExportedFile*>> list;
};

template <>
inline constexpr Kind kind_of<Files> = Kind::files;

namespace {

struct Reading {
    const KernelRef& ref;
    std::vector<Export>& out;
};

// Reads a kernel with its script's kernel:launch_rule.
void read_export(lua_State* L, void* context) {
    const auto& reading = *static_cast<Reading*>(context);
    auto& read = lua::held<std::vector<Export>>(L);
    reading.ref.run->push_kernel(L, *reading.ref.kernel);
    lua::add_export(L, lua_gettop(L), read);
    lua::guarded(L, [&] { reading.out.insert(reading.out.end(), read.begin(), read.end()); });
}

}  // namespace
}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_export(wgrun_kernel* const* kernels, size_t count, const char* folder, wgrun_files** files) {
    return answer([&] {
        if (kernels == nullptr || count == 0) refuse_argument("kernels: NULL, or none");
        if (folder != nullptr && *folder == 0) refuse_argument("folder is \"\"");
        if (folder == nullptr) result(files, "files");
        std::vector<std::shared_ptr<KernelRef>> refs;
        for (std::size_t i = 0; i < count; ++i) refs.push_back(find<KernelRef>(kernels[i]));
        Engine& engine = refs.front()->engine();
        for (const auto& ref : refs)
            if (&ref->engine() != &engine) refuse_argument("the kernels are of several engines");
        const Turn turn(engine);
        std::atomic<bool> stop = false;
        const Interruptible interruptible(engine, stop);
        std::vector<wgrun::Export> wanted;
        for (const auto& ref : refs) {
            Reading reading{*ref, wanted};
            ref->run->state->protect(read_export, &reading);
        }
        within_time(engine, [&] {
            std::vector<wgrun::Exported> made = wgrun::exported(wanted);
            if (folder != nullptr) wgrun::write_exported(made, folder);
            if (files != nullptr) give_handle(files, std::make_shared<Files>(std::move(made)));
        });
    });
}

int wgrun_files_count(const wgrun_files* files, size_t* count) {
    return answer([&] { result(count, "count") = find<Files>(files)->list.size(); });
}

int wgrun_files_get(const wgrun_files* files, size_t index, wgrun_file* file) {
    return answer([&] {
        const auto held = find<Files>(files);
        if (index >= held->list.size())
            refuse_argument("file " + std::to_string(index) + " of " + std::to_string(held->list.size()));
        const auto& [kernel, found] = held->list[index];
        wgrun_file out{};
        out.kernel = kernel->name.c_str();
        out.name = found->name.c_str();
        out.content = found->content.data();
        out.length = found->content.size();
        out.registers = kernel->registers.value_or(0);
        out.no_cubin = kernel->no_cubin.c_str();
        write_struct(file, out, "file");
    });
}

int wgrun_files_close(wgrun_files* files) {
    return answer([&] { close_handle(Kind::files, files); });
}

}  // extern "C"
