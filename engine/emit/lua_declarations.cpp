#include "emit/lua_declarations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <set>

#include "diag/escape.hpp"

namespace wgrun::emit {
namespace {

using isa::Type;

std::vector<std::string> names_of_params(const Program& program, std::vector<std::string> known) {
    for (std::size_t i = known.size(); i < program.params().size(); ++i)
        known.push_back(program.params()[i].name);
    return known;
}

std::vector<std::string> names_of_buffers(const Program& program) {
    std::vector<std::string> out;
    for (const SharedBuffer& buffer : program.shared()) out.push_back(buffer.name);
    return out;
}

std::vector<std::string> names_of_symbols(const LuaMeanings& meanings) {
    std::vector<std::string> out;
    for (const LuaAllocation& allocation : meanings.allocations) out.push_back(allocation.name);
    return out;
}

/// The names that scripts can give: variables of a module may be called $str.
std::vector<std::string> legal(std::vector<std::string> names) {
    std::set<std::string> taken;
    for (std::string& name : names) {
        for (char& c : name)
            if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
        if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, 1, '_');
        while (!taken.insert(name).second) name += '_';
    }
    return names;
}

std::string declared(const std::string& name) {
    return fmt::format("{}{}", name.ends_with(']') ? "" : "local ", name);
}

std::string extents(Dim3 of) {
    if (of.y == 1 && of.z == 1) return fmt::format("{}", of.x);
    return fmt::format("{{ {}, {}, {} }}", of.x, of.y, of.z);
}

std::string type_of(const Param& param) {
    if (param.structure > 0)
        return fmt::format("{{ bytes = {}, align = {} }}", param.structure, param.structure_align);
    if (param.box) {
        std::string out = fmt::format("{{ dtype = \"{}\", box = {{ {} }}", to_string(param.box->dtype),
                                      fmt::join(param.box->extents, ", "));
        if (param.box->swizzle != SwizzleMode::none)
            out += fmt::format(", swizzle = \"{}\"", to_string(param.box->swizzle));
        if (param.box->nan_fill) out += ", nan_fill = true";
        if (!param.box->steps.empty())
            out += fmt::format(", steps = {{ {} }}", fmt::join(param.box->steps, ", "));
        if (param.box->pixels)
            out +=
                fmt::format(", lower = {{ {} }}, upper = {{ {} }}", fmt::join(param.box->pixels->lower, ", "),
                            fmt::join(param.box->pixels->upper, ", "));
        return out + (param.align() > 64 ? fmt::format(", align = {} }}", param.align()) : " }");
    }
    if (param.type == Type::tensormap) return fmt::format("{{ map = true, align = {} }}", param.align());
    if (param.pointee) return fmt::format("\"{}*\"", to_string(*param.pointee));
    const bool address = isa::bits(param.type) == 64 && !isa::is_float(param.type);
    if (param.variable || address) return "\"*\"";
    const bool is_number = isa::is_float(param.type) && isa::bits(param.type) >= 32;
    if (is_number || isa::is_signed(param.type)) return fmt::format("\"{}\"", isa::to_string(param.type));
    return fmt::format("\"u{}\"", isa::bits(param.type));
}

std::string in_hex(std::int64_t number) { return fmt::format("{:#x}", number); }

}  // namespace

LuaDeclarations::LuaDeclarations(const Program& program, const LuaNotes& notes, LuaNames& variables)
    : program_(program),
      notes_(notes),
      legal_params_(legal(names_of_params(program, notes.meanings.params))),
      legal_buffers_(legal(names_of_buffers(program))),
      params_(named(legal_params_, "params", variables)),
      shared_(named(legal_buffers_, "buffers", variables)),
      allocations_(named(names_of_symbols(notes.meanings), "things", variables)) {}

/// Lua has 200 local variables in a function: many things are in a table.
std::vector<std::string> LuaDeclarations::named(const std::vector<std::string>& wanted,
                                                std::string_view table, LuaNames& variables) {
    constexpr std::size_t most = 60;
    std::vector<std::string> out;
    const std::string all = wanted.size() > most ? variables.variable(table) : std::string();
    if (!all.empty()) tables_.push_back(all);
    for (const std::string& name : wanted)
        out.push_back(all.empty() ? variables.variable(name) : fmt::format("{}[{}]", all, out.size() + 1));
    return out;
}

