#!/usr/bin/env python3
"""What site_pages.py must notice, on a site of two pages; in the browser where there is one."""

import tempfile
import unittest
from pathlib import Path

import site_pages as site

GOOD = "<!doctype html><title>t</title><body style='margin:0'><article><h1 id='top'>One</h1><a href='two.html#top'>two</a></article>"


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.site = Path(self.folder.name) / "site"
        self.site.mkdir()
        (self.site / "two.html").write_text(GOOD)
        site.Handler.answer = None

    def tearDown(self):
        self.folder.cleanup()

    def links(self, more):
        (self.site / "one.html").write_text(GOOD + more)
        return site.check_links(self.site)[0]

    def test_links(self):
        self.assertEqual(self.links("<a href='https://example.com'>out</a><a href='#top'>up</a>"), [])
        for more in ("<a href='three.html'>", "<a href='two.html#bottom'>", "<a href='#bottom'>", "<img src='no.svg'>", "<script src='https://example.com/a.js'></script>"):
            self.assertEqual(len(self.links(more)), 1, more)

    @unittest.skipUnless(site.CHROMIUM, "no Chromium")
    def test_pages_in_a_browser(self):
        (self.site / "one.html").write_text(GOOD + "<div style='width:900px'>wide</div><img src='no.svg'><script>setTimeout(() => { throw Error('late') }, 1)</script>")
        wrong = "\n".join(site.open_pages(self.site, 60)[0])
        for word in ("one.html, 400 pixels: 900 pixels wide", "no picture no.svg", "late"):
            self.assertIn(word, wrong)
        self.assertNotIn("one.html, 1400 pixels: 900", wrong)
        self.assertNotIn("two.html", wrong)


if __name__ == "__main__":
    unittest.main()
