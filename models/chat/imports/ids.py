"""The ids of an archive and the new ones: the rows of a table keep their order, and get numbers
that follow one another. In a move they may keep their ids; rows that it adds later have numbers of
their own.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256

NOBODY = 0
"""What a reference becomes in a text whose row is gone. No row has it."""


class Ids:
    """Old and new ids of each table. Eight bytes a row, so that a million of messages are cheap.

    `salt` is the import's own: with it the new handles of files are as hard to guess as before.
    `later_tables`: those of which no archive has rows.
    """

    def __init__(
        self, tables: Collection[str], salt: str, later_tables: Collection[str] = ()
    ) -> None:
        self._tables = tuple(tables)
        every = (*tables, *later_tables)
        self._old = {name: array("q") for name in every}
        self._new: Mapping[str, Sequence[int]] = {}
        """The new ids, in the places of the old ones."""
        self._later: dict[str, dict[int, int]] = {name: {} for name in every}
        self._later_order: dict[str, array[int]] = {name: array("q") for name in every}
        """The old ids of `_later`, ascending."""
        self._salt = salt

    def add(self, table: str, old: int) -> None:
        """Add the id of the next row. Raise ValueError unless ids ascend."""
        known = self._old[table]
        if known and old <= known[-1]:
            raise ValueError("ids do not ascend")
        if not 0 < old < 1 << 63:
            raise ValueError("is no id")
        known.append(old)

    def number(self, first: Mapping[str, int]) -> None:
        """Number the rows of each table from its first new id."""
        self._new = {
            name: range(first[name], first[name] + len(self._old[name])) for name in self._tables
        }

    def keep(self) -> None:
        """Keep all ids, and the handles of files."""
        self._new = self._old

    def old_ids(self, table: str) -> Sequence[int]:
        """Return the ids of the rows of a table in the archive, ascending."""
        return self._old[table]

    def add_later(self, table: str, new_ids: Mapping[int, int]) -> None:
        """Add rows that came after the first numbering, as old id -> new id."""
        self._later[table].update(new_ids)
        self._later_order[table] = array("q", sorted(self._later[table]))

    @property
    def counts(self) -> dict[str, int]:
        """The rows of each table, without those that came later."""
        return {name: len(self._old[name]) for name in self._tables}

    def new_ids(self, table: str) -> Sequence[int]:
        """Return the ids of the same rows here."""
        return self._new[table]

    def find(self, table: str, old: int) -> int | None:
        """Return the new id; None: the archive has no such row."""
        known = self._old[table]
        place = bisect_left(known, old)
        if place == len(known) or known[place] != old:
            return self._later[table].get(old)
        return self._new[table][place]

    def finder(self, table: str) -> Callable[[Sequence[int]], Sequence[int]]:
        """Return what returns the new ids of old ones, and raises ValueError for others."""
        known, numbered, later = self._old[table], self._new.get(table, ()), self._later[table]
        end = len(known)

        def find_all(olds: Sequence[int]) -> Sequence[int]:
            place, count = bisect_left(known, olds[0]), len(olds)
            if known[place : place + count] == array("q", olds):
                return numbered[place : place + count]
            new = {}
            for old in set(olds):
                place = bisect_left(known, old)
                if place != end and known[place] == old:
                    new[old] = numbered[place]
                elif old in later:
                    new[old] = later[old]
                else:
                    raise ValueError(f"refers to {table} {old}, which is not in the archive")
            return [new[old] for old in olds]

        return find_all

    def find_or_nobody(self, table: str, old: int) -> int:
        found = self.find(table, old)
        return NOBODY if found is None else found

    def nearest(self, table: str, old: int) -> int:
        """Return the new id of that row, or of the last one before it."""
        known, later = self._old[table], self._later_order[table]
        place, later_place = bisect_right(known, old), bisect_right(later, old)
        if later_place and (not place or later[later_place - 1] > known[place - 1]):
            return self._later[table][later[later_place - 1]]
        return self._new[table][place - 1] if place else NOBODY

    def handle(self, old: str) -> str:
        """Return the new handle of a file."""
        if self._new is self._old:
            return old
        return sha256(f"{self._salt} {old}".encode()).hexdigest()[: len(old)]
