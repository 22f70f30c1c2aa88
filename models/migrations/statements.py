"""Migrations as SQL for both databases, which differ in a few words."""

from alembic import op

_WORDS = {
    "sqlite": {
        "number": "INTEGER",  # SQLite numbers rows in no other type
        "autoincrement": "AUTOINCREMENT",
        "bytes": "BLOB",
        "without_rowid": "WITHOUT ROWID",
    },
    "postgresql": {
        "number": "BIGSERIAL",
        "autoincrement": "",
        "bytes": "BYTEA",
        "without_rowid": "",
    },
}


def execute_all(statements: str) -> None:
    """Execute statements, each of which ends with a semicolon at the end of a line. Words in braces
    are those of `_WORDS`.
    """
    words = _WORDS[op.get_bind().dialect.name]
    for statement in statements.strip().removesuffix(";").split(";\n"):
        op.execute(statement.format_map(words))
