#!/usr/bin/env python3
"""The tables and plots of docs/performance.md and of the README, from docs/measurements/*.json: performance.py writes them, --check
compares them with what is there and the data with docs/schema. The newest run stands first in its file; the newest one with a
shape has its row."""

import math
import re
import sys
from pathlib import Path

import plots

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import json  # noqa: E402

from json_schema import SCHEMAS, faults  # noqa: E402

DATA, PICTURES = ROOT / "docs/measurements", ROOT / "docs/pictures/performance"
SHOWN = 12  # rows of a table before the rest is folded


def load(folder, schema, wrong):
    read = {}
    for path in sorted(folder.glob("*.json")):
        read[path.stem] = json.loads(path.read_text())
        wrong += [f"{path.relative_to(ROOT)}: {fault}" for fault in faults(read[path.stem], SCHEMAS[schema], SCHEMAS[schema])]
    return read


def limit_of(row, chip, unit):
    """What the chip allows in the family's unit, and what limits; None where the work is not known."""
    if unit == "TB/s":
        return chip["memory"] / 1e12, "memory"
    if "flops" not in row:
        return None, None
    tensor, memory = chip["tensor"][row["type"]], row["flops"] / row["bytes"] * chip["memory"]
    return min(tensor, memory) / 1e12, "tensor cores" if tensor <= memory else "memory"


def newest(family, card):
    """The rows of a card, each of the newest run that has its shape, the slowest beside others first."""
    rows = {}
    for run in reversed(family["runs"]):
        if run["card"] == card:
            rows |= {row["shape"]: row for row in run["rows"]}
    return sorted(rows.values(), key=lambda row: row["ratio"]["hot"]["value"])


def speed_of(row, name, cool=False):
    figures = row["speeds"].get(name, [])
    return figures[cool] if len(figures) > cool else None


def figure(value):
    return "" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def cells(row, chip, unit):
    hot, cool = row["ratio"]["hot"], row["ratio"].get("cool")
    limit, what = limit_of(row, chip, unit)
    own, own_cool = speed_of(row, hot["of"]), speed_of(row, (cool or hot)["of"], True)
    share = f"{100 * own / limit:.0f}" if own and limit else ""
    other = hot["to"] + (f"; cool {cool['to']}" if cool and cool["to"] != hot["to"] else "")
    options = hot["of"].removeprefix("wgrun").removeprefix(" with ")
    why = row.get("why") or (f"Limited by the {what}." if what == "tensor cores" else f"Limited by {what}." if what else "")
    return [row["shape"] + (f" ({options})" if options else ""), " / ".join(filter(None, (figure(own), figure(own_cool)))), share, other,
            f"{hot['value']:.3f}" + (f" / {cool['value']:.3f}" if cool else ""), why]


def table(rows, family, chip):
    head = [family["column"], f"{family['unit']}, hot / cool", "% of the limit", "best other", "ratio, hot / cool", "why"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(cells(row, chip, family["unit"])) + " |" for row in rows]


def mean(rows):
    return math.exp(sum(math.log(row["ratio"]["hot"]["value"]) for row in rows) / len(rows))


def folded(summary, lines):
    return ["", "<details markdown>", f"<summary>{summary}</summary>", "", *lines, "", "</details>"]


def source(run):
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    command = run["command"] if " is not " in run["command"] else run["command"]
    quoted = command if command.startswith("a script") else f"`{command}`"
    return f"{run['card']}, {run['date']}, {quoted} ({versions}). {run['method']}"


def family_text(name, family, chips):
    """The section of a family, without its heading, and its plots as {file: text}."""
    unit, title = family["unit"], family["title"]
    rows = newest(family, "H200")
    lines = [f"{family['what']} {family.get('lacks', '')}".strip(), "",
             f"![{title}: speed of wgrun and of the best other beside the chip's limit, by shape](pictures/performance/{name}-speed.svg)", "",
             f"![{title}: times the speed of the best other, by shape](pictures/performance/{name}-ratio.svg)", "",
             f"H200, {len(rows)} rows, geometric mean of the ratios hot {mean(rows):.3f}, the least {rows[0]['ratio']['hot']['value']:.3f}.", "",
             *table(rows[:SHOWN], family, chips["H200"])]
    if rows[SHOWN:]:
        lines += folded(f"{len(rows) - SHOWN} more rows, with higher ratios", table(rows[SHOWN:], family, chips["H200"]))
    other = newest(family, "H100")
    if other:
        lines += folded(f"H100: {len(other)} rows, geometric mean {mean(other):.3f}, the least {other[0]['ratio']['hot']['value']:.3f}",
                        table(other, family, chips["H100"]))
    lines += folded("How it was measured", [f"- {source(run)}" for run in family["runs"]])
    measured = [row for row in rows if speed_of(row, row["ratio"]["hot"]["of"])]
    speeds = [(row["shape"], speed_of(row, row["ratio"]["hot"]["of"]), speed_of(row, row["ratio"]["hot"]["to"]), limit_of(row, chips["H200"], unit)[0])
              for row in measured]
    ratios = [(row["shape"], row["ratio"]["hot"]["value"], row["ratio"].get("cool", {}).get("value")) for row in rows]
    return lines, {f"{name}-speed.svg": plots.speed(f"{title}, H200, hot: {unit}", unit, speeds),
                   f"{name}-ratio.svg": plots.ratio(f"{title}, H200: beside the best other", ratios)}


