"""/chat without a browser: its headers, its modules, and its switch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from models.clock import SystemClock
from models.database import Database
from pages import chat, chat_client
from pages.app import build_pages
from pages.assets import STATIC
from settings import Settings
from tests.pages.stage import SECURE

SOURCES = {path.name: path.read_text() for path in sorted((STATIC / "chat").glob("*.js"))}
REMEMBERS = r"localStorage|sessionStorage|indexedDB|document\.cookie|caches\b|serviceWorker"
MARKUP = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|setHTML"


@dataclass
class Seat:
    """A chat service of which the pages ask nothing yet."""

    database: Database
    settings: Settings
    clock: SystemClock
    adapters: Any = None


@pytest.fixture
def client() -> FlaskClient:
    return build_pages(
        documents={"chat": "/api/v1/openapi"}, own=[chat_client.install]
    ).test_client()


def test_the_page_has_the_headers_of_the_checkout_page(client: FlaskClient) -> None:
    answer = client.get("/chat")
    assert answer.status_code == 200
    assert answer.mimetype == "text/html"
    assert {name: answer.headers[name] for name in SECURE} == SECURE
    assert "Set-Cookie" not in answer.headers
    assert client.head("/chat").status_code == 200
    assert client.post("/chat").status_code == 405


def test_nothing_on_the_page_is_inline(client: FlaskClient) -> None:
    page = client.get("/chat").text
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", page) == []
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert scripts == [""]


def test_all_that_it_names_exists(client: FlaskClient) -> None:
    page = client.get("/chat").text
    links = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert len(links) == len(SOURCES) + 4
    for link in links:
        answer = client.get(link)
        assert answer.status_code == 200, link
        answer.close()


def test_modules_import_only_each_other_and_are_asked_for_again(client: FlaskClient) -> None:
    imported = set()
    for name, source in SOURCES.items():
        for other in re.findall(r'from "([^"]+)"', source):
            assert other.startswith("./"), name
            assert other[2:] in SOURCES, name
            imported.add(other[2:])
        answer = client.get(f"/static/chat/{name}")
        assert answer.mimetype == "text/javascript"
        assert answer.headers["Cache-Control"] == "no-cache"
        again = client.get(
            f"/static/chat/{name}", headers={"If-None-Match": answer.headers["ETag"]}
        )
        assert again.status_code == 304
        answer.close()
    assert imported | {"main.js"} == set(SOURCES), "every module has a user"


@pytest.mark.parametrize("name", SOURCES)
def test_no_module_keeps_anything_or_makes_markup(name: str) -> None:
    assert re.findall(REMEMBERS, SOURCES[name]) == []
    assert re.findall(MARKUP, SOURCES[name]) == []


def test_an_operator_can_switch_it_off(tmp_path: Path) -> None:
    def status(**given: Any) -> int:
        database = Database(f"sqlite:///{tmp_path}/chat.db")
        seat = Seat(database, Settings(data_dir=tmp_path, **given), SystemClock())
        pages = build_pages(documents={}, own=[lambda app: chat.install_for(app, seat)])
        database.dispose()
        return pages.test_client().get("/chat").status_code

    assert (status(), status(chat_page=False)) == (200, 404)
