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
#include "sass/record.hpp"
#include "sass/registers.hpp"
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

std::vector<ProductRow> products_of(const sass::Function& function, const std::vector<Where>& places) {
    std::vector<ProductRow> out;
    const sass::Graph graph(function);
    int group = 1;
    for (sass::Place at = 0; at < function.instructions.size(); ++at) {
        const sass::Instruction& one = function.instructions[at];
        if (one.record->does != sass::Does::product) continue;
        const sass::Product product = sass::product_of(one);
        const Where where = out.size() < places.size() ? places[out.size()] : Where{};
        out.push_back({at, product, group, where, sass::waits_of(function, graph, at)});
        group += product.ends_group;
    }
    return out;
}

void add(Visit& visit, const sass::Listing& listing, std::vector<KeptKernel> kept, const Origin& origin) {
    for (KeptKernel& kernel : kept) {
        const auto function = std::ranges::find(listing.functions, kernel.kernel, &sass::Function::name);
        visit.findings.insert(visit.findings.end(), kernel.findings.begin(), kernel.findings.end());
        sass::Function none{kernel.kernel, {}, {}};
        const sass::Function& code = function == listing.functions.end() ? none : *function;
        std::vector<ProductRow> products = products_of(code, kernel.places);
        visit.kernels.push_back({listing, code, origin, std::move(products), std::move(kernel)});
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
    std::vector<KeptKernel> kept = kept_of_script(kernel, listing);
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

/// "stall 4, waits for 0 1, sets 2": what the control word says besides the usual.
std::string control_text(const sass::Control& control) {
    if (!control.known) return {};
    std::string out = fmt::format("stall {}", control.stall);
    std::vector<int> waits;
    for (int i = 0; i < 6; ++i)
        if (((control.waits >> i) & 1) != 0) waits.push_back(i);
    if (!waits.empty()) out += fmt::format(", waits for {}", fmt::join(waits, " "));
    if (control.write != sass::Control::none) out += fmt::format(", writes set {}", control.write);
    if (control.read != sass::Control::none) out += fmt::format(", reads set {}", control.read);
    return out;
}

std::string address_of(const Disassembled& kernel, sass::Place at) {
    return fmt::format("{:04x}", kernel.function.instructions[at].address);
}

std::string place_text(Where where) {
    return where ? fmt::format(", {}:{}", where.file.view(), where.line) : std::string();
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
            "  {}  {}  group {}, {}{}\n", address_of(kernel, row.at), one.mnemonic, row.group,
            waits.empty() ? "no wait covers it" : fmt::format("waited for at {}", fmt::join(waits, ", ")),
            place_text(row.where));
    }
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
        const std::string control = control_text(one.control);
        text += fmt::format("    {:04x}  {}{}\n", one.address, one.text,
                            control.empty() ? "" : fmt::format("  // {}", control));
    }
    return text;
}

Json place(Where where) { return {{"file", where.file}, {"line", where.line}}; }

Json to_object(const Disassembled& kernel, bool brief) {
    Json out = {{"kernel", kernel.function.name},
                {"verdict", verdicts_as_json({&kernel.kept.verdict, 1})[0]}};
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
        }
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
