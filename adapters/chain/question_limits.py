"""How much one endpoint takes in one `eth_getLogs`, learnt from what it accepts and refuses."""

from __future__ import annotations

import time
from collections.abc import Callable

RECEIVERS_AT_ONCE = 100
TOKENS_AT_ONCE = 100
REMEMBER_S = 3600.0
"""How long a width that an endpoint refused in words is not tried again."""
REMEMBER_FAILURE_S = 60.0
"""The same for a question that just failed: the endpoint may have been busy."""
HASH_FAILURES = 3
WITHOUT_HASHES_S = 600.0
"""So often in a row must a question by block hash fail until it is not asked for so long."""


class Exhausted(Exception):
    """Even the smallest question is too large for the endpoint."""


class QuestionLimits:
    """The widest question that an endpoint took lately. `width` is in blocks.

    A refusal halves the width, or takes the number that the refusal names. Answers widen it again:
    twofold, and once a refused width is known, half the way towards it, so that the width settles
    just below what the endpoint takes. The refused width is forgotten after a while.
    """

    def __init__(self, widest: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.width = self.widest = widest
        self.takes_all_receivers = True
        """Whether the endpoint takes questions for a token's transfers to anybody."""
        self.receivers_at_once = RECEIVERS_AT_ONCE
        self._clock = clock
        self._refused: int | None = None
        self._forget_at = 0.0
        self._hash_failures = 0
        self._hashes_again_at = 0.0

    def refuse(
        self, asked: int, *, all_receivers: bool, worded: bool, named: int | None = None
    ) -> None:
        """Note that a question for `asked` blocks was refused, and make the next one smaller.

        `worded`: the endpoint said so, and did not merely fail. `named`: the number of blocks that
        it said it takes. Raises `Exhausted` when nothing smaller can be asked.
        """
        if asked > 1:
            self._refused = asked
            self._forget_at = self._clock() + (REMEMBER_S if worded else REMEMBER_FAILURE_S)
            self.width = named if named and named < asked else asked // 2
        elif all_receivers:
            self.takes_all_receivers = False
        elif self.receivers_at_once > 1:
            self.receivers_at_once //= 2
        else:
            raise Exhausted("the endpoint refuses one block and one receiver")

    def accept(self, asked: int) -> None:
        """Note that a question for `asked` blocks was answered."""
        if asked < self.width:
            return
        if self._refused is not None and self._clock() >= self._forget_at:
            self._refused = None
        if self._refused is None:
            self.width = min(self.widest, self.width * 2)
        else:
            self.width = min(self.width * 2, (self.width + self._refused) // 2)

    @property
    def takes_hashes(self) -> bool:
        """Whether questions by block hash are worth asking now."""
        return self._clock() >= self._hashes_again_at

    def note_hash(self, *, answered: bool) -> None:
        """Note the fate of a question by block hash."""
        self._hash_failures = 0 if answered else self._hash_failures + 1
        if self._hash_failures >= HASH_FAILURES:
            self._hash_failures = 0
            self._hashes_again_at = self._clock() + WITHOUT_HASHES_S
