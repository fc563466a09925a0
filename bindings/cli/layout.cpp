// wgrun layout EXPR, wgrun layout FILE NAME: a layout, tile or fragment in figures and as a picture.
// wgrun decode BITS: a matrix descriptor, field by field.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "bindings/cli/host.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/picture.hpp"
#include "wgrun/tile.hpp"

namespace wgrun::cli {
namespace {

using Json = nlohmann::ordered_json;

/// What is shown of an object.
struct View {
    std::string facts;
    Json json;
    std::optional<Picture> picture;  ///< none where it has too many cells
    std::string no_picture;          ///< then why
};

template <class Make>
void add_picture(View& view, Make make) {
    try {
        view.picture = make();
    } catch (const ArgumentError& error) {
        view.no_picture = error.what();
    }
}

Json to_array(const IntTuple& tuple) {
    if (tuple.is_leaf()) return tuple.value();
    Json array = Json::array();
    for (const IntTuple& mode : tuple.modes()) array.push_back(to_array(mode));
    return array;
}

Json to_object(const Layout& layout) {
    return {{"layout", layout.to_string()},
            {"shape", to_array(layout.shape())},
            {"stride", to_array(layout.stride())},
            {"size", layout.size()},
            {"cosize", layout.cosize()},
            {"rank", layout.rank()},
            {"depth", layout.depth()}};
}

View view_of(const Layout& layout, const Request& request) {
    if (request.bytes)
        throw ArgumentError("--bytes: a layout counts elements, and of what size they are is not known",
                            "show a tile, or leave --bytes out");
    View view;
    view.facts = fmt::format("{}\nsize {}, cosize {}, rank {}, depth {}\n", layout.to_string(), layout.size(),
                             layout.cosize(), layout.rank(), layout.depth());
    view.json = to_object(layout);
    add_picture(view, [&] { return Picture{grid_of(layout)}; });
    return view;
}

View view_of(const Tile& tile, const Request& request) {
    View view;
    view.facts = explain(tile);
    view.json = to_object(tile.layout());
    view.json.update({{"dtype", to_string(tile.dtype())},
                      {"major", to_string(tile.major())},
                      {"swizzle", to_string(tile.swizzle())},
                      {"lbo", tile.lbo()},
                      {"sbo", tile.sbo()},
                      {"bytes", tile.bytes()},
                      {"align", tile.align()}});
    add_picture(view, [&] { return Picture{grid_of(tile, request.bytes)}; });
    return view;
}

View view_of(const Fragment& fragment, const Request&) {
    View view;
    view.facts =
        fmt::format("{}\n{}\n{} threads, {} values in {} registers of each\n", fragment.name,
                    fragment.tv.to_string(), fragment.threads(), fragment.values(), fragment.registers());
    view.json = to_object(fragment.tv);
    view.json.update({{"name", fragment.name},
                      {"rows", fragment.rows},
                      {"columns", fragment.columns},
                      {"threads", fragment.threads()},
                      {"values", fragment.values()},
                      {"registers", fragment.registers()}});
    add_picture(view, [&] { return Picture{grid_of(fragment)}; });
    return view;
}

/// The object on top of the stack, if it is a T.
template <class T>
bool take(lua_State* L, const Request& request, std::optional<View>& view) {
    const T* object = lua::test<T>(L, -1);
    if (object == nullptr) return false;
    lua::guarded(L, [&] { view = view_of(*object, request); });
    return true;
}

void find_named(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    if (!run_scripts(L, request, outcome, 1)) return;
    auto& view = *static_cast<std::optional<View>*>(context);
    const char* name = request.name.c_str();
    const char* file = request.file.c_str();
    if (lua_type(L, -1) != LUA_TTABLE)
        luaL_error(L, "%s returns no table: end it with return { %s = ... }", file, name);
    lua_getfield(L, -1, name);
    if (take<Layout>(L, request, view) || take<Tile>(L, request, view) || take<Fragment>(L, request, view))
        return;
    luaL_error(L, "%s returns no layout, tile or fragment called `%s`, but %s", file, name,
               luaL_typename(L, -1));
}

/// Prints it and writes the SVG file. False where there is no picture to write.
bool show(Results& results, const Request& request, const View& view) {
    if (request.json) {
        results.write(view.json.dump(2) + "\n");
    } else {
        results.write(view.facts);
        if (view.picture) {
            Picture picture = *view.picture;
            picture.front().title.clear();  // the facts begin with it
            results.write("\n" + to_text(picture, request.colour_output));
        }
    }
    if (!view.picture) remark("wgrun: " + view.no_picture);
    if (request.svg.empty()) return true;
    if (view.picture) save_svg(*view.picture, request.svg);
    return view.picture.has_value();
}

/// 0x... or decimal, as Lua prints it: descriptors with bit 63 are negative there.
std::optional<std::uint64_t> to_bits(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) text.remove_prefix(2);
    const char* end = text.data() + text.size();
    std::uint64_t bits = 0;
    auto result = std::from_chars(text.data(), end, bits, hexadecimal ? 16 : 10);
    if (!hexadecimal && text.starts_with('-')) {
        std::int64_t negative = 0;
        result = std::from_chars(text.data(), end, negative);
        bits = static_cast<std::uint64_t>(negative);
    }
    if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
    return bits;
}

int failure(const Request& request, const Error& error) {
    print_findings(request, {&error.finding(), 1});
    return Exit::failed;
}

}  // namespace

int layout(const Request& asked) {
    if (asked.name.empty() && asked.object.ends_with(".lua")) {
        remark("wgrun: say which layout of the script: wgrun layout " + asked.object +
               " NAME (wgrun --help)");
        return Exit::usage;
    }
    Results results(true);
    Request request = asked;
    std::optional<View> view;
    Outcome outcome;
    try {
        if (request.name.empty()) {
            view = view_of(Layout::parse(request.object), request);
        } else {
            request.file = request.object;
            outcome = with_state(request, lua::Mode::trace, find_named, &view);
        }
        print_findings(request, outcome.findings);
        if (view && !show(results, request, *view)) outcome.code = Exit::failed;
    } catch (const Error& error) {
        outcome.code = failure(request, error);
    }
    return results.finish() ? outcome.code : Exit::failed;
}

int decode(const Request& request) {
    const std::optional<std::uint64_t> number = to_bits(request.number);
    if (!number) {
        remark("wgrun: `" + request.number + "` is no number of 64 bits, such as 0x4000004000010080");
        return Exit::usage;
    }
    Results results(false);
    try {
        const Descriptor d = Descriptor::decode(*number);
        const Json json{{"start", d.start},
                        {"lbo", d.lbo},
                        {"sbo", d.sbo},
                        {"base_offset", d.base_offset},
                        {"swizzle", to_string(d.swizzle)}};
        results.write(request.json ? json.dump(2) + "\n" : explain(d));
    } catch (const Error& error) {
        return failure(request, error);
    }
    return results.finish() ? Exit::ok : Exit::failed;
}

}  // namespace wgrun::cli
