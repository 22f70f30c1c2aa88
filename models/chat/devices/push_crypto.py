"""Encrypting notifications for a device: libsodium's secretbox (XSalsa20 and Poly1305).

A push key is 33 bytes in base64: 0x31, which names the cryptosystem, and the 32 bytes of its key.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import orjson
from nacl.secret import SecretBox

from models.chat.devices.errors import InvalidPushKey, InvalidPushKeyId, TokenIdNotBase64

SECRETBOX = 0x31
KEY_BYTES = 33
TOKEN_ID_BYTES = 8
KEY_ID_MAX = 2**32 - 1


def check_push_key(push_key: str) -> str:
    """The key, as it is. Raises `InvalidPushKey`."""
    raw = _decode(push_key)
    if raw is None or len(raw) != KEY_BYTES or raw[0] != SECRETBOX:
        raise InvalidPushKey()
    return push_key


def check_push_key_id(push_key_id: int) -> int:
    """Raises `InvalidPushKeyId`."""
    if not 0 <= push_key_id <= KEY_ID_MAX:
        raise InvalidPushKeyId()
    return push_key_id


def check_token_id(token_id: str) -> str:
    """Raises `TokenIdNotBase64`, also for the base64 of another length."""
    raw = _decode(token_id)
    if raw is None or len(raw) != TOKEN_ID_BYTES:
        raise TokenIdNotBase64()
    return token_id


def encrypt(payload: Mapping[str, Any], push_key: str) -> str:
    """The payload's JSON, readable with the push key alone: nonce and box, in base64."""
    box = SecretBox(base64.b64decode(push_key)[1:])
    return base64.b64encode(box.encrypt(orjson.dumps(payload))).decode("ascii")


def _decode(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
