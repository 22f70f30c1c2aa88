"""Convert rows of the source, read from one snapshot, to rows of the target."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import (
    Column,
    Connection,
    String,
    Table,
    UniqueConstraint,
    bindparam,
    cast,
    select,
    update,
)
from sqlalchemy.orm import Session

from models.chat.exports.scope import Scope
from models.chat.exports.tables import Part
from models.chat.imports import references
from models.chat.imports.completing import HELD, stars_apart
from models.chat.imports.kept import LAST_PARTS, all_parts_of, kept_parts_of, make_kept
from models.chat.imports.rows import RowMaker, RowRefused, parts_of
from models.chat.imports.target import Line, Row, Target
from models.chat.imports.values import converter
from models.chat.messages.search import index_messages, index_new_messages, remove_messages
from models.chat.moves.capture import Key, key_of
from models.chat.rendering import plain_text
from models.chat.tables import (
    ConversationMember,
    Message,
    ProfileField,
    StarredMessage,
    UserMessage,
)
from models.dialects import dialect_of, insert_all, key_in
from specd.db import table_of

_MESSAGE, _COPY, _STAR = table_of(Message), table_of(UserMessage), table_of(StarredMessage)
_OPTIONS = orjson.OPT_UTC_Z
Lines = Mapping[str, Line]
"""The lines of one row, by the names of parts."""


class RowNotMoved(Exception):
    """A row of the source cannot be stored: there is a bug, or the source is damaged."""

    def __init__(self, table: str, key: Key, problem: str) -> None:
        super().__init__(f"{table} {', '.join(map(str, key))}: {problem}")


def columns_of_key(table: Table) -> list[Column[Any]]:
    numbers, words = key_of(table)
    return numbers if words is None else [*numbers, words]


# --- reading --------------------------------------------------------------------------------------


def find_lines(
    snapshot: Connection, table: Table, scope: Scope, keys: Sequence[Key]
) -> dict[Key, Lines]:
    """Return the existing rows by key, without rows of other organizations."""
    if not keys:
        return {}
    columns = columns_of_key(table)
    found: dict[Key, dict[str, Line]] = {}
    for part in all_parts_of(table):
        names = [f"key{n}" for n in range(len(columns))]
        chosen = part.rows(scope).add_columns(
            *(column.label(name) for column, name in zip(columns, names, strict=True))
        )
        for row in snapshot.execute(chosen.where(key_in(columns, keys)).order_by(None)):
            *values, key = row[: len(part.columns)], tuple(row[len(part.columns) :])
            line = _as_line(dict(zip(part.columns, values[0], strict=True)))
            found.setdefault(key, {})[part.name] = line
    return dict(found)


def _as_line(row: Mapping[str, Any]) -> Line:
    """Return a row in the form of an archive's line."""
    line: Line = orjson.loads(orjson.dumps(row, option=_OPTIONS, default=bytes.decode))
    return line


def find_last_lines(snapshot: Connection, part: Part, scope: Scope) -> list[Line]:
    """Return all rows of one of `LAST_PARTS`."""
    rows = snapshot.execute(part.rows(scope))
    return [_as_line(dict(zip(part.columns, row, strict=True))) for row in rows]


def find_present_keys(
    snapshot: Connection, table: Table, scope: Scope, keys: Sequence[Key]
) -> set[Key]:
    """Return the keys of existing rows of the organization."""
    part, columns = all_parts_of(table)[0], columns_of_key(table)
    chosen = select(*columns).select_from(table)
    if part.through is not None:
        chosen = chosen.join(part.through, part.on)
    found = snapshot.execute(chosen.where(part.where(scope), key_in(columns, keys)))
    return {tuple(row) for row in found}


def find_ids(snapshot: Connection, table: Table, scope: Scope) -> list[int]:
    """Return the ids of the organization's rows of a table, ascending."""
    part = all_parts_of(table)[0]
    chosen = select(table.c.id).where(part.where(scope)).order_by(table.c.id)
    return list(snapshot.execute(chosen).scalars())


