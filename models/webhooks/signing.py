"""Writes and signs messages by Standard Webhooks (https://www.standardwebhooks.com). A receiver
verifies them with any library of that specification.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime

import orjson

from models.json import Json
from specd.db import UtcMs

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """Return `whsec_` and 32 random bytes in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def write_message(id_: str, type_: str, at: datetime, data: Json) -> bytes:
    """Return the body: the event's type, time (RFC 3339) and data, as the specification has them,
    and besides its `id` and `created_at` (Unix milliseconds), as the feed of events has them.
    """
    timestamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return orjson.dumps(
        {
            "id": id_,
            "type": type_,
            "timestamp": timestamp,
            "created_at": UtcMs.to_ms(at),
            "data": data,
        }
    )


def sign(
    message_id: str, body: bytes, signing: Sequence[str], *, now: datetime
) -> Mapping[str, str]:
    """Return the headers of one attempt to deliver. `signing`: one secret, or several while one is
    replaced.

    A receiver refuses a message whose `webhook-timestamp` is more than some minutes away.
    """
    seconds = str(int(now.timestamp()))
    signed = f"{message_id}.{seconds}.".encode() + body
    signatures = [
        base64.b64encode(hmac.digest(_key(secret), signed, hashlib.sha256)).decode()
        for secret in signing
    ]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def is_secret(text: str) -> bool:
    """Return whether it is a secret as `new_secret` makes them; others may have 24 to 64 bytes."""
    try:
        return text.startswith(PREFIX) and 24 <= len(_key(text)) <= 64
    except ValueError:
        return False


def _key(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
