"""The pages of the chat service."""

from __future__ import annotations

from flask import Flask

from pages import emoji, exports
from pages.served import Served


def install_for(app: Flask, service: Served) -> None:
    exports.install_for(app, service)
    emoji.install(app)
