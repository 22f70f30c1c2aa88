"""What secrets look like wherever somebody quotes them: for the log, which blots them out.

Each shape stands where the secret is made, or is the standard's. `tests/test_logs.py` makes one of
each and looks.
"""

import re

from models.chat.identity.key_digests import API_KEY
from models.payment.key_shape import SECRET

AUTHORIZATION = re.compile(r"\b(?:basic|bearer)\s+[A-Za-z0-9._~+/=-]+", re.IGNORECASE)
"""Credentials of an `Authorization` header (RFC 7617, RFC 6750)."""

JWT = re.compile(r"\beyJ[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")
"""A signed token (RFC 7519): its first part is a JSON object."""

TOKEN = re.compile(r"(?!0x[0-9A-Fa-f]+(?![\w-]))(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[A-Za-z0-9_-]{43,}")
"""256 random bits and more in URL-safe base64: of checkout pages, of confirmations, and whatever
the vault has sealed, such as the links of exports. No hexadecimal digest is one.
"""

WEBHOOK_SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")
"""What signs the messages to a webhook endpoint."""

SHAPES = (AUTHORIZATION, JWT, SECRET, WEBHOOK_SECRET, TOKEN, API_KEY)
"""In this order: the long ones hold what looks like the short ones."""