def find_handles(
    db: Connection, column: Column[Any], table: Table, new_keys: Sequence[Key]
) -> list[str]:
    """Return the file handles in a column of rows of the target."""
    chosen = select(column).where(column.is_not(None))
    return list(db.execute(chosen.where(key_in([table.c.id], new_keys))).scalars())


def find_members(snapshot: Connection, conversation_ids: Sequence[int]) -> dict[int, list[int]]:
    """Return the users of each conversation."""
    members: dict[int, list[int]] = {}
    of = ConversationMember.conversation_id
    chosen = select(of, ConversationMember.user_id).where(of.in_(conversation_ids))
    for conversation_id, user_id in snapshot.execute(chosen):
        members.setdefault(conversation_id, []).append(user_id)
    return members


def find_field_types(snapshot: Connection, realm_id: int) -> dict[int, int]:
    """Return the types of custom profile fields, by id."""
    chosen = select(ProfileField.id, ProfileField.type).where(ProfileField.realm_id == realm_id)
    return {row.id: row.type for row in snapshot.execute(chosen)}


def find_held(snapshot: Connection, table: Table, scope: Scope, target: Target) -> list[Row]:
    """Return the current values of columns that are held until the end, with the new ids as `id_`.
    Rows whose current value is the held value are left out.
    """
    part = parts_of(table)[0]
    held = {name: value for name, value in HELD[table.name].items() if name in part.columns}
    rows: list[Row] = []
    for name, value in held.items():
        column = table.c[name]
        differs = column.is_not(None) if value is None else column != value
        convert = converter(column, target)
        for row in snapshot.execute(part.rows(scope).where(differs)).mappings():
            line = _as_line(dict(row))
            (present,) = convert([line[name]])
            rows.append({"id_": target.ids.find(table.name, row["id"]), name: present})
    return rows


# --- making ---------------------------------------------------------------------------------------


class Maker:
    """Converts the rows of one table."""

    def __init__(self, table: Table, target: Target) -> None:
        self.table, self._target = table, target
        self._maker = RowMaker(table, target) if parts_of(table) else None
        self._kept = (*kept_parts_of(table), *(p for p in LAST_PARTS if table_of(p.table) is table))
        self._links = references.referring_to_itself(table)

    def make(self, key: Key, lines: Lines, beside: Sequence[int] = ()) -> Row:
        """Return the row. `beside` contains the old ids of a conversation's users. Raise
        `RowNotMoved`.
        """
        row: Row = {}
        try:
            if self._maker is not None:
                first, *others = parts_of(self.table)
                for part in (first, *others):
                    row |= self._maker.make(part.name, [lines[part.name]])[0]
                users = self._target.ids.finder("user")(beside) if beside else ()
                self._maker.complete([row], [lines[first.name]], [users])
            for part in self._kept:
                row |= make_kept(part, lines[part.name], self._target)
        except (ValueError, RowRefused) as problem:
            raise RowNotMoved(self.table.name, key, str(problem)) from None
        return row

    def make_links(self, key: Key, lines: Lines) -> Row:
        """Return the references to rows of the same table, with the row's new id as `id_`. Return
        an empty row if the table has no such references. Raise `RowNotMoved`.
        """
        if not self._links:
            return {}
        line = lines[parts_of(self.table)[0].name]
        try:
            row = {
                name: converter(self.table.c[name], self._target)([line[name]])[0]
                for name in self._links
            }
        except ValueError as problem:
            raise RowNotMoved(self.table.name, key, str(problem)) from None
        return {**row, "id_": self._target.ids.find(self.table.name, line["id"])}

    def new_key(self, key: Key) -> Key | None:
        """Return the key at the target, or None if the row was never copied."""
        new: list[int | str] = []
        for column, value in zip(columns_of_key(self.table), key, strict=True):
            if isinstance(value, str):
                new.append(value)
                continue
            of = self.table.name if column.name == "id" else references.table_of_column(column)
            found = self._target.ids.find(str(of), value)
            if found is None:
                return None
            new.append(found)
        return tuple(new)

    def new_keys(self, keys: Iterable[Key]) -> list[Key]:
        """Return the keys at the target of the rows that were ever copied."""
        return [new for key in keys if (new := self.new_key(key)) is not None]


