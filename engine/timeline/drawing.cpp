#include "timeline/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

namespace wgrun::timeline {
namespace {

using geometry::Anchor;
using Kind = Timeline::Kind;

constexpr int margin = 8, names = 150, right = 20, top = 56, row_height = 26, bar = 18, line = 18,
              swatch = 12;

/// In the order of Timeline::Kind.
constexpr std::array<KindStyle, kind_count> styles{
    {{{0x4c78a8, 0x6f9bd1}, "executes"},
     {{0xe8a33d, 0xe0a040}, "waits for full stages (copies)"},
     {{0xe4c76b, 0xb8a050}, "waits for empty stages (arrivals)"},
     {{0xb9d3b0, 0x4d7a4d}, "waits for products"},
     {{0xd8a6c4, 0x9c6288}, "waits for bulk stores"},
     {{0xc8bfe0, 0x7a6ea8}, "waits at a barrier"},
     {{0xe58a7b, 0xc4695a}, "waits for loads"},
     {{0x3f8f4f, 0x58b368}, "products"},
     {{0xa0662a, 0xc98b4a}, "bytes in transit"},
     {{0x8d6e9c, 0xa98bbd}, "copies in flight"}}};

/// The distance of two marks on an axis with some eight of them.
double step_of_axis(double span) {
    const double wanted = span / 8, unit = std::pow(10, std::floor(std::log10(std::max(wanted, 1.0))));
    return std::max(1.0, wanted > 5 * unit ? 10 * unit : wanted > 2 * unit ? 5 * unit : 2 * unit);
}

class Draughtsman {
  public:
    explicit Draughtsman(int width) { out_.width = width; }

    /// One timeline below what is drawn already.
    void add(const Timeline& timeline, double from, double to) {
        from_ = from, to_ = to;
        unit_ = timeline.source == Timeline::Source::steps ? "steps" : "cycles";
        y_ += 2;
        add_sentence(headline(timeline), true);
        y_ -= line + 2;  // the place of a headline of one line
        const int rows = y_ + top;
        const int end = rows + row_height * static_cast<int>(timeline.rows.size());
        axis(rows, end);
        for (std::size_t row = 0; row < timeline.rows.size(); ++row)
            add_row(timeline, row, rows + row_height * static_cast<int>(row));
        y_ = end + 8;
        for (const std::string& sentence : timeline.verdict) add_sentence(sentence);
        y_ += 8;
    }

    Drawing take() {
        int x = margin;
        y_ += 4;
        for (const Kind kind : seen_) {
            const std::string_view meaning = style_of(kind).meaning;
            const int wide = swatch + 6 + geometry::advance * static_cast<int>(meaning.size()) + 20;
            if (x > margin && x + wide > out_.width) x = margin, y_ += line;
            out_.boxes.push_back({double(x), double(y_), swatch, swatch, kind, {}});
            text(x + swatch + 6, y_ + 11, std::string(meaning));
            x += wide;
        }
        out_.height = y_ + (seen_.empty() ? 0 : line) + 4;
        return std::move(out_);
    }

  private:
    double x(double cycle) const {
        return names + (cycle - from_) / (to_ - from_) * (out_.width - names - right);
    }

    void text(int x, int y, std::string what, Anchor anchor = Anchor::start, bool bold = false) {
        out_.texts.push_back({{x, y, anchor, std::move(what)}, bold});
    }

    // Broken at spaces.
    void add_sentence(const std::string& sentence, bool bold = false) {
        std::string now;
        const auto room = static_cast<std::size_t>((out_.width - 2 * margin) / geometry::advance);
        for (const std::string_view word : geometry::words_of(sentence)) {
            if (!now.empty() && now.size() + 1 + word.size() > room) {
                text(margin, y_ += line, std::move(now), Anchor::start, bold);
                now = " ";
            }
            now += (now.empty() ? "" : " ") + std::string(word);
        }
        text(margin, y_ += line, std::move(now), Anchor::start, bold);
    }

