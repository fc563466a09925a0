#!/usr/bin/env python3
"""The site of the documents: site_pages.py BUILD builds it anew in BUILD/site-test; every link leads to a page and a heading, and nothing is loaded from
elsewhere. With --browser each page opens in headless Chromium at 400 and 1400 pixels without an error, and is no wider than its window.
With --contrast axe measures the contrast of some pages, light and dark. --shots FOLDER keeps pictures of some pages. Ends with 77 where
MkDocs, Chromium or axe is not here."""

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
WIDTHS = (400, 1400)

# Opens one page after the other in a frame of each width, and posts what is wrong. MathML, workers and the like need no care: their errors are the window's.
DRIVER = """<!doctype html><meta charset="utf-8"><body><script>
const pages = PAGES, widths = WIDTHS
async function open(page, width) {
  const frame = document.createElement("iframe"), wrong = []
  frame.width = width; frame.height = 900
  document.body.append(frame)
  frame.contentWindow.addEventListener("error", e => wrong.push(e.message))
  await new Promise(done => { frame.onload = done; frame.src = page; setTimeout(done, 20000) })
  const inner = frame.contentWindow
  inner.addEventListener("error", e => wrong.push(e.message), true)
  inner.addEventListener("unhandledrejection", e => wrong.push(String(e.reason)))
  await new Promise(done => setTimeout(done, 30))
  const root = inner.document.documentElement
  if (!inner.document.querySelector("article h1")) wrong.push("no heading")
  if (root.scrollWidth > root.clientWidth + 1) wrong.push(`${root.scrollWidth} pixels wide`)
  for (const image of inner.document.images) if (image.complete && !image.naturalWidth) wrong.push(`no picture ${image.getAttribute("src")}`)
  frame.remove()
  return wrong.map(text => `${page}, ${width} pixels: ${text}`)
}
(async () => {
  let wrong = []
  for (const page of pages) for (const width of widths) wrong = wrong.concat(await open(page, width))
  await fetch("/done", { method: "POST", body: JSON.stringify({ opened: pages.length * widths.length, wrong }) })
})()
</script>"""

# The contrast of each page in both colours, as axe measures it.
CONTRAST = """<!doctype html><meta charset="utf-8"><body><script>
const pages = PAGES
async function measure(page, scheme) {
  const frame = document.createElement("iframe")
  frame.width = 1400; frame.height = 900
  document.body.append(frame)
  await new Promise(done => { frame.onload = done; frame.src = page })
  const inner = frame.contentWindow
  inner.document.body.setAttribute("data-md-color-scheme", scheme)
  await new Promise(done => { const axe = inner.document.createElement("script"); axe.onload = done; axe.src = "/axe.min.js"; inner.document.head.append(axe) })
  await new Promise(done => setTimeout(done, 400)) // colours fade
  const found = await inner.axe.run(inner.document, { runOnly: ["color-contrast", "link-in-text-block"] })
  frame.remove()
  return found.violations.flatMap(rule => rule.nodes.map(node => `${page}, ${scheme}: ${node.html.slice(0, 60)}: ${node.any[0].message}`))
}
(async () => {
  let wrong = []
  for (const page of pages) for (const scheme of ["default", "slate"]) wrong = wrong.concat(await measure(page, scheme))
  await fetch("/done", { method: "POST", body: JSON.stringify({ opened: pages.length * 2, wrong }) })
})()
</script>"""
SOME = ("index", "performance", "guide", "guide/10-clusters", "guide/coming_from", "guide/layouts", "api/wg", "gemm", "verdicts", "command_line", "playground")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag in ("img", "script", "link", "iframe") and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded += [given[name] for name in ("src", "href") if given.get(name)]


