"""Pages whose script is an ordinary client of the public API.

Such a page is the same for all users, and the server has no special code for it. The script prompts
for a credential and keeps it only in the memory of the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Flask, render_template
from flask.typing import ResponseReturnValue

from specd.pages import add_entrance

STATIC = Path(__file__).with_name("static")
COMMON = "client"
"""The directory below static/ of the modules that these pages share."""


def modules_of(name: str) -> list[str]:
    """Return the paths of a page's modules, relative to static/."""
    return [
        path.relative_to(STATIC).as_posix()
        for directory in (COMMON, name)
        for path in sorted((STATIC / directory).glob("*.js"))
    ]


def add_client(
    app: Flask, name: str, *, about: str, document: str, fragment: str = "", **facts: Any
) -> None:
    """Add the page GET /NAME with the template and style sheet of that name and the modules below
    static/NAME. `about` is its description on the front page. Browsers without scripts show a link
    to the reference of `document`. Links to `/` with `fragment` open the page. `facts` are
    additional values for the template.
    """
    add_entrance(app, name.capitalize(), f"/{name}", about, fragment=fragment)
    modules = modules_of(name)

    def show_client() -> ResponseReturnValue:
        return render_template(
            f"{name}.html", name=name, document=document, modules=modules, **facts
        )

    app.get(f"/{name}", endpoint=name)(show_client)
