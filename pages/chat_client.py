"""/chat: a small client in the browser, which calls the public API and nothing else.

The page is the same for everybody. Its script asks for an email and a password, and keeps the API
key in the memory of the page alone.
"""

from __future__ import annotations

from flask import Flask, render_template
from flask.typing import ResponseReturnValue

from pages.assets import STATIC

MODULES = sorted(path.name for path in (STATIC / "chat").glob("*.js"))


def install(app: Flask) -> None:
    """Add the page, GET /chat."""

    def show_client() -> ResponseReturnValue:
        return render_template("chat.html", modules=MODULES)

    app.get("/chat")(show_client)
