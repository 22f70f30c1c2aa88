"""The servers with a database that are compared give the same answers. No load here."""

import asyncio
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.engine.operations import Request
from benchmarks.engine.peers import Peer
from benchmarks.stored.__main__ import PEERS, disagreements
from benchmarks.stored.tables import URL, fill


@pytest.fixture(params=PEERS, ids=lambda peer: peer.name)
def peer(request: pytest.FixtureRequest) -> Peer:
    peer: Peer = request.param
    if "fastapi" in peer.app:
        pytest.importorskip("fastapi", reason="the peers are not installed (extra: bench)")
    return peer


@pytest.fixture
def app(peer: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    url = f"sqlite:///{tmp_path / 'tasks.db'}"
    fill(url)
    monkeypatch.setenv(URL, url)
    module, _, factory = peer.app.removesuffix("()").partition(":")
    return getattr(import_module(module), factory)()


def test_answers_and_refuses_what_the_document_says(peer: Peer, app: Any) -> None:
    async def send(request: Request) -> tuple[int, Any]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://peer") as client:
            answer = await client.request(
                request.method,
                request.path,
                headers=dict(request.headers),
                content=request.body or None,
            )
        is_json = "json" in answer.headers.get("content-type", "")
        return answer.status_code, answer.json() if is_json else None

    assert disagreements(peer.name, lambda request: asyncio.run(send(request))) == []
