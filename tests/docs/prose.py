#!/usr/bin/env python3
"""The words that docs/style.md refuses, in the pages: prose.py [FILE...]. --sample COUNT [SEED] prints sentences at random, to be read."""

import random
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Records keep the words of their day, and docs/style.md shows what is wrong.
EXEMPT = ("docs/experiments/", "docs/decisions/", "docs/style.md")


def rules():
    """[(pattern, what to write)] of the table in docs/style.md."""
    text = (ROOT / "docs/style.md").read_text().split("## Words that the linter refuses")[1]
    rows = re.findall(r"^\| `(.+)` \| (.+) \|$", text, re.M)
    return [(re.compile(pattern.replace("\\|", "|"), re.I), word) for pattern, word in rows]


def pages():
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if not str(page.relative_to(ROOT)).startswith(EXEMPT)]


def prose(text):
    """The text with all that is no prose left blank, line for line: fences, code, comments, targets of links."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    text = re.sub(r"^ *```.*?^ *```", blank, text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    return re.sub(r"`[^`\n]*`|\]\([^)\s]*\)", blank, text)


def faults(path, given):
    """What stands on a page that should not, as lines; a word may run over the end of a line."""
    text = prose(path.read_text())
    joined = text.replace("\n", " ")
    out = []
    for pattern, word in given:
        for match in pattern.finditer(joined):
            line = text.count("\n", 0, match.start()) + 1
            out.append((line, f"{path.relative_to(ROOT)}:{line}: \"{match[0].strip()}\": write {word}"))
    return [message for _, message in sorted(out)]


def sentences():
    """(place, sentence) of all prose outside of tables."""
    for page in pages():
        text = re.sub(r"^ *```.*?^ *```|<!--.*?-->", lambda m: re.sub(r"[^\n]", " ", m[0]), page.read_text(), flags=re.S | re.M)
        line = 1
        for block in re.split(r"(\n\s*\n|\n(?=\s*[-*#|]|\s*\d+\. ))", text):
            if not block.startswith(("|", "#", "!")):
                for sentence in re.split(r"(?<=[.!?:]) +(?=[A-Z`*\[])", " ".join(block.split())):
                    if len(sentence.split()) > 3:
                        yield f"{page.relative_to(ROOT)}:{line}", sentence
            line += block.count("\n")


def main(arguments):
    if "--sample" in arguments:
        count, seed = (arguments[arguments.index("--sample") + 1:] + ["1"])[:2]
        for place, sentence in random.Random(int(seed)).sample(list(sentences()), int(count)):
            print(f"{place}: {sentence}")
        return 0
    given = rules()
    files = [Path(name).resolve() for name in arguments] or pages()
    found = [message for page in files for message in faults(page, given)]
    print(*found, f"prose: {len(files)} pages, {len(given)} patterns, {len(found)} faults (docs/style.md)", sep="\n")
    return 1 if found or len(given) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
