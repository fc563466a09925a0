// Tensor maps in memory: tensormap.replace, tensormap.cp_fenceproxy and the fences of their proxy.
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "isa/map_field.hpp"
#include "isa/order.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

Type place_type(const Form& form) { return space(form) == Space::global ? u64 : u32; }

OperandRule place() { return {"a", Access::in, Rule::address, place_type, nullptr, false, {}, {}}; }
OperandRule number(std::string_view name, int most) {
    return {name, Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, most}};
}
OperandRule whole_map() {
    return {"bytes", Access::in, Rule::imm, fixed<u32>,
            nullptr, true,       map_bytes, Range{map_bytes, map_bytes}};
}

void replaces(const Step& s, Effects& e) {
    e.memory({space(s.form), true, &s.operands[0], map_bytes});
    if (space(s.form) == Space::global) e.change_map();
}

template <MapField field, bool has_dimension, class T>
void run_replace(const Step& s, Machine& m) {
    const Addresses at = space(s.form) == Space::global ? addresses_of<std::uint64_t>(m, s.operands[0])
                                                        : addresses_of<std::uint32_t>(m, s.operands[0]);
    const int dimension = has_dimension ? static_cast<int>(s.operands[1].imm) : 0;
    m.replace_in_map(space(s.form), at, field, dimension, counts_of<T>(m, s.operands.back()));
}

struct Words {
    std::string_view name, summary, ptx;
};

/// The record of a field. dimensions: how many there are, of which one is named; 0: the field has no parts.
template <MapField field, int dimensions, class T>
Instruction replacing(const Words& words, const OperandRule& value) {
    Instruction op;
    op.name = words.name;
    op.summary = words.summary;
    op.section = "9.7.9.26.1";
    op.ptx = words.ptx;
    op.rows = {{{spelled_as(Field::space, {"shared::cta", "global"})}, {8, 3}, only_hopper}};
    op.operands = {place()};
    if (dimensions > 0) op.operands.push_back(number("dimension", dimensions - 1));
    op.operands.push_back(value);
    op.effects = replaces;
    op.run = run_replace<field, (dimensions > 0), T>;
    return op;
}

OperandRule word() { return in("value", fixed<u32>); }
OperandRule wide() { return in("value", fixed<u64>); }

