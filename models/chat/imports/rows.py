"""Convert rows of an archive to rows of the database."""

from collections.abc import Sequence
from functools import cache

from sqlalchemy import Table

from models.chat.base import ChatBase
from models.chat.exports.tables import PARTS, Part
from models.chat.imports import references
from models.chat.imports.completing import COMPLETE, HELD
from models.chat.imports.target import Line, Row, Target
from models.chat.imports.values import converter
from models.json import Json
from specd.db import table_of


class RowRefused(Exception):
    """A row of an archive is invalid. `at` is its position among the rows that were converted
    together.
    """

    def __init__(self, column: str, problem: str, at: int = 0) -> None:
        super().__init__(f"{column} {problem}" if column else problem)
        self.at = at


@cache
def parts_of(table: Table) -> tuple[Part, ...]:
    """Return the parts with rows of a table; all have the same rows in the same order."""
    return tuple(part for part in PARTS if table_of(part.table) is table)


TABLES: tuple[Table, ...] = tuple(
    table for table in ChatBase.metadata.sorted_tables if parts_of(table)
)
"""The tables of archives, each after the tables that it refers to."""
WITH_IDS = tuple(str(table.name) for table in TABLES if "id" in table.c)


class RowMaker:
    """Makes the rows of one table."""

    def __init__(self, table: Table, target: Target) -> None:
        self.table, self._target = table, target
        self._later = {
            name: converter(table.c[name], target)
            for name in sorted(references.referring_to_itself(table))
        }
        self._converters = {
            part.name: [
                (name, converter(table.c[name], target))
                for name in part.columns
                if name not in self._later
            ]
            for part in parts_of(table)
        }
        self._held = HELD.get(table.name, {})
        self._complete = COMPLETE.get(table.name)

    def make(self, part: str, lines: Sequence[Line]) -> list[Row]:
        """Convert at least one line, without the columns that may refer to later rows of the table.
        Raise `RowRefused` for the first invalid line.
        """
        columns: dict[str, Sequence[Json]] = {}
        for name, convert in self._converters[part]:
            try:
                columns[name] = convert([line[name] for line in lines])
            except ValueError:
                self._refuse_one(part, lines)
                raise
        names = tuple(columns)
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _refuse_one(self, part: str, lines: Sequence[Line]) -> None:
        for at, line in enumerate(lines):
            for name, convert in self._converters[part]:
                try:
                    convert([line[name]])
                except ValueError as problem:
                    raise RowRefused(name, str(problem), at) from None

    def complete(
        self, rows: Sequence[Row], lines: Sequence[Line], beside: Sequence[Sequence[int]]
    ) -> None:
        """Add the columns that an archive does not contain. Raise `RowRefused`."""
        if self._complete is None and not self._held:
            return
        for at, (row, line, users) in enumerate(zip(rows, lines, beside, strict=True)):
            if self._complete is not None:
                try:
                    row.update(self._complete(row, line, self._target, users))
                except ValueError as problem:
                    raise RowRefused("", str(problem), at) from None
            row.update(self._held)

    def make_references(self, line: Line) -> Row | None:
        """Return the references to rows of the same table, with the row's id as `id_`, or None if
        it has no such references. Raise `RowRefused`.
        """
        row: Row = {}
        for name, convert in self._later.items():
            try:
                (row[name],) = convert([line[name]])
            except ValueError as problem:
                raise RowRefused(name, str(problem)) from None
        if not any(row.values()):
            return None
        return {**row, "id_": self._target.ids.find(self.table.name, line["id"])}
