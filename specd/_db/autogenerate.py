"""Writes a migration from the differences between a service's tables and its database."""

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

from alembic.autogenerate import produce_migrations, render_python_code
from alembic.autogenerate.api import AutogenContext
from alembic.operations.ops import AddColumnOp, CreateTableOp, MigrateOperation, ModifyTableOps
from alembic.runtime.migration import MigrationContext
from sqlalchemy.sql import sqltypes
from sqlalchemy.types import TypeDecorator, TypeEngine

from specd._db.database import Database
from specd._db.indexes import find_missing
from specd._db.metadata import find_metadata
from specd._db.revisions import COMPATIBILITY, NUMBER_LENGTH, history_of, newest_migration
from specd._project import current

WIDTH = 100
"""The maximum length of a line of a migration."""
INDEXES_ALONE = "    pass  # the indexes of the models are built after the migrations"
NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
MODULE = '''"""{title}."""
{imports}
revision = "{revision}"
down_revision = {previous}
oldest = "{oldest}"  # the oldest release, by its last migration, that can use this schema


def upgrade() -> None:
{upgrades}
'''


def write_migration(url: str, service: str, name: str) -> Path | None:
    """Write the differences between the database of a service and its tables as the next migration.

    Return the new file, or None if there is no difference. The database must have all existing
    migrations. Raise `DatabaseUnavailable`.
    """
    with closing(Database(url)) as database, database.reading_apart() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_object": _is_compared}
        )
        models = find_metadata(current()[service].models)
        operations = produce_migrations(context, models).upgrade_ops  # type: ignore[arg-type]
        lacks_index = any(find_missing(connection, each) for each in models)
        if operations is None or (operations.is_empty() and not lacks_index):
            return None
        only_adds = all(map(_adds, operations.ops))
        source = render_python_code(
            operations, render_as_batch=True, render_item=_render_type, migration_context=context
        )
    last = newest_migration(service)
    revision = f"{int(last or 0) + 1:0{NUMBER_LENGTH}}"
    path = history_of(service) / f"{revision}_{name}.py"
    upgrades = "" if operations.is_empty() else textwrap.indent("\n".join(_lines(source)), "    ")
    packages = ("import sqlalchemy as sa", "from alembic import op")
    used = [line for line in packages if f"{line.split()[-1]}." in upgrades]
    text = MODULE.format(
        title=name.replace("_", " ").capitalize(),
        imports="\n".join(("", *used, "")) if used else "",
        revision=revision,
        previous=f'"{last}"' if last else None,
        oldest=last if last and only_adds else revision,
        upgrades=upgrades or INDEXES_ALONE,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _adds(operation: MigrateOperation) -> bool:
    """Return whether a server of the previous release can still write to the tables after
    a change.
    """
    match operation:
        case ModifyTableOps():
            return all(map(_adds, operation.ops))
        case AddColumnOp():
            return bool(operation.column.nullable or operation.column.server_default)
    return isinstance(operation, CreateTableOp)


def _is_compared(thing: Any, name: str | None, kind: str, reflected: bool, model: Any) -> bool:
    """Return whether a migration includes a part of the database. Missing indexes are excluded,
    because they are built from the models after the migrations, and so is the library's own table.
    """
    if kind == "index":
        return bool(reflected or model is not None)
    return not (kind == "table" and name == COMPATIBILITY.name)


def _render_type(kind: str, thing: Any, context: AutogenContext) -> str | Literal[False]:
    """Return the standard SQLAlchemy type by which a service's own column type is stored, because a
    migration must not change with the service.
    """
    if kind != "type" or not isinstance(thing, TypeDecorator):
        return False
    stored: TypeEngine[Any] = thing.impl_instance
    is_standard = type(stored).__module__ == sqltypes.__name__
    return f"sa.{stored!r}" if is_standard else False


def _lines(source: str) -> Iterator[str]:
    """Yield the lines of Alembic's source, formatted."""
    for statement in ast.parse(textwrap.dedent(f"    {source}")).body:
        if isinstance(statement, ast.With):
            yield _source_of(statement).splitlines()[0]
            for inner in statement.body:
                yield from (f"    {line}" for line in _call_lines(inner, WIDTH - 8))
        else:
            yield from _call_lines(statement, WIDTH - 4)


def _call_lines(statement: ast.stmt, width: int) -> Iterator[str]:
    """Yield a statement in one line, or a long call with a line for each argument."""
    one = _source_of(statement)
    if len(one) <= width or not isinstance(statement, ast.Expr):
        yield from one.splitlines()
        return
    call = statement.value
    assert isinstance(call, ast.Call)
    yield f"{ast.unparse(call.func)}("
    for argument in (*call.args, *call.keywords):
        one = f"{_source_of(argument)},"
        if len(one) <= width - 4 or not isinstance(argument, ast.Call):
            yield f"    {one}"
        else:
            yield f"    {ast.unparse(argument.func)}("
            values = map(_source_of, (*argument.args, *argument.keywords))
            yield f"        {', '.join(values)}"
            yield "    ),"
    yield ")"


def _source_of(node: ast.AST) -> str:
    """Return the source of a node, with texts in double quotes, as formatters write them."""
    source = ast.unparse(node)
    lines = source.splitlines()
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(source).readline))):
        text = token.string
        if token.type == tokenize.STRING and re.fullmatch(r"'[^'\"\\]*'", text):
            row, (start, end) = token.start[0] - 1, (token.start[1], token.end[1])
            lines[row] = f'{lines[row][:start]}"{text[1:-1]}"{lines[row][end:]}'
    return "\n".join(lines)
