"""Rules of the payment documents that JSON Schema cannot express, as hooks of schemathesis.

Valid cases get an existing payment method, an amount in range, an address of a shop, keys of
metadata that are short and have no NUL, and a new Idempotency-Key. They send no cursor, which is
valid only for its filters, and wait at most a second for events. Invalid cases are sent as
generated. Operations and checks are not changed.
"""

from __future__ import annotations

import os
import uuid
from typing import Any

import schemathesis
from schemathesis import Case, GenerationMode, HookContext

from models.payment.errors import InvalidAmount
from models.payment.metadata import LONGEST_KEY
from models.payment.money import parse_amount

METHOD = os.environ.get("SPECD_FUZZ_METHOD", "tusd-local")
KEY = "Idempotency-Key"
LONGEST_WAIT_S = 1
MAX_WAIT_S = 30
MAX_BODY_WAIT_S = 15
HELD = ("/payments", "/expire")
"""The ends of paths with a wait in the body."""
UUID = "7ab0c098-d90a-4239-ac34-e62ee75eb63b"


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    """Make a valid case match the merchant's data, and limit all waits."""
    _hasten(case)
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    if case.headers is not None and KEY in case.headers:
        case.headers[KEY] = f"{case.headers[KEY][:60]}.{uuid.uuid4().hex}"
    if case.query:
        case.query.pop("cursor", None)
    _mend_path(case)
    body = case.body
    for name in ("url", "shop_url"):
        if isinstance(body, dict) and name in body:
            case.body = body = {**body, name: f"https://shop.example/{uuid.uuid4().hex}"}
    if isinstance(body, dict) and isinstance(body.get("metadata"), dict):
        metadata = {_fit(key): value for key, value in body["metadata"].items()}
        case.body = body = {**body, "metadata": metadata}
    if isinstance(body, dict) and "payment_method_id" in body:
        case.body = body = {**body, "payment_method_id": METHOD}
    if isinstance(body, dict) and body.get("amount", "exact") not in ("exact", "rest"):
        case.body = {**body, "amount": _payable(body["amount"])}


def _fit(key: str) -> str:
    return key.replace("\0", "")[:LONGEST_KEY] or "key"


def _hasten(case: Case) -> None:
    """Limit the wait of a request that the service would accept to a second, or remove it."""
    if case.operation.path.endswith(HELD) and isinstance(case.body, dict):
        wait = case.body.get("wait_s", MAX_BODY_WAIT_S)
        if type(wait) is int and 0 <= wait <= MAX_BODY_WAIT_S:
            case.body = {**case.body, "wait_s": 0}
    wait = (case.query or {}).get("wait_s")
    if str(wait).isdecimal() and LONGEST_WAIT_S < int(str(wait)) <= MAX_WAIT_S:
        case.query["wait_s"] = LONGEST_WAIT_S


def _mend_path(case: Case) -> None:
    """Use an id of the right form where a guessed link has used that of another object."""
    path = case.path_parameters or {}
    if "/events/" in case.operation.path or "event_id" in path:
        name = "event_id" if "event_id" in path else "id"
        if not str(path[name]).startswith("evt_"):
            path[name] = "evt_0000000000000001"
    if "id" in path and "/events/" not in case.operation.path and len(str(path["id"])) != len(UUID):
        path["id"] = str(uuid.uuid4())


def _payable(amount: str) -> str:
    """Return `amount` unless it is zero or more than 2^256-1 atoms, which the pattern allows."""
    try:
        parse_amount(amount)
    except InvalidAmount:
        return "1.5"
    return amount
