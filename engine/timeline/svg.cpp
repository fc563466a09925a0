// A timeline as an SVG document, for light and dark pages.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "diag/escape.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun {
namespace {

using Kind = Timeline::Kind;

constexpr double page_width = 1100, left = 150, right = 20, top = 56, row_height = 26, bar = 18, line = 18;

struct Colour {
    const char *name, *light, *dark, *meaning;
};
/// In the order of Timeline::Kind.
constexpr std::array<Colour, 10> colours{{{"w", "#4c78a8", "#6f9bd1", "executes"},
                                          {"f", "#e8a33d", "#e0a040", "waits for full stages"},
                                          {"e", "#e4c76b", "#b8a050", "waits for arrivals"},
                                          {"p", "#b9d3b0", "#4d7a4d", "waits for products"},
                                          {"s", "#d8a6c4", "#9c6288", "waits for bulk stores"},
                                          {"b", "#c8bfe0", "#7a6ea8", "at a barrier"},
                                          {"l", "#e58a7b", "#c4695a", "waits for loads"},
                                          {"t", "#3f8f4f", "#58b368", "products"},
                                          {"m", "#a0662a", "#c98b4a", "bytes in transit"},
                                          {"c", "#8d6e9c", "#a98bbd", "copies in flight"}}};

std::string style() {
    std::string out = "<style>text{font:12px sans-serif;fill:#222}.g{stroke:#ddd}.bg{fill:#fff}";
    for (const Colour& colour : colours) out += fmt::format(".{}{{fill:{}}}", colour.name, colour.light);
    out += "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#444}.bg{fill:#16181c}";
    for (const Colour& colour : colours) out += fmt::format(".{}{{fill:{}}}", colour.name, colour.dark);
    return out + "}</style>\n";
}

/// Draws rows of spans between two cycles.
class Drawing {
  public:
    Drawing(const Timeline& timeline, double from, double to)
        : timeline_(timeline),
          unit_(timeline.source == Timeline::Source::steps ? "steps" : "cycles"),
          from_(from),
          to_(to) {}

    double x(double cycle) const {
        return left + (cycle - from_) / (to_ - from_) * (page_width - left - right);
    }

    void row(std::size_t index, double y) {
        out_ += fmt::format("<text x=\"8\" y=\"{:.0f}\">{}</text>\n", y + bar - 5,
                            escape::xml(timeline_.rows[index].name));
        // Copies overlap: each has a line of its own while it lasts.
        std::vector<double> lanes;
        const bool exclusive = timeline_.rows[index].exclusive;
        constexpr std::size_t most_lanes = 6;
        for (const Timeline::Span& span : timeline_.spans) {
            if (span.row != static_cast<int>(index) || span.end <= from_ || span.begin >= to_) continue;
            if (exclusive) {
                rectangle(span, y, bar);
                continue;
            }
            std::size_t lane = 0;
            while (lane < lanes.size() && lanes[lane] > span.begin) ++lane;
            if (lane == lanes.size() && lane < most_lanes) lanes.push_back(0);
            lane = std::min(lane, most_lanes - 1);
            lanes[lane] = span.end;
            rectangle(span, y + static_cast<double>(lane) * bar / most_lanes, bar / most_lanes - 0.5);
        }
        flush();
    }

    void axis(double begin, double y) {
        const double wanted = (to_ - from_) / 8,
                     unit = std::pow(10, std::floor(std::log10(std::max(wanted, 1.0))));
        const double step = std::max(1.0, wanted > 5 * unit   ? 10 * unit
                                          : wanted > 2 * unit ? 5 * unit
                                                              : 2 * unit);
        for (double at = std::ceil(from_ / step) * step; at <= to_; at += step)
            out_ += fmt::format(
                "<path class=\"g\" d=\"M{0:.1f} {1:.0f}V{2:.0f}\"/><text x=\"{0:.1f}\" y=\"{3:.0f}\" "
                "text-anchor=\"middle\">{4:.0f}</text>\n",
                x(at), begin - 4, y, begin - 8, at);
    }

    std::string take() { return std::move(out_); }

  private:
    // Neighbours that are too narrow to be seen are merged.
    void rectangle(const Timeline::Span& span, double y, double height) {
        const double begin = x(std::max(span.begin, from_)), end = x(std::min(span.end, to_));
        constexpr double seen = 0.4;
        if (open_ && kind_ == span.kind && y_ == y && begin - end_ < seen) {
            end_ = std::max(end_, end);
            ++merged_;
            return;
        }
        flush();
        if (end - begin < seen / 4 && span.kind != Kind::work) return;
        open_ = &span;
        kind_ = span.kind;
        begin_ = begin, end_ = end, y_ = y, height_ = height, merged_ = 1;
    }

