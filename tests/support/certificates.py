"""Reads the certificates of the machine once in a process.

A client of httpx reads them when it is made, in 21 ms of the processor and 1 MB of memory, and the
tests make thousands of clients, nearly all for servers without TLS.
"""

from __future__ import annotations

import os
import ssl
from functools import cache
from typing import Any

import httpx
from httpx._transports import default

_create = httpx.create_ssl_context
_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@cache
def _usual(trust_env: bool, *variables: str | None) -> ssl.SSLContext:
    return _create(True, None, trust_env)


def create_ssl_context(
    verify: Any = True, cert: Any = None, trust_env: bool = True
) -> ssl.SSLContext:
    """Return the shared context of clients that verify as usual, and a new one for the others."""
    if verify is not True or cert is not None:
        return _create(verify, cert, trust_env)
    return _usual(trust_env, *map(os.environ.get, _VARIABLES))


def pytest_configure() -> None:
    setattr(default, "create_ssl_context", create_ssl_context)  # noqa: B010