def check_links(site):
    pages = {path.resolve(): Page(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"}
    wrong, count = [], 0
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        wrong += [f"{here}: loads {target} from elsewhere" for target in page.loaded if urlsplit(target).netloc]
        for target in page.links + page.loaded:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            file = file / "index.html" if file.is_dir() else file
            if not file.exists():
                wrong.append(f"{here}: no such page: {target}")
            elif parts.fragment and file in pages and not parts.fragment.startswith("__") and unquote(parts.fragment) not in pages[file].ids:
                wrong.append(f"{here}: no such heading: {target}")
    return wrong, f"{len(pages)} pages, {count} links", len(pages) < 50 or count < 1000


class Handler(http.server.SimpleHTTPRequestHandler):
    answer, driver = None, ""

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/driver.html":
            body = Handler.driver.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)
        else:
            super().do_GET()

    def do_POST(self):
        Handler.answer = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        threading.Thread(target=self.server.shutdown).start()


def serve(site):
    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))


def open_pages(site, seconds=540, contrast=False):
    """Every page in a browser, or the contrast of some: what is wrong, and how many were opened."""
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html") if path.name != "404.html")
    pages = [page for page in pages if page.removesuffix(".html") in SOME] if contrast else pages
    Handler.driver = (CONTRAST if contrast else DRIVER).replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS))
    server = serve(site)
    timer = threading.Timer(seconds, server.shutdown)
    timer.start()
    folder = site.parent / "chromium"
    with open(site.parent / "chromium.log", "w+") as log:
        browser = subprocess.Popen([CHROMIUM, *FLAGS, "--enable-logging=stderr", f"--user-data-dir={folder}", "--remote-debugging-port=0",
                                    f"http://127.0.0.1:{server.server_port}/driver.html"], stdout=log, stderr=log)
        server.serve_forever()
        timer.cancel()
        browser.kill()
        browser.wait()
        log.seek(0)
        said = [line.strip() for line in log if ":CONSOLE" in line]
    server.server_close()
    shutil.rmtree(folder, ignore_errors=True)
    if not Handler.answer:
        return [f"the pages were not all opened in {seconds} s"], "no answer", True
    wrong = Handler.answer["wrong"] + sorted(set(said))
    return wrong, f"{Handler.answer['opened']} times opened", Handler.answer["opened"] < (2 * len(SOME) if contrast else 100)


def shoot(site, folder):
    """Pictures of some pages, light and dark, at both widths."""
    folder.mkdir(parents=True, exist_ok=True)
    server = serve(site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for page in ("index", "performance", "guide/04-wgmma", "api/wg", "verdicts"):
        for width in WIDTHS:
            for theme in ("light", "dark"):
                subprocess.run([CHROMIUM, *FLAGS, *(["--force-dark-mode"] if theme == "dark" else []), f"--window-size={width},1800", "--virtual-time-budget=4000",
                                f"--screenshot={folder}/{page.replace('/', '-')}-{width}-{theme}.png", f"http://127.0.0.1:{server.server_port}/{page}.html"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    server.shutdown()


def main(arguments):
    build = Path(arguments[0]).resolve()
    if {"--browser", "--contrast", "--shots"} & set(arguments) and not CHROMIUM:
        print("skipped: no Chromium (Debian's chromium)")
        return 77
    contrast = "--contrast" in arguments
    site = build / ("site-test-contrast" if contrast else "site-test-browser" if "--browser" in arguments else "site-test") / "site"
    built = subprocess.run([ROOT / "packaging/site.sh", build, site], env=os.environ | {"FETCH": "no"})
    if built.returncode:
        return built.returncode
    if "--shots" in arguments:
        shoot(site, Path(arguments[arguments.index("--shots") + 1]))
        return 0
    if contrast:
        axe = next((build / "needs/site").glob("axe*/axe.min.js"), None)
        if not axe:
            print("skipped: no axe (make site fetches it with MkDocs)")
            return 77
        shutil.copy(axe, site)
    wrong, summary, few = open_pages(site, contrast=contrast) if contrast or "--browser" in arguments else check_links(site)
    print(*wrong, f"{summary}, {len(wrong)} faults", sep="\n")
    return 1 if wrong or few else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
