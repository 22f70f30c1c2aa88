"""/docs/<service>/errors: the meaning of each error of a service, with advice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from flask import Flask, abort, render_template
from flask.typing import ResponseReturnValue
from markupsafe import Markup, escape

from specd._pages.assets import send_public


class Failure(Protocol):
    """An error of a service. `subject` groups the errors with the general code. It is empty for
    others.
    """

    @property
    def anchor(self) -> str: ...
    @property
    def code(self) -> str | None: ...
    @property
    def status(self) -> int: ...
    @property
    def message(self) -> str: ...
    @property
    def when(self) -> str: ...
    @property
    def advice(self) -> str: ...
    @property
    def extra(self) -> tuple[str, ...]: ...
    @property
    def subject(self) -> str: ...


def install(app: Flask, failures: Mapping[str, Sequence[Failure]]) -> None:
    """Add /docs/<service>/errors. `failures` maps a service to its failures, sorted by subject."""

    @cache
    def render(name: str) -> str:
        groups = [
            (subject, list(group))
            for subject, group in groupby(failures[name], attrgetter("subject"))
        ]
        return render_template("errors.html", name=name, groups=groups)

    def show_errors(name: str) -> ResponseReturnValue:
        if name not in failures:
            abort(404, "No service of this name is served here. See /docs for those that are.")
        return send_public(render(name))

    app.get("/docs/<name>/errors")(show_errors)
    app.add_template_filter(show_code, "show_code")
    app.add_template_filter(show_error_code, "show_error_code")


def show_code(text: str) -> Markup:
    """Return a text with its `pieces` between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def show_error_code(code: str) -> Markup:
    """Return an error's code, which may break only after an underscore."""
    return Markup("_<wbr>").join(code.split("_"))
