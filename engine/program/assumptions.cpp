// Numbers of a launch that are given become constants where the program reads them.
#include "wgrun/assumptions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "isa/parameter_read.hpp"
#include "isa/registers.hpp"
#include "program/rewriting.hpp"

namespace wgrun {
namespace {

using isa::Type;

/// A number of the launch: a parameter, or a part of a structure.
struct Named {
    int parameter = 0;
    std::int64_t offset = 0;
    auto operator<=>(const Named&) const = default;
};

bool is_number(const Param& param) {
    return !param.pointee && !param.box && param.structure == 0 && !param.variable &&
           param.type != Type::tensormap && !isa::is_float(param.type);
}

/// "n", "p+8"
std::optional<Named> named(const Program& program, std::string_view name) {
    const std::size_t plus = name.rfind('+');
    Named out;
    if (plus != std::string_view::npos) {
        const std::string_view digits = name.substr(plus + 1);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.offset);
        if (error != std::errc() || end != digits.data() + digits.size() || out.offset < 0) return {};
        name = name.substr(0, plus);
    }
    const std::vector<Param>& params = program.params();
    const auto at = std::ranges::find(params, name, &Param::name);
    if (at == params.end()) return {};
    const bool part = plus != std::string_view::npos;
    if (part ? out.offset >= at->structure : !is_number(*at)) return {};
    out.parameter = static_cast<int>(at - params.begin());
    return out;
}

Type integer_of(std::int64_t bytes) { return bytes == 8 ? Type::u64 : bytes == 4 ? Type::u32 : Type::u16; }

class Given final : Rewriting {
  public:
    Given(const Program& program, const Assumptions& given) : Rewriting(program) {
        for (const auto& [name, value] : given.numbers) {
            const std::optional<Named> which = named(program, name);
            if (!which) continue;
            const std::int64_t bytes = width(*which);
            const std::int64_t end = bytes >= 8 ? INT64_MAX : std::int64_t{1} << (8 * bytes);
            if (bytes < 8 && (value >= end || value < -end / 2))
                throw ArgumentError(fmt::format("{} = {}: `{}` of {} has {} bits", name, value, name,
                                                program.name(), 8 * bytes));
            const Param& param = program.params()[static_cast<std::size_t>(which->parameter)];
            if (!param.is_enough(value))
                throw ArgumentError(fmt::format("{} = {}: {} is declared for {} and more", name, value,
                                                program.name(), param.least));
            for (std::int64_t i = 0; i < bytes; ++i)
                bytes_[{which->parameter, which->offset + i}] =
                    static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
        }
    }

    Program run() {
        copy_blocks();
        return take();
    }

  private:
    /// The bytes of a number: of a part of a structure, as many as the narrowest instruction that reads it.
    std::int64_t width(const Named& number) const {
        const Param& param = from().params()[static_cast<std::size_t>(number.parameter)];
        if (param.structure == 0) return param.bytes();
        std::int64_t out = 8;
        bool read = false;
        for_each_step(from(), [&](const Step& step) {
            for_each_read(step, [&](const Named& from, std::int64_t bytes, Reg) {
                if (from != number) return;
                out = std::min(out, bytes);
                read = true;
            });
        });
        return read ? out : 4;
    }

    /// Calls visit(place, bytes, register) for each register that ld.param writes.
    template <class Visit>
    static void for_each_read(const Step& step, Visit visit) {
        const std::optional<isa::ParameterRead> read = isa::parameter_read(step);
        if (!read) return;
        std::vector<Reg> to;
        isa::for_each_register(step.operands.front(), [&](Reg reg) { to.push_back(reg); });
        const std::int64_t bytes = read->bytes / static_cast<std::int64_t>(to.size());
        for (std::size_t i = 0; i < to.size(); ++i)
            visit(Named{read->parameter, read->offset + static_cast<std::int64_t>(i) * bytes}, bytes, to[i]);
    }

    std::optional<std::int64_t> value(const Named& at, std::int64_t bytes, bool is_signed) const {
        std::uint64_t out = 0;
        for (std::int64_t i = 0; i < bytes; ++i) {
            const auto byte = bytes_.find({at.parameter, at.offset + i});
            if (byte == bytes_.end()) return {};
            out |= std::uint64_t{byte->second} << (8 * i);
        }
        const int above = static_cast<int>(64 - 8 * bytes);
        const auto raised = static_cast<std::int64_t>(out << above);
        return is_signed ? raised >> above : static_cast<std::int64_t>(out);
    }

    void copy(const Step& step) override {
        bool all = true, any = false;
        const auto visit = [&](const auto& each) {
            for_each_read(step, [&](const Named& from, std::int64_t bytes, Reg to) {
                const Type type = step.form.type();
                const bool is_signed = type == Type::s8 || type == Type::s16 || type == Type::s32;
                each(value(from, bytes, is_signed), to);
            });
        };
        visit([&](const std::optional<std::int64_t>& number, Reg to) {
            any = true;
            all &= number.has_value() && !isa::is_float(type_of(to));
        });
        if (!any || !all) return add(step);
        visit([&](const std::optional<std::int64_t>& number, Reg to) {
            Step move = made(*isa::find("mov"),
                             isa::Form().set(isa::Field::type, integer_of(isa::bits(type_of(to)) / 8)),
                             {Operand::of(to), Operand::immediate(*number)}, step.where);
            move.guard = step.guard;
            move.guard_negated = step.guard_negated;
            add(std::move(move));
        });
    }

    std::map<Named, std::uint8_t> bytes_;
};

std::string text_of(Dim3 extents) {
    std::vector<std::uint32_t> all{extents.x, extents.y, extents.z};
    while (all.size() > 1 && all.back() == 1) all.pop_back();
    return fmt::format("{}", fmt::join(all, " x "));
}

}  // namespace

Program with_numbers(const Program& program, const Assumptions& given) {
    return given.numbers.empty() ? program : Given(program, given).run();
}

bool names_number(const Program& program, const std::string& name) {
    return named(program, name).has_value();
}

std::string narrowed(const std::string& domain, const Program& program, const Assumptions& given) {
    constexpr std::string_view all = "all launches", with = " with ";
    std::vector<std::string> shapes, numbers;
    if (given.block) shapes.push_back(fmt::format("{} threads", text_of(*given.block)));
    if (given.cluster) shapes.push_back(fmt::format("clusters of {}", text_of(*given.cluster)));
    if (given.grid) shapes.push_back(fmt::format("grids of {}", text_of(*given.grid)));
    for (const auto& [name, value] : given.numbers)
        if (names_number(program, name)) numbers.push_back(fmt::format("{} = {}", name, value));
    if (const std::size_t at = domain.find(with); at != std::string::npos)
        numbers.push_back(domain.substr(at + with.size()));
    std::string out(all);
    if (!shapes.empty()) out += fmt::format(" of {}", fmt::join(shapes, " in "));
    if (!numbers.empty()) out += fmt::format("{}{}", with, fmt::join(numbers, ", "));
    return out;
}

}  // namespace wgrun
