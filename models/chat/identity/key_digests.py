"""What is known of API keys where the keys themselves must not be: in the database and the log."""

import re
from hashlib import sha256

KEY_ID_LENGTH = 8
API_KEY = re.compile(r"[A-Za-z0-9]{32}")
"""What an API key looks like, for those who must keep it out of logs."""


def key_id_of(api_key: str) -> str | None:
    """What the log calls a key: the start of its digest, which opens nothing; None for what can be
    no key.
    """
    api_key = api_key.strip()
    return digest_of(api_key)[:KEY_ID_LENGTH] if API_KEY.fullmatch(api_key) else None


def digest_of(api_key: str) -> str:
    """What the database keeps of a key: a random 190-bit secret needs no slow hash."""
    return sha256(api_key.encode("ascii")).hexdigest()
