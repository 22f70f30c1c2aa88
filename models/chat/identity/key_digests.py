"""Digests of API keys, for the database and the log, which must not have the keys themselves."""

import re
from hashlib import sha256

KEY_ID_LENGTH = 8
API_KEY = re.compile(r"[A-Za-z0-9]{32}")
"""The form of an API key; logs leave such texts out."""


def key_id_of(api_key: str) -> str | None:
    """Return the start of a key's digest, by which the log names it without revealing it; None for
    what cannot be a key.
    """
    api_key = api_key.strip()
    return digest_of(api_key)[:KEY_ID_LENGTH] if API_KEY.fullmatch(api_key) else None


def digest_of(api_key: str) -> str:
    """Return what the database stores of a key: a random 190-bit secret needs no slow hash."""
    return sha256(api_key.encode("ascii")).hexdigest()
