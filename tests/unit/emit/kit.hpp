// Small programs, written step by step, each on a line of k.lua.
#pragma once

#include "emit/emit.hpp"
#include "tests/catch.hpp"
#include "tests/script.hpp"

namespace kit {

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;

using test::imm, test::typed, test::with;

struct Script : test::Script {
    explicit Script(int threads = 128, Dim3 cluster = {})
        : test::Script(threads, cluster, "kernel", "dir/k.lua") {}
};

inline Operand reg(Reg r) { return Operand::of(r); }
inline Operand num(double value) { return Operand::number(value); }
inline Operand negated(Reg r) {
    Operand o = Operand::of(r);
    o.negated = true;
    return o;
}

/// The statements between the declarations and the end, without comments and indentation.
inline std::string body(const emit::Text& text, std::string_view first) {
    std::string out;
    std::size_t at = text.text.find(first);
    for (std::size_t end; at < text.text.size(); at = end + 1) {
        end = text.text.find('\n', at);
        std::string line = text.text.substr(at, end - at);
        line.erase(0, line.find_first_not_of(' '));
        if (!line.starts_with("//")) out += line + "\n";
    }
    return out;
}

}  // namespace kit
