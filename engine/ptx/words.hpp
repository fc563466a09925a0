// The words of declarations (PTX ISA 5).
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace wgrun::ptx {

inline bool one_of(std::string_view text, std::initializer_list<std::string_view> list) {
    return std::ranges::find(list, text) != list.end();
}

inline bool is_space(std::string_view text) {
    return one_of(text, {".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex"});
}

inline bool is_linkage(std::string_view text) {
    return one_of(text, {".visible", ".extern", ".weak", ".common"});
}

inline bool is_type(std::string_view text) {
    return one_of(text,
                  {".b8",     ".b16",   ".b32",    ".b64",        ".b128",   ".u8",   ".u16",   ".u32",
                   ".u64",    ".s8",    ".s16",    ".s32",        ".s64",    ".f16",  ".f16x2", ".f32",
                   ".f64",    ".pred",  ".bf16",   ".bf16x2",     ".tf32",   ".e4m3", ".e5m2",  ".e4m3x2",
                   ".e5m2x2", ".f32x2", ".texref", ".samplerref", ".surfref"});
}

}  // namespace wgrun::ptx
