#include "diag/file_names.hpp"

namespace wgrun {

std::string_view FileNames::kept(std::string_view name) {
    name = name.substr(0, longest);
    auto found = names_.find(name);
    if (found == names_.end()) {
        if (bytes_ + name.size() > most_bytes) return beyond;
        found = names_.emplace(name).first;
        bytes_ += name.size() + 64;  // a string and its place in the table
    }
    return *found;
}

}  // namespace wgrun
