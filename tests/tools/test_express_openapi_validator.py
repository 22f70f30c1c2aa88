"""express-openapi-validator, in front of the payment service, accepts all requests and answers."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.contract.sdk.stage import Stage, staged
from tests.tools.installed import NODE, skip_without, write_document

PROXY = Path(__file__).parent / "validating_proxy.cjs"
ROUNDS = 50
"""Ten requests each."""


@contextmanager
def validating(document: Path, target: str) -> Iterator[str]:
    """Yield the address of a proxy in front of the target."""
    process = subprocess.Popen(
        ["node", PROXY, document, target],
        env={**os.environ, "NODE_PATH": str(NODE)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait(15)


def play(client: httpx.Client, number: int) -> Iterator[httpx.Response]:
    """Play the life of an invoice, including rejected requests."""
    key = {"Idempotency-Key": f"validated-{number}"}
    order = {
        "external_order_id": f"validated-{number}",
        "attempt_no": 1,
        "amount": "12.5",
        "payment_method_id": "tusd-local",
    }
    yield client.get("/v1/payment-methods")
    created = client.post("/v1/invoices", json=order, headers=key)
    yield created
    assert created.status_code == 201, created.text
    invoice = f"/v1/invoices/{created.json()['id']}"
    yield client.post("/v1/invoices", json=order, headers=key)
    yield client.post("/v1/invoices", json=order | {"amount": "9"}, headers=key)
    yield client.get(invoice)
    yield client.post(f"{invoice}/checkout-sessions")
    yield client.post(f"{invoice}/cancel", headers={"Idempotency-Key": f"validated-end-{number}"})
    yield client.post(f"{invoice}/cancel", headers={"Idempotency-Key": f"validated-again-{number}"})
    yield client.get("/v1/invoices/0f8c1c5e-2c44-4d1e-9a55-6f1f6f6f2a10")
    yield client.get(invoice, headers={"Authorization": "Bearer prk_test_nobody"})


def headers_of(stage: Stage) -> dict[str, str]:
    facts = json.loads(stage.facts.read_text())
    return {"Authorization": f"Bearer {facts['callers']['ada']['token']}"}


def test_all_requests_and_answers_are_accepted(tmp_path: Path) -> None:
    skip_without(NODE / "express-openapi-validator")
    document = write_document("payment", tmp_path)
    with (
        staged("payment", tmp_path) as stage,
        validating(document, stage.server.url) as proxy,
        httpx.Client(base_url=proxy, headers=headers_of(stage), timeout=60) as client,
    ):
        answers = [answer for number in range(ROUNDS) for answer in play(client, number)]
        broken_answer = client.get("/v1/payment-methods", headers={"X-Break": "1"})
        broken_request = client.post("/v1/invoices", json={}, headers={"Idempotency-Key": "k" * 9})
    assert [answer.text for answer in answers if "X-Objection" in answer.headers] == []
    assert Counter(answer.status_code for answer in answers) == {
        200: 3 * ROUNDS,
        201: 3 * ROUNDS,
        401: ROUNDS,
        404: ROUNDS,
        409: ROUNDS,
        422: ROUNDS,
    }
    assert broken_answer.status_code == 500
    assert broken_request.status_code == 400
    assert "X-Objection" in broken_answer.headers
    assert "X-Objection" in broken_request.headers
