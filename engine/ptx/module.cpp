#include "ptx/module.hpp"

#include <algorithm>

namespace wgrun::ptx {

Module::Module(std::string file, std::string text) : file(std::move(file)) {
    if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
    text_ = std::make_shared<const std::string>(std::move(text));
    lines_.push_back(0);
    for (std::size_t at = text_->find('\n'); at != std::string::npos; at = text_->find('\n', at + 1))
        lines_.push_back(static_cast<std::uint32_t>(at + 1));
}

std::string Module::opcode(const Statement& statement) const {
    std::string out(at(statement.name));
    if (statement.broken) std::erase_if(out, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
    return out;
}

int Module::line(std::uint32_t offset) const {
    return static_cast<int>(std::ranges::upper_bound(lines_, offset) - lines_.begin());
}

int Module::column(std::uint32_t offset) const {
    return static_cast<int>(offset - lines_[static_cast<std::size_t>(line(offset)) - 1]) + 1;
}

std::string_view Module::line_text(int line) const {
    const auto index = static_cast<std::size_t>(line) - 1;
    const std::size_t begin = lines_[index];
    std::size_t end = index + 1 < lines_.size() ? lines_[index + 1] - 1 : text_->size();
    if (end > begin && (*text_)[end - 1] == '\r') --end;
    return std::string_view(*text_).substr(begin, end - begin);
}

std::string_view Module::source(int number) const {
    const auto found = std::ranges::find(files, number, &SourceFile::number);
    return found == files.end() ? std::string_view() : std::string_view(found->name);
}

}  // namespace wgrun::ptx
