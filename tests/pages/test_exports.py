"""Downloads of archives: permissions, and complete and partial downloads."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from structlog.testing import capture_logs

from models.chat.exports.requests import Archive
from models.chat.identity.links import Link
from pages import exports
from tests.support.service_pages import build_pages

BYTES = bytes(range(256)) * 1000
ARCHIVE = Archive("7-abc.zip", "5" * 64, datetime(2026, 11, 21, 12, tzinfo=UTC), 1)
IAGO = ("iago@acme.example", "key")


@pytest.fixture
def app(tmp_path: Path) -> Flask:
    (tmp_path / ARCHIVE.name).write_bytes(BYTES)
    spent: set[str] = set()

    def find(export_id: int, host: str, token: str | None, key: Any) -> Archive | None:
        realm_id = {"acme.example": 1, "globex.example": 2, "third.example": 3}.get(host)
        if export_id != 7 or realm_id is None:
            return None
        archive = replace(ARCHIVE, realm_id=realm_id)
        if key == IAGO:
            return archive
        if token is None or not token.startswith("good") or token in spent:
            return None
        return replace(archive, link=Link(token, 1, ARCHIVE.made_at))

    def spend(link: Link) -> bool:
        is_first = link.key not in spent
        spent.add(link.key)
        return is_first

    install = partial(exports.install, find_archive=find, spend_link=spend, folder=tmp_path)
    return build_pages(documents={}, own=[install])


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def get(client: FlaskClient, path: str, host: str = "acme.example", **more: Any) -> Any:
    return client.get(path, base_url=f"http://{host}", **{"buffered": True, **more})


def test_link_returns_the_archive(client: FlaskClient) -> None:
    answer = get(client, "/exports/7/good")
    assert (answer.status_code, answer.data) == (200, BYTES)
    assert answer.headers["Content-Length"] == str(len(BYTES))
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"] == "attachment; filename=export-7.zip"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Accept-Ranges"] == "bytes"


def test_link_works_once(client: FlaskClient) -> None:
    asked = client.head("/exports/7/good", base_url="http://acme.example", buffered=True)
    assert (asked.status_code, asked.headers["Content-Length"]) == (200, str(len(BYTES)))
    assert get(client, "/exports/7/good").data == BYTES
    again = get(client, "/exports/7/good")
    assert again.status_code == 404
    assert "Open the list of exports again for a new one." in again.text
    assert get(client, "/exports/7/good2").data == BYTES


def test_interrupted_download_resumes_with_a_new_link(client: FlaskClient) -> None:
    rest = {"Range": "bytes=1000-", "If-Range": f'"{ARCHIVE.sha256}"'}
    answer = get(client, "/exports/7/good", headers=rest)
    assert (answer.status_code, answer.data) == (206, BYTES[1000:])
    assert answer.headers["Content-Range"] == f"bytes 1000-{len(BYTES) - 1}/{len(BYTES)}"
    other = {"Range": "bytes=1000-", "If-Range": '"another"'}
    assert get(client, "/exports/7/good2", headers=other).data == BYTES
    beyond = {"Range": f"bytes={len(BYTES)}-"}
    assert get(client, "/exports/7/good3", headers=beyond).status_code == 416


def test_downloads_and_rejections_are_logged(client: FlaskClient) -> None:
    with capture_logs() as lines:
        get(client, "/exports/7/good")
        get(client, "/exports/7/bad")
        get(client, "/exports/7", auth=("hamlet@acme.example", "key"))
    event = {"event": "security", "address": "127.0.0.1", "operation": "send_archive"}
    refused = {**event, "log_level": "warning", "name": "credential_refused", "export_id": 7}
    assert [line for line in lines if line["event"] == "security"] == [
        {**event, "log_level": "info", "name": "export_downloaded", "export_id": 7},
        refused,
        refused,
    ]


def test_administrator_needs_no_link(client: FlaskClient) -> None:
    asked = get(client, "/exports/7")
    assert (asked.status_code, asked.text) == (403, exports.NO_LINK)
    assert "WWW-Authenticate" not in asked.headers, "browsers must not prompt for a key"
    assert get(client, "/exports/7", auth=IAGO).data == BYTES
    assert get(client, "/exports/7", auth=("hamlet@acme.example", "key")).status_code == 404


def test_other_users_are_rejected(client: FlaskClient) -> None:
    assert get(client, "/exports/7/bad").status_code == 404
    assert get(client, "/exports/8/good").status_code == 404
    assert client.get("/exports/7/good", base_url="http://other.example").status_code == 404


def test_file_on_another_machine_is_reported(client: FlaskClient, tmp_path: Path) -> None:
    (tmp_path / ARCHIVE.name).unlink()
    assert get(client, "/exports/7/good").status_code == 404


def test_slow_downloads_do_not_use_up_threads_and_slots(client: FlaskClient) -> None:
    tokens = iter(f"good{number}" for number in range(100))

    def begin(host: str) -> Any:
        return get(client, f"/exports/7/{next(tokens)}", host, buffered=False)

    slow = [begin("acme.example") for _ in range(exports.OF_ONE_REALM)]
    refused = get(client, "/exports/7/good-kept")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "10")
    slow += [begin("globex.example") for _ in range(exports.AT_ONCE - exports.OF_ONE_REALM)]
    assert [answer.status_code for answer in slow] == [200] * exports.AT_ONCE
    assert begin("third.example").status_code == 503
    for answer in slow:
        answer.close()
    with get(client, "/exports/7/good-kept") as answer:
        assert answer.status_code == 200, "a rejected download must not use up its link"