    void axis(int begin, int end) {
        text(margin, begin - 8, unit_);
        const double step = step_of_axis(to_ - from_);
        for (double at = std::ceil(from_ / step) * step; at <= to_; at += step) {
            out_.lines.push_back({x(at), double(begin - 4), double(end)});
            text(static_cast<int>(std::lround(x(at))), begin - 8, fmt::format("{:.0f}", at), Anchor::middle);
        }
    }

    void add_row(const Timeline& timeline, std::size_t index, int y) {
        text(margin, y + bar - 5, timeline.rows[index].name);
        // Copies overlap: each has a line of its own while it lasts.
        std::vector<double> lanes;
        constexpr std::size_t most_lanes = 6;
        for (const Timeline::Span& span : timeline.spans) {
            if (span.row != static_cast<int>(index) || span.end <= from_ || span.begin >= to_) continue;
            if (timeline.rows[index].exclusive) {
                add_span(span, y, bar);
                continue;
            }
            std::size_t lane = 0;
            while (lane < lanes.size() && lanes[lane] > span.begin) ++lane;
            if (lane == lanes.size() && lane < most_lanes) lanes.push_back(0);
            lane = std::min(lane, most_lanes - 1);
            lanes[lane] = span.end;
            add_span(span, y + static_cast<double>(lane) * bar / most_lanes, bar / most_lanes - 0.5);
        }
        flush();
    }

    // Neighbours that are too narrow to be seen are merged.
    void add_span(const Timeline::Span& span, double y, double height) {
        const double begin = x(std::max(span.begin, from_)), end = x(std::min(span.end, to_));
        constexpr double visible = 0.4;
        if (open_ != nullptr && now_.kind == span.kind && now_.y == y && begin - end_ < visible) {
            end_ = std::max(end_, end);
            ++merged_;
            return;
        }
        flush();
        if (end - begin < visible / 4 && span.kind != Kind::work) return;
        open_ = &span;
        now_ = {begin, y, 0, height, span.kind, {}};
        end_ = end, merged_ = 1;
    }

    void flush() {
        if (open_ == nullptr) return;
        now_.width = std::max(end_ - now_.x, 0.2);
        now_.tip = fmt::format("{}{}{}", to_string(now_.kind), open_->what.empty() ? "" : ": ", open_->what);
        if (open_->where) now_.tip += fmt::format("\n{}:{}", open_->where.file.view(), open_->where.line);
        now_.tip += merged_ == 1 ? fmt::format("\n{} {:.0f} to {:.0f}", unit_, open_->begin, open_->end)
                                 : fmt::format("\nand {} more", merged_ - 1);
        seen_.insert(now_.kind);
        out_.boxes.push_back(std::move(now_));
        open_ = nullptr;
    }

    Drawing out_;
    std::set<Kind> seen_;
    int y_ = 0;
    std::string unit_;
    double from_ = 0, to_ = 1;
    const Timeline::Span* open_ = nullptr;  ///< the first of those that `now_` shows
    Drawing::Box now_{};
    double end_ = 0;
    int merged_ = 0;
};

}  // namespace

const KindStyle& style_of(Kind kind) { return styles[static_cast<std::size_t>(kind)]; }

Drawing draw(std::span<const Timeline> timelines, double from, double to, int width) {
    const bool whole = to <= from;
    const auto steps = [](const Timeline& timeline) { return timeline.source == Timeline::Source::steps; };
    if (whole) {
        to = from + 1;
        for (const Timeline& timeline : timelines)
            if (!steps(timeline)) to = std::max(to, timeline.cycles);
    }
    Draughtsman draughtsman(std::max(width, 320));
    for (const Timeline& timeline : timelines)  // timelines of steps have their own scale
        draughtsman.add(timeline, from, whole && steps(timeline) ? std::max(from + 1, timeline.cycles) : to);
    return draughtsman.take();
}

}  // namespace wgrun::timeline
