"""/docs: the list of documents, and an interactive page for each (Swagger UI, bundled)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from flask import Flask, abort, make_response, redirect, render_template
from flask.typing import ResponseReturnValue

from pages.security import REFERENCE_POLICY


def install(app: Flask, documents: Mapping[str, str], *, has_errors: Collection[str] = ()) -> None:
    """Add /docs and /docs/<document>; `documents` maps a document's name to its path without
    `.yaml` or `.json`, `has_errors` names those whose service's errors have a page.
    """

    def enter() -> ResponseReturnValue:
        return redirect("/docs")

    def list_documents() -> ResponseReturnValue:
        return render_template("services.html", documents=documents, has_errors=has_errors)

    def show_reference(name: str) -> ResponseReturnValue:
        if name not in documents:
            abort(404, "No document of this name is served here. See /docs for those that are.")
        page = render_template(
            "reference.html",
            name=name,
            address=documents[name],
            documents=documents,
            has_errors=name in has_errors,
        )
        response = make_response(page)
        response.headers["Content-Security-Policy"] = REFERENCE_POLICY
        return response

    app.get("/")(enter)
    app.get("/docs")(list_documents)
    app.get("/docs/<name>")(show_reference)
