#include "debug/debug_symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>

#include "isa/lanes.hpp"
#include "program/value_text.hpp"
#include "sim/memory.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::debugging {
namespace {

using isa::Reg;

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const bool hex = text.starts_with("0x");
    const char* begin = text.data() + (hex ? 2 : 0);
    const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), value, hex ? 16 : 10);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The parts of name[a][b,c].
struct Spelled {
    std::string_view name;
    std::vector<std::vector<int>> indices;
};

/// Names of registers in a script's tables have brackets of their own: the longest that `text` begins with.
std::string_view name_in(std::string_view text, const std::vector<RegisterName>& names) {
    std::string_view out = text.substr(0, text.find('['));
    for (const RegisterName& name : names) {
        const bool begins = text.starts_with(name.name) && name.name.size() > out.size() &&
                            (text.size() == name.name.size() || text[name.name.size()] == '[');
        if (begins) out = name.name;
    }
    return out;
}

Spelled spelled(std::string_view text, const std::vector<RegisterName>& names) {
    Spelled out{name_in(text, names), {}};
    std::string_view rest = text.substr(out.name.size());
    while (!rest.empty()) {
        const std::size_t close = rest.find(']');
        if (rest.front() != '[' || close == std::string_view::npos)
            throw ArgumentError(
                fmt::format("`{}`: NAME, NAME[I], NAME[ROW,COLUMN] or NAME[STAGE][ROW,COLUMN]", text));
        std::vector<int>& index = out.indices.emplace_back();
        for (std::string_view part = rest.substr(1, close - 1); !part.empty();) {
            const std::size_t comma = std::min(part.find(','), part.size());
            const std::optional<std::int64_t> value = number(part.substr(0, comma));
            if (!value || *value < 0 || *value > INT32_MAX)
                throw ArgumentError(fmt::format("`{}`: indices count from 0", text));
            index.push_back(static_cast<int>(*value));
            part.remove_prefix(std::min(comma + 1, part.size()));
        }
        if (index.empty()) throw ArgumentError(fmt::format("`{}`: an index is missing", text));
        rest.remove_prefix(close + 1);
    }
    return out;
}

std::string lane_text(const std::byte* lanes, isa::Type type, int lane) {
    const int bytes = isa::storage_bytes(type);
    std::array<std::uint64_t, 2> value{};
    std::memcpy(value.data(), lanes + std::ptrdiff_t{lane} * bytes, static_cast<std::size_t>(bytes));
    return value[1] == 0 ? value_text(type, value[0]) : fmt::format("{:#x}{:016x}", value[1], value[0]);
}

}  // namespace

Symbol Symbols::find(std::string_view text, Where where) const {
    const Spelled parts = spelled(text, program_.names());
    Symbol out;
    out.text = text;
    // The last definition of the name up to the line; before its first line, the first one.
    const RegisterName* found = nullptr;
    std::vector<std::string_view> known;
    for (const RegisterName& name : program_.names()) {
        known.push_back(name.name);
        if (name.name != parts.name) continue;
        const bool before = !where || name.where.file != where.file || name.where.line <= where.line;
        if (found == nullptr || before) found = &name;
    }
    const auto& indices = parts.indices;
    const auto too_many = [&] { return ArgumentError(fmt::format("`{}`: too many indices", text)); };
    // A local and the parameter whose pointer it holds have the same name: it stands for the tensor.
    const auto is_tensor = [&](const Param& param) {
        return param.name == parts.name && (param.pointee || param.box);
    };
    if (found != nullptr && std::ranges::none_of(program_.params(), is_tensor)) {
        out.regs = found->regs;
        out.array = found->array;
        if (indices.size() > 1 || (!indices.empty() && indices.front().size() > 2)) throw too_many();
        if (!indices.empty() && indices.front().size() == 2) {
            out.element = {indices.front()[0], indices.front()[1]};
        } else if (!indices.empty()) {
            const auto i = static_cast<std::size_t>(indices.front().at(0));
            if (i >= out.regs.size())
                throw ArgumentError(fmt::format("`{}` has {}, counted from 0", parts.name,
                                                count_of(out.regs.size(), "register")));
            out.regs = {out.regs[i]};
            out.array = false;
        }
        return out;
    }
    for (std::size_t i = 0; i < program_.shared().size(); ++i) {
        const SharedBuffer& buffer = program_.shared()[i];
        known.push_back(buffer.name);
        if (buffer.name != parts.name) continue;
        out.kind = Symbol::Kind::buffer;
        out.index = static_cast<int>(i);
        for (const std::vector<int>& index : indices) {
            if (index.size() == 1)
                out.stage = index.front();
            else if (index.size() == 2)
                out.element = {index[0], index[1]};
            else
                throw too_many();
        }
        const std::int64_t stages = buffer.tile ? buffer.bytes / buffer.tile->bytes() : 1;
        if (out.stage >= stages)
            throw ArgumentError(
                fmt::format("`{}` has {}, counted from 0", buffer.name, count_of(stages, "tile")));
        const auto outside = [&](const Tile& tile) {
            return out.element->first >= tile.mn() || out.element->second >= tile.k();
        };
        if (out.element && (!buffer.tile || outside(*buffer.tile)))
            throw ArgumentError(buffer.tile
                                    ? fmt::format("`{}` is a tile of {} x {}", buffer.name, buffer.tile->mn(),
                                                  buffer.tile->k())
                                    : fmt::format("`{}` has no tile, so no rows and columns", buffer.name));
        return out;
    }
    for (std::size_t i = 0; i < program_.params().size(); ++i) {
        known.push_back(program_.params()[i].name);
        if (program_.params()[i].name != parts.name) continue;
        out.kind = Symbol::Kind::parameter;
        out.index = static_cast<int>(i);
        if (indices.empty()) return out;
        const Tensor* indexed = tensor(out);
        if (indexed == nullptr)
            throw ArgumentError(fmt::format("`{}` is a number: it has no elements", parts.name));
        if (indices.size() > 1 || indices.front().size() > 2) throw too_many();
        if (indices.front().size() == 2)
            out.element = {indices.front()[0], indices.front()[1]};
        else if (indexed->shape().size() == 1)
            out.element = {0, indices.front()[0]};
        else
            throw ArgumentError(
                fmt::format("`{}` has rows and columns: {}[ROW,COLUMN]", parts.name, parts.name));
        return out;
    }
    throw ArgumentError(
        fmt::format("nothing is called `{}`{}", parts.name, nearest(parts.name, known)),
        "`names` lists the locals of the script that hold registers, the shared buffers and the parameters");
}

