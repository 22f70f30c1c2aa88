"""Adapt values of Zulip's that our columns cannot store, and count the changes."""

from collections import Counter
from collections.abc import Iterator

from models.chat.common.name_keys import key_of
from models.chat.common.one_line import FORBIDDEN


class Changes:
    """Counts values that were changed or left out, by table and reason."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()

    def note(self, table: str, reason: str) -> None:
        self.counts[table, reason] += 1

    def line(self, table: str, text: str, most: int) -> str:
        """Return the text as a single line of at most `most` characters."""
        fit = FORBIDDEN.sub(" ", text)[:most]
        if fit != text:
            self.note(table, "a text was cut, or had characters that lines cannot have")
        return fit

    def short(self, table: str, text: str, most: int) -> str:
        """Return at most `most` characters of the text."""
        if len(text) > most:
            self.note(table, "a text was cut")
        return text[:most]


class UniqueNames:
    """Makes names unique without regard to case."""

    def __init__(self, changes: Changes, table: str, most: int) -> None:
        self._changes, self._table, self._most = changes, table, most
        self._taken: set[str] = set()

    def take(self, name: str) -> str:
        """Return the name, with a number if the name is in use."""
        name = self._changes.line(self._table, name, self._most).strip()
        for fit in self._forms(name):
            key = key_of(fit)
            if key not in self._taken:
                self._taken.add(key)
                if fit != name:
                    self._changes.note(self._table, "a name was taken, and got a number")
                return fit
        raise AssertionError

    def _forms(self, name: str) -> Iterator[str]:
        yield name
        number = 2
        while True:
            ending = f" ({number})"
            yield name[: self._most - len(ending)] + ending
            number += 1
