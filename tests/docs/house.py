#!/usr/bin/env python3
"""docs/house.svg: the modules and what each of them knows, as CMakeLists.txt declares it; docs/library.svg: the rooms of stdlib/, as its
files require each other. house.py --check: is it so?"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDTH, HEIGHT, ACROSS, DOWN = 92, 30, 118, 74  # of a box, and from one to the next

STYLE = """
text { font: 13px ui-monospace, monospace; text-anchor: middle; fill: #222 }
.engine { fill: #e8f0fb; stroke: #4a7ebb } .bindings { fill: #fdf1dc; stroke: #c08a2d }
.arrow { fill: none; stroke: #888; stroke-width: 1.2 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .engine { fill: #1d3147; stroke: #6d9fd8 } .bindings { fill: #43341b; stroke: #d3a24a } .arrow { stroke: #999 }
}"""


def declared():
    """{module: (kind, what it knows)}, in the order of the file."""
    text = (ROOT / "CMakeLists.txt").read_text()
    found = re.findall(r"^ *wgrun_(module|bindings)\((\w+)(?: +DEPENDS ([\w ]+))?\)", text, re.M)
    return {name: ("engine" if kind == "module" else "bindings", known.split()) for kind, name, known in found}


def required():
    """{room of stdlib/: (kind, the rooms that it uses)}, each behind those that it uses. A room is a folder, or a file beside them."""
    uses = {}
    for path in sorted((ROOT / "stdlib").rglob("*.lua")):
        used = uses.setdefault(path.relative_to(ROOT / "stdlib").with_suffix("").parts[0], set())
        used.update(re.findall(r'^local \w+ = require "wgrun\.(\w+)', path.read_text(), re.M))
    ordered = {}

    def place_room(room):
        for other in sorted(uses.get(room, set()) - {room, "native"} - set(ordered)):
            place_room(other)
        ordered.setdefault(room, ("bindings", sorted(uses[room] - {room, "native"})))
    for room in sorted(uses):
        place_room(room)
    return ordered


def levels_of(modules):
    """The storey of each module: the lowest one for what knows nothing, else next below the lowest module that knows it."""
    levels = {}
    for name, (_, known) in modules.items():
        levels[name] = 1 + max((levels[other] for other in known), default=-1)
    for name in reversed([name for name, (_, known) in modules.items() if known]):
        levels[name] = min((levels[user] for user, (_, known) in modules.items() if name in known), default=levels[name] + 1) - 1
    return levels


def direct(modules, name):
    """What the module knows, less what it knows by another one that it knows."""
    def behind(other):
        return {deep for known in modules[other][1] for deep in {known} | behind(known)}
    return [known for known in modules[name][1] if not any(known in behind(other) for other in modules[name][1])]


def picture(title, modules):
    levels = levels_of(modules)
    storeys = [[name for name in modules if levels[name] == level] for level in range(max(levels.values()) + 1)]
    columns = max(len(storey) for storey in storeys)
    width, height = columns * ACROSS + 20, len(storeys) * DOWN
    place = {}
    for level, storey in enumerate(storeys):
        left = (width - (len(storey) - 1) * ACROSS) / 2
        for i, name in enumerate(storey):
            place[name] = (left + i * ACROSS, height - level * DOWN - DOWN / 2)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">',
           f"<title>{title}</title>", f"<style>{STYLE}\n</style>",
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 1 L7 4 L0 7" class="arrow"/></marker></defs>']
    for name in modules:
        for known in direct(modules, name):
            (x, y), (u, v) = place[name], place[known]
            y, v = y + HEIGHT / 2, v - HEIGHT / 2
            bend = (v - y) / 2
            out.append(f'<path class="arrow" marker-end="url(#tip)" d="M{x:g} {y:g} C{x:g} {y + bend:g} {u:g} {v - bend:g} {u:g} {v:g}"/>')
    for name, (kind, _) in modules.items():
        x, y = place[name]
        out.append(f'<rect class="{kind}" x="{x - WIDTH / 2:g}" y="{y - HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>')
        out.append(f'<text x="{x:g}" y="{y + 4:g}">{name}</text>')
    return "\n".join([*out, "</svg>", ""])


drawn = {"house.svg": picture("The modules, each above those that it knows", declared()),
         "library.svg": picture("The rooms of the library, each above those that it uses", required())}
for name, text in drawn.items():
    path = ROOT / "docs" / name
    if sys.argv[1:] != ["--check"]:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        sys.exit(f"docs/{name} is not what CMakeLists.txt and stdlib/ say: tests/docs/house.py draws it anew")
