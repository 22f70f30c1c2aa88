"""One key has one effect and one response: a repeated request gets the stored bytes."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from fastapi import Request, Response
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from benchmarks.peers.payment_fastapi.errors import Refusal, lock_timed_out
from benchmarks.peers.payment_fastapi.invoices import render
from benchmarks.peers.payment_fastapi.tables import IdempotencyKey, Invoice

Work = Callable[[datetime], Invoice]


def fingerprint_of(operation: str, path: Mapping[str, str], body: Any) -> str:
    canonical = json.dumps([operation, path, body], sort_keys=True, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()


def respond(body: bytes, status: int, *, replayed: bool = False) -> Response:
    headers = {"Idempotent-Replayed": "true"} if replayed else None
    return Response(body, status, headers, media_type="application/json")


def run_once(
    request: Request,
    session: Session,
    *,
    project_id: str,
    key: str,
    operation: str,
    fingerprint: str,
    status: int,
    work: Work,
) -> Response:
    """Return the stored response of the key, or do the work and store its response and the key, in
    one transaction.

    The primary key decides races: the loser's transaction is rolled back and the request runs
    again, which then finds the winner's response.
    """
    for attempt in (1, 2):
        if stored := session.get(IdempotencyKey, (project_id, key)):
            if stored.fingerprint != fingerprint:
                message = "Use a new Idempotency-Key for a new request."
                raise Refusal(422, "idempotency_key_reused", message)
            answer = respond(stored.body, stored.status, replayed=True)
            session.rollback()  # unblocks the next writer before the response is sent
            return answer
        now = datetime.now(UTC)
        record = IdempotencyKey(
            project_id=project_id,
            key=key,
            operation=operation,
            fingerprint=fingerprint,
            created_at=now,
        )
        try:
            try:
                invoice = work(now)
            except Refusal as refusal:
                if not refusal.definitive:
                    raise
                record.status = refusal.status
                record.body = refusal.envelope(request).model_dump_json().encode()
            else:
                record.status = status
                record.invoice_id = invoice.id
                record.body = render(session, invoice, now).model_dump_json().encode()
            session.add(record)
            answer = respond(record.body, record.status)
            session.commit()
            return answer
        except IntegrityError:
            session.rollback()
            if attempt == 2:
                raise
        except OperationalError as error:
            if not lock_timed_out(error):
                raise
            message = "A request with this key is still at work; try again."
            raise Refusal(
                409, "idempotency_in_progress", message, headers={"Retry-After": "1"}
            ) from error
    raise AssertionError("unreachable")
