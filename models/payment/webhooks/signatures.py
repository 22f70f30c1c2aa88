"""What is posted to a receiver and how it is signed: Standard Webhooks (standardwebhooks.com).

The signature is HMAC-SHA-256 over `id.timestamp.body`. While a secret is replaced, each of the
secrets signs, and the receiver accepts any of the signatures.
"""

import base64
import hmac
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import orjson

PREFIX = "whsec_"
SECRET_BYTES = 32


def make_secret() -> str:
    """A new secret, as receivers write it down: `whsec_` and base64 of 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode("ascii")


def write_body(type: str, at: datetime, data: str) -> bytes:
    """The body of a message; `data` is a JSON object, as text."""
    told = {"type": type, "timestamp": _written(at), "data": orjson.Fragment(data)}
    return orjson.dumps(told)


def sign(
    body: bytes, *, message_id: str, at: datetime, signing: Sequence[str]
) -> Mapping[str, str]:
    """The headers of a message that leaves at that time, signed with each of the secrets."""
    timestamp = str(int(at.timestamp()))
    signed = f"{message_id}.{timestamp}.".encode() + body
    signatures = [
        "v1," + base64.b64encode(hmac.digest(_key(one), signed, "sha256")).decode("ascii")
        for one in signing
    ]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(signatures),
    }


def _key(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(PREFIX))


def _written(at: datetime) -> str:
    """ISO 8601 with milliseconds, UTC."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
