// PTX that other compilers have made.
#include "bindings/c/cancellation.hpp"
#include "bindings/c/failure.hpp"
#include "bindings/c/structs.hpp"
#include "bindings/c/verdicts.hpp"
#include "bindings/lua/script.hpp"
#include "wgrun/foreign.hpp"

using namespace wgrun::c;

extern "C" {

int wgrun_check_ptx(const char* name, const char* text, size_t length, const char** json) {
    return wgrun_check_ptx_given(name, text, length, nullptr, json);
}

int wgrun_check_ptx_given(const char* name, const char* text, size_t length, const wgrun_assumptions* given,
                          const char** json) {
    return answer([&] {
        if (text == nullptr) refuse_argument("text is NULL");
        const TokenInUse token;
        wgrun::Cancellation::poll();
        thread_local std::string last;
        last = wgrun::to_json(wgrun::check_ptx(name == nullptr ? wgrun::lua::unnamed_text : name,
                                               std::string(text, length), read_assumptions(given)));
        result(json, "json") = last.c_str();
    });
}

}  // extern "C"
