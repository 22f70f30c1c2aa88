"""Reading Transfer logs in questions an endpoint accepts: how many blocks and receivers at once."""

from collections.abc import Mapping, Sequence

from adapters.chain.reader import ChainReader, RangeTooLarge, Transfer

RECEIVERS_AT_ONCE = 100
GROW_AFTER = 8


class TransferScan:
    """The widest question the endpoint took lately, and how to ask within it.

    `width` is in blocks. It is halved when the endpoint refuses, and doubled back towards `widest`
    after a row of full-width answers, so that one bad hour does not slow the watcher for ever.
    """

    def __init__(self, reader: ChainReader, *, widest: int) -> None:
        self.width = self.widest = widest
        self._reader = reader
        self.takes_whole_token = True
        self._at_once = RECEIVERS_AT_ONCE
        self._successes = 0

    def read(
        self, wanted: Mapping[str, Sequence[str] | None], first: int, last: int
    ) -> list[Transfer]:
        """The transfers of each token, to its receivers (None: to anybody), in blocks first..last.

        Raises RangeTooLarge after making the next question smaller: fewer blocks, then no whole
        tokens, then fewer receivers. Raises `Exhausted` when nothing smaller can be asked.
        """
        try:
            found = [
                transfer
                for token, receivers in wanted.items()
                for chunk in self._chunks(receivers)
                for transfer in self._reader.transfers(token, chunk, first, last)
            ]
        except RangeTooLarge:
            self._narrow(last - first + 1, whole_token=None in wanted.values())
            raise
        self._widen(last - first + 1)
        return found

    def _chunks(self, receivers: Sequence[str] | None) -> list[Sequence[str] | None]:
        if receivers is None:
            return [None]
        return [
            receivers[start : start + self._at_once]
            for start in range(0, len(receivers), self._at_once)
        ]

    def _narrow(self, tried: int, *, whole_token: bool) -> None:
        self._successes = 0
        if tried > 1:
            self.width = tried // 2
        elif whole_token:
            self.takes_whole_token = False
        elif self._at_once > 1:
            self._at_once = max(1, self._at_once // 2)
        else:
            raise Exhausted("the endpoint refuses one block and one receiver") from None

    def _widen(self, asked: int) -> None:
        self._successes = self._successes + 1 if asked >= self.width else self._successes
        if self._successes >= GROW_AFTER and self.width < self.widest:
            self.width = min(self.widest, self.width * 2)
            self._successes = 0


class Exhausted(Exception):
    """Even the smallest question is too large for the endpoint."""
