"""Plots of docs/performance.md as SVG: one row a shape, colours for light and dark."""

from html import escape

ROW, LEFT, RIGHT, TOP, BOTTOM = 19, 290, 330, 48, 34
STYLE = """
text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #24292f } .title { font-size: 14px; font-weight: 600 }
.shape, .number { text-anchor: end } .axis { text-anchor: middle; fill: #57606a } .number { font-size: 11px; fill: #57606a }
.grid { stroke: #d0d7de } .one { stroke: #57606a; stroke-width: 1.5 } .span { stroke: #8c959f; stroke-width: 2 }
.own { fill: #0969da } .other { fill: #bc4c00 } .limit { fill: none; stroke: #57606a; stroke-width: 2 } .cool { fill: none; stroke: #0969da; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .axis, .number { fill: #9198a1 } .grid { stroke: #30363d } .one, .limit { stroke: #9198a1 } .span { stroke: #6e7681 }
  .own { fill: #4493f8 } .other { fill: #f0883e } .cool { stroke: #4493f8 }
}"""


def ticks(low, high):
    """Round numbers from `low` to `high`, at most nine."""
    for step in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        if (high - low) / step <= 8:
            first = -int(-low // step)
            return [round(i * step, 3) for i in range(first, int(high / step + 1e-9) + 1)]
    raise ValueError(f"no ticks from {low} to {high}")


class Plot:
    def __init__(self, title, names, low, high, unit, legend):
        self.low, self.high, self.count = low, high, len(names)
        width, height = LEFT + RIGHT + 60, TOP + ROW * len(names) + BOTTOM
        self.out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
                    f"<title>{escape(title)}</title>", f"<style>{STYLE}\n</style>", f'<text class="title" x="8" y="18">{escape(title)}</text>']
        x = 8
        for mark, word in legend:
            self.mark(mark, x + 5, 34)
            self.out.append(f'<text x="{x + 14}" y="38">{escape(word)}</text>')
            x += 30 + 7 * len(word)
        for tick in ticks(low, high):
            self.line("one" if tick == 1 and "time" in unit else "grid", tick, TOP, TOP + ROW * self.count)
            self.out.append(f'<text class="axis" x="{self.x(tick):.1f}" y="{TOP + ROW * self.count + 15}">{tick:g}</text>')
        self.out.append(f'<text class="axis" x="{LEFT + RIGHT / 2:g}" y="{height - 5}">{escape(unit)}</text>')
        for i, name in enumerate(names):
            self.out.append(f'<text class="shape" x="{LEFT - 10}" y="{self.y(i) + 4:g}">{escape(name)}</text>')

    def x(self, value):
        return LEFT + RIGHT * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)

    def y(self, i):
        return TOP + ROW * (i + 0.5)

    def line(self, kind, value, top, bottom):
        self.out.append(f'<path class="{kind}" d="M{self.x(value):.1f} {top:g}V{bottom:g}"/>')

    def span(self, i, low, high):
        self.out.append(f'<path class="span" d="M{self.x(low):.1f} {self.y(i):g}H{self.x(high):.1f}"/>')

    def mark(self, kind, x, y):
        shape = f'd="M{x:.1f} {y - 6:g}V{y + 6:g}"' if kind == "limit" else f'cx="{x:.1f}" cy="{y:g}" r="4"'
        self.out.append(f'<{"path" if kind == "limit" else "circle"} class="{kind}" {shape}/>')

    def put(self, kind, i, value):
        self.mark(kind, self.x(value), self.y(i))

    def number(self, i, text):
        self.out.append(f'<text class="number" x="{LEFT + RIGHT + 55}" y="{self.y(i) + 4:g}">{escape(text)}</text>')

    def svg(self):
        return "\n".join([*self.out, "</svg>", ""])


def speed(title, unit, rows):
    """Rows of (shape, speed, that of the best other or None, limit or None)."""
    top = max(value for row in rows for value in row[1:] if value)
    plot = Plot(title, [row[0] for row in rows], 0, top, unit, [("own", "wgrun"), ("other", "best other"), ("limit", "limit of the chip")])
    for i, (_, own, other, limit) in enumerate(rows):
        plot.span(i, min(own, other or own), max(own, other or own))
        if limit:
            plot.put("limit", i, limit)
            plot.number(i, f"{100 * own / limit:.0f} %")
        if other:
            plot.put("other", i, other)
        plot.put("own", i, own)
    return plot.svg()


def ratio(title, rows):
    """Rows of (shape, ratio hot, ratio cool or None)."""
    values = [value for row in rows for value in row[1:] if value]
    low, high = min(0.9, min(values) - 0.02), max(1.1, max(values) + 0.02)
    plot = Plot(title, [row[0] for row in rows], low, high, "times the speed of the best other", [("own", "hot"), ("cool", "cool")])
    for i, (_, hot, cool) in enumerate(rows):
        plot.span(i, 1, hot)
        plot.put("own", i, hot)
        if cool:
            plot.put("cool", i, cool)
        plot.number(i, f"{hot:.3f}")
    return plot.svg()


def overview(title, rows):
    """Rows of (family, least ratio, geometric mean, greatest)."""
    low, high = min(0.9, min(row[1] for row in rows) - 0.02), max(row[3] for row in rows) + 0.05
    plot = Plot(title, [row[0] for row in rows], low, high, "times the speed of the best other", [("own", "geometric mean"), ("limit", "least and greatest")])
    for i, (_, least, mean, greatest) in enumerate(rows):
        plot.span(i, least, greatest)
        plot.put("limit", i, least)
        plot.put("limit", i, greatest)
        plot.put("own", i, mean)
        plot.number(i, f"{mean:.2f}")
    return plot.svg()
