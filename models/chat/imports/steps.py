"""The steps of an import in their order, and the order in which its rows are removed."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Column, Table

from models.chat.imports import references
from models.chat.imports.kept import KEPT_TABLES
from models.chat.imports.rows import TABLES
from models.chat.tables import Channel, Event, StarredMessage
from specd.db import table_of

_EVENT, _STAR = table_of(Event), table_of(StarredMessage)
ROWS, LINKS, TOPICS, FILES = "rows", "links", "topics", "files"
DISCARDED = -1
"""The step number of an import that is being removed."""


class Step(NamedTuple):
    """A step of an import. Its progress counts rows, channels or files."""

    kind: str
    table: Table


STEPS: tuple[Step, ...] = (
    # The organization's row is created when the import begins.
    *(Step(ROWS, table) for table in TABLES if table.name != "realm"),
    *(Step(LINKS, table) for table in TABLES if references.referring_to_itself(table)),
    Step(TOPICS, table_of(Channel)),
    Step(FILES, table_of(Channel)),
)
COPIED = len(STEPS) + 1
"""The step number of a move that copies changes from its source."""
_FEW_IDS, _MANY_IDS = 10, 1000
"""Number of ids whose rows are removed in one unit of work."""


class Removal(NamedTuple):
    """Rows to remove: those with one of `ids` in `column`."""

    table: Table
    column: Column[int]
    ids: Sequence[int]


def removals(find_ids: Callable[[Table], Sequence[int]]) -> Iterator[Removal]:
    """Yield the rows to remove, so that no row refers to a removed row. `find_ids` returns the ids
    of the organization's rows of a table, ascending.
    """
    for table in (_EVENT, _STAR, *KEPT_TABLES, *reversed(TABLES)):
        if table.name == "realm":
            continue
        column, owner = found_by(table)
        has_few_rows = owner is table or owner.name == "message"
        width = _MANY_IDS if has_few_rows else _FEW_IDS
        ids = find_ids(owner)
        # Later rows may refer to earlier ones.
        for end in range(len(ids), 0, -width):
            yield Removal(table, column, ids[max(0, end - width) : end])


def found_by(table: Table) -> tuple[Column[int], Table]:
    """Return an indexed column of the table, and the table whose ids it contains. These ids show to
    which organization the rows belong.
    """
    if "id" in table.c and "realm_id" in table.c:
        return table.c.id, table
    if "message_id" in table.c and table is not _STAR:
        column = table.c.message_id
    elif "id" in table.c:
        column = table.c.user_id
    else:
        column = next(iter(table.primary_key))
    return column, table.metadata.tables[str(references.table_of_column(column))]
