// Scripts: loading them, and their results.
#include "bindings/c/findings.hpp"
#include "bindings/c/state.hpp"
#include "bindings/c/structs.hpp"
#include "bindings/c/tensor.hpp"

namespace wgrun::c {
namespace {

std::vector<std::string> words_of(const char* const* words, std::size_t count, const std::string& what) {
    if (count > 0 && words == nullptr) refuse_argument(what + " is NULL");
    std::vector<std::string> out;
    for (std::size_t i = 0; i < count; ++i) {
        if (words[i] == nullptr) refuse_argument(what + "[" + std::to_string(i) + "] is NULL");
        out.emplace_back(words[i]);
    }
    return out;
}

Source source_of(const wgrun_source* given) {
    const wgrun_source said = read_struct(given, "source");
    Source out;
    if (said.file != nullptr) out.file = said.file;
    out.has_text = said.text != nullptr;
    if (said.text != nullptr) out.text.assign(said.text, said.length);
    if (said.text == nullptr && out.file.empty()) refuse_argument("source has neither a file nor a text");
    out.arguments = words_of(said.arguments, said.argument_count, "source->arguments");
    return out;
}

const TensorItem& tensor_of(const Run& run, std::size_t index) {
    if (index >= run.tensors.size())
        refuse_argument("tensor " + std::to_string(index) + " of " + std::to_string(run.tensors.size()));
    return run.tensors[index];
}

const std::vector<Item>& list_of(const Run& run, int list) {
    if (list == WGRUN_RETURNED) return run.returned;
    if (list == WGRUN_MADE) return run.made;
    refuse_argument("list " + std::to_string(list) + ": not a wgrun_list");
}

const Item& item_of(const Run& run, int list, std::size_t index) {
    const std::vector<Item>& items = list_of(run, list);
    if (index >= items.size())
        refuse_argument("item " + std::to_string(index) + " of " + std::to_string(items.size()));
    return items[index];
}

}  // namespace
}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_script_load(wgrun_engine* engine, const wgrun_source* source, wgrun_script** script) {
    return answer([&] {
        const std::shared_ptr<Engine> used = find<Engine>(engine);
        const Source said = source_of(source);
        result(script, "script");
        const Turn turn(*used);
        const auto state = std::make_shared<State>(used);
        give_handle(script, state->load(said));
    });
}

int wgrun_script_again(wgrun_script* script, const char* const* arguments, size_t count,
                       wgrun_script** again) {
    return answer([&] {
        const std::shared_ptr<Run> run = find<Run>(script);
        const std::vector<std::string> words = words_of(arguments, count, "arguments");
        result(again, "again");
        const Turn turn(run->engine());
        give_handle(again, run->state->again(words));
    });
}

int wgrun_script_close(wgrun_script* script) {
    return answer([&] { close_handle(Kind::script, script); });
}

int wgrun_script_warnings(wgrun_script* script, wgrun_findings** findings) {
    return answer([&] { give_findings(findings, find<Run>(script)->warnings); });
}

int wgrun_script_count(wgrun_script* script, int list, size_t* count) {
    return answer([&] {
        const std::shared_ptr<Run> run = find<Run>(script);
        result(count, "count") = list == WGRUN_TENSORS ? run->tensors.size() : list_of(*run, list).size();
    });
}

int wgrun_script_item(wgrun_script* script, int list, size_t index, wgrun_item* item) {
    return answer([&] {
        const std::shared_ptr<Run> run = find<Run>(script);
        wgrun_item out{};
        if (list == WGRUN_TENSORS) {
            out.name = tensor_of(*run, index).name.c_str();
        } else {
            const Item& found = item_of(*run, list, index);
            out.name = found.name.c_str();
            out.launches = found.launches ? 1 : 0;
        }
        write_struct(item, out, "item");
    });
}

int wgrun_script_kernel(wgrun_script* script, int list, size_t index, wgrun_kernel** kernel) {
    return answer([&] {
        const std::shared_ptr<Run> run = find<Run>(script);
        result(kernel, "kernel");
        give_handle(kernel, std::make_shared<KernelRef>(run, *item_of(*run, list, index).kernel));
    });
}

int wgrun_script_tensor(wgrun_script* script, size_t index, wgrun_tensor** tensor) {
    return answer([&] {
        const std::shared_ptr<Run> run = find<Run>(script);
        give_handle(&result(tensor, "tensor"), tensor_of(*run, index).tensor);
    });
}

}  // extern "C"
