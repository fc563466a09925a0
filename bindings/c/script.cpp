// Scripts: loading them, and their results.
#include "bindings/c/findings.hpp"
#include "bindings/c/state.hpp"
#include "bindings/c/structs.hpp"
#include "bindings/c/tensor.hpp"

namespace wgrun::c {
namespace {

Source source_of(const wgrun_source* given) {
    const wgrun_source said = read_struct(given, "source");
    Source out;
    if (said.file != nullptr) out.file = said.file;
    out.has_text = said.text != nullptr;
    if (said.text != nullptr) out.text.assign(said.text, said.length);
    if (said.text == nullptr && out.file.empty()) refuse_argument("source has neither a file nor a text");
    if (said.argument_count > 0 && said.arguments == nullptr) refuse_argument("source->arguments is NULL");
    for (std::size_t i = 0; i < said.argument_count; ++i) {
        if (said.arguments[i] == nullptr)
            refuse_argument("source->arguments[" + std::to_string(i) + "] is NULL");
        out.arguments.emplace_back(said.arguments[i]);
    }
    return out;
}

const TensorItem& tensor_of(const State& state, std::size_t index) {
    if (index >= state.tensors().size())
        refuse_argument("tensor " + std::to_string(index) + " of " + std::to_string(state.tensors().size()));
    return state.tensors()[index];
}

const std::vector<Item>& list_of(const State& state, int list) {
    if (list == WGRUN_RETURNED) return state.returned();
    if (list == WGRUN_MADE) return state.made();
    refuse_argument("list " + std::to_string(list) + ": not a wgrun_list");
}

const Item& item_of(const State& state, int list, std::size_t index) {
    const std::vector<Item>& items = list_of(state, list);
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
        state->load(said);
        give_handle(script, state);
    });
}

int wgrun_script_close(wgrun_script* script) {
    return answer([&] { close_handle(Kind::script, script); });
}

int wgrun_script_warnings(wgrun_script* script, wgrun_findings** findings) {
    return answer([&] { give_findings(findings, find<State>(script)->warnings()); });
}

int wgrun_script_count(wgrun_script* script, int list, size_t* count) {
    return answer([&] {
        const std::shared_ptr<State> state = find<State>(script);
        result(count, "count") =
            list == WGRUN_TENSORS ? state->tensors().size() : list_of(*state, list).size();
    });
}

int wgrun_script_item(wgrun_script* script, int list, size_t index, wgrun_item* item) {
    return answer([&] {
        const std::shared_ptr<State> state = find<State>(script);
        wgrun_item out{};
        if (list == WGRUN_TENSORS) {
            out.name = tensor_of(*state, index).name.c_str();
        } else {
            const Item& found = item_of(*state, list, index);
            out.name = found.name.c_str();
            out.launches = found.launches ? 1 : 0;
        }
        write_struct(item, out, "item");
    });
}

int wgrun_script_kernel(wgrun_script* script, int list, size_t index, wgrun_kernel** kernel) {
    return answer([&] {
        const std::shared_ptr<State> state = find<State>(script);
        result(kernel, "kernel");
        give_handle(kernel, std::make_shared<KernelRef>(state, *item_of(*state, list, index).kernel));
    });
}

int wgrun_script_tensor(wgrun_script* script, size_t index, wgrun_tensor** tensor) {
    return answer([&] {
        const std::shared_ptr<State> state = find<State>(script);
        give_handle(&result(tensor, "tensor"), tensor_of(*state, index).tensor);
    });
}

}  // extern "C"
