"""/: links to the pages, and to the reference of each document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Flask, render_template, send_from_directory
from flask.typing import ResponseReturnValue

from specd._pages.assets import STATIC, send_public

_ENTRANCES = "entrances"


@dataclass(frozen=True, slots=True)
class Entrance:
    """A page that the front page lists."""

    name: str
    path: str | None
    about: str
    fragment: str


def add_entrance(
    app: Flask, name: str, path: str | None, about: str, *, fragment: str = ""
) -> None:
    """List a page on the front page, with one sentence about it. `path` is None if the page has no
    fixed path. Links to the front page whose fragment starts with `fragment`, such as `#notes/`,
    open the page instead.
    """
    app.extensions.setdefault(_ENTRANCES, []).append(Entrance(name, path, about, fragment))


def install(app: Flask, documents: Mapping[str, str]) -> None:
    """Add GET /, and the icon of all pages at its default address, which browsers request for
    responses that are not HTML.
    """

    def show_front() -> ResponseReturnValue:
        entrances = app.extensions.get(_ENTRANCES, [])
        return send_public(render_template("front.html", entrances=entrances, documents=documents))

    def show_icon() -> ResponseReturnValue:
        return send_from_directory(STATIC, "icon.svg", max_age=86_400)

    app.get("/")(show_front)
    app.get("/favicon.ico")(show_icon)
