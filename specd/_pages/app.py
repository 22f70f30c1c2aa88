"""The Flask application of the HTML pages. It has neither a database nor a clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import structlog
from flask import Flask, make_response, redirect, render_template, request
from flask.typing import ResponseReturnValue
from jinja2 import FileSystemLoader
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import RequestRedirect

from specd._db.errors import DatabaseUnavailable
from specd._pages import assets, errors, front, reference, security
from specd._pages.languages import MESSAGES

log = structlog.get_logger("specd.pages")

LIBRARY = Path(__file__).parent
ROUTE = "specd.route"
"""The key of the ASGI scope from which the server (`specd/_engine/serving/page_visits.py`) reads
the route.
"""


class Pages(Flask):
    """A Flask whose error log names the page, not the path: a path may contain a secret."""

    def log_exception(
        self,
        exc_info: tuple[type, BaseException, TracebackType] | tuple[None, None, None],
    ) -> None:
        log.error("page failed", page=request.endpoint, exc_info=exc_info)

    def handle_http_exception(self, e: HTTPException) -> HTTPException | ResponseReturnValue:
        """Return the response to an error. Redirect to a path only, because werkzeug's redirects
        contain the host that the client sent.
        """
        if not isinstance(e, RequestRedirect):
            return super().handle_http_exception(e)
        parts = urlsplit(e.new_url)
        path = f"/{parts.path.lstrip('/')}"
        return redirect(urlunsplit(("", "", path, parts.query, "")), e.code)


def build_pages(
    *,
    documents: Mapping[str, str],
    contents: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    failures: Mapping[str, Sequence[errors.Failure]] = MappingProxyType({}),
    own: Sequence[Callable[[Flask], None]] = (),
    folders: Sequence[Path] = (),
    is_https: bool = False,
    prefix: str = "",
) -> Flask:
    """Return the application.

    `documents` maps a document's name to the path it is served at, without `.yaml` or `.json`, such
    as `{"orders": "/v1/openapi"}`. `contents` maps it to the document itself, which its page
    describes. `failures` maps a service's name to its failures. Each of `own` adds the pages of one
    service. Each of `folders` may contain templates/ and static/ for them. `is_https` says whether
    the pages are reached over HTTPS. `prefix` is the path of the public address, with which links
    begin: `root` in templates.
    """
    documents = {name: prefix + address for name, address in documents.items()}
    app = Pages(__name__, static_folder=None)
    searched = (LIBRARY, *folders)
    app.jinja_loader = FileSystemLoader([folder / "templates" for folder in searched])
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True}
    app.before_request(_name_route)
    app.jinja_env.globals["root"] = prefix
    security.install(app, is_https=is_https)
    assets.install(app, [folder / "static" for folder in searched], prefix)
    front.install(app, documents)
    reference.install(app, documents, contents, prefix, has_errors=frozenset(failures))
    errors.install(app, failures)
    for install in own:
        install(app)
    app.register_error_handler(HTTPException, _show_http_error)
    app.register_error_handler(DatabaseUnavailable, _show_unavailable)
    return app


def _name_route() -> None:
    """Pass the route of the request to the server, which logs and counts it. The path is not
    logged, because it may contain a secret.
    """
    scope = request.environ.get("asgi.scope")
    if scope is not None and request.url_rule is not None:
        scope[ROUTE] = request.url_rule.rule


def _show_http_error(error: HTTPException) -> ResponseReturnValue:
    code = error.code or 500
    if error.response is not None or 300 <= code < 400:
        return error
    text = error.description if type(error).description != error.description else None
    response = error.get_response()
    if isinstance(error, MethodNotAllowed):
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    response.content_type = "text/html; charset=utf-8"
    response.set_data(_render_message(code, text))
    return response


def _show_unavailable(error: DatabaseUnavailable) -> ResponseReturnValue:
    return make_response(_render_message(503), 503, {"Retry-After": "2"})


def _render_message(code: int, text: str | None = None) -> str:
    texts = MESSAGES.choose()
    messages = texts.of_section("messages")
    return render_template(
        "message.html",
        lang=texts.language,
        code=code,
        title=messages.get(f"title_{code}", messages["title_other"]),
        text=text or messages.get(f"text_{code}", ""),
    )
