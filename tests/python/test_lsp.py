"""python3 -m wgrun lsp, by a client that speaks the protocol over standard input and output. Skipped where pygls is not installed."""

import json
import queue
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

try:
    import pygls  # noqa: F401
except ImportError as error:
    print(f"skipped: {sys.executable}: {error} (pip install 'pygls>=2')")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
PTX = (ROOT / "tests/ptx/missing_fence.ptx").read_text()
SCRIPT = (ROOT / "scripts/hello_wgmma.lua").read_text()


class Client:
    """An editor: sends requests, and keeps what the server says by itself."""

    def __init__(self, **options):
        self.process = subprocess.Popen([sys.executable, "-m", "wgrun", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.messages = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.number = 0
        self.capabilities = self.request("initialize", processId=None, rootUri=None, initializationOptions=options,
                                         capabilities={"textDocument": {"publishDiagnostics": {"relatedInformation": True}}})["capabilities"]
        self.send("initialized")

    def _read(self):
        while True:
            length = 0
            for line in iter(self.process.stdout.readline, b"\r\n"):
                if not line:
                    return
                name, _, value = line.decode().partition(":")
                length = int(value) if name.lower() == "content-length" else length
            self.messages.put(json.loads(self.process.stdout.read(length)))

    def _write(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def send(self, method, **params):
        self._write(method=method, params=params)

    def request(self, method, **params):
        self.number += 1
        self._write(id=self.number, method=method, params=params)
        return self.await_(lambda message: message.get("id") == self.number and "method" not in message)["result"]

    def await_(self, wanted):
        while True:
            message = self.messages.get(timeout=60)
            assert "error" not in message, message
            if wanted(message):
                return message

    def diagnostics(self, uri, version):
        told = self.await_(lambda message: message.get("method") == "textDocument/publishDiagnostics" and
                           message["params"]["uri"] == uri and message["params"].get("version") == version)
        return told["params"]["diagnostics"]

    def open(self, uri, text, language):
        self.send("textDocument/didOpen", textDocument={"uri": uri, "languageId": language, "version": 1, "text": text})
        return self.diagnostics(uri, 1)

    def change(self, uri, version, text):
        self.send("textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=[{"text": text}])
        return self.diagnostics(uri, version)

    def actions(self, uri, line, **context):
        place = {"line": line - 1, "character": 0}
        return self.request("textDocument/codeAction", textDocument={"uri": uri}, range={"start": place, "end": place},
                            context={"diagnostics": [], **context})

    def hover(self, uri, text, word):
        line = next(i for i, one in enumerate(text.split("\n")) if word in one)
        shown = self.request("textDocument/hover", textDocument={"uri": uri},
                             position={"line": line, "character": text.split("\n")[line].index(word) + len(word) - 1})
        return shown and shown["contents"]["value"]

    def close(self):
        self.request("shutdown")
        self.send("exit")
        self.process.stdin.close()
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        return code


def edited(text, edits):
    """The text with the edits, which are of whole lines."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda one: one["range"]["start"]["line"], reverse=True):
        start, end = edit["range"]["start"], edit["range"]["end"]
        before = "\n".join(lines[:start["line"]] + [lines[start["line"]][:start["character"]]])
        after = "\n".join([lines[end["line"]][end["character"]:]] + lines[end["line"] + 1:])
        lines = (before + edit["newText"] + after).split("\n")
    return "\n".join(lines)


class Editor(unittest.TestCase):
    def setUp(self):
        self.client = Client()
        self.addCleanup(lambda: self.assertEqual(self.client.close(), 0))

    def test_ptx(self):
        uri = "file:///folder/product.ptx"
        (found,) = self.client.open(uri, PTX, "ptx")
        self.assertEqual((found["code"], found["severity"], found["range"]["start"]["line"]), ("WG-FENCE-01", 1, 31))
        self.assertIn("fix: wgmma.fence.sync.aligned", found["message"])
        self.assertEqual(found["relatedInformation"][-1]["location"]["range"]["start"]["line"], 29)
        quick, everything = self.client.actions(uri, 32)
        self.assertEqual((quick["kind"], everything["kind"]), ("quickfix", "source.fixAll"))
        mended = edited(PTX, quick["edit"]["changes"][uri])
        self.assertEqual([one["code"] for one in self.client.change(uri, 2, mended)], ["verdicts"])
        self.assertEqual(self.client.actions(uri, 32), [])

    def test_a_script(self):
        uri = "file:///folder/hello.lua"
        fence = "  k:fence_proxy_async { space = \"shared::cta\" }\n"
        self.assertIn(fence, SCRIPT)
        (verdicts,) = self.client.open(uri, SCRIPT, "lua")
        self.assertEqual((verdicts["code"], verdicts["severity"]), ("verdicts", 3))
        self.assertIn("properties are proved", verdicts["message"])
        broken = SCRIPT.replace(fence, "", 1)
        found = self.client.change(uri, 2, broken)
        self.assertEqual({one["code"] for one in found}, {"WG-PROXY-01"})
        line = found[0]["range"]["start"]["line"] + 1
        self.assertEqual(self.client.actions(uri, 1, only=["quickfix"]), [])
        (quick,) = self.client.actions(uri, line, only=["quickfix"])
        mended = edited(broken, quick["edit"]["changes"][uri])
        self.assertNotEqual(mended, broken)
        (everything,) = self.client.actions(uri, 1, only=["source.fixAll"])
        resolved = self.client.request("codeAction/resolve", **everything)
        self.assertIn("k:fence_proxy_async(", resolved["edit"]["changes"][uri][0]["newText"])
        self.assertEqual([one["code"] for one in self.client.change(uri, 3, mended)], ["verdicts"])

    def test_what_is_not_looked_at_is_said(self):
        (found,) = self.client.open("file:///a.lua", 'local wg = require "wgrun"\nio.open("x")\n', "lua")
        self.assertEqual((found["severity"], found["range"]["start"]["line"]), (1, 1))
        (found,) = self.client.open("file:///a.ptx", ".version 8.0\nnot ptx\n", "ptx")
        self.assertEqual((found["severity"], found["range"]["start"]["line"]), (1, 1))
        self.assertEqual(self.client.open("file:///other.lua", 'error("is not run")\n', "lua"), [])

    def test_hover(self):
        self.client.open("file:///hello.lua", SCRIPT, "lua")
        self.client.open("file:///product.ptx", PTX, "ptx")
        for uri, text, word, expected in (("file:///hello.lua", SCRIPT, "wg.tile", "Makes the shared-memory tile"),
                                          ("file:///hello.lua", SCRIPT, "k:wgmma_fence", "PTX ISA"),
                                          ("file:///product.ptx", PTX, "wgmma.mma_async", "executed by a warpgroup"),
                                          ("file:///product.ptx", PTX, "mov.u32", "copies a register")):
            self.assertIn(expected, self.client.hover(uri, text, word) or "", word)
        self.assertIsNone(self.client.hover("file:///product.ptx", PTX, ".version"))


class Settings(unittest.TestCase):
    def test_an_unrestricted_script_is_checked_as_it_was_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "tile.lua").write_text('return require "wgrun".kernel("k", {}, function() end)\n')
            script = Path(folder) / "main.lua"
            script.write_text('require "wgrun"\nreturn dofile "tile.lua"\n')
            client = Client(restricted=False)
            self.addCleanup(client.close)
            (found,) = client.open(script.as_uri(), script.read_text(), "lua")
            self.assertEqual(found["code"], "verdicts", found)

    def test_a_script_that_loops_is_stopped(self):
        client = Client(seconds=1, verdicts=False)
        self.addCleanup(client.close)
        (found,) = client.open("file:///a.lua", 'require "wgrun"\nwhile true do end\n', "lua")
        self.assertIn("more than 1 s", found["message"])
        self.assertEqual(client.open("file:///b.lua", SCRIPT, "lua"), [])


if __name__ == "__main__":
    unittest.main()
