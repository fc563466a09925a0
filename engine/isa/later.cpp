#include "isa/later.hpp"

#include <algorithm>
#include <array>

namespace wgrun::isa {
namespace {

/// Opcodes that begin so and, if it is not empty, have that qualifier.
struct Later {
    std::string_view begins, qualifier;
    Arch arch;
};

constexpr Arch ampere{80}, hopper{90}, blackwell{100}, blackwell_alone{100, true}, consumer_alone{120, true};

/// PTX ISA 9.0, "Target ISA Notes"; compared with ptxas 13.0. The first row that fits counts.
constexpr std::array opcodes{
    Later{"tcgen05.", {}, blackwell_alone},
    Later{"clusterlaunchcontrol.", {}, blackwell},
    Later{"st.bulk", {}, blackwell},
    Later{"cp.async.bulk.", "cta_group::1", blackwell_alone},
    Later{"cp.async.bulk.", "cta_group::2", blackwell_alone},
    Later{"cp.async.bulk.", "tile::gather4", blackwell},
    Later{"cp.async.bulk.", "tile::scatter4", blackwell},
    Later{"cp.async.bulk.", "im2col::w", blackwell},
    Later{"cp.async.bulk.", "im2col::w::128", blackwell},
    Later{"add.", "f32x2", blackwell},
    Later{"sub.", "f32x2", blackwell},
    Later{"mul.", "f32x2", blackwell},
    Later{"fma.", "f32x2", blackwell},
    Later{"redux.sync.", "f32", blackwell_alone},
    Later{"ld.", "v8.b32", blackwell},
    Later{"ld.", "v8.u32", blackwell},
    Later{"ld.", "v8.s32", blackwell},
    Later{"ld.", "v8.f32", blackwell},
    Later{"st.", "v8.b32", blackwell},
    Later{"st.", "v8.u32", blackwell},
    Later{"st.", "v8.s32", blackwell},
    Later{"st.", "v8.f32", blackwell},
    Later{"ld.", "v4.b64", blackwell},
    Later{"ld.", "v4.u64", blackwell},
    Later{"ld.", "v4.s64", blackwell},
    Later{"ld.", "v4.f64", blackwell},
    Later{"st.", "v4.b64", blackwell},
    Later{"st.", "v4.u64", blackwell},
    Later{"st.", "v4.s64", blackwell},
    Later{"st.", "v4.f64", blackwell},
    Later{"cvt.", "e2m1x2", blackwell_alone},
    Later{"cvt.", "e2m3x2", blackwell_alone},
    Later{"cvt.", "e3m2x2", blackwell_alone},
    Later{"cvt.", "ue8m0x2", blackwell_alone},
    Later{"ldmatrix.", "m16n16", blackwell_alone},
    Later{"ldmatrix.", "m8n16", blackwell_alone},
    Later{"stmatrix.", "m16n8", blackwell_alone},
    Later{"mma.sync.", "kind::f8f6f4", consumer_alone},
    Later{"mma.sync.", "kind::mxf8f6f4", consumer_alone},
    Later{"mma.sync.", "kind::mxf4", consumer_alone},
    Later{"mma.sync.", "kind::mxf4nvf4", consumer_alone},
    Later{"cp.async.bulk.", {}, hopper},
    Later{"cp.reduce.async.", {}, hopper},
    Later{"barrier.cluster.", {}, hopper},
    Later{"mbarrier.try_wait", {}, hopper},
    Later{"mbarrier.expect_tx", {}, hopper},
    Later{"mbarrier.arrive.expect_tx", {}, hopper},
    Later{"mbarrier.arrive_drop.expect_tx", {}, hopper},
    Later{"mbarrier.complete_tx", {}, hopper},
    Later{"fence.proxy.async", {}, hopper},
    Later{"fence.proxy.tensormap", {}, hopper},
    Later{"fence.mbarrier_init", {}, hopper},
    Later{"elect.sync", {}, hopper},
    Later{"griddepcontrol.", {}, hopper},
    Later{"mapa.", {}, hopper},
    Later{"getctarank.", {}, hopper},
    Later{"stmatrix.", {}, hopper},
    Later{"st.async.", {}, hopper},
    Later{"red.async.", {}, hopper},
    Later{"multimem.", {}, hopper},
    Later{"prefetch.tensormap", {}, hopper},
    Later{"cp.async.", {}, ampere},
    Later{"mbarrier.", {}, ampere},
    Later{"redux.sync.", {}, ampere},
    Later{"createpolicy.", {}, ampere},
};

/// Opcodes that begin so and have that qualifier, if one is named.
struct Known {
    std::string_view begins, qualifier;
};
/// Numbers that a record of these does not take, ptxas 13.0 does not take.
constexpr std::array limited{
    Known{"wgmma.", {}},         Known{"setmaxnreg.", {}}, Known{"bar.", {}},
    Known{"barrier.", {}},       Known{"cp.async.", {}},   Known{"cp.reduce.async.", {}},
    Known{"elect.", {}},         Known{"fence.", {}},      Known{"ldmatrix.", {}},
    Known{"stmatrix.", {}},      Known{"match.", {}},      Known{"movmatrix.", {}},
    Known{"redux.sync.", {}},    Known{"red.async.", {}},  Known{"st.async.", {}},
    Known{"shfl.sync.", {}},     Known{"vote.sync.", {}},  Known{"createpolicy.", {}},
    Known{"griddepcontrol.", {}}};

/// Of these ptxas 13.0 takes forms that no row has (tests/assemble).
constexpr std::array open{Known{"cvt.pack.", {}},     Known{"wmma.", "b1"},
                          Known{"wmma.", "m8n8k32"},  Known{"wmma.", "m8n8k128"},
                          Known{"wmma.", "s4"},       Known{"wmma.", "u4"},
                          Known{"cvt.f16.f16", {}},   Known{"cvt.bf16.bf16", {}},
                          Known{"cvt.f16.bf16", {}},  Known{"cvt.bf16.f16", {}},
                          Known{"cvt.f32.f32", {}},   Known{"cvt.ftz.f32.f32", {}},
                          Known{"cvt.f64.f64", {}},   Known{"isspacep.", {}},
                          Known{"testp.", {}},        Known{"fma.", "bf16"},
                          Known{"fma.", "bf16x2"},    Known{"set.", "f16"},
                          Known{"set.", "bf16"},      Known{"set.", "f16x2"},
                          Known{"set.", "bf16x2"},    Known{"setp.", "f16x2"},
                          Known{"setp.", "bf16x2"},   Known{"mma.sync.", "e4m3"},
                          Known{"mma.sync.", "e5m2"}, Known{"mma.sync.", "tf32.tf32"},
                          Known{"mma.sync.", "s4.s4"}};

/// A word of opcodes that no row has and ptxas 13.0 takes (tests/assemble), and one of rows in its place;
/// empty: rows have such opcodes without it.
struct Unread {
    std::string_view begins, word, in_rows;
};
constexpr std::array unread{
    Unread{"mapa.", "s32", "u32"}, Unread{"mapa.", "s64", "u64"}, Unread{"getctarank.", "s32", "u32"},
    Unread{"getctarank.", "s64", "u64"}, Unread{"ld.", "unified", {}}, Unread{"ld.", "weak", {}},
    Unread{"st.", "weak", {}}, Unread{"ld.", "param::entry", "param"}, Unread{"ld.", "param::func", "param"},
    Unread{"ld.", "const", "global"}, Unread{"st.", "param", "global"},
    Unread{"st.", "param::func", "global"},
    // Cache operators are of all spaces (9.7.9.1).
    Unread{"ld.", "ca", {}}, Unread{"ld.", "cg", {}}, Unread{"ld.", "cs", {}}, Unread{"ld.", "lu", {}},
    Unread{"ld.", "cv", {}}, Unread{"st.", "wb", {}}, Unread{"st.", "cg", {}}, Unread{"st.", "cs", {}},
    Unread{"st.", "wt", {}}, Unread{"atom.", "L2::cache_hint", {}}, Unread{"red.", "L2::cache_hint", {}},
    Unread{"set.", "f16x2", "f16"}, Unread{"set.", "bf16x2", "bf16"}, Unread{"set.", "and", {}},
    Unread{"set.", "or", {}}, Unread{"set.", "xor", {}}, Unread{"fma.", "oob", {}}, Unread{"mma.", "rn", {}},
    Unread{"mma.", "rz", {}}, Unread{"mma.", "rm", {}}, Unread{"mma.", "rp", {}}, Unread{"wmma.", "b1", "u8"},
    Unread{"wmma.", "s4", "s8"}, Unread{"wmma.", "u4", "u8"}, Unread{"wmma.", "popc", {}},
    Unread{"wmma.", "and", {}}, Unread{"wmma.", "xor", {}}, Unread{"cvt.pack.", "b32", {}},
    Unread{"cvt.", "pack", {}}, Unread{"isspacep.", "param", "global"},
    Unread{"isspacep.", "const", "global"}, Unread{"isspacep.", "param::entry", "global"},
    Unread{"ld.", "v8", "v4"}, Unread{"st.", "v8", "v4"}, Unread{"rcp.", "ftz", {}},
    Unread{"cvta.", "u32", "u64"}, Unread{"cvta.", "param", "global"}, Unread{"cvta.", "const", "global"},
    Unread{"cvta.", "param::entry", "global"}};

/// Returns where the words stand between dots, or at the end; npos: nowhere.
std::size_t find_words(std::string_view opcode, std::string_view words) {
    for (std::size_t at = opcode.find(words); at != std::string_view::npos; at = opcode.find(words, at + 1)) {
        const std::size_t end = at + words.size();
        if (at > 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.')) return at;
    }
    return std::string_view::npos;
}

bool has_words(std::string_view opcode, std::string_view words) {
    return find_words(opcode, words) != std::string_view::npos;
}

/// Puts another word in its places, or none with its dot.
void replace_word(std::string& opcode, std::string_view word, std::string_view by) {
    for (std::size_t at; (at = find_words(opcode, word)) != std::string::npos;)
        if (by.empty())
            opcode.erase(at - 1, word.size() + 1);
        else
            opcode.replace(at, word.size(), by);
}

}  // namespace

std::optional<Arch> first_chip_of(std::string_view opcode) {
    for (const Later& row : opcodes)
        if (opcode.starts_with(row.begins) && (row.qualifier.empty() || has_words(opcode, row.qualifier)))
            return row.arch;
    return {};
}

bool has_all_forms(std::string_view opcode) {
    return std::ranges::none_of(open, [&](const Known& row) {
        return opcode.starts_with(row.begins) && (row.qualifier.empty() || has_words(opcode, row.qualifier));
    });
}

bool has_all_numbers(std::string_view opcode) {
    return std::ranges::any_of(limited, [&](const Known& row) { return opcode.starts_with(row.begins); });
}

std::string in_words_of_rows(std::string opcode) {
    for (const Unread& row : unread)
        if (opcode.starts_with(row.begins)) replace_word(opcode, row.word, row.in_rows);
    return opcode;
}

}  // namespace wgrun::isa