    void flush() {
        if (open_ == nullptr) return;
        std::string tip =
            fmt::format("{}{}{}", to_string(kind_), open_->what.empty() ? "" : ": ", open_->what);
        if (open_->where) tip += fmt::format("\n{}:{}", open_->where.file.view(), open_->where.line);
        tip += merged_ == 1 ? fmt::format("\n{} {:.0f} to {:.0f}", unit_, open_->begin, open_->end)
                            : fmt::format("\nand {} more", merged_ - 1);
        out_ += fmt::format(
            "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
            "height=\"{:.1f}\"><title>{}</title></rect>\n",
            colours[static_cast<std::size_t>(kind_)].name, begin_, y_, std::max(end_ - begin_, 0.2), height_,
            escape::xml(tip));
        open_ = nullptr;
    }

    const Timeline& timeline_;
    const std::string_view unit_;
    const double from_, to_;
    std::string out_;
    const Timeline::Span* open_ = nullptr;
    Kind kind_ = Kind::work;
    double begin_ = 0, end_ = 0, y_ = 0, height_ = 0;
    int merged_ = 0;
};

/// Draws a timeline from `y` on, into `out`. Returns where it ends.
double draw(const Timeline& timeline, double from, double to, double y, std::string& out) {
    const double rows = y + top, rows_end = rows + row_height * static_cast<double>(timeline.rows.size());
    out += fmt::format("<text x=\"8\" y=\"{:.0f}\" style=\"font-weight:bold\">{}</text>\n", y + 20,
                       escape::xml(headline(timeline)));
    Drawing drawing(timeline, from, to);
    drawing.axis(rows, rows_end);
    for (std::size_t row = 0; row < timeline.rows.size(); ++row)
        drawing.row(row, rows + row_height * static_cast<double>(row));
    out += drawing.take();
    double words = rows_end + 8;
    for (const std::string& sentence : timeline.verdict) {
        words += line;
        out += fmt::format("<text x=\"8\" y=\"{:.0f}\">{}</text>\n", words - 4, escape::xml(sentence));
    }
    return words + 8;
}

void draw_legend(double y, std::string& out) {
    constexpr std::size_t in_a_line = 5;
    for (std::size_t i = 0; i < colours.size(); ++i) {
        const std::size_t row = i / in_a_line;
        const double left_end = 8 + static_cast<double>(i % in_a_line) * 180,
                     at = y + static_cast<double>(row) * line;
        out += fmt::format(
            "<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"12\" height=\"12\"/><text x=\"{:.0f}\" "
            "y=\"{:.0f}\">{}</text>\n",
            colours[i].name, left_end, at, left_end + 18, at + 11, colours[i].meaning);
    }
}

}  // namespace

std::string to_svg(std::span<const Timeline> timelines, double from, double to) {
    const bool whole = to <= from;
    const auto steps = [](const Timeline& timeline) { return timeline.source == Timeline::Source::steps; };
    if (whole) {
        to = from + 1;
        for (const Timeline& timeline : timelines)
            if (!steps(timeline)) to = std::max(to, timeline.cycles);
    }
    const auto end_of = [&](const Timeline& timeline) {  // timelines of steps have their own scale
        return whole && steps(timeline) ? std::max(from + 1, timeline.cycles) : to;
    };
    std::string drawn;
    double y = 0;
    for (const Timeline& timeline : timelines) y = draw(timeline, from, end_of(timeline), y, drawn);
    draw_legend(y + 4, drawn);
    const double height = y + 2 * line + 12;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
               "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n",
               page_width, height) +
           style() + "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n" + drawn + "</svg>\n";
}

std::string to_svg(const Timeline& timeline, double from, double to) {
    return to_svg(std::span(&timeline, 1), from, to);
}

std::string to_html(std::span<const Timeline> timelines, double from, double to) {
    const std::string title = timelines.empty() ? std::string() : escape::xml(timelines.front().kernel);
    return fmt::format(
               "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{}: timeline</title>\n"
               "<style>:root{{color-scheme:light "
               "dark}}body{{margin:0}}svg{{max-width:100%;height:auto}}</style>"
               "\n",
               title) +
           to_svg(timelines, from, to) + "</html>\n";
}

}  // namespace wgrun
