"""Old and new ids: the rows of a table keep their order and get consecutive ids. A move may keep
the ids, and it numbers rows that it adds later separately.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256

NOBODY = 0
"""The id in a text that replaces a reference to a missing row. No row has this id."""


class Ids:
    """Old and new ids of each table, in eight bytes a row, so that a million messages need little
    memory.

    `salt` belongs to the import: it makes the new handles of files as hard to guess as the old
    ones. `later_tables` are tables of which an archive has no rows.
    """

    def __init__(
        self, tables: Collection[str], salt: str, later_tables: Collection[str] = ()
    ) -> None:
        self._tables = tuple(tables)
        every = (*tables, *later_tables)
        self._old = {name: array("q") for name in every}
        self._new: Mapping[str, Sequence[int]] = {}
        """The new ids, at the same positions as the old ones."""
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
        """Add rows that were created after the first numbering, as old id -> new id."""
        self._later[table].update(new_ids)
        self._later_order[table] = array("q", sorted(self._later[table]))

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows of each table, without those that were added later."""
        return {name: len(self._old[name]) for name in self._tables}

    def new_ids(self, table: str) -> Sequence[int]:
        """Return the new ids of the rows of a table, in the order of `old_ids`."""
        return self._new[table]

    def find(self, table: str, old: int) -> int | None:
        """Return the new id, or None if the archive has no such row."""
        known = self._old[table]
        place = bisect_left(known, old)
        if place == len(known) or known[place] != old:
            return self._later[table].get(old)
        return self._new[table][place]

    def finder(self, table: str) -> Callable[[Sequence[int]], Sequence[int]]:
        """Return a function that converts old ids to new ones and raises ValueError for an unknown
        id.
        """
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
        """Return the new id of the row, or of the last row before it."""
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