std::string Symbols::names() const {
    std::string out;
    std::vector<std::string_view> seen;
    for (const RegisterName& name : program_.names()) {
        if (std::ranges::find(seen, name.name) != seen.end()) continue;
        seen.push_back(name.name);
        const std::string_view type = isa::to_string(program_.registers()[name.regs.front().id].type);
        out += name.array
                   ? fmt::format("{}: {} ({})\n", name.name, count_of(name.regs.size(), "register"), type)
                   : fmt::format("{}: a register ({})\n", name.name, type);
    }
    for (const SharedBuffer& buffer : program_.shared()) {
        out += fmt::format("{}: {} of shared memory at {}", buffer.name, count_of(buffer.bytes, "byte"),
                           buffer.offset);
        if (buffer.tile)
            out += fmt::format(", {} of {} {} x {}", buffer.bytes / buffer.tile->bytes(),
                               to_string(buffer.tile->dtype()), buffer.tile->mn(), buffer.tile->k());
        out += '\n';
    }
    for (const Param& param : program_.params()) out += fmt::format("{}: a parameter\n", param.name);
    return out;
}

const Tensor* Symbols::tensor(const Symbol& symbol) const {
    const auto i = static_cast<std::size_t>(symbol.index);
    const auto* argument = i < options_.args.size() ? std::get_if<Tensor*>(&options_.args[i]) : nullptr;
    return argument == nullptr ? nullptr : *argument;
}

std::optional<Symbols::Holders> Symbols::holders(const Symbol& symbol, sim::View view, int warp) const {
    if (symbol.kind != Symbol::Kind::registers || !symbol.array) return std::nullopt;
    const std::vector<FragmentUse> uses = fragments_of(program_, symbol.regs);
    if (uses.empty()) return std::nullopt;
    const int warps = uses.front().fragment.threads() / isa::lanes;
    return Holders{warp - view.warp(warp).warp % warps, warps};
}

