"""Digests of API keys, for the database and the log, which must not contain the keys."""

import re
from hashlib import sha256

KEY_ID_LENGTH = 8
API_KEY = re.compile(r"[A-Za-z0-9]{32}")
"""The form of an API key. Logs omit texts in this form."""


def key_id_of(api_key: str) -> str | None:
    """Return the start of a key's digest, which identifies the key in logs without revealing it, or
    None if the text is not an API key.
    """
    api_key = api_key.strip()
    return digest_of(api_key)[:KEY_ID_LENGTH] if API_KEY.fullmatch(api_key) else None


def digest_of(api_key: str) -> str:
    """Return the stored digest of a key. A key is a random 190-bit secret, so it needs no slow
    hash.
    """
    return sha256(api_key.encode("ascii")).hexdigest()
