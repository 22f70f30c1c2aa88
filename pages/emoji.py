"""The names of all emoji, which clients fetch once for each release."""

from __future__ import annotations

from flask import Flask, Response

from models.chat.rendering.emoji import DATA, DATA_PATH
from pages.assets import FOR_EVER


def install(app: Flask) -> None:
    def serve_emoji() -> Response:
        return Response(DATA, mimetype="application/json", headers={"Cache-Control": FOR_EVER})

    app.add_url_rule(
        DATA_PATH, "emoji", serve_emoji, methods=["GET"], provide_automatic_options=False
    )
