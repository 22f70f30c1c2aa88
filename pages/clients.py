"""Pages whose script is a client of the public API, like any other.

Such a page is the same for everybody and the server has no code for it. Its script prompts for a
credential and keeps it only in the memory of the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Flask, render_template
from flask.typing import ResponseReturnValue

from specd.pages import add_entrance

STATIC = Path(__file__).with_name("static")
COMMON = "client"
"""The directory under static/ of the modules that these pages have in common."""


def modules_of(name: str) -> list[str]:
    """Return the paths below static/ of the modules of a page."""
    return [
        path.relative_to(STATIC).as_posix()
        for directory in (COMMON, name)
        for path in sorted((STATIC / directory).glob("*.js"))
    ]


def add_client(
    app: Flask, name: str, *, about: str, document: str, fragment: str = "", **facts: Any
) -> None:
    """Add the page GET /NAME: the template and the style sheet of that name, and the modules under
    static/NAME. `about` is its sentence on the front page. People without scripts get a link to the
    reference of `document`. Links to `/` with `fragment` open the page. `facts` are further values
    for the template.
    """
    add_entrance(app, name.capitalize(), f"/{name}", about, fragment=fragment)
    modules = modules_of(name)

    def show_client() -> ResponseReturnValue:
        return render_template(
            f"{name}.html", name=name, document=document, modules=modules, **facts
        )

    app.get(f"/{name}", endpoint=name)(show_client)
