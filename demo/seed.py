"""Creates the demo's project, key, method and open invoice, or uses those of an earlier start."""

import json
import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click
import httpx
from sqlalchemy.orm import Session

from demo.chain.testnet import CHAIN_ID, TOKEN, TOKEN_SYMBOL
from models.payment import invoices, keys, methods, projects
from models.payment.tables import ApiKey, Invoice, PaymentMethod, Project
from models.payment.webhooks import endpoints
from models.payment.webhooks.vault import WebhookVault

# m/44'/60'/0' of "legal winner thank year wave sausage worth useful legal winner thank yellow", a
# published test vector, so its private keys are public.
XPUB = (
    "xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByN"
    "NhwWaNQRuhP3JcC3"
)
METHOD_ID = "tusd-local"
INVOICE_ID = "5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90"
ENDPOINT_ID = "7d3b0c52-94e1-4f6a-8a2b-1c5e9d7f3a60"
AMOUNT = "12.5"
CONFIRMATIONS = 2
LEAST_TIME_LEFT_MS = 300_000


@dataclass(frozen=True, slots=True)
class Access:
    """The credentials of the demo project, stored in a file that only its owner can read."""

    project_id: str
    key_id: str
    key: str


@dataclass(frozen=True, slots=True)
class OpenInvoice:
    """The demo invoice and its checkout page."""

    id: str
    amount: str
    checkout_url: str


def stored_access(file: Path) -> Access | None:
    """Return the access that an earlier start wrote, or None."""
    try:
        return Access(**json.loads(file.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def store_access(file: Path, access: Access) -> None:
    """Write the file atomically. Only its owner can read it."""
    unfinished = file.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as out:
        json.dump(asdict(access), out)
    unfinished.replace(file)


def seed(session: Session, *, stored: Access | None, now: datetime) -> Access:
    """Return the stored access if it is still valid. Otherwise create a new key, and a project if
    it is missing. Create the payment method if it is missing. This is one transaction and can be
    repeated.
    """
    project = session.get(Project, stored.project_id) if stored else None
    if project is None:
        stored = None
        project = projects.create_project(session, name="Demo", xpub=XPUB, now=now)
    if session.get(PaymentMethod, (project.id, METHOD_ID)) is None:
        methods.create_method(
            session,
            project_id=project.id,
            method_id=METHOD_ID,
            chain_id=CHAIN_ID,
            chain_name="Local test chain",
            token_address=TOKEN,
            token_symbol=TOKEN_SYMBOL,
            confirmations_required=CONFIRMATIONS,
            now=now,
        )
    if stored:
        key = session.get(ApiKey, stored.key_id)
        if key is not None and key.revoked_at is None:
            return stored
    key, plaintext = keys.create_key(session, project_id=project.id, now=now)
    return Access(project_id=project.id, key_id=key.id, key=plaintext)


def seed_examples(
    session: Session, vault: WebhookVault, project_id: str, *, lifetime: timedelta, now: datetime
) -> None:
    """Create the invoice and the webhook endpoint of the documents' examples if they are missing.
    The invoice can be paid for `lifetime`.
    """
    order = invoices.check_order(
        session,
        project_id=project_id,
        external_order_id="order-1041",
        attempt_no=1,
        amount=AMOUNT,
        payment_method_id=METHOD_ID,
    )
    if order.existing_invoice_id is not None or session.get(Invoice, INVOICE_ID) is not None:
        return
    invoices.create_invoice(
        session,
        order,
        xpub=XPUB,
        lifetime=lifetime,
        monitoring=timedelta(days=1),
        now=now,
        invoice_id=INVOICE_ID,
    )
    endpoints.create_endpoint(
        session,
        vault,
        project_id=project_id,
        url="https://shop.example/webhooks",
        event_types=["webhook_endpoint.disabled"],  # so the demo posts no other events
        description="The shop",
        quota=1_000,  # so that every start succeeds
        now=now,
        endpoint_id=ENDPOINT_ID,
    )


def try_open(client: httpx.Client, access: Access, file: Path) -> OpenInvoice | None:
    """Return an unpaid demo invoice with enough time left, if possible an earlier one. Return None
    while the server or its chain is not ready. Raise ClickException for other errors.
    """
    headers = {"Authorization": f"Bearer {access.key}"}
    try:
        invoice = _earlier(client, headers, file) or _ask(
            client,
            "/v1/invoices",
            headers | {"Idempotency-Key": f"demo-{uuid.uuid4()}"},
            {
                "external_order_id": f"demo-{uuid.uuid4()}",
                "attempt_no": 1,
                "amount": AMOUNT,
                "payment_method_id": METHOD_ID,
            },
        )
        file.write_text(invoice["id"])
        page = _ask(client, f"/v1/invoices/{invoice['id']}/checkout-sessions", headers)
    except (_NotYet, httpx.TransportError):
        return None
    return OpenInvoice(invoice["id"], AMOUNT, page["checkout_url"])


class _NotYet(Exception):
    """The server answered 503."""


def _earlier(client: httpx.Client, headers: Mapping[str, str], file: Path) -> dict[str, Any] | None:
    if not file.exists():
        return None
    response = client.get(f"/v1/invoices/{file.read_text().strip()}", headers=headers)
    if response.status_code != 200:
        return None
    invoice: dict[str, Any] = response.json()
    time_left_ms = invoice["expires_at"] - time.time() * 1000
    untouched = invoice["status"] == "unpaid" and invoice["exception"] == "none"
    return invoice if untouched and time_left_ms > LEAST_TIME_LEFT_MS else None


def _ask(
    client: httpx.Client, path: str, headers: Mapping[str, str], body: dict[str, Any] | None = None
) -> dict[str, Any]:
    response = client.post(path, headers=dict(headers), json=body)
    if response.status_code == 503:
        raise _NotYet
    if response.status_code != 201:
        raise click.ClickException(
            f"The server answered {response.status_code} to the demo's POST {path}; see its log"
        )
    answer: dict[str, Any] = response.json()
    return answer
