"""The compared servers do the same work: same answers, same errors. Without load."""

import asyncio
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

pytest.importorskip("blacksheep", reason="the peers are not installed (extra: bench)")
pytest.importorskip("falcon", reason="the peers are not installed (extra: bench)")
pytest.importorskip("fastapi", reason="the peers are not installed (extra: bench)")
pytest.importorskip("litestar", reason="the peers are not installed (extra: bench)")

from benchmarks.engine.agreement import disagreements
from benchmarks.engine.operations import Request
from benchmarks.engine.peers import PEERS, Peer
from benchmarks.payment.contestants import prepare_peer
from benchmarks.payment.stock import stock_invoices
from benchmarks.payment.story import CHAIN_ID, tell
from benchmarks.peers.payment_fastapi.app import build_app
from benchmarks.peers.payment_fastapi.settings import Settings


def in_process(app: Any) -> Callable[[Request], tuple[int, Any]]:
    """Return a function that calls the application without a server and turns crashes into 500."""

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
def test_answers_and_errors_match_the_document(peer: Peer) -> None:
    module, _, name = peer.app.partition(":")
    app = getattr(import_module(module), name)

    assert disagreements(peer, in_process(app)) == []


def test_fastapi_service_passes_the_payment_scenario(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/peer.db"
    bearer = prepare_peer(url)
    app = build_app(Settings(database_url=url, chain_ids=frozenset({CHAIN_ID})))

    with TestClient(app) as client:
        result = tell(client.request, bearer)
        stocked = stock_invoices(url, like=result.invoice_id, count=2)
        answer = client.get(
            f"/v1/invoices/{stocked[1]}", headers={"Authorization": f"Bearer {bearer}"}
        )

    assert answer.json()["status"] == "unpaid"
