"""Patterns of secrets in any text, for the log, which removes them.

Each pattern is defined by the module that creates the secret, or by a standard.
`tests/test_logs.py` tests one secret of each pattern.
"""

import re

from models.chat.identity.key_digests import API_KEY
from models.payment.key_shape import SECRET

AUTHORIZATION = re.compile(r"\b(?:basic|bearer)\s+[A-Za-z0-9._~+/=-]+", re.IGNORECASE)
"""Credentials in an `Authorization` header (RFC 7617, RFC 6750)."""

JWT = re.compile(r"\beyJ[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")
"""A signed token (RFC 7519): its first part is a JSON object."""

TOKEN = re.compile(r"(?!0x[0-9A-Fa-f]+(?![\w-]))(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[A-Za-z0-9_-]{43,}")
"""256 or more random bits in URL-safe base64: tokens of checkout pages and confirmations, and texts
sealed by the vault, such as links of exports. Hexadecimal digests do not match.
"""

WEBHOOK_SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")
"""A key that signs messages to a webhook endpoint."""

SHAPES = (AUTHORIZATION, JWT, SECRET, WEBHOOK_SECRET, TOKEN, API_KEY)
"""In this order, because long secrets may contain texts that match the patterns of short ones."""