std::string Symbols::show_registers(const Symbol& symbol, int warp, sim::View view, const LanesOf& lanes,
                                    bool whole) const {
    if (const std::optional<Holders> held = holders(symbol, view, warp)) {
        std::string out;
        for (Matrix& matrix : matrices_of(fragments_of(program_, symbol.regs), held->first, lanes)) {
            if (symbol.element) {
                const auto [row, column] = *symbol.element;
                if (row >= matrix.rows || column >= matrix.columns)
                    throw ArgumentError(
                        fmt::format("{} is {} x {}", matrix.title, matrix.rows, matrix.columns));
                return fmt::format("{} = {}\n", symbol.text, matrix.at(row, column));
            }
            matrix.title = symbol.text + ": " + matrix.title;
            out += to_text(matrix, whole);
        }
        for (const Reg reg : symbol.regs)
            if (view.in_flight(warp, reg)) return out + "a wgmma may still write these registers\n";
        return out;
    }
    if (symbol.element) throw ArgumentError(fmt::format("`{}` is not a fragment of a matrix", symbol.text));
    std::string out;
    const isa::Mask all = view.warp(warp).all;
    for (std::size_t i = 0; i < symbol.regs.size(); ++i) {
        const Reg reg = symbol.regs[i];
        const isa::Type type = program_.registers()[reg.id].type;
        const isa::Mask written = view.written(warp, reg);
        std::vector<std::string> cells;
        for (int lane = 0; lane < isa::lanes; ++lane)
            if ((all >> lane & 1U) != 0)
                cells.push_back((written >> lane & 1U) != 0 ? lane_text(lanes(warp, reg), type, lane) : "?");
        out += symbol.text + (symbol.array ? fmt::format("[{}]", i) : "") +
               fmt::format(" ({})", isa::to_string(type));
        if (std::ranges::all_of(cells, [&](const std::string& cell) { return cell == cells.front(); })) {
            out += fmt::format(" = {}{}\n", cells.front(),
                               cells.front() == "?" ? ": nothing was written to it" : " in all lanes");
            continue;
        }
        std::size_t width = 0;
        for (const std::string& cell : cells) width = std::max(width, cell.size());
        constexpr std::size_t across = 8;
        for (std::size_t lane = 0; lane < cells.size(); ++lane) {
            if (lane % across == 0) out += fmt::format("\n  lane {:>2}:", lane);
            out += fmt::format(" {:>{}}", cells[lane], width);
        }
        out += '\n';
    }
    return out;
}

std::string Symbols::show(const Symbol& symbol, sim::View view, int warp, const LanesOf& lanes,
                          bool whole) const {
    if (symbol.kind == Symbol::Kind::registers) return show_registers(symbol, warp, view, lanes, whole);
    if (symbol.kind == Symbol::Kind::buffer) {
        const SharedBuffer& buffer = program_.shared()[static_cast<std::size_t>(symbol.index)];
        const std::span<const std::byte> shared = view.shared(view.warp(warp).rank);
        if (buffer.tile) {
            const Matrix matrix = matrix_of(buffer, symbol.stage, shared);
            if (symbol.element)
                return fmt::format("{} = {}\n", symbol.text,
                                   matrix.at(symbol.element->first, symbol.element->second));
            return to_text(matrix, whole);
        }
        std::string out =
            fmt::format("`{}`, {}, as 32-bit words", buffer.name, count_of(buffer.bytes, "byte"));
        constexpr std::int64_t shown = 128, across = 8;
        for (std::int64_t at = 0; at + 4 <= buffer.bytes && (whole || at < shown); at += 4) {
            if (at / 4 % across == 0) out += fmt::format("\n{:>6}:", at);
            std::uint32_t word = 0;
            std::memcpy(&word, shared.data() + buffer.offset + at, sizeof word);
            out += fmt::format(" {:08x}", word);
        }
        return out + (whole || buffer.bytes <= shown ? "\n" : " ...\n");
    }
    if (const Tensor* matrix = tensor(symbol)) {
        const Matrix shown =
            matrix_of(program_.params()[static_cast<std::size_t>(symbol.index)].name, *matrix);
        if (!symbol.element) return to_text(shown, whole);
        if (symbol.element->first >= shown.rows || symbol.element->second >= shown.columns)
            throw ArgumentError(fmt::format("{} is {} x {}", shown.title, shown.rows, shown.columns));
        return fmt::format("{} = {}\n", symbol.text, shown.at(symbol.element->first, symbol.element->second));
    }
    const Param& param = program_.params()[static_cast<std::size_t>(symbol.index)];
    return fmt::format("{} = {}\n", symbol.text, value_text(param.type, view.param(symbol.index)));
}

Place Symbols::register_place(const Symbol& symbol, sim::View view, int warp) const {
    Place out;
    out.text = symbol.text;
    out.warp = warp;
    if (!symbol.element) {
        if (symbol.regs.size() != 1)
            throw ArgumentError(fmt::format("`{}` is {}: name one, or an element", symbol.text,
                                            count_of(symbol.regs.size(), "register")));
        out.reg = symbol.regs.front();
    } else {
        const std::optional<Holders> held = holders(symbol, view, warp);
        const std::vector<FragmentUse> uses = fragments_of(program_, symbol.regs);
        if (!held) throw ArgumentError(fmt::format("`{}` is not a fragment of a matrix", symbol.text));
        const FragmentUse& use = uses.front();
        const Fragment::Owner owner = use.fragment.owner(symbol.element->first, symbol.element->second);
        out.warp = held->first + owner.thread / isa::lanes;
        out.lanes = 1U << owner.thread % isa::lanes;
        out.reg = use.regs[static_cast<std::size_t>(owner.value / use.fragment.per_register)];
    }
    out.bytes = isa::storage_bytes(program_.registers()[out.reg.id].type);
    return out;
}

