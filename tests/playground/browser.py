#!/usr/bin/env python3
"""The playground's page in a headless browser: browser.py BUILD chromium|firefox [--shots FOLDER] [--figures]. A page of this test opens it in frames of
400 and 1400 pixels, light and dark, uses it as a reader does, and reports what is wrong and how long it took. --shots keeps pictures.
--figures prints times and sizes alone. Ends with 77 where the playground, MkDocs or the browser is not here."""

import functools
import gzip
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BROWSERS = {"chromium": ("chromium", "chromium-browser", "google-chrome"), "firefox": ("firefox-esr", "firefox")}
DRIVER = (HERE / "driver.js").read_text()


class Handler(http.server.SimpleHTTPRequestHandler):
    """The site, and the test's own pages: /driver.html, and /frame.html that is loaded only once its playground has shown something."""

    answer, asked, done = None, [], threading.Event()

    def log_message(self, *_):
        pass

    def do_GET(self):
        parts = urlsplit(self.path)
        if parts.path in ("/driver.html", "/frame.html"):
            job = "drive()" if parts.path == "/driver.html" else f"show({json.dumps({key: value[0] for key, value in parse_qs(parts.query).items()})})"
            wait = "" if parts.path == "/driver.html" else '<img src="/late" hidden>'
            self.give("text/html", f'<!doctype html><meta charset="utf-8"><body style="margin:0">{wait}<script>{DRIVER}\n{job}</script>'.encode())
        elif parts.path == "/late":  # the page's load event waits for it, and the browser's picture for that
            Handler.done.wait(45)
            self.give("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"/>')
        else:
            Handler.asked.append(self.path)
            super().do_GET()

    def give(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        Handler.answer = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        Handler.done.set()


def start(browser, program, profile, address, *more):
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"] if browser == "chromium" else ["--headless", "--profile", profile, "--no-remote"]
    if browser == "firefox":
        Path(profile, "user.js").write_text('user_pref("browser.shell.checkDefaultBrowser", false);\nuser_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
                                            'user_pref("browser.aboutwelcome.enabled", false);\nuser_pref("layers.acceleration.disabled", true);\n')
    return subprocess.Popen([program, *flags, *more, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": profile, "MOZ_HEADLESS": "1"})


def drive(browser, program, origin, seconds=600):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        Handler.answer = None
        Handler.done.clear()
        process = start(browser, program, profile, f"{origin}/driver.html")
        Handler.done.wait(seconds)
        process.kill()
        process.wait()
    return Handler.answer


def shoot(browser, program, origin, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for view in ("findings", "run", "timeline", "pictures"):
        for width in (400, 1400):
            for scheme in ("default", "slate"):
                picture = folder / f"{browser}-{view}-{width}-{scheme}.png"
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
                    Handler.done.clear()
                    size = f"--window-size={width},{1500 if width == 400 else 1000}"
                    process = start(browser, program, profile, f"{origin}/frame.html?width={width}&scheme={scheme}&view={view}",
                                    *(["--timeout=60000", f"--screenshot={picture}", size] if browser == "chromium" else ["--screenshot", str(picture), size]))
                    try:
                        process.wait(120)
                    except subprocess.TimeoutExpired:
                        process.kill()
                    time.sleep(0.2)
                print(picture, picture.stat().st_size if picture.exists() else "missing")


def main(arguments):
    build, browser = Path(arguments[0]).resolve(), arguments[1]
    program = next(filter(None, map(shutil.which, BROWSERS[browser])), None)
    wasm = build / "playground" / "wgrun.wasm"
    for there, thing in ((program, browser), (wasm.exists(), f"{wasm} (make playground)")):
        if not there:
            print(f"skipped: no {thing}")
            return 77
    site = build / f"site-test-{browser}" / "site"
    built = subprocess.run([ROOT / "packaging/site.sh", build, site], env=os.environ | {"FETCH": "no"})
    if built.returncode:
        return built.returncode
    axe = next((build / "needs/site").glob("axe*/axe.min.js"), None)
    if axe:
        shutil.copy(axe, site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    if "--shots" in arguments:
        shoot(browser, program, origin, Path(arguments[arguments.index("--shots") + 1]))
        return 0
    answer = drive(browser, program, origin)
    if not answer:
        print("no answer")
        return 1
    figures = answer["figures"] | {"wgrun.wasm, gzip, MB": round(len(gzip.compress(wasm.read_bytes(), 9)) / 1e6, 2)}
    print(*(f"{name}: {value}" for name, value in figures.items()), sep="\n")
    print(*answer["wrong"], f"{browser}: {answer['looked']} looks, {len(answer['wrong'])} faults{'' if axe else ', contrast not measured (no axe)'}", sep="\n")
    return 1 if answer["wrong"] or answer["looked"] < 40 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
