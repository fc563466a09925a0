// wgrun sass FILE: the machine code of every kernel under the lines that it comes from, and what became of
// its products. No kernel runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "bindings/cli/check_ptx.hpp"
#include "bindings/cli/command.hpp"
#include "bindings/cli/input.hpp"
#include "bindings/cli/kept.hpp"
#include "bindings/cli/print_kernels.hpp"
#include "bindings/cli/verdicts.hpp"
#include "sass/in_flight.hpp"
#include "sass/liveness.hpp"
#include "sass/record.hpp"
#include "sass/registers.hpp"
#include "sass/scoreboards.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {
namespace sass_detail {
namespace {

using Json = nlohmann::ordered_json;

/// Where an instruction comes from.
using Origin = std::function<Where(const sass::Instruction&)>;

/// A product, its group and the waits that cover it.
struct ProductRow {
    sass::Place at = 0;
    sass::Product is;
    int group = 0;  ///< in the order of the text, from 1
    Where where;    ///< where it comes from
    std::vector<sass::Place> waits;
};

struct Disassembled {
    sass::Listing listing;  ///< keeps the texts of the function
    sass::Function function;
    Origin origin;
    std::vector<ProductRow> products;
    std::vector<std::vector<sass::Awaited>> awaits;  ///< by instruction: what it may wait for
    std::vector<int> live;                           ///< by instruction: registers in use before it
    KeptKernel kept;
};

struct Options {
    bool brief = false;
    std::string assembler;  ///< further options of ptxas
};

struct Visit {
    const Options& options;
    const std::string& machine_code;  ///< the file that has it; empty: ptxas makes it
    const std::atomic<bool>* stop;
    std::vector<Disassembled> kernels;
    std::vector<Diagnostic> findings;
};

std::vector<ProductRow> products_of(const sass::Function& function, const sass::Graph& graph,
                                    const std::vector<Where>& places) {
    std::vector<ProductRow> out;
    const auto waits = sass::waits_of_products(function, graph);
    int group = 1;
    for (sass::Place at = 0; at < function.instructions.size(); ++at) {
        const sass::Instruction& one = function.instructions[at];
        if (one.record->does != sass::Does::product) continue;
        const sass::Product product = sass::product_of(one);
        const Where where = out.size() < places.size() ? places[out.size()] : Where{};
        out.push_back({at, product, group, where, waits[out.size()]});
        group += product.ends_group;
    }
    return out;
}

std::vector<std::vector<sass::Awaited>> awaits_of(const sass::Function& function, const sass::Graph& graph) {
    std::vector<std::vector<sass::Awaited>> out(function.instructions.size());
    for (const sass::Awaited& one : sass::scoreboard_waits(function, graph)) out[one.by].push_back(one);
    return out;
}

void add(Visit& visit, const sass::Listing& listing, std::vector<KeptKernel> kept, const Origin& origin) {
    for (KeptKernel& kernel : kept) {
        const auto function = std::ranges::find(listing.functions, kernel.kernel, &sass::Function::name);
        visit.findings.insert(visit.findings.end(), kernel.findings.begin(), kernel.findings.end());
        sass::Function none{kernel.kernel, {}, {}};
        const sass::Function& code = function == listing.functions.end() ? none : *function;
        const sass::Graph graph(code);
        std::vector<ProductRow> products = products_of(code, graph, kernel.places);
        visit.kernels.push_back({listing, code, origin, std::move(products), awaits_of(code, graph),
                                 sass::live_registers(code, graph), std::move(kernel)});
    }
}

sass::Listing listing_of(const Visit& visit, std::string_view ptx) {
    if (!visit.machine_code.empty()) return machine_code_in(visit.machine_code, visit.stop);
    std::vector<std::string> options;
    if (!visit.options.assembler.empty()) options.push_back(visit.options.assembler);
    return machine_code_of(ptx, options, visit.stop);
}

void disassemble_kernel(Kernel& kernel, void* context) {
    auto& visit = *static_cast<Visit*>(context);
    const std::vector<Diagnostic>& findings = kernel.check();
    visit.findings.insert(visit.findings.end(), findings.begin(), findings.end());
    if (has_errors(findings)) return;
    const sass::Listing listing = listing_of(visit, kernel.ptx());
    std::vector<KeptKernel> kept = kept_of_script(kernel, listing, false);
    add(visit, listing, std::move(kept), [lines = kernel.ptx_lines()](const sass::Instruction& one) {
        const auto at = static_cast<std::size_t>(one.line);
        return one.line > 0 && at <= lines.size() ? lines[at - 1] : Where{};
    });
}

void body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    static_cast<Visit*>(context)->stop = &lua::session(L).stop;
    for_each_kernel(L, outcome, disassemble_kernel, context);
}

void disassemble_text(Visit& visit, const std::string& name, const std::string& text) {
    const bool carried = visit.machine_code == name;  // its lines are not those of the text
    const std::vector<int> starts = carried ? ptx_starts(name, visit.stop) : std::vector<int>();
    const sass::Listing listing = listing_of(visit, text);
    add(visit, listing, kept_of_text(name, text, listing, starts),
        [file = FileName(name), carried](const sass::Instruction& one) {
            if (!carried) return Where{file, one.line};
            return one.source_line > 0 ? Where::at(one.file, one.source_line) : Where{};
        });
}

/// Of machine code that comes without PTX.
void disassemble_alone(Visit& visit, const std::string& file) {
    const sass::Listing listing = machine_code_in(file, visit.stop);
    add(visit, listing, kept_alone(file, listing), [](const sass::Instruction& one) {
        return one.source_line > 0 ? Where::at(one.file, one.source_line) : Where{};
    });
}

/// The lines of sources, read once.
class Sources {
  public:
    std::string line(Where where) {
        const std::string file(where.file);
        const auto [found, added] = files_.try_emplace(file);
        if (added) {
            std::ifstream input(file);
            for (std::string line; std::getline(input, line);) found->second.push_back(std::move(line));
        }
        const auto at = static_cast<std::size_t>(where.line);
        if (where.line < 1 || at > found->second.size()) return {};
        const std::string& line = found->second[at - 1];
        const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
        return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    }

