"""The servers that are compared do the same work: same answers, same refusals. No load here."""

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import Any

import httpx
import pytest

from benchmarks.engine.agreement import disagreements
from benchmarks.engine.operations import Request
from benchmarks.engine.peers import PEERS, Peer


def in_process(app: Any) -> Callable[[Request], tuple[int, Any]]:
    """Asks the application itself, without a server; its crashes are answers (500) too."""

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

    return lambda request: asyncio.run(send(request))


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_answers_and_refuses_what_the_document_says(peer: Peer) -> None:
    pytest.importorskip(peer.app.partition(":")[0], reason=f"{peer.name} is not installed")
    module, _, name = peer.app.partition(":")
    app = getattr(import_module(module), name)

    assert disagreements(peer, in_process(app)) == []


def test_the_fastapi_service_tells_the_payment_story(tmp_path: Path) -> None:
    pytest.importorskip("fastapi", reason="FastAPI is not installed")
    from benchmarks.payment.contestants import prepare_peer
    from benchmarks.peers.payment_fastapi.app import build_app
    from benchmarks.peers.payment_fastapi.settings import Settings

    url = f"sqlite:///{tmp_path}/peer.db"
    bearer = prepare_peer(url)
    app = build_app(Settings(database_url=url, chain_ids=frozenset({CHAIN_ID})))

    with TestClient(app) as client:
        tell(client.request, bearer)


def test_our_service_tells_the_payment_story(tmp_path: Path) -> None:
    from benchmarks.payment.contestants import prepare_ours
    from handlers.payment.wiring import build_service
    from models.clock import SystemClock
    from server.app import build_app
