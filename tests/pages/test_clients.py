"""The pages that are clients of the API, without a browser: headers, modules, and options."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from pages import chat, clients, payment
from pages.clients import STATIC
from settings import Settings
from specd.db import Clock, Database
from tests.pages.stage import SECURE
from tests.support.service_pages import build_pages

NAMES = ("chat", "dashboard")
MODULES = {
    path.relative_to(STATIC).as_posix(): path.read_text()
    for directory in (clients.COMMON, *NAMES)
    for path in sorted((STATIC / directory).glob("*.js"))
}
IMPORTED = r'from "([^"]+)"'
REMEMBERS = r"localStorage|sessionStorage|indexedDB|document\.cookie|caches\b|serviceWorker"
KEEPERS = {"chat/drafts.js": {"sessionStorage"}}
MARKUP = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|setHTML"
STYLE_SHEETS_ICON_AND_SCRIPT = 5


@dataclass
class Seat:
    """A service that receives no requests from the pages."""

    database: Database
    settings: Settings
    clock: Clock
    adapters: Any = None


@pytest.fixture
def client() -> FlaskClient:
    documents = {name: f"/{name}" for name in ("chat", "payment", "payment-events")}
    own = [chat.add_chat, payment.add_dashboard]
    return build_pages(documents=documents, own=own).test_client()


@pytest.mark.parametrize("name", NAMES)
def test_client_has_the_headers_of_the_checkout_page(client: FlaskClient, name: str) -> None:
    answer = client.get(f"/{name}")
    assert answer.status_code == 200
    assert answer.mimetype == "text/html"
    assert {header: answer.headers[header] for header in SECURE} == SECURE
    assert "Set-Cookie" not in answer.headers
    assert client.head(f"/{name}").status_code == 200
    assert client.post(f"/{name}").status_code == 405


@pytest.mark.parametrize("name", NAMES)
def test_page_has_no_inline_scripts_or_styles(client: FlaskClient, name: str) -> None:
    page = client.get(f"/{name}").text
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", page) == []
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert scripts == [""]


@pytest.mark.parametrize("name", NAMES)
def test_referenced_files_exist(client: FlaskClient, name: str) -> None:
    page = client.get(f"/{name}").text
    links = re.findall(r'(?:src|href)="(/[^"]+)"', page)
    static = [link for link in links if link.startswith("/static/")]
    assert len(static) == len(clients.modules_of(name)) + STYLE_SHEETS_ICON_AND_SCRIPT
    for link in links:
        answer = client.get(link)
        assert answer.status_code == 200, link
        answer.close()


@pytest.mark.parametrize("name", MODULES)
def test_module_imports_only_its_own_and_shared_modules_with_revalidation(
    client: FlaskClient, name: str
) -> None:
    directory = name.partition("/")[0]
    for other in re.findall(IMPORTED, MODULES[name]):
        place, _, file = other.partition("/")
        assert (place, file.count("/")) == (".", 0) or other.startswith(f"../{clients.COMMON}/")
        assert _imported_by(directory, other) in MODULES
    answer = client.get(f"/static/{name}")
    assert answer.mimetype == "text/javascript"
    assert answer.headers["Cache-Control"] == "no-cache"
    again = client.get(f"/static/{name}", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    answer.close()


@pytest.mark.parametrize("name", NAMES)
def test_every_module_is_imported(name: str) -> None:
    used = {
        _imported_by(module.partition("/")[0], other)
        for module in clients.modules_of(name)
        for other in re.findall(IMPORTED, MODULES[module])
    }
    assert used | {f"{name}/main.js"} == set(clients.modules_of(name))


def _imported_by(directory: str, other: str) -> str:
    """Return the path below static/ of a module that is imported in `directory` as `other`."""
    return f"{directory}/{other[2:]}" if other.startswith("./") else other.removeprefix("../")


@pytest.mark.parametrize("name", MODULES)
def test_modules_store_nothing_and_create_no_markup(name: str) -> None:
    """Except drafts, which are in the session storage of a tab until their author signs out."""
    assert set(re.findall(REMEMBERS, MODULES[name])) == KEEPERS.get(name, set())
    assert re.findall(MARKUP, MODULES[name]) == []


@pytest.mark.parametrize(
    ("address", "pages", "switch"),
    [("/chat", chat, "chat_page"), ("/dashboard", payment, "dashboard_page")],
    ids=NAMES,
)
def test_operator_can_disable_a_page(tmp_path: Path, address: str, pages: Any, switch: str) -> None:
    database = Database(f"sqlite:///{tmp_path}/any.db")
    seat = Seat(database, Settings(data_dir=tmp_path), Clock())
    off = replace(seat, settings=replace(seat.settings, **{switch: False}))

    def status(service: Seat) -> int:
        app = build_pages(documents={}, own=[partial(pages.install_for, service=service)])
        return app.test_client().get(address).status_code

    assert (status(seat), status(off)) == (200, 404)
    database.dispose()


def test_sign_in_of_the_reference_links_to_chat(client: FlaskClient) -> None:
    answer = client.get("/login/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/chat")
