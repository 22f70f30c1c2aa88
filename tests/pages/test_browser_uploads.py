"""Uploaded files in headless Chromium: no content and no reference from a page executes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest
from flask import Response

from pages import uploads
from specd._engine.serving.app import build_app
from tests.pages.browser import Browser
from tests.pages.stage import running
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.pictures import picture
from tests.support.service_pages import build_pages

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

RUNS = b"document.title='ran';new Image().src='/ran';parent.postMessage('ran','*')"
PAGE = b"<!doctype html><title>quiet</title><script>" + RUNS + b"</script><p>page"
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" onload="' + RUNS + b'"><script>' + RUNS
    + b'</script><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;script&gt;'
    + RUNS + b'&lt;/script&gt;"/></foreignObject></svg>'
)  # fmt: skip
XSLT = (
    b'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?><x><s:stylesheet id="s" '
    b'version="1.0" xmlns:s="http://www.w3.org/1999/XSL/Transform"><s:template match="/"><html>'
    b"<script>" + RUNS + b"</script></html></s:template></s:stylesheet></x>"
)
FILES = {
    "page": SentFile("page.html", PAGE, "text/html"),
    "xhtml": SentFile("page.xhtml", PAGE, "application/xhtml+xml"),
    "page called a picture": SentFile("page.png", PAGE, "image/png"),
    "page called sound": SentFile("page.ogg", PAGE, "audio/ogg"),
    "page of no type": SentFile("page", PAGE, ""),
    "picture that ends as a page": SentFile("a.gif", picture("GIF") + PAGE, "image/gif"),
    "drawing": SentFile("drawing.svg", SVG, "image/svg+xml"),
    "style sheet": SentFile("sheet.xml", XSLT, "text/xml"),
    "script": SentFile("run.js", RUNS, "text/javascript"),
    "module": SentFile("run.mjs", RUNS, "application/javascript"),
    "script that is a picture": SentFile("run.gif", b"GIF89a=1;" + RUNS, "image/gif"),
    "type with a line break": SentFile("a.html", PAGE, "text/html;x=1"),
}
HOST_PAGE = """
    const [address] = arguments, done = arguments[arguments.length - 1];
    window.heard = [];
    addEventListener('message', event => heard.push(event.data));
    const make = (name, facts) => Object.assign(document.createElement(name), facts);
    const elements = [
        make('img', {src: address}), make('iframe', {src: address}), make('embed', {src: address}),
        make('object', {data: address}), make('script', {src: address}),
        make('script', {src: address, type: 'module'}), make('video', {src: address}),
        make('link', {href: address, rel: 'stylesheet'}),
    ];
    const settled = elements.map(element => new Promise(resolve => {
        for (const kind of ['load', 'error', 'loadedmetadata'])
            element.addEventListener(kind, resolve);
        setTimeout(resolve, 400);
    }));
    document.body.append(...elements);
    Promise.all(settled).then(() => done(heard));
"""
"""A page that references the file in every possible way, and returns the received events."""


@pytest.fixture
def base(chat_app: ChatApp) -> Iterator[str]:
    """The address of Acme's pages, and of the worst case for them: a page of the same origin
    without a policy.
    """
    pages = build_pages(documents={}, own=[partial(uploads.install_for, service=chat_app.service)])
    inner = pages.wsgi_app

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/neighbour":
            neighbour = Response("<!doctype html><title>neighbour</title>", mimetype="text/html")
            return neighbour(environ, start_response)
        return inner({**environ, "HTTP_HOST": "acme.example"}, start_response)

    pages.wsgi_app = answer  # type: ignore[method-assign]
    with running(build_app([chat_app.service], pages=pages)) as address:
        yield address


@pytest.mark.parametrize("chat_filled", ["sqlite"], indirect=True)
def test_uploaded_files_never_run(base: str, chat: ChatClient, browser: Browser) -> None:
    browser.command("Browser.setDownloadBehavior", behavior="deny")
    for what, file in FILES.items():
        link = chat.get(chat.post("/user_uploads", file=file)["url"])["url"]
        address = f"{base}{link}"
        browser.open(f"{base}/neighbour")
        browser.requested()
        heard = browser.driver.execute_async_script(HOST_PAGE, address)
        assert (heard, browser.driver.title) == ([], "neighbour"), what
        browser.open(address)
        assert browser.driver.title != "ran", what
        assert "not for you" not in browser.driver.page_source, what
        asked = browser.requested()
        assert address in asked, what
        assert not [one for one in asked if one.endswith("/ran")], what
