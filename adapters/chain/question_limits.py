"""The limits of one endpoint for `eth_getLogs`, learnt from what it accepts and refuses."""

from __future__ import annotations

import time
from collections.abc import Callable

RECEIVERS_AT_ONCE = 100
TOKENS_AT_ONCE = 100
REMEMBER_S = 3600.0
"""How long a width that an endpoint refused expressly is not tried again."""
REMEMBER_FAILURE_S = 60.0
"""The same for a request that only failed, perhaps because the endpoint was busy."""
HASH_FAILURES = 3
WITHOUT_HASHES_S = 600.0
"""After so many failures in a row, there are no requests by block hash for so long."""


class Exhausted(Exception):
    """Even the smallest request is too large for the endpoint."""


class QuestionLimits:
    """The widest request that an endpoint took lately. `width` is in blocks.

    A refusal halves the width, or takes the number that the refusal names. Answers widen it again:
    twofold, and once a refused width is known, half the way towards it, so that the width settles
    just below what the endpoint takes. The refused width is forgotten after a while.
    """

    def __init__(self, widest: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.width = self.widest = widest
        self.takes_all_receivers = True
        """Whether the endpoint takes requests for a token's transfers to anybody."""
        self.receivers_at_once = RECEIVERS_AT_ONCE
        self._clock = clock
        self._refused: int | None = None
        self._forget_at = 0.0
        self._hash_failures = 0
        self._hashes_again_at = 0.0

    def refuse(
        self, width: int, *, all_receivers: bool, worded: bool, named: int | None = None
    ) -> None:
        """Note that a request for `width` blocks was refused, and make the next one smaller.

        `worded`: the error text refuses the range; the endpoint did not merely fail. `named`: the
        number of blocks that the text allows. Raise `Exhausted` when there is no smaller request.
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
        """Note that a request for `width` blocks was answered."""
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
        """Whether requests by block hash are worthwhile now."""
        return self._clock() >= self._hashes_again_at

    def note_hash(self, *, answered: bool) -> None:
        """Note whether a request by block hash was answered."""
        self._hash_failures = 0 if answered else self._hash_failures + 1
        if self._hash_failures >= HASH_FAILURES:
            self._hash_failures = 0
            self._hashes_again_at = self._clock() + WITHOUT_HASHES_S
