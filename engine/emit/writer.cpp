#include "emit/writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "diag/escape.hpp"

namespace wgrun::emit {

std::string param_name(const Program& program, int index) {
    return "param_" + program.params()[static_cast<std::size_t>(index)].name;
}

std::string literal(std::int64_t bits, isa::Type type) {
    if (type == isa::Type::f32) return fmt::format("0f{:08X}", static_cast<std::uint32_t>(bits));
    if (type == isa::Type::f64) return fmt::format("0d{:016X}", static_cast<std::uint64_t>(bits));
    if (isa::bits(type) == 64 && bits < 0) return fmt::format("0x{:X}", static_cast<std::uint64_t>(bits));
    return fmt::format("{}", bits);
}

std::string ended(const std::string& statement) {
    return statement.starts_with("{\n") ? statement : statement + ";";
}

bool begins_if(const Program& program, const BasicBlock& block) {
    if (block.end != BasicBlock::End::branch) return false;
    const Label::Kind kind = program.blocks()[block.otherwise].label.kind;
    return kind == Label::Kind::otherwise || kind == Label::Kind::joined;
}

void Writer::raw(std::string_view text, Where where) {
    text_.text.append(static_cast<std::size_t>(depth_) * 4, ' ').append(text).append("\n");
    text_.lines.push_back(where);
}

std::size_t Writer::number_of(std::string_view file) {
    const auto found = std::ranges::find(files_, file);
    const auto number = static_cast<std::size_t>(found - files_.begin()) + 1;
    if (found == files_.end()) files_.push_back(file);
    return number;
}

void Writer::list_files() {
    for (std::size_t i = 0; i < files_.size(); ++i)
        raw(fmt::format(".file {} {}", i + 1, escape::ptx_string(files_[i])), {});
}

// After #line, a compiler counts on from there: each line of the text must state its own.
void Writer::direct(Where where) {
    if (naming_ != Naming::directives || !where) return;
    text_.text += fmt::format("#line {} {}\n", where.line, escape::c_string(where.file));
    text_.lines.push_back(where);
}

void Writer::line(std::string_view text, Where where) {
    if (where && where != last_) {
        // The folder is left out, so that texts do not depend on it.
        raw(fmt::format("// {}:{}", escape::comment(where.file.base()), where.line), where);
        last_ = where;
        if (naming_ == Naming::loc)
            raw(fmt::format(".loc {} {} 0", number_of(where.file), where.line), where);
    }
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        direct(where);
        raw(text.substr(at, end - at), where);
        at = end + 1;
    }
}

}  // namespace wgrun::emit
