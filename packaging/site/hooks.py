"""What MkDocs does besides (mkdocs.yml): the README is the first page, links that leave docs/ lead to pages with these files, a folder in the
navigation is its pages, and anchors are those of GitHub. Where WGRUN_REPOSITORY is an address, links to files lead there."""

import os
import posixpath
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
from examples import examples

ROOT = Path(__file__).resolve().parents[2]
PLAYGROUND = Path(os.environ.get("WGRUN_PLAYGROUND", "none")) # what packaging/playground.sh has made
# In the order in which they build on each other. Nothing goes to another machine: the browser itself sees to it.
SCRIPTS = ("codemirror", "lua", "simple", "ptx", "tool", "machine", "link", "page")
POLICY = ("default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
          "worker-src 'self'; form-action 'none'")
LINK = re.compile(r"(\]\(|(?:src|href)=\")([^)\s\"]+)([)\"])")
CODE = re.compile(r"(^ *```.*?^ *```|^~~~~.*?^~~~~|`[^`\n]*`)", re.S | re.M)
LANGUAGES = {".lua": "lua", ".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".h": "c", ".sh": "sh", ".json": "json"}
PLACES = {"index.md": "README.md"}  # {page: file or folder of the tree}, where it is not docs/PAGE


def slug(text, separator):
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", separator)


def place_of(uri):
    return PLACES.get(uri, "docs/" + uri)


def page_of(path):
    """The page, or the file of the site, of a file or folder of the tree."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/") and (ROOT / path).is_file():
        return path.removeprefix("docs/")
    return f"source/{path}".replace("/.", "/dot.") + ("" if path.endswith(".md") else ".md")  # MkDocs leaves out names with a dot


def target_of(place, target):
    """The file or folder of the tree that a link on the page of `place` leads to; None for other links."""
    path = target.partition("#")[0]
    return None if re.match(r"[a-z]+:|#", target) else posixpath.normpath(posixpath.join(posixpath.dirname(place), path))


def source(path):
    """A page with a file, or with the names of a folder's files."""
    if path.endswith(".md"):
        text = (ROOT / path).read_text()
    elif (ROOT / path).is_dir():
        text = f"# {path}\n\n" + "".join(f"- {file.name}\n" for file in sorted((ROOT / path).iterdir()) if not file.name.startswith((".", "__")))
    else:
        text = f"# {path}\n\n~~~~ {LANGUAGES.get(Path(path).suffix, 'text')}\n{(ROOT / path).read_text()}~~~~\n"
    return "---\nsearch:\n  exclude: true\n---\n\n" + text


def on_config(config):
    version = re.search(r"^project\(wgrun VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
    config["site_description"] = f"wgrun {version}"
    pages = sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md"))
    named = set()

    def names(entry):
        for child in entry if isinstance(entry, list) else entry.values() if isinstance(entry, dict) else []:
            names(child)
        if isinstance(entry, str):
            named.add(entry)

    def within(folder):
        here = [page for page in pages if page not in named and posixpath.dirname(page) == folder.strip("/") and page != "SKILL.md"]
        return sorted(here, key=lambda page: (not page.endswith("README.md"), page))

    def opened(entry):
        if isinstance(entry, list):
            return [new for child in entry for new in (within(child) if isinstance(child, str) and child.endswith("/") else [opened(child)])]
        if isinstance(entry, dict):
            return {title: within(child) if isinstance(child, str) and child.endswith("/") else opened(child) for title, child in entry.items()}
        return entry
    names(config["nav"])
    config["mdx_configs"]["toc"]["slugify"] = slug
    config["nav"] = opened(config["nav"])
    return config


def on_files(files, config):
    files.append(File.generated(config, "index.md", content=(ROOT / "README.md").read_text()))
    if PLAYGROUND.is_dir():
        for file in sorted(PLAYGROUND.iterdir()):
            files.append(File.generated(config, f"playground/{file.name}", abs_src_path=str(file)))
        files.append(File.generated(config, "playground/examples.json", content=examples()))
    files.append(File.generated(config, "site.css", content=(ROOT / "packaging/site/site.css").read_text()))
    if os.environ.get("WGRUN_REPOSITORY"):
        return files
    waiting = [place_of(file.src_uri) for file in files.documentation_pages()]
    while waiting:
        place = waiting.pop()
        if not place.endswith(".md"):
            continue
        for _, target, _ in LINK.findall(CODE.sub("", (ROOT / place).read_text())):
            path = target_of(place, target)
            page = path and page_of(path)
            if page and page.startswith("source/") and page not in PLACES and (ROOT / path).exists():
                files.append(File.generated(config, page, content=source(path)))
                PLACES[page] = path
                waiting.append(path)
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri == "playground.md":
        page.meta["hide"] = ["navigation", "toc"]
    place, folder = place_of(page.file.src_uri), posixpath.dirname(page.file.src_uri) or "."
    repository = os.environ.get("WGRUN_REPOSITORY")

    def changed(match):
        before, target, after = match.groups()
        path = target_of(place, target)
        if path is None or not place.endswith(".md"):
            return match[0]
        new, anchor = page_of(path), target.partition("#")[2]
        new = f"{repository}/{path}" if repository and new.startswith("source/") else posixpath.relpath(new, folder)
        return before + new + ("#" + anchor if anchor else "") + after
    return "".join(part if i % 2 else LINK.sub(changed, part) for i, part in enumerate(CODE.split(markdown)))


def on_post_page(output, page, config):
    if page.file.src_uri != "playground.md" or not PLAYGROUND.is_dir():
        return output
    head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    head += "".join(f'<link rel="stylesheet" href="playground/{name}.css">' for name in ("codemirror", "page"))
    head += "".join(f'<script defer src="playground/{name}.js"></script>' for name in SCRIPTS)
    return output.replace("</head>", head + "</head>", 1)
