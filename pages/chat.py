"""The pages of the chat service."""

from __future__ import annotations

from flask import Flask

from pages import chat_client, emoji, exports, uploads
from pages.served import Served


def install_for(app: Flask, service: Served) -> None:
    exports.install_for(app, service)
    uploads.install_for(app, service)
    emoji.install_for(app, service)
    if service.settings.chat_page:
        chat_client.install(app)
