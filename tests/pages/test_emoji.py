"""The names of all emoji, as clients load them."""

from __future__ import annotations

from functools import partial
from typing import Any

from models.chat.rendering.emoji import DATA_PATH, EMOJI
from pages import emoji
from tests.support.service_pages import build_pages

SERVICE: Any = None  # the names depend only on a table
INSTALL = partial(emoji.install_for, service=SERVICE)


def test_every_emoji_is_listed_with_its_code() -> None:
    answer = build_pages(documents={}, own=[INSTALL]).test_client().get(DATA_PATH)
    assert answer.status_code == 200
    assert answer.mimetype == "application/json"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    names = answer.json["code_to_names"]
    offered = {name: code for name, code in EMOJI.items() if not name.endswith("_skin_tone")}
    assert {name: code for code, each in names.items() for name in each} == offered
    assert len(names) > 1_800
    assert names["1f44d"][:2] == ["+1", "thumbs_up"]


def test_older_table_is_gone() -> None:
    client = build_pages(documents={}, own=[INSTALL]).test_client()
    assert client.get("/static/emoji-000000000000.json").status_code == 404