std::vector<Instruction> records() {
    using enum MapField;
    using u32_t = std::uint32_t;
    using u64_t = std::uint64_t;
    return {
        replacing<MapField::global_address, 0, u64_t>(
            {"tensormap.replace.global_address", "replaces the tensor's address in a tensor map in memory",
             "tensormap.replace.tile.global_address{.space}.b1024.b64 [{%a}], {%value}"},
            wide()),
        replacing<rank, 0, u32_t>({"tensormap.replace.rank",
                                   "replaces the number of dimensions, less one, in a tensor map in memory",
                                   "tensormap.replace.tile.rank{.space}.b1024.b32 [{%a}], {%value}"},
                                  word()),
        replacing<box_dim, 5, u32_t>(
            {"tensormap.replace.box_dim", "replaces an extent of the box in a tensor map in memory",
             "tensormap.replace.tile.box_dim{.space}.b1024.b32 [{%a}], {%dimension}, {%value}"},
            word()),
        replacing<global_dim, 5, u32_t>(
            {"tensormap.replace.global_dim", "replaces an extent of the tensor in a tensor map in memory",
             "tensormap.replace.tile.global_dim{.space}.b1024.b32 [{%a}], {%dimension}, {%value}"},
            word()),
        replacing<global_stride, 4, u64_t>(
            {"tensormap.replace.global_stride",
             "replaces a stride, in bytes, of dimension 1 and up, in a tensor map in memory",
             "tensormap.replace.tile.global_stride{.space}.b1024.b64 [{%a}], {%dimension}, {%value}"},
            wide()),
        replacing<element_stride, 5, u32_t>(
            {"tensormap.replace.element_stride",
             "replaces a step from one copied element to the next in a tensor map in memory",
             "tensormap.replace.tile.element_stride{.space}.b1024.b32 [{%a}], {%dimension}, {%value}"},
            word()),
        replacing<elemtype, 0, u32_t>(
            {"tensormap.replace.elemtype",
             "replaces the type of the elements in a tensor map in memory: 0 u8, 1 u16, 2 u32, 3 s32, 4 u64, "
             "5 s64, 6 f16, 7 f32, 8 f32.ftz, 9 f64, 10 bf16, 11 tf32, 12 tf32.ftz",
             "tensormap.replace.tile.elemtype{.space}.b1024.b32 [{%a}], {%value}"},
            number("value", 12)),
        replacing<interleave_layout, 0, u32_t>(
            {"tensormap.replace.interleave_layout",
             "replaces the interleaving in a tensor map in memory: 0 none, 1 of 16 bytes, 2 of 32",
             "tensormap.replace.tile.interleave_layout{.space}.b1024.b32 [{%a}], {%value}"},
            number("value", 2)),
        replacing<swizzle_mode, 0, u32_t>(
            {"tensormap.replace.swizzle_mode",
             "replaces the swizzle in a tensor map in memory: 0 none, 1 of 32 bytes, 2 of 64, 3 of 128",
             "tensormap.replace.tile.swizzle_mode{.space}.b1024.b32 [{%a}], {%value}"},
            number("value", 3)),
        replacing<fill_mode, 0, u32_t>(
            {"tensormap.replace.fill_mode",
             "replaces what is read outside the tensor in a tensor map in memory: 0 zeros, 1 NaN",
             "tensormap.replace.tile.fill_mode{.space}.b1024.b32 [{%a}], {%value}"},
            number("value", 1)),
        {.name = "tensormap.cp_fenceproxy",
         .summary =
             "copies a tensor map from shared to global memory, and releases it to those who acquire it",
         .section = "9.7.13.4",
         .rows = {{{in_all_scopes({"release"}, "release.gpu")}, {8, 3}}},
         .operands = {wide_address("to"), shared_address("from"), whole_map()},
         .ptx = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic{.sem}.sync.aligned [{%to}], "
                "[{%from}], {%bytes}",
         .taken_by = Participants::warp,
         .effects =
             [](const Step& s, Effects& e) {
                 e.memory({Space::shared, false, &s.operands[1], map_bytes});
                 e.memory({Space::global, true, &s.operands[0], map_bytes});
                 e.change_map();
                 e.release_map();
                 e.fence();
             },
         .run =
             [](const Step& s, Machine& m) {
                 m.publish_map(addresses_of<std::uint64_t>(m, s.operands[0]),
                               addresses_of<std::uint32_t>(m, s.operands[1]));
                 m.fence(order_of(s));
             }},
        {.name = "fence.proxy.tensormap.release",
         .summary =
             "orders what was written to a tensor map before, for the threads of the scope that acquire it",
         .section = "9.7.13.4",
         .rows = {{{in_all_scopes({"release"}, "release.gpu")}, {8, 3}}},
         .ptx = "fence.proxy.tensormap::generic{.sem}",
         .effects = [](const Step&, Effects& e) { e.fence(), e.release_map(); },
         .run = [](const Step& s, Machine& m) { m.release_maps(), m.fence(order_of(s)); }},
        {.name = "fence.proxy.tensormap.acquire",
         .summary = "copies that follow see the tensor map of 128 bytes as it was released",
         .section = "9.7.13.4",
         .rows = {{{in_all_scopes({"acquire"}, "acquire.gpu")}, {8, 3}}},
         .operands = {wide_address("a"), whole_map()},
         .ptx = "fence.proxy.tensormap::generic{.sem} [{%a}], {%bytes}",
         .effects = [](const Step&, Effects& e) { e.fence(), e.await_arrivals(), e.acquire_map(); },
         .run =
             [](const Step& s, Machine& m) {
                 m.fence(order_of(s));
                 m.acquire_map(addresses_of<std::uint64_t>(m, s.operands[0]));
             }},
    };
}

}  // namespace

std::span<const Instruction> tensormap_family() {
    static const std::vector<Instruction> list = records();
    return list;
}

}  // namespace wgrun::isa