  private:
    std::map<std::string, std::vector<std::string>> files_;
};

std::string address_of(const Disassembled& kernel, sass::Place at) {
    return fmt::format("{:04x}", kernel.function.instructions[at].address);
}

/// "waits for 0 (0840 08f0) 2": the scoreboards, and the instructions that they may count there.
std::string waits_text(const Disassembled& kernel, sass::Place at) {
    std::vector<std::string> waits;
    for (int i = 0; i < 6; ++i) {
        std::vector<std::string> setters;
        for (const sass::Awaited& one : kernel.awaits[at])
            if (one.scoreboard == i) setters.push_back(address_of(kernel, one.of));
        const bool asked = ((kernel.function.instructions[at].control.waits >> i) & 1) != 0;
        if (!setters.empty())
            waits.push_back(fmt::format("{} ({})", i, fmt::join(setters, " ")));
        else if (asked)
            waits.push_back(std::to_string(i));
    }
    return waits.empty() ? std::string() : fmt::format(", waits for {}", fmt::join(waits, " "));
}

/// "stall 4, waits for 0 (0840), writes set 2, 90 live": what the control word says besides the usual, and
/// the registers in use.
std::string remark_text(const Disassembled& kernel, sass::Place at) {
    const sass::Control& control = kernel.function.instructions[at].control;
    const std::string live = fmt::format("{} live", kernel.live[at]);
    if (!control.known) return live;
    std::string out = fmt::format("stall {}{}", control.stall, waits_text(kernel, at));
    if (control.write != sass::Control::none) out += fmt::format(", writes set {}", control.write);
    if (control.read != sass::Control::none) out += fmt::format(", reads set {}", control.read);
    return out + ", " + live;
}

std::string place_text(Where where) {
    return where ? fmt::format(", {}:{}", where.file.view(), where.line) : std::string();
}

/// Where most registers are in use.
sass::Place fullest(const Disassembled& kernel) {
    return static_cast<sass::Place>(std::ranges::max_element(kernel.live) - kernel.live.begin());
}

std::string registers_text(const Disassembled& kernel) {
    if (kernel.live.empty()) return {};
    const sass::Place at = fullest(kernel);
    const int stack = sass::stack_bytes(kernel.function);
    return fmt::format("  up to {} in use, at {}{}{}\n", count_of(kernel.live[at], "register"),
                       address_of(kernel, at), place_text(kernel.origin(kernel.function.instructions[at])),
                       stack > 0 ? fmt::format("; {} of stack", count_of(stack, "byte")) : "");
}

std::string to_text(const Disassembled& kernel, bool brief, Sources& sources) {
    std::string text = fmt::format("{}: {}, {}\n", printable(kernel.function.name),
                                   count_of(kernel.function.instructions.size(), "instruction"),
                                   count_of(kernel.products.size(), "product"));
    for (const ProductRow& row : kernel.products) {
        const sass::Instruction& one = kernel.function.instructions[row.at];
        std::vector<std::string> waits;
        for (const sass::Place wait : row.waits) waits.push_back(address_of(kernel, wait));
        text += fmt::format(
            "  {}  {}  group {}, {}{}{}{}\n", address_of(kernel, row.at), one.mnemonic, row.group,
            waits.empty() ? "no wait covers it" : fmt::format("waited for at {}", fmt::join(waits, ", ")),
            one.control.known ? fmt::format(", stall {}", one.control.stall) : "", waits_text(kernel, row.at),
            place_text(row.where));
    }
    text += registers_text(kernel);
    const Verdict& verdict = kernel.kept.verdict;
    text += fmt::format("  machine code: {}{}\n", to_string(verdict.kind),
                        verdict.reason.empty() ? "" : fmt::format(": {}", verdict.reason));
    if (brief) return text;
    Where before;
    std::size_t label = 0;
    for (std::size_t i = 0; i < kernel.function.instructions.size(); ++i) {
        const sass::Instruction& one = kernel.function.instructions[i];
        for (; label < kernel.function.labels.size() && kernel.function.labels[label].at <= i; ++label)
            text += fmt::format("  {}:\n", kernel.function.labels[label].name);
        if (const Where where = kernel.origin(one); where && where != before) {
            text += fmt::format("{}:{}: {}\n", where.file.view(), where.line, printable(sources.line(where)));
            before = where;
        }
        text += fmt::format("    {:04x}  {}  // {}\n", one.address, one.text,
                            remark_text(kernel, static_cast<sass::Place>(i)));
    }
    return text;
}

Json waits_json(const Disassembled& kernel, sass::Place at) {
    Json out = Json::array();
    for (const sass::Awaited& one : kernel.awaits[at])
        out.push_back({{"scoreboard", one.scoreboard},
                       {"address", address_of(kernel, one.of)},
                       {"cycles", one.cycles}});
    return out;
}

Json place(Where where) { return {{"file", where.file}, {"line", where.line}}; }

Json to_object(const Disassembled& kernel, bool brief) {
    Json out = {{"kernel", kernel.function.name},
                {"verdict", verdicts_as_json({&kernel.kept.verdict, 1})[0]}};
    if (!kernel.live.empty()) {
        const sass::Place at = fullest(kernel);
        out["registers"] = {{"most", kernel.live[at]}, {"address", address_of(kernel, at)}};
        out["registers"].update(place(kernel.origin(kernel.function.instructions[at])));
    }
    out["stack"] = sass::stack_bytes(kernel.function);
    Json& products = out["products"] = Json::array();
    for (const ProductRow& row : kernel.products) {
        const sass::Instruction& one = kernel.function.instructions[row.at];
        Json waits = Json::array();
        for (const sass::Place wait : row.waits) waits.push_back(address_of(kernel, wait));
        Json product = {{"address", address_of(kernel, row.at)},
                        {"text", one.text},
                        {"group", row.group},
                        {"waits", std::move(waits)},
                        {"n", row.is.n},
                        {"k", row.is.k},
                        {"sparse", row.is.sparse},
                        {"registers", row.is.fragment.count > 0}};
        if (one.control.known) product["stall"] = one.control.stall;
        product["waits_for"] = waits_json(kernel, row.at);
        product.update(place(row.where));
        products.push_back(std::move(product));
    }
    if (brief) return out;
    Json& instructions = out["instructions"] = Json::array();
    std::size_t label = 0;
    for (std::size_t i = 0; i < kernel.function.instructions.size(); ++i) {
        const sass::Instruction& one = kernel.function.instructions[i];
        for (; label < kernel.function.labels.size() && kernel.function.labels[label].at <= i; ++label)
            instructions.push_back({{"address", ""},
                                    {"text", fmt::format("{}:", kernel.function.labels[label].name)},
                                    {"file", ""},
                                    {"line", 0}});
        Json row = {{"address", fmt::format("{:04x}", one.address)}, {"text", one.text}};
        row.update(place(kernel.origin(one)));
        if (one.control.known) {
            row["stall"] = one.control.stall;
            row["yield"] = one.control.yield;
            row["waits"] = one.control.waits;
            if (one.control.write != sass::Control::none) row["sets_when_written"] = one.control.write;
            if (one.control.read != sass::Control::none) row["sets_when_read"] = one.control.read;
            if (!kernel.awaits[i].empty()) row["waits_for"] = waits_json(kernel, static_cast<sass::Place>(i));
        }
        row["live"] = kernel.live[i];
        instructions.push_back(std::move(row));
    }
    return out;
}

int sass(Request request, const Options& options) {
    Results results(true);
    std::string machine_code;
    if (!take_machine_code(request, machine_code)) return Exit::usage;
    Visit visit{options, machine_code, nullptr, {}, {}};
    Outcome outcome;
    if (has_machine_code_alone(request.file)) {
        disassemble_alone(visit, request.file);
        for (const std::string& file : request.args) disassemble_alone(visit, file);
    } else if (const std::optional<std::string> text = ptx_text(request)) {
        if (!request.args.empty()) {
            remark(fmt::format("wgrun: {} has no machine code", request.args.front()));
            return Exit::usage;
        }
        if (machine_code.empty() && carries_machine_code(request.file)) machine_code = request.file;
        disassemble_text(visit, request.file, *text);
    } else {
        outcome = with_state(request, lua::Mode::trace, body, &visit);
    }
    Sources sources;
    return print_kernels(
        results, request, outcome, visit.findings, visit.kernels,
        [&](const Disassembled& kernel) { return to_object(kernel, options.brief); },
        [&](const Disassembled& kernel) { return to_text(kernel, options.brief, sources); });
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    arguments.flag("--brief", options->brief, "Print the products and what became of them, without the code");
    arguments.option("--ptxas", options->assembler, "A further option of ptxas: -O1").unit("OPTION");
    return [options](const Request& request) { return sass(request, *options); };
}

}  // namespace
}  // namespace sass_detail

const Command sass_command{"sass",
                           "Print the machine code of every kernel of a script, a PTX text or a cubin",
                           Takes::script, sass_detail::declare};

}  // namespace wgrun::cli