# --- writing --------------------------------------------------------------------------------------


def analyse(session: Session, tables: Iterable[Table]) -> None:
    """Update PostgreSQL's statistics of the copied tables. Until its next automatic analysis, in
    about a minute, it would scan large tables completely.
    """
    if dialect_of(session) == "postgresql":
        for table in tables:
            session.connection().exec_driver_sql(f'ANALYZE "{table.name}"')


def unique_texts(table: Table) -> list[Column[Any]]:
    """Return the text columns that must be unique in a table at all times."""
    if table.name == "realm":
        return []  # the host is replaced by a hidden one
    unique = [each for each in table.constraints if isinstance(each, UniqueConstraint)]
    groups = [list(each.columns) for each in unique]
    groups += [list(each.columns) for each in table.indexes if each.unique]
    found = []
    for columns in groups:
        texts = [column for column in columns if isinstance(column.type, String)]
        found += texts[-1:]
    return found


def free_texts(session: Session, table: Table, new_keys: Sequence[Key]) -> None:
    """Replace unique texts of rows that will change, because another row may use them now."""
    texts = {column.name: "moving " + cast(table.c.id, String) for column in unique_texts(table)}
    if texts:
        theirs = key_in(columns_of_key(table), new_keys)
        session.connection().execute(update(table).where(theirs).values(texts))


def write(session: Session, table: Table, rows: Sequence[Row]) -> None:
    """Add or update rows, with their stars and search texts."""
    if not rows:
        return
    connection = session.connection()
    columns = columns_of_key(table)
    keys = [tuple(row[column.name] for column in columns) for row in rows]
    if table is _COPY:
        _forget_stars(session, keys)
        rows, stars = stars_apart(rows)
        if stars:
            insert_all(session, _STAR, stars)
    there = {
        tuple(row) for row in connection.execute(select(*columns).where(key_in(columns, keys)))
    }
    added = [row for row, key in zip(rows, keys, strict=True) if key not in there]
    changed = [row for row, key in zip(rows, keys, strict=True) if key in there]
    if added:
        insert_all(session, table, added)
    names = [name for name in rows[0] if name not in {column.name for column in columns}]
    if changed and names:
        _change(connection, table, columns, names, changed)
    if table is _MESSAGE:
        index_new_messages(session, _texts_of(added))
        index_messages(session, _texts_of(changed))


def _change(
    connection: Connection, table: Table, columns: Sequence[Column[Any]], names: Sequence[str],
    rows: Sequence[Row],
) -> None:  # fmt: skip
    is_this = [column == bindparam(f"{column.name}_") for column in columns]
    statement = (
        update(table).where(*is_this).values({name: bindparam(f"new_{name}") for name in names})
    )
    connection.execute(
        statement,
        [
            {f"{column.name}_": row[column.name] for column in columns}
            | {f"new_{name}": row[name] for name in names}
            for row in rows
        ],
    )


def _texts_of(rows: Iterable[Row]) -> list[tuple[int, str, str]]:
    return [(row["id"], row["topic"], plain_text(row["rendered_content"])) for row in rows]


def _forget_stars(session: Session, keys: Sequence[Key]) -> None:
    theirs = key_in([_STAR.c.user_id, _STAR.c.message_id], keys)
    session.connection().execute(_STAR.delete().where(theirs))


def remove(session: Session, table: Table, new_keys: Sequence[Key]) -> None:
    """Remove rows, with their stars and search texts."""
    if not new_keys:
        return
    if table is _COPY:
        _forget_stars(session, new_keys)
    if table is _MESSAGE:
        ids = [int(key[0]) for key in new_keys]
        remove_messages(session, ids)
        of_messages = key_in([_STAR.c.message_id], new_keys)
        session.connection().execute(_STAR.delete().where(of_messages))
    theirs = key_in(columns_of_key(table), new_keys)
    session.connection().execute(table.delete().where(theirs))