std::string LuaDeclarations::number(const Step& step, std::size_t operand) const {
    const auto found = notes_.meanings.numbers.find({&step, operand});
    if (found == notes_.meanings.numbers.end()) return {};
    const LuaPlace& place = found->second;
    const std::string& name = allocations_[place.allocation];
    const bool single = notes_.meanings.allocations[place.allocation].places.size() == 1;
    return (single ? name : fmt::format("{}[{}]", name, place.part)) +
           (place.more == 0 ? "" : fmt::format(" + {}", place.more));
}

std::string LuaDeclarations::options() const {
    std::string out = "threads = " + extents(program_.block());
    if (program_.cluster().volume() > 1) out += ", cluster = " + extents(program_.cluster());
    std::string assumed;
    if (notes_.assumed.threads) assumed += "\"threads\"";
    if (notes_.assumed.cluster) assumed += assumed.empty() ? "\"cluster\"" : ", \"cluster\"";
    return out + (assumed.empty() ? ", translated = true" : fmt::format(", translated = {{ {} }}", assumed));
}

/// What is known of shared memory: variables for what a number names, and comments for the rest.
void LuaDeclarations::add_allocations(std::vector<std::string>& out) const {
    const LuaMeanings& meanings = notes_.meanings;
    std::set<std::size_t> used;
    for (const auto& [where, place] : meanings.numbers) used.insert(place.allocation);
    for (std::size_t i = 0; i < meanings.allocations.size(); ++i) {
        const LuaAllocation& allocation = meanings.allocations[i];
        const std::vector<std::int64_t>& places = allocation.places;
        if (!used.contains(i)) {
            out.push_back(fmt::format("-- at byte {}{}: {}", in_hex(places.front() + allocation.base),
                                      places.size() == 1 ? ""
                                                         : " and " + in_hex(places[1] + allocation.base) +
                                                               (places.size() == 2 ? "" : ", ..."),
                                      escape::comment(allocation.says)));
            continue;
        }
        std::string value = in_hex(places.front());
        if (places.size() > 1) {
            value = "{ [0] = " + value;
            for (std::size_t k = 1; k < places.size(); ++k) value += ", " + in_hex(places[k]);
            value += " }";
        }
        out.push_back("-- " + escape::comment(allocation.says));
        out.push_back(fmt::format("{} = {}", declared(allocations_[i]), value));
    }
}

std::vector<std::string> LuaDeclarations::lines(std::vector<std::string>& remarks) const {
    std::vector<std::string> out;
    for (const std::string& table : tables_) out.push_back(fmt::format("local {} = {{}}", table));
    for (std::size_t i = 0; i < program_.params().size(); ++i) {
        const Param& param = program_.params()[i];
        if (param.variable) {
            out.push_back(fmt::format(
                "-- {} is a variable of the text's module: a launch passes a tensor with what it holds",
                param.name));
            remarks.push_back(fmt::format("{}: a variable of the module becomes a parameter", param.name));
        }
        out.push_back(fmt::format("{} = k:parameter(\"{}\", {})", declared(params_[i]), legal_params_[i],
                                  type_of(param)));
    }
    for (std::size_t i = 0; i < program_.shared().size(); ++i) {
        const SharedBuffer& buffer = program_.shared()[i];
        out.push_back(fmt::format("{} = k:shared {{ bytes = {}, align = {}, name = \"{}\" }}",
                                  declared(shared_[i]), buffer.bytes, buffer.align, legal_buffers_[i]));
    }
    add_allocations(out);
    if (program_.local_bytes() > 0)
        out.push_back(fmt::format("k:local_ {{ bytes = {}, align = {} }}", program_.local_bytes(),
                                  program_.local_align()));
    return out;
}

std::string lua_helpers() {
    return R"(-- Registers by their names: r[12] is made when it is first used.
local function registers(k, type)
  return setmetatable({}, { __index = function(made, name)
    made[name] = k:reg(type)
    return made[name]
  end })
end

local function labels(k)
  return setmetatable({}, { __index = function(made, name)
    made[name] = k:label(name)
    return made[name]
  end })
end

-- Goes round until the predicate that test() returns is true.
local function wait_until(k, test)
  local done = k:label()
  k:repeat_(function() k:jump(done, test()) end)
  k:place(done)
end

-- The other side of a branch whose first side is empty.
local function unless(k, condition, other)
  k:if_(condition, function() end, other)
end

local function list(of, first, last)
  local out = {}
  for i = first, last do out[#out + 1] = of[i] end
  return out
end
)";
}

}  // namespace wgrun::emit
