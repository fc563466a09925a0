#include "axpy.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using wgrun::Builder;
using wgrun::Operand;
using wgrun::Reg;
namespace isa = wgrun::isa;

namespace {

// The builder takes records; this takes the names that scripts use, and numbers the lines.
class Writer {
  public:
    Writer(std::string name, int threads) : builder_(std::move(name), threads, {}, line()) {}

    Builder& operator*() { return builder_; }
    Builder* operator->() { return &builder_; }

    /// One instruction, whose first operand is a destination that it makes.
    Reg make(std::string_view method, std::vector<Operand> sources) {
        sources.insert(sources.begin(), Operand());
        return add(method, std::move(sources)).operands[0].reg;
    }
    /// One instruction with all of its operands.
    const wgrun::Step& add(std::string_view method, std::vector<Operand> operands) {
        const isa::Spelling spelling = isa::parse_method(method);
        if (spelling.op == nullptr) throw std::logic_error("there is no instruction " + std::string(method));
        builder_.at(line());
        return builder_.add(*spelling.op, spelling.form, std::move(operands));
    }
    Reg special(std::string_view name) {
        isa::Form form;
        form.set(isa::Field::sreg, isa::parse_value(isa::Field::sreg, name).value());
        return builder_.add(*isa::find("special"), form, {Operand()}).operands[0].reg;
    }
    Reg pointer(int param) {
        const Reg generic = make("ld_param_u64", {Operand::param(param)});
        return make("cvta_to_global_u64", {Operand::of(generic)});
    }

  private:
    wgrun::Where line() { return wgrun::Where::at("axpy.cpp", ++line_); }
    int line_ = 0;
    Builder builder_;
};

}  // namespace

wgrun::Program axpy(int threads) {
    Writer k("axpy", threads);
    const int x = k->param("x", isa::Type::u64, wgrun::Dtype::f32, true);
    const int y = k->param("y", isa::Type::u64, wgrun::Dtype::f32);
    const int a = k->param("a", isa::Type::f32, {});
    const int count = k->param("count", isa::Type::u32, {});

    const Reg index = k.make("mad_lo_u32", {Operand::of(k.special("ctaid.x")), Operand::immediate(threads),
                                            Operand::of(k.special("tid.x"))});
    const Reg limit = k.make("ld_param_u32", {Operand::param(count)});
    const Reg inside = k.make("setp_lt_u32", {Operand::of(index), Operand::of(limit)});
    k->begin_if(inside);
    const Reg bytes = k.make("mul_wide_u32", {Operand::of(index), Operand::immediate(4)});
    const Reg from = k.make("add_u64", {Operand::of(k.pointer(x)), Operand::of(bytes)});
    const Reg to = k.make("add_u64", {Operand::of(k.pointer(y)), Operand::of(bytes)});
    const Reg factor = k.make("ld_param_f32", {Operand::param(a)});
    const Reg sum = k.make(
        "fma_rn_f32", {Operand::of(k.make("ld_global_f32", {Operand::address(from, 0)})), Operand::of(factor),
                       Operand::of(k.make("ld_global_f32", {Operand::address(to, 0)}))});
    k.add("st_global_f32", {Operand::address(to, 0), Operand::of(sum)});
    k->end_if();
    return k->finish();
}

wgrun::Program racy(int threads) {
    Writer k("racy", threads);
    const int y = k->param("y", isa::Type::u64, wgrun::Dtype::u32);
    const int line = k->shared("line", std::int64_t{4} * threads, 16, {});
    const Reg index = k.special("tid.x");
    const Reg start = k.make("mov_u32", {Operand::shared(line, 0)});
    const Reg mine = k.make("mad_lo_u32", {Operand::of(index), Operand::immediate(4), Operand::of(start)});
    k.add("st_shared_u32", {Operand::address(mine, 0), Operand::of(index)});
    const Reg mirrored = k.make("sub_u32", {Operand::immediate(threads - 1), Operand::of(index)});
    const Reg other =
        k.make("mad_lo_u32", {Operand::of(mirrored), Operand::immediate(4), Operand::of(start)});
    const Reg value = k.make("ld_shared_u32", {Operand::address(other, 0)});
    const Reg bytes = k.make("mul_wide_u32", {Operand::of(index), Operand::immediate(4)});
    const Reg to = k.make("add_u64", {Operand::of(k.pointer(y)), Operand::of(bytes)});
    k.add("st_global_u32", {Operand::address(to, 0), Operand::of(value)});
    return k->finish();
}
