"""How a database finds the rows of statements: which index of which table.

An index is named by its columns, so that it has the same name on SQLite and PostgreSQL:
`invoice(project_id, status, created_at, id)`, or `invoice(*)` if a complete table or index is read.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, event, inspect, text
from sqlalchemy.orm import Session

from specd.db import Database

Ways = dict[str, set[str]]
"""Statement -> access paths."""
_SQLITE = re.compile(
    r"(?P<verb>SEARCH|SCAN) (?P<table>\w+)(?: EXISTS)?(?: USING (?:COVERING |AUTOMATIC )*"
    r"(?:(?P<key>INTEGER PRIMARY KEY)|INDEX (?P<index>\w+)|PRIMARY KEY))?"
)
_EXPLAINED = ("SELECT", "WITH", "UPDATE", "DELETE")
STATISTICS = ("none", "fresh")


def analyze(database: Database) -> None:
    """Update the planner's statistics, which PostgreSQL does automatically."""
    database.run(lambda session: session.execute(text("ANALYZE")))


@contextmanager
def watching(database: Database) -> Iterator[Ways]:
    """Record the access paths of every statement that reads or changes rows meanwhile."""
    indexes = _indexes(database)
    ways: Ways = {}

    def explain(
        connection: Connection, cursor: Any, statement: str, parameters: Any, *rest: Any
    ) -> None:
        many = rest[-1]
        if not statement.lstrip("( ").startswith(_EXPLAINED):
            return
        own = cursor.connection.cursor()
        values = parameters[0] if many else parameters
        if database.dialect == "sqlite":
            own.execute(f"EXPLAIN QUERY PLAN {statement}", values)
            found = set(_of_sqlite([row[-1] for row in own.fetchall()], statement, indexes))
        else:
            own.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)
            (plan,) = own.fetchone()
            plan = json.loads(plan) if isinstance(plan, str) else plan
            found = set(_of_postgres(plan[0]["Plan"], indexes))
        ways.setdefault(statement, set()).update(found)

    engines = [database._engine("reading"), database._engine("writing")]
    for engine in engines:
        event.listen(engine, "before_cursor_execute", explain)
    try:
        yield ways
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", explain)


_COLUMNS = {
    "sqlite": "SELECT i.name, m.name, c.name FROM sqlite_master m, pragma_index_list(m.name) i, "
    "pragma_index_info(i.name) c WHERE m.type = 'table' ORDER BY i.name, c.seqno",
    "postgresql": "SELECT c.relname, t.relname, a.attname FROM pg_index i "
    "JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid "
    "JOIN pg_attribute a ON a.attrelid = c.oid "
    "JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'public' "
    "ORDER BY c.relname, a.attnum",
}


def _indexes(database: Database) -> Mapping[str, str]:
    """Return the table and columns by index name, and the primary key by table name."""
    columns: dict[tuple[str, str], list[str]] = defaultdict(list)

    def look(session: Session) -> None:
        connection = session.connection()
        for index, table, column in connection.execute(text(_COLUMNS[database.dialect])):
            columns[index, table].append(column or "an expression")
        seen = inspect(connection)
        for table in seen.get_table_names():
            columns[table, table] = seen.get_pk_constraint(table)["constrained_columns"]

    database.run(look)
    return {index: f"{table}({', '.join(its)})" for (index, table), its in columns.items()}


def _of_sqlite(lines: list[str], statement: str, indexes: Mapping[str, str]) -> Iterator[str]:
    for line in lines:
        found = _SQLITE.match(line)
        if found is None:
            continue
        name = _table_of(found["table"], statement)
        if name not in indexes:  # a subquery or a list of values
            continue
        if found["verb"] == "SCAN":
            yield f"{name}(*)"
        elif found["index"] in indexes:
            yield indexes[found["index"]]
        elif found["index"]:
            yield f"{name}(made for it)"
        else:
            yield indexes[name]


def _table_of(alias: str, statement: str) -> str:
    found = re.search(rf"\b(\w+)\"? AS \"?{alias}\b", statement)
    return found[1] if found else alias


def _of_postgres(plan: Mapping[str, Any], indexes: Mapping[str, str]) -> Iterator[str]:
    name = plan.get("Index Name")
    if plan["Node Type"] == "Seq Scan":
        yield f"{plan['Relation Name']}(*)"
    elif name is not None:
        way = indexes[name]
        yield way if "Index Cond" in plan else f"{way.partition('(')[0]}(*)"
    for part in plan.get("Plans", ()):
        yield from _of_postgres(part, indexes)
