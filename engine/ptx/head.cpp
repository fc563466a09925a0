#include "ptx/head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "program/limits.hpp"
#include "ptx/heading.hpp"
#include "ptx/reached.hpp"
#include "wgrun/target.hpp"

namespace wgrun::ptx {

using isa::Type;

Type declared_type(const Module& module, const Variable& variable) {
    std::string_view text = module.at(variable.type);
    text.remove_prefix(1);
    return isa::parse_type(text).value_or(Type::none);
}

std::int64_t bytes_of(const Module& module, const Variable& variable) {
    const Type type = declared_type(module, variable);
    std::int64_t bytes = std::max(1, isa::bits(type) / 8);
    if (variable.vector) bytes *= module.at(variable.vector)[2] - '0';
    for (const std::int64_t extent : variable.extents) {
        if (extent < 0) return -1;
        if (extent > max_shared_bytes || bytes > max_shared_bytes) return max_shared_bytes + 1;
        bytes *= extent;
    }
    return bytes;
}

namespace {

Shape shape_of(const Module& module, const Function& function, const LaunchFacts& facts) {
    Shape out;
    const auto extent = [](const Directive& directive, std::size_t i) {
        return i < directive.numbers.size() ? std::clamp<std::int64_t>(directive.numbers[i], 1, 1 << 20) : 1;
    };
    for (const Directive& directive : function.directives) {
        const std::string_view name = module.at(directive.name);
        const std::int64_t x = extent(directive, 0), y = extent(directive, 1), z = extent(directive, 2);
        if (name == ".reqntid" || name == ".maxntid") {
            constexpr std::int64_t most_layers = 64;
            if (x * y * z > sm_90a.cta_threads || z > most_layers) continue;
            out.block = {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                         static_cast<std::uint32_t>(z)};
            out.threads_given = true;
        } else if (name == ".reqnctapercluster" && x * y * z <= sm_90a.cluster) {
            out.cluster = {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                           static_cast<std::uint32_t>(z)};
            out.cluster_given = true;
        }
    }
    if (facts.block) out.block = *facts.block;
    if (facts.cluster) out.cluster = *facts.cluster;
    out.threads_given |= facts.block.has_value();
    out.cluster_given |= facts.cluster.has_value();
    return out;
}

bool is_identifier(std::string_view name) {
    if (name.empty() || name.size() > max_name || name == "_" || (name[0] >= '0' && name[0] <= '9'))
        return false;
    return std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// Adds the buffers that a text of wgrun's own names in comments, "// wgrun_shared+0: a, 8192 bytes". Returns
/// whether there are any.
bool name_buffers(const Module& module, const Function& function, std::string_view array, std::int64_t align,
                  Builder& builder) {
    const std::string mark = fmt::format("// {}+", array);
    const std::string& text = module.text();
    const std::size_t end =
        function.last > function.first ? module.statements[function.last - 1].text.offset : text.size();
    bool any = false;
    for (std::size_t at = text.find(mark, function.text.offset); at < end; at = text.find(mark, at + 1)) {
        const std::string_view line = module.line_text(module.line(static_cast<std::uint32_t>(at)));
        const std::string_view rest = line.substr(line.find(mark) + mark.size());
        const std::size_t colon = rest.find(": "), comma = rest.rfind(", ");
        if (colon == std::string_view::npos || comma == std::string_view::npos || comma < colon) continue;
        std::int64_t offset = -1, bytes = 0;
        std::from_chars(rest.data(), rest.data() + colon, offset);
        std::from_chars(rest.data() + comma + 2, rest.data() + rest.size(), bytes);
        if (offset < 0) continue;
        // The offset tells the alignment, as far as it is known.
        std::int64_t its = align;
        while (its > 1 && offset % its != 0) its /= 2;
        try {
            builder.shared(std::string(rest.substr(colon + 2, comma - colon - 2)), bytes, its, {});
        } catch (const ArgumentError&) {  // a comment that only looks like one of wgrun's
            return any;
        }
        any = true;
    }
    return any;
}

class HeadMaker {
  public:
    HeadMaker(const Module& module, const Function& function, const LaunchFacts& facts, Lowered& out)
        : module_(module),
          function_(function),
          facts_(facts),
          out_(out),
          shape_(shape_of(module, function, facts)),
          builder_(is_identifier(out.name) ? out.name : "kernel", shape_.block, shape_.cluster, out.where) {}

    Head run() {
        builder_.arch(heading_of(module_).arch);
        parameters();
        shared();
        return {builder_.finish(), std::move(names_), shape_};
    }

  private:
    void parameters() {
        constexpr std::string_view prefix = "param_";
        std::set<std::string> taken;
        constexpr const Target::TensorMaps& maps = sm_90a.tensor_maps;
        for (std::size_t i = 0; i < function_.params.size(); ++i) {
            const Variable& variable = function_.params[i];
            Type type = declared_type(module_, variable);
            const LaunchFacts::Passed& passed = i < facts_.params.size() ? facts_.params[i] : nothing_passed_;
            const bool map = variable.array && bytes_of(module_, variable) == maps.bytes &&
                             !passed.structure && (variable.align >= maps.align || passed.box.has_value());
            if (map) type = Type::tensormap;
            Symbol symbol;
            symbol.kind = Symbol::Kind::parameter;
            std::string_view name = module_.at(variable.name);
            if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
            if ((variable.array || type != Type::none) && out_.errors.size() < most_errors) {
                try {
                    std::string known = is_identifier(name) ? std::string(name) : fmt::format("p{}", i);
                    while (!taken.insert(known).second) known += '_';
                    const std::int64_t align = variable.align > maps.align ? 2 * maps.align : maps.align;
                    if (map && passed.box)
                        symbol.index = builder_.tensor_map(std::move(known), *passed.box, false, align);
                    else if (map)
                        symbol.index = builder_.tensor_map(std::move(known), align);
                    else if (variable.array && !map)
                        symbol.index = builder_.structure(std::move(known), bytes_of(module_, variable),
                                                          std::max<std::int64_t>(variable.align, 1));
                    else if (isa::bits(type) < 64 && !isa::is_float(type))
                        symbol.index = builder_.integer_param(std::move(known), type);
                    else
                        symbol.index = builder_.param(std::move(known), type, pointee(type, passed));
                } catch (const ArgumentError& error) {  // more of them than a kernel may have
                    symbol.index = -1;
                    Diagnostic finding = error.finding();
                    finding.where = module_.where(variable.name);
                    out_.errors.push_back(std::move(finding));
                }
            }
            names_.emplace_back(module_.at(variable.name), symbol);
        }
    }

    /// Only an integer as wide as an address can be a pointer.
    static std::optional<Dtype> pointee(Type type, const LaunchFacts::Passed& passed) {
        const bool wide = type != Type::tensormap && isa::bits(type) == 64 && !isa::is_float(type);
        return wide ? passed.pointee : std::nullopt;
    }

    /// Of the module's variables in shared memory with a size a CTA has those that its kernel refers to:
    /// several kernels of a text have each their own.
    bool is_left_out(const Variable& variable) {
        if (module_.at(variable.space) != ".shared" || bytes_of(module_, variable) < 0) return false;
        if (!reached_) reached_ = names_reached(module_, function_);
        return !reached_->contains(module_.at(variable.name));
    }

    /// The variables in shared memory: those with a size one after the other, then the dynamic memory, where
    /// all arrays without a size begin.
    void shared() {
        std::vector<const Variable*> open;
        const auto visit = [&](std::uint32_t index) {
            const Variable& variable = module_.variables[index];
            if (module_.at(variable.space) != ".shared") {
                Symbol symbol;
                symbol.kind = Symbol::Kind::variable;
                symbol.index = static_cast<int>(index);
                names_.emplace_back(module_.at(variable.name), symbol);
                return;
            }
            const std::int64_t bytes = bytes_of(module_, variable);
            if (bytes < 0) {
                open.push_back(&variable);
                return;
            }
            add(std::string(module_.at(variable.name)), variable, std::max<std::int64_t>(bytes, 1));
        };
        for (const Item& item : module_.items)
            if (item.kind == Item::Kind::variable && !is_left_out(module_.variables[item.index]))
                visit(item.index);
        for (std::uint32_t i = function_.first; i < function_.last; ++i) {
            const Statement& statement = module_.statements[i];
            if (statement.kind != Statement::Kind::variable) continue;
            for (std::uint32_t j = 0; j < statement.count; ++j)
                if (module_.at(module_.variables[statement.index + j].space) == ".shared")
                    visit(statement.index + j);
        }
        if (open.empty()) return;
        std::int64_t align = facts_.aligned ? max_shared_align : 16;
        for (const Variable* variable : open) align = std::max(align, variable->align);
        align = std::min(align, max_shared_align);
        builder_.at(module_.where(open.front()->name));
        if (!name_buffers(module_, function_, module_.at(open.front()->name), align, builder_)) {
            const std::int64_t left = max_shared_bytes - (used_ + align - 1) / align * align;
            if (left <= 0) return;
            // An array that is declared has an address, also where it is empty.
            const std::int64_t bytes = std::max<std::int64_t>(facts_.dynamic_shared.value_or(left), 1);
            builder_.shared("shared", bytes, align, {});
        }
        Symbol symbol;
        symbol.kind = Symbol::Kind::shared;
        symbol.index = buffers_;
        for (const Variable* variable : open) names_.emplace_back(module_.at(variable->name), symbol);
    }

    void add(std::string name, const Variable& variable, std::int64_t bytes) {
        Symbol symbol;
        if (name.size() > 64) name = name.substr(0, 61) + "...";
        try {
            const std::int64_t align = std::clamp<std::int64_t>(variable.align, 1, max_shared_align);
            builder_.at(module_.where(variable.name));
            symbol.index = builder_.shared(std::move(name), bytes, align, {});
            symbol.kind = Symbol::Kind::shared;
            used_ = builder_.shared_buffer(symbol.index).offset + bytes;
            ++buffers_;
        } catch (const ArgumentError& error) {  // more than a CTA has
            Diagnostic finding = error.finding();
            finding.where = out_.where;
            out_.errors.push_back(std::move(finding));
        }
        names_.emplace_back(module_.at(variable.name), symbol);
    }

    const Module& module_;
    const Function& function_;
    const LaunchFacts& facts_;
    const LaunchFacts::Passed nothing_passed_{};
    Lowered& out_;
    Shape shape_;
    Builder builder_;
    int buffers_ = 0;        ///< variables with a size
    std::int64_t used_ = 0;  ///< bytes up to the end of the last of them
    std::vector<std::pair<std::string_view, Symbol>> names_;
    std::optional<std::set<std::string_view>> reached_;
};

}  // namespace

Head head_of(const Module& module, const Function& function, const LaunchFacts& facts, Lowered& out) {
    return HeadMaker(module, function, facts, out).run();
}

}  // namespace wgrun::ptx
