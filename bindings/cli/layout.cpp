// wgrun layout EXPR, wgrun layout FILE NAME: facts and a picture of a layout, tile, fragment or mma.
// wgrun decode BITS: a matrix descriptor, field by field.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/picture.hpp"
#include "wgrun/tile.hpp"

namespace wgrun::cli {
namespace layout_detail {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::string object;               ///< a layout, the shape of an mma, or the script
    std::string name;                 ///< its name in the table that the script returns
    std::optional<std::string> svg;   ///< the file to write; empty or "-": standard output
    std::optional<std::string> html;  ///< likewise
    bool bytes = false;               ///< short for the view of that name
    std::string view = "auto";
    std::string access;   ///< empty: not given
    std::string dtype;    ///< likewise
    std::string swizzle;  ///< likewise

    /// The view that the options select, for the engine.
    Viewing viewing() const {
        const auto position = [](std::span<const std::string_view> names, std::string_view name) {
            return std::ranges::find(names, name) - names.begin();
        };
        Viewing out;
        out.view = bytes ? PictureView::bytes : static_cast<PictureView>(position(view_names(), view));
        if (!access.empty()) out.access = static_cast<SharedAccess>(position(shared_access_names(), access));
        if (!dtype.empty()) out.element_bits = bits(dtype_named(dtype));
        return out;
    }
};

/// The facts and pictures of an object.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON throws only in a function that asserts
struct View {
    std::string facts;
    Json json;
    std::optional<Picture> picture;  ///< none if it would have too many cells
    std::string no_picture;          ///< the reason
};

/// An object with too many cells for a picture still has facts; but a view that was requested is an error.
template <class Make>
void add_picture(View& view, const Options& options, Make make) {
    try {
        view.picture = make();
    } catch (const ArgumentError& error) {
        if (options.viewing().view != PictureView::automatic) throw;
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

View view_of(const Layout& layout, const Options& options) {
    if (options.bytes && options.dtype.empty())
        throw ArgumentError("--bytes: the offsets of a layout count elements of unknown size",
                            "name the element type: --dtype bf16");
    View view;
    view.facts = fmt::format("{}\nsize {}, cosize {}, rank {}, depth {}\n", layout.to_string(), layout.size(),
                             layout.cosize(), layout.rank(), layout.depth());
    view.json = to_object(layout);
    add_picture(view, options, [&] { return picture_of(layout, options.viewing()); });
    return view;
}

View view_of(const Tile& tile, const Options& options) {
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
    add_picture(view, options, [&] { return picture_of(tile, options.viewing()); });
    return view;
}

View view_of(const Fragment& fragment, const Options& options) {
    View view;
    view.facts = fmt::format("{}\n{}\n{}, {} in {} of each\n", fragment.name, fragment.tv.to_string(),
                             count_of(fragment.threads(), "thread"), count_of(fragment.values(), "value"),
                             count_of(fragment.registers(), "register"));
    view.json = to_object(fragment.tv);
    view.json.update({{"name", fragment.name},
                      {"rows", fragment.rows},
                      {"columns", fragment.columns},
                      {"threads", fragment.threads()},
                      {"values", fragment.values()},
                      {"registers", fragment.registers()}});
    add_picture(view, options, [&] {
        Viewing viewing = options.viewing();
        if (options.bytes) viewing.view = PictureView::automatic;  // registers have no addresses
        return picture_of(fragment, viewing);
    });
    return view;
}

View view_of(const Picture& picture, const Options& options) {
    if (options.viewing().view != PictureView::automatic)
        throw ArgumentError("--view: a product has only one view", "omit --view and --bytes");
    View view;
    view.json = Json{{"grids", Json::array()}};
    for (const Grid& grid : picture)
        view.json["grids"].push_back({{"title", grid.title}, {"rows", grid.rows}, {"columns", grid.columns}});
    view.picture = picture;
    return view;
}

/// The object on top of the stack, if it is a T.
template <class T>
bool take(lua_State* L, const Options& options, std::optional<View>& view) {
    const T* object = lua::test<T>(L, -1);
    if (object == nullptr) return false;
    lua::guarded(L, [&] { view = view_of(*object, options); });
    return true;
}

struct Lookup {
    const Options& options;
    std::optional<View> view;
};

void find_named(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    if (!run_scripts(L, request, outcome, 1)) return;
    auto& [options, view] = *static_cast<Lookup*>(context);
    const char* name = options.name.c_str();
    const char* file = request.file.c_str();
    if (lua_type(L, -1) != LUA_TTABLE)
        luaL_error(L, "%s does not return a table: end it with return { %s = ... }", file, name);
    lua_getfield(L, -1, name);
    if (take<Layout>(L, options, view) || take<Tile>(L, options, view) || take<Fragment>(L, options, view) ||
        take<Picture>(L, options, view))
        return;
    luaL_error(L, "%s returns no layout, tile, fragment or picture called `%s`, but %s", file, name,
               luaL_typename(L, -1));
}

Picture mma_of(const Options& options) {
    return mma_picture(
        options.object, dtype_named(options.dtype.empty() ? "bf16" : options.dtype),
        options.swizzle.empty() ? std::nullopt : std::optional(parse_swizzle_mode(options.swizzle)));
}

bool to_standard_output(const std::optional<std::string>& path) {
    return path && (path->empty() || *path == "-");
}

/// Facts and picture as text, or as JSON.
void print(Results& results, const Request& request, const View& view) {
    if (request.json) {
        results.write(view.json.dump(2) + "\n");
        return;
    }
    results.write(view.facts);
    if (!view.picture) return;
    Picture picture = *view.picture;
    for (Grid& grid : picture)
        if (view.facts.starts_with(grid.title)) grid.title.clear();  // the facts begin with it
    const TextStyle style{terminal_colours(request.colour_output), terminal_columns(STDOUT_FILENO)};
    if (!view.facts.empty()) results.write("\n");
    results.write(to_text(picture, style));
}

/// Prints the view and writes the files. If an SVG or HTML picture goes to standard output, nothing else
/// does. False if there is no picture to write.
bool show(Results& results, const Request& request, const Options& options, const View& view) {
    const bool svg = to_standard_output(options.svg);
    const bool html = to_standard_output(options.html);
    if (!svg && !html) print(results, request, view);
    if (!view.picture) {
        remark("wgrun: " + view.no_picture);
        return !options.svg && !options.html;
    }
    if (svg) results.write(to_svg(*view.picture));
    if (html) results.write(to_html(*view.picture));
    if (options.svg && !svg) save_svg(*view.picture, *options.svg);
    if (options.html && !html) save_html(*view.picture, *options.html);
    return true;
}

/// m64n16k16 and the like.
bool is_mma_shape(std::string_view text) {
    return text.size() > 1 && text[0] == 'm' && text[1] >= '0' && text[1] <= '9';
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

int layout(const Request& asked, const Options& options) {
    if (options.name.empty() && options.object.ends_with(".lua")) {
        remark("wgrun: name the layout of the script: wgrun layout " + options.object +
               " NAME (wgrun --help)");
        return Exit::usage;
    }
    Results results(true);
    Request request = asked;
    Lookup lookup{options, {}};
    std::optional<View>& view = lookup.view;
    Outcome outcome;
    try {
        if (options.name.empty()) {
            view = is_mma_shape(options.object) ? view_of(mma_of(options), options)
                                                : view_of(Layout::parse(options.object), options);
        } else {
            request.file = options.object;
            outcome = with_state(request, lua::Mode::trace, find_named, &lookup);
        }
        print_findings(request, outcome.findings);
        if (view && !show(results, request, options, *view)) outcome.code = Exit::failed;
    } catch (const Error& error) {
        outcome.code = failure(request, error);
    }
    return results.finish() ? outcome.code : Exit::failed;
}

int decode(const Request& request, const std::string& bits) {
    const std::optional<std::uint64_t> number = to_bits(bits);
    if (!number) {
        remark("wgrun: `" + bits + "` is not a 64-bit number such as 0x4000004000010080");
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

Command::Run declare_layout(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    const auto file = [&](const char* name, std::optional<std::string>& path, const char* text) {
        arguments.option(name, path, text).unit("FILE").value_optional();
    };
    file("--svg", options->svg,
         "Write the picture as an SVG file; without FILE or with -, print only the SVG");
    file("--html", options->html, "Write the picture as an HTML page that can be zoomed; likewise");
    arguments.option("--view", options->view, "What the picture shows").one_of(view_names()).unit("");
    arguments.option("--access", options->access, "For the views banks and conflicts: the access of a warp")
        .one_of(shared_access_names())
        .unit("");
    arguments.option("--dtype", options->dtype, "Element type of a layout or an mma").unit("DTYPE");
    arguments.option("--swizzle", options->swizzle, "Swizzle of A and B of a wgmma, 128B if not given")
        .one_of({"none", "32B", "64B", "128B"})
        .unit("");
    arguments.flag("--bytes", options->bytes, "Byte addresses in the picture: --view bytes")
        .excludes("--view");
    arguments
        .option("EXPR", options->object,
                "A layout, such as '(8,64):(64,1)', or an mma, m64n16k16; with NAME: a script")
        .required();
    arguments.option("NAME", options->name, "Its name in the script, which ends with return { NAME = ... }");
    return [options](const Request& request) { return layout(request, *options); };
}

Command::Run declare_decode(Arguments& arguments) {
    const auto bits = std::make_shared<std::string>();
    arguments.option("BITS", *bits, "The 64-bit number, 0x4000004000010080 or decimal").required();
    return [bits](const Request& request) { return decode(request, *bits); };
}

}  // namespace
}  // namespace layout_detail

const Command layout_command{"layout",
                             "Show a layout, or a layout, tile or fragment of a script, as a picture",
                             Takes::text, layout_detail::declare_layout};
const Command decode_command{"decode", "Decode a matrix descriptor of wgmma, field by field", Takes::nothing,
                             layout_detail::declare_decode};

}  // namespace wgrun::cli
