"""/chat: a small client of the chat service in the browser. It asks for an email and a password."""

from __future__ import annotations

from flask import Flask

from pages.clients import add_client


def install(app: Flask) -> None:
    """Add the page, GET /chat."""
    add_client(app, "chat", document="chat")
