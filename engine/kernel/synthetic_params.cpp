#include "kernel/synthetic_params.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>

#include "isa/effects.hpp"
#include "isa/generic.hpp"
#include "isa/parameter_read.hpp"
#include "isa/registers.hpp"

namespace wgrun {
namespace {

/// The operands of a step that are addresses of global memory, or may be.
class Addresses final : public isa::Effects {
  public:
    std::vector<const Operand*> all;

  private:
    void memory(const isa::MemoryAccess& access) override {
        if (access.space == isa::Space::global || access.space == isa::Space::generic)
            all.push_back(access.address);
    }
    void bulk_copy(const isa::BulkAccess& copy) override {
        if (copy.global != nullptr) all.push_back(copy.global);
    }
};

/// The registers of 64 bits whose values become addresses: looked for from the accesses backwards.
class Pointers {
  public:
    explicit Pointers(const Program& program) : program_(program) {
        for_each_step(program, [&](const Step& step) {
            Addresses told;
            isa::visit_effects(step, told);
            for (const Operand* address : told.all) add(*address);
        });
        for (std::size_t before = 0; before != found_.size();) {
            before = found_.size();
            for_each_step(program, [&](const Step& step) { follow(step); });
        }
    }

    bool has(isa::Reg reg) const { return found_.contains(reg.id); }

  private:
    void add(const Operand& operand) {
        isa::for_each_register(operand, [&](isa::Reg reg) {
            if (isa::bits(program_.registers()[reg.id].type) == 64) found_.insert(reg.id);
        });
    }

    // A sum is an address with a distance, which rarely is a parameter itself; a product is none.
    void follow(const Step& step) {
        constexpr std::array<std::string_view, 5> carry{"mov", "cvta", "add", "sub", "selp"};
        const std::string_view name = step.op->name.substr(0, step.op->name.find('.'));
        const bool product = name == "mad";
        if (step.operands.empty() || (!product && std::ranges::find(carry, name) == carry.end())) return;
        bool is_address = false;
        isa::for_each_register(step.operands.front(), [&](isa::Reg reg) { is_address |= has(reg); });
        if (!is_address) return;
        for (std::size_t i = product ? 3 : 1; i < step.operands.size(); ++i)
            if (step.op->operands[i].access == isa::Access::in) add(step.operands[i]);
    }

    const Program& program_;
    std::set<std::uint32_t> found_;
};

constexpr std::uint64_t first_pointer = std::uint64_t{1} << 46;

/// Far apart, so that what leaves one does not get into another.
std::uint64_t address_of(std::size_t parameter, std::size_t byte) {
    return first_pointer + (std::uint64_t{parameter} << 40) + (std::uint64_t{byte} << 28);
}

/// The bytes of a value of so many bytes.
void put(std::vector<std::byte>& to, std::size_t at, std::uint64_t value, std::size_t bytes) {
    if (at + bytes <= to.size() && bytes <= sizeof value) std::memcpy(to.data() + at, &value, bytes);
}

class Params {
  public:
    Params(const Program& program, std::uint32_t number) : program_(program), number_(number) {
        const std::vector<Param>& params = program.params();
        out_.addresses.resize(params.size());
        for (std::size_t i = 0; i < params.size(); ++i) {
            const Param& param = params[i];
            const bool map = param.type == isa::Type::tensormap;
            std::vector<std::byte> bytes(static_cast<std::size_t>(param.structure));
            for (std::size_t at = 0; at < bytes.size(); at += 4) put(bytes, at, number, 4);
            out_.structures.push_back(std::move(bytes));
            out_.values.push_back(
                map                                                  ? isa::generic_of(isa::Space::param,
                                                                                       isa::param_base + static_cast<std::uint64_t>(
                                                            program.param_offset(static_cast<int>(i))))
                : param.pointee || param.variable                    ? address_of(i, 0)
                : param.structure == 0 && isa::bits(param.type) == 8 ? 1
                                                                     : number);
        }
    }

    SyntheticParams run() {
        for_each_step(program_, [&](const Step& step) {
            const auto read = isa::parameter_read(step);
            if (!read || read->offset < 0) return;
            std::vector<isa::Reg> to;
            isa::for_each_register(step.operands.front(), [&](isa::Reg reg) { to.push_back(reg); });
            for (std::size_t i = 0; i < to.size(); ++i) {
                const auto bytes = static_cast<std::size_t>(read->bytes) / to.size();
                fill(static_cast<std::size_t>(read->parameter),
                     static_cast<std::size_t>(read->offset) + i * bytes, bytes, pointers_.has(to[i]));
            }
        });
        return std::move(out_);
    }

  private:
    /// A read of the parameter, of so many bytes, tells what is there.
    void fill(std::size_t parameter, std::size_t at, std::size_t bytes, bool pointer) {
        if (parameter >= out_.values.size()) return;
        const Param& param = program_.params()[parameter];
        const std::uint64_t value = pointer ? address_of(parameter, at) : bytes == 1 ? 1 : number_;
        if (param.structure > 0) {
            put(out_.structures[parameter], at, value, bytes);
        } else if (pointer && at == 0) {
            out_.values[parameter] = value;
            out_.addresses[parameter] = true;
        }
    }

    const Program& program_;
    const std::uint32_t number_;
    const Pointers pointers_{program_};
    SyntheticParams out_;
};

}  // namespace

bool is_synthetic_address(std::uint64_t value) {
    return value >= first_pointer && value >> 63 == 0 && value % (std::uint64_t{1} << 28) == 0;
}

SyntheticParams synthetic_params(const Program& program, std::uint32_t number) {
    return Params(program, number).run();
}

}  // namespace wgrun
