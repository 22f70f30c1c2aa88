"""The pages of the chat service."""

from __future__ import annotations

from flask import Flask, make_response, redirect
from flask.typing import ResponseReturnValue

from models.chat.identity.errors import RealmMoving
from pages import avatars, emoji, exports, uploads
from pages.clients import add_client
from pages.formatting import FORMATS
from pages.served import Served


def install_for(app: Flask, service: Served) -> None:
    exports.install_for(app, service)
    uploads.install_for(app, service)
    emoji.install_for(app, service)
    avatars.install_for(app, service)
    app.register_error_handler(RealmMoving, show_moving)
    if service.settings.chat_page:
        add_chat(app)


def add_chat(app: Flask) -> None:
    """Add GET /chat, a small client of the service in the browser. It prompts for an email address
    and a password. /login/, where Zulip has its sign-in page, redirects to it.
    """
    # Zulip's clients, mails and rendered messages link to conversations as /#narrow/...
    narrow = "#narrow/"
    about = "Talk in channels and direct messages. Sign in with the account of your organization."
    add_client(app, "chat", about=about, document="chat", fragment=narrow, formats=FORMATS)
    app.get("/login/")(show_chat)


def show_moving(error: RealmMoving) -> ResponseReturnValue:
    return make_response(f"{error}.\n", 503, {"Retry-After": "1", "Content-Type": "text/plain"})


def show_chat() -> ResponseReturnValue:
    return redirect("/chat")