Place Symbols::place(std::string_view text, Where where, sim::View view, int warp) const {
    Place out;
    out.text = text;
    const int rank = view.warp(warp).rank;
    const std::size_t colon = text.find(':');
    if (const auto address = number(text.substr(0, colon)); address && text.starts_with("0x")) {
        const auto bytes =
            colon == std::string_view::npos ? std::optional<std::int64_t>(4) : number(text.substr(colon + 1));
        constexpr std::int64_t most = 4096;
        if (!bytes || *bytes < 1 || *bytes > most)
            throw ArgumentError(fmt::format("`{}`: 0xADDRESS:BYTES, 1 to {}", text, most));
        out.bytes = static_cast<int>(*bytes);
        out.address = static_cast<std::uint64_t>(*address);
        if (view.global(out.address, out.bytes) != nullptr) return out;
        const std::uint64_t base = sim::SharedMemory::base;
        if (out.address < base ||
            out.address - base + static_cast<std::uint64_t>(out.bytes) > view.shared(rank).size())
            throw ArgumentError(fmt::format("there is no memory of the launch at {}", text));
        out.rank = rank;
        out.address -= base;
        return out;
    }
    const Symbol symbol = find(text, where);
    if (symbol.kind == Symbol::Kind::registers) return register_place(symbol, view, warp);
    if (symbol.kind == Symbol::Kind::buffer) {
        const SharedBuffer& buffer = program_.shared()[static_cast<std::size_t>(symbol.index)];
        out.rank = rank;
        out.address = static_cast<std::uint64_t>(buffer.offset);
        out.bytes = static_cast<int>(buffer.bytes);
        if (!buffer.tile) return out;
        out.address +=
            static_cast<std::uint64_t>(symbol.stage) * static_cast<std::uint64_t>(buffer.tile->bytes());
        out.bytes = buffer.tile->bytes();
        if (!symbol.element) return out;
        out.address +=
            static_cast<std::uint64_t>(buffer.tile->offset(symbol.element->first, symbol.element->second));
        out.bytes = std::max(bits(buffer.tile->dtype()) / 8, 1);
        return out;
    }
    const Tensor* matrix = tensor(symbol);
    if (matrix == nullptr) throw ArgumentError(fmt::format("`{}` is a number, which no thread writes", text));
    const Param& param = program_.params()[static_cast<std::size_t>(symbol.index)];
    if (param.box)
        throw ArgumentError(fmt::format("`{}` is a tensor map: name an address of its tensor", text));
    out.address = view.param(symbol.index);
    out.bytes = static_cast<int>(std::min<std::size_t>(matrix->size_bytes(), INT32_MAX));
    if (!symbol.element) return out;
    const Matrix shape = matrix_of(param.name, *matrix);
    if (symbol.element->first >= shape.rows || symbol.element->second >= shape.columns)
        throw ArgumentError(fmt::format("{} is {} x {}", shape.title, shape.rows, shape.columns));
    const std::int64_t bit = (std::int64_t{symbol.element->first} * shape.columns + symbol.element->second) *
                             bits(matrix->dtype());
    out.address += static_cast<std::uint64_t>(bit / 8);
    out.bytes = std::max(bits(matrix->dtype()) / 8, 1);
    return out;
}

std::vector<std::byte> bytes_at(const Place& place, sim::View view) {
    if (place.warp >= 0) {
        const std::byte* lanes = view.lanes_of(place.warp, place.reg);
        std::vector<std::byte> out;
        for (int lane = 0; lane < isa::lanes; ++lane)
            if ((place.lanes >> lane & 1U) != 0)
                out.insert(out.end(), lanes + lane * place.bytes, lanes + (lane + 1) * place.bytes);
        return out;
    }
    if (place.rank >= 0) {
        const auto part =
            view.shared(place.rank).subspan(place.address, static_cast<std::size_t>(place.bytes));
        return {part.begin(), part.end()};
    }
    const std::byte* first = view.global(place.address, place.bytes);
    if (first == nullptr) return {};
    return {first, first + place.bytes};
}

std::string source_line(Where where) {
    static thread_local std::map<std::string, std::vector<std::string>, std::less<>> files;
    auto found = files.find(where.file.view());
    if (found == files.end()) {
        std::vector<std::string> lines;
        std::ifstream file{std::string(where.file.view())};
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        found = files.emplace(where.file.view(), std::move(lines)).first;
    }
    const auto index = static_cast<std::size_t>(where.line) - 1;
    return where && index < found->second.size() ? found->second[index] : std::string();
}

}  // namespace wgrun::debugging
