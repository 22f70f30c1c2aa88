"""/docs: the list of documents, and a reference page for each.

A reference page is complete HTML: the document's description and a list of its operations. Its
scripts load the document and Swagger UI only when a reader opens an operation, because these are
half a megabyte.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from flask import Flask, abort, render_template
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from specd._pages.assets import send_public
from specd._pages.security import REFERENCE_POLICY


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation of a document, as the list shows it. `anchor` is the fragment of its link."""

    method: str
    path: str
    name: str
    summary: str
    anchor: str
    is_deprecated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    name: str
    anchor: str
    description: Markup
    operations: list[Operation]


def list_tags(content: Mapping[str, Any], prefix: str = "") -> list[Tag]:
    """Return the operations of an OpenAPI document grouped by their first tag, in the document's
    order. Each must have an operationId. Links that begin with `/` are below `prefix`.
    """
    described = {tag["name"]: tag.get("description", "") for tag in content.get("tags", ())}
    found: dict[str, list[Operation]] = {name: [] for name in described}
    for path, item in content.get("paths", {}).items():
        for method, operation in item.items():
            if isinstance(operation, Mapping):
                [tag, *_] = operation.get("tags") or ["other"]
                found.setdefault(tag, []).append(
                    Operation(
                        method=method,
                        path=path,
                        name=operation["operationId"],
                        summary=operation.get("summary", ""),
                        anchor=f"/{quote(tag)}/{operation['operationId']}",
                        is_deprecated=operation.get("deprecated", False),
                    )
                )
    return [
        Tag(
            name=name,
            anchor=f"/{quote(name)}",
            description=render_markdown(described.get(name, ""), prefix),
            operations=operations,
        )
        for name, operations in found.items()
        if operations
    ]


def render_markdown(text: str, prefix: str = "") -> Markup:
    """Return the HTML of a description (CommonMark with tables). Second-level headings have ids,
    tables and code blocks can be scrolled by keyboard, and HTML in it is displayed as text. Links
    that begin with `/` are below `prefix`.
    """
    from markdown_it import MarkdownIt  # imported when a reference is first read

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h2":
            slug = re.sub(r"[^a-z0-9]+", "-", inline.content.lower()).strip("-")
            opening.attrSet("id", slug)
        if opening.type == "table_open":
            opening.attrSet("tabindex", "0")
    for link in (each for token in tokens for each in token.children or ()):
        address = str(link.attrs.get("href", ""))
        if address.startswith("/") and not address.startswith("//"):
            link.attrSet("href", prefix + address)
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Markup(html.replace("<pre>", '<pre tabindex="0">'))


def find_first_sentence(content: Mapping[str, Any]) -> str:
    """Return the first sentence of a document's description, or an empty text."""
    first, _, _ = content.get("info", {}).get("description", "").strip().partition("\n\n")
    sentence, end, _ = " ".join(first.split()).partition(". ")
    return sentence + end.strip()


def _path_below(prefix: str, content: Mapping[str, Any]) -> str:
    """Return the address to which the paths of a document are relative."""
    url: str = next((server["url"] for server in content.get("servers", ())), "/")
    return (prefix + url).rstrip("/") or "/" if url.startswith("/") else url


def install(
    app: Flask,
    documents: Mapping[str, str],
    contents: Mapping[str, Mapping[str, Any]],
    prefix: str = "",
    *,
    has_errors: Collection[str] = (),
) -> None:
    """Add /docs and /docs/<document>.

    `documents` maps a document's name to its path without `.yaml` or `.json`. `contents` maps it to
    the document itself. `prefix` is the path of the public address. `has_errors` names the
    documents that have a page of errors.
    """
    sentences = {name: find_first_sentence(content) for name, content in contents.items()}

    @cache
    def render_list() -> str:
        return render_template(
            "services.html", documents=documents, sentences=sentences, has_errors=has_errors
        )

    @cache
    def render_reference(name: str) -> str:
        content = contents.get(name, {})
        info = content.get("info", {})
        return render_template(
            "reference.html",
            name=name,
            address=documents[name],
            documents=documents,
            title=info.get("title", name),
            version=info.get("version", ""),
            server=_path_below(prefix, content),
            description=render_markdown(info.get("description", ""), prefix),
            tags=list_tags(content, prefix),
            has_errors=name in has_errors,
        )

    def list_documents() -> ResponseReturnValue:
        return send_public(render_list())

    def show_reference(name: str) -> ResponseReturnValue:
        if name not in documents:
            abort(404, "No document of this name is served here. See /docs for those that are.")
        response = send_public(render_reference(name))
        response.headers["Content-Security-Policy"] = REFERENCE_POLICY
        return response

    app.get("/docs")(list_documents)
    app.get("/docs/<name>")(show_reference)
