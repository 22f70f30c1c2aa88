"""Reads tokens from a chain: code, decimals and symbol of a contract, balances of addresses.

The operator's commands use it. Contracts are untrusted programs, so a result may have any structure
and length. Unreadable values are None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import httpx

from adapters.chain.json_rpc import (
    AnswerTooLarge,
    Endpoint,
    EndpointFailed,
    RpcError,
    call,
    endpoints_for,
    parse_quantity,
    sync_client,
)
from models.payment.tokens import TokenFacts

DECIMALS_CALL = "0x313ce567"
SYMBOL_CALL = "0x95d89b41"
BALANCE_CALL = "0x70a08231"
WORD = 32
MAX_DECIMALS = 255
"""A `uint8`."""
LONGEST_SYMBOL = 256
"""The maximum length of a symbol in bytes."""
REVERTED = 3
"""The error code of geth and similar clients if the contract reverted the call."""
_FAILED = re.compile(
    r"revert|opcode|instruction|out ?of ?gas|gas required|stack|jump|execution|\b(e?vm)\b",
    re.IGNORECASE,
)
"""Errors of a contract; all other errors are failures of the endpoint."""
_CODE_LIMIT = 1024 * 1024
_ANSWER_LIMIT = 16 * 1024


class ChainUnreadable(Exception):
    """No endpoint of the chain gives a usable response. The message has the reasons but no URL."""


class TokenReader:
    """Reads from the first endpoint that serves the chain. It is a context manager. Every call
    blocks and may raise `ChainUnreadable`.
    """

    def __init__(self, urls: Sequence[str], chain_id: int, *, timeout_s: float) -> None:
        self._endpoints = endpoints_for(urls, chain_id)
        self._chain_id = chain_id
        self._timeout_s = timeout_s
        self._chosen: tuple[httpx.Client, Endpoint] | None = None

    @property
    def is_configured(self) -> bool:
        return bool(self._endpoints)

    def __enter__(self) -> TokenReader:
        return self

    def __exit__(self, *_: object) -> None:
        if self._chosen is not None:
            self._chosen[0].close()

    def facts(self, token: str) -> TokenFacts:
        """Return whether there is a contract at an address, and its decimals and symbol."""
        try:
            code = self._call("eth_getCode", [token, "latest"], limit=_CODE_LIMIT)
        except AnswerTooLarge:
            code = "0x00"
        except RpcError as error:
            raise self._failure(error) from None
        if not _bytes_of(code):
            return TokenFacts(has_code=False)
        return TokenFacts(
            has_code=True,
            decimals=_decimals(self._view(token, DECIMALS_CALL)),
            symbol=_symbol(self._view(token, SYMBOL_CALL)),
        )

    def balance(self, token: str, holder: str) -> int | None:
        """Return the token balance of an address in atoms, or None if the contract fails."""
        answer = self._view(token, BALANCE_CALL + holder[2:].lower().rjust(2 * WORD, "0"))
        return int.from_bytes(answer[:WORD]) if len(answer) >= WORD else None

    def native_balance(self, holder: str) -> int:
        """Return the balance of an address in wei, which pays for the gas of its transactions."""
        try:
            return parse_quantity(self._call("eth_getBalance", [holder, "latest"]))
        except (EndpointFailed, RpcError) as error:
            raise self._failure(error) from None

    def _view(self, token: str, data: str) -> bytes:
        """Return the result of a contract call, empty if the contract fails or returns too much."""
        try:
            return _bytes_of(self._call("eth_call", [{"to": token, "data": data}, "latest"]))
        except AnswerTooLarge:
            return b""
        except RpcError as error:
            if error.code != REVERTED and not _FAILED.search(error.message):
                raise self._failure(error) from None
            return b""

    def _call(self, method: str, params: list[Any], *, limit: int = _ANSWER_LIMIT) -> Any:
        """Return the result of a call. Raise `ChainUnreadable`, `AnswerTooLarge` and `RpcError`."""
        client, endpoint = self._chosen = self._chosen or self._choose()
        try:
            return call(client, endpoint, method, params, timeout_s=self._timeout_s, limit=limit)
        except AnswerTooLarge:
            raise
        except EndpointFailed as error:
            raise self._failure(error) from None

    def _choose(self) -> tuple[httpx.Client, Endpoint]:
        reasons = []
        for endpoint in self._endpoints:
            client = sync_client(endpoint)
            try:
                reported = parse_quantity(
                    call(client, endpoint, "eth_chainId", [], timeout_s=self._timeout_s, limit=4096)
                )
            except (EndpointFailed, RpcError) as error:
                reasons.append(f"{endpoint}: {error}")
            else:
                if reported == self._chain_id:
                    return client, endpoint
                reasons.append(f"{endpoint} serves chain {reported}")
            client.close()
        raise ChainUnreadable("; ".join(reasons) or "no endpoint is configured")

    def _failure(self, error: Exception) -> ChainUnreadable:
        assert self._chosen is not None
        return ChainUnreadable(f"{self._chosen[1]}: {error}")


def _bytes_of(answer: Any) -> bytes:
    """Decode `0x...`. Return empty bytes for any other value."""
    if not isinstance(answer, str) or not answer.startswith("0x"):
        return b""
    try:
        return bytes.fromhex(answer[2:])
    except ValueError:
        return b""


def _decimals(answer: bytes) -> int | None:
    decimals = int.from_bytes(answer[:WORD])
    return decimals if len(answer) >= WORD and decimals <= MAX_DECIMALS else None


def _symbol(answer: bytes) -> str | None:
    """Decode a `string`, or a `bytes32` padded with NULs as in older tokens. Return None if it is
    invalid.
    """
    if len(answer) == WORD:
        text = answer.rstrip(b"\0")
    else:
        start = int.from_bytes(answer[:WORD])
        length = int.from_bytes(answer[start : start + WORD]) if start < len(answer) else 0
        text = answer[start + WORD : start + WORD + length]
        if not 0 < length <= LONGEST_SYMBOL or len(text) != length:
            return None
    try:
        return text.decode() or None
    except UnicodeDecodeError:
        return None
