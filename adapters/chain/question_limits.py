"""The limits of an endpoint for `eth_getLogs`, learned from its responses."""

from __future__ import annotations

import time
from collections.abc import Callable

RECEIVERS_AT_ONCE = 100
TOKENS_AT_ONCE = 100
REMEMBER_S = 3600.0
"""How long a width is not tried again after the endpoint rejected it as too large."""
REMEMBER_FAILURE_S = 60.0
"""How long a width is not tried again after another failure; perhaps the endpoint was busy."""
HASH_FAILURES = 3
WITHOUT_HASHES_S = 600.0
"""How long no request by block hash is sent after `HASH_FAILURES` failures in a row."""


class Exhausted(Exception):
    """Even the smallest request is too large for the endpoint."""


class QuestionLimits:
    """The size of the next request to an endpoint. `width` is in blocks.

    A rejection halves the width or sets it to the number in the error text. Successful requests
    double it again. If a rejected width is known, they move it halfway towards that width, so that
    it converges to just below the endpoint's limit. The rejected width is forgotten after a while.
    """

    def __init__(self, widest: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.width = self.widest = widest
        self.takes_all_receivers = True
        """Whether the endpoint accepts requests for a token's transfers without receivers."""
        self.receivers_at_once = RECEIVERS_AT_ONCE
        self._clock = clock
        self._refused: int | None = None
        self._forget_at = 0.0
        self._hash_failures = 0
        self._hashes_again_at = 0.0

    def refuse(
        self, width: int, *, all_receivers: bool, worded: bool, named: int | None = None
    ) -> None:
        """Record that a request for `width` blocks failed, and make the next one smaller.

        `worded`: whether the error says that the range is too large. `named`: the number of blocks
        that the error text allows, if any. Raise `Exhausted` if no smaller request is possible.
        """
        if width > 1:
            self._refused = width
            self._forget_at = self._clock() + (REMEMBER_S if worded else REMEMBER_FAILURE_S)
            self.width = named if named and named < width else width // 2
        elif all_receivers:
            self.takes_all_receivers = False
        elif self.receivers_at_once > 1:
            self.receivers_at_once //= 2
        else:
            raise Exhausted("the endpoint refuses one block and one receiver")

    def accept(self, width: int) -> None:
        """Record that a request for `width` blocks succeeded."""
        if width < self.width:
            return
        if self._refused is not None and self._clock() >= self._forget_at:
            self._refused = None
        if self._refused is None:
            self.width = min(self.widest, self.width * 2)
        else:
            self.width = min(self.width * 2, (self.width + self._refused) // 2)

    @property
    def takes_hashes(self) -> bool:
        """Whether to send requests by block hash now."""
        return self._clock() >= self._hashes_again_at

    def note_hash(self, *, answered: bool) -> None:
        """Record whether a request by block hash succeeded."""
        self._hash_failures = 0 if answered else self._hash_failures + 1
        if self._hash_failures >= HASH_FAILURES:
            self._hash_failures = 0
            self._hashes_again_at = self._clock() + WITHOUT_HASHES_S