def overview(families, chips):
    lines = ["| family | rows | ratio to the best other, hot: mean (least to greatest) | most of the limit | beside |", "|---|---|---|---|---|"]
    drawn = []
    for family in families.values():
        rows = newest(family, "H200")
        low, high = rows[0]["ratio"]["hot"]["value"], rows[-1]["ratio"]["hot"]["value"]
        drawn.append((family["title"], low, mean(rows), high))
        shares = [(speed_of(row, row["ratio"]["hot"]["of"]) / limit_of(row, chips["H200"], family["unit"])[0], row) for row in rows
                  if "flops" in row and speed_of(row, row["ratio"]["hot"]["of"])]
        best, row = max(shares, key=lambda pair: pair[0])
        others = sorted({row["ratio"][heat]["to"] for row in rows for heat in row["ratio"]})
        anchor = re.sub(r"[^\w\- ]", "", family["title"].lower()).replace(" ", "-")
        lines.append(f"| [{family['title']}](#{anchor}) | {len(rows)} | {mean(rows):.2f} ({low:.2f} to {high:.2f}) | {100 * best:.0f} %: "
                     f"{figure(speed_of(row, row['ratio']['hot']['of']))} {family['unit']}, {row['shape']} | {', '.join(others)} |")
    return lines, {"overview.svg": plots.overview("wgrun beside the best other kernel of each family, H200, hot", drawn)}


def checked(families, chips, wrong):
    """What a schema cannot see: a row faster than the chip, a ratio to something that was not measured, a row twice, runs in
    another order."""
    for name, family in families.items():
        dates = [run["date"] for run in family["runs"]]
        if dates != sorted(dates, reverse=True):
            wrong.append(f"{name}: the newest run does not stand first")
        for run in family["runs"]:
            shapes = [row["shape"] for row in run["rows"]]
            wrong += [f"{name}: {shape} stands twice in a run" for shape in sorted({s for s in shapes if shapes.count(s) > 1})]
            for row in run["rows"]:
                limit, _ = limit_of(row, chips[run["card"]], family["unit"])
                for who, figures in row["speeds"].items():
                    wrong += [f"{name}, {row['shape']}: {who} is faster than {limit:.0f} {family['unit']}, the chip's limit" for f in figures if limit and f > limit]
                for heat, ratio in row["ratio"].items():
                    if row["speeds"] and ratio["of"] not in row["speeds"]:
                        wrong.append(f"{name}, {row['shape']}: no speed of {ratio['of']}")
                    own, other = (speed_of(row, ratio[side], heat == "cool") for side in ("of", "to"))
                    if own and other and abs(own / other / ratio["value"] - 1) > 0.1:
                        wrong.append(f"{name}, {row['shape']}: {heat} {own} over {other} is far from {ratio['value']}")


def between(text, name, lines, page):
    mark = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- measured: end -->)", re.S)
    if not mark.search(text):
        sys.exit(f"{page}: no <!-- measured: {name} --> ... <!-- measured: end -->")
    return mark.sub(lambda m: m[1] + "\n".join(lines) + "\n\n" + m[2], text)


def outputs(wrong):
    """{path: text} of all that is printed from the data."""
    families, chips = load(DATA, "measurements.json", wrong), load(DATA / "chips", "chips.json", wrong)
    if wrong:
        return {}
    families = dict(sorted(families.items(), key=lambda item: item[1]["order"]))
    checked(families, chips, wrong)
    page, readme = ROOT / "docs/performance.md", ROOT / "README.md"
    lines, drawn = overview(families, chips)
    text = between(page.read_text(), "overview", ["![wgrun beside the best other kernel of each family](pictures/performance/overview.svg)", "", *lines], page)
    sections = []
    for name, family in families.items():
        body, svgs = family_text(name, family, chips)
        sections += [f"## {family['title']}", "", *body, ""]
        drawn |= svgs
    text = between(text, "families", sections[:-1], page)
    means = {name: mean(newest(family, "H200")) for name, family in families.items()}
    summary = [f"Multiples of the best other kernel's speed on a hot H200, as geometric means over the rows of each family: bf16 products {means['gemm-bf16']:.2f}, e4m3 with block scales "
               f"{means['gemm-block-scaled']:.2f}, grouped {means['gemm-grouped']:.2f}, sparse {means['gemm-sparse']:.2f}, 4-bit weights {means['gemm-w4']:.2f}, "
               f"attention {means['attention-bf16']:.2f}, its gradients {means['attention-backward']:.2f}, decoding {means['attention-decode']:.2f}. "
               "[docs/performance.md](docs/performance.md) has each row, the slow ones first."]
    readme_text = between(readme.read_text(), "summary", ["![wgrun beside the best other kernel of each family](docs/pictures/performance/overview.svg)", "", *summary], readme)
    return {page: text, readme: readme_text} | {PICTURES / name: svg for name, svg in drawn.items()}


def main(arguments):
    wrong = []
    printed = outputs(wrong)
    if "--check" in arguments:
        wrong += [f"{path.relative_to(ROOT)} is not what the data say: tests/docs/performance.py writes it anew"
                  for path, text in printed.items() if not path.exists() or path.read_text() != text]
        wrong += [f"{path.relative_to(ROOT)} is of no family" for path in PICTURES.glob("*") if printed and path not in printed]
    elif not wrong:
        PICTURES.mkdir(parents=True, exist_ok=True)
        for path, text in printed.items():
            path.write_text(text)
    print(*wrong, f"{len(printed)} files, {len(wrong)} faults", sep="\n")
    return 1 if wrong or len(printed) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
