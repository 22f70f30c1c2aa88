"""The steps of an import, in their order, and the tables that rows are removed from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Column, Table

from models.base import table_of
from models.chat.imports.kept import KEPT_TABLES
from models.chat.imports.references import referring_to_itself
from models.chat.imports.rows import TABLES
from models.chat.tables import Channel, StarredMessage

ROWS, LINKS, TOPICS, FILES = "rows", "links", "topics", "files"
DISCARDED = -1
"""The number of the step of an import that is being removed."""


class Step(NamedTuple):
    """A part of the work. Its progress is a number of rows, of channels or of files."""

    kind: str
    table: Table


STEPS: tuple[Step, ...] = (
    # The organization's own row is there from the beginning.
    *(Step(ROWS, table) for table in TABLES if table.name != "realm"),
    *(Step(LINKS, table) for table in TABLES if referring_to_itself(table)),
    Step(TOPICS, table_of(Channel)),
    Step(FILES, table_of(Channel)),
)
COPIED = len(STEPS) + 1
"""The number of the step in which a move follows what changes at its source."""
AT_ONCE = {"message": 1000, "user_message": 1000, "attachment_message": 1000}
"""Rows of a table that are removed in one unit of work, by the ids that the rows are found by."""


class Removal(NamedTuple):
    """Rows to remove: those whose `column` is one of a table's ids `from` to `until`."""

    table: Table
    column: Column[int]
    of: str
    first: int
    last: int


def removals(ranges: Mapping[str, Sequence[range]]) -> Iterator[Removal]:
    """Yield what to remove, in an order in which nothing refers to what is gone. `ranges`: the new
    ids of each table, ascending.
    """
    derived = (table_of(StarredMessage), *KEPT_TABLES)
    for table in (*derived, *reversed(TABLES)):
        if table.name == "realm":
            continue
        column, of = found_by(table)
        width = AT_ONCE.get(of, 1000 if of == table.name else 10)
        # Later rows may refer to earlier ones.
        for ids in reversed(ranges.get(of, ())):
            for end in range(ids.stop - 1, ids.start - 1, -width):
                yield Removal(table, column, of, max(ids.start, end - width + 1), end)


def found_by(table: Table) -> tuple[Column[int], str]:
    """Return a column of the table that an index finds, and the table whose ids it holds."""
    if "id" in table.c:
        return table.c.id, table.name
    if table.name == StarredMessage.__tablename__:
        return table.c.user_id, "user"
    if "message_id" in table.c:
        return table.c.message_id, "message"
    column = next(iter(table.primary_key))
    (key,) = column.foreign_keys
    return column, key.column.table.name
