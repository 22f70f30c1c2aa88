"""Rows are typed: annotations of parameters and results are specific."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.imports import GENERATED_TYPES, ROOT, sources

PACKAGES = (
    *("models", "handlers", "workers", "pages"),
    *("specd/_db", "specd/_limits", "specd/_pages", "specd/_workers"),
)
HOLDERS = frozenset(
    ("Collection", "Iterable", "Iterator", "Result", "Row", "Sequence", "list", "set", "tuple")
)
ALLOWED = {
    # If a decorator is called as a function, type checkers do not see the dataclass that it
    # returns.
    ("models/chat/events/log.py", "kind", "variable"),
    # Other resources of a service's handlers and pages, such as the database. Each service has
    # different ones.
    ("pages/served.py", "adapters", "return"),
    # The settings of a project. The library does not import their class.
    ("specd/_db/secret_checks.py", "is_shared", "settings"),
    ("specd/_db/secret_checks.py", "renew", "settings"),
    # The values of a cursor, whose types are arguments.
    ("specd/_db/paging.py", "read", "return"),
    # Alembic calls these with schema objects of any kind.
    ("specd/_db/autogenerate.py", "_is_compared", "model"),
    ("specd/_db/autogenerate.py", "_is_compared", "thing"),
    ("specd/_db/autogenerate.py", "_render_type", "thing"),
    # A row of the queue, of which only the id and the number of attempts are read.
    ("models/chat/common/outbox.py", "mark_dead", "claim"),
    # An object of the table, or a row with the columns of a view.
    ("models/payment/webhooks/endpoints.py", "view_of", "row"),
    # Slices of wide rows: columns of an invoice, the head of a chain, and columns of a payment.
    ("models/payment/invoice_view.py", "_view", "rows"),
}


def says_nothing(annotation: ast.expr | None) -> bool:
    """Return whether an annotation is `Any` or consists of it, such as `Any | None`, `Row[Any]` or
    `Sequence[Any]`.
    """
    match annotation:
        case ast.Name(id="Any" | "SimpleNamespace"):
            return True
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return says_nothing(left) or says_nothing(right)
        case ast.Subscript(value=ast.Name(id=name), slice=held) if name in HOLDERS:
            parts = held.elts if isinstance(held, ast.Tuple) else [held]
            return any(says_nothing(part) for part in parts)
        case ast.Starred(value=value):
            return says_nothing(value)
    return False


def untyped(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the untyped names of a module: (function, parameter or "return") and (field or
    variable, "variable").

    `**` parameters are ignored, because they contain no rows.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                if says_nothing(each.annotation):
                    yield node.name, each.arg
            if says_nothing(node.returns):
                yield node.name, "return"
        elif isinstance(node, ast.AnnAssign) and says_nothing(node.annotation):
            yield ast.unparse(node.target), "variable"


@pytest.fixture(scope="module")
def found() -> set[tuple[str, str, str]]:
    texts = {path: path.read_text() for path in sources(*PACKAGES)}
    return {
        (str(path.relative_to(ROOT)), *where)
        for path, text in texts.items()
        if not text.startswith(GENERATED_TYPES)
        for where in untyped(ast.parse(text))
    }


def test_no_annotation_is_any(found: set[tuple[str, str, str]]) -> None:
    assert sorted(found - ALLOWED) == []


def test_every_exception_is_needed(found: set[tuple[str, str, str]]) -> None:
    assert sorted(ALLOWED - found) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(row: Any): ...", [("f", "row")]),
        ("def f(*, rows: Sequence[Any]): ...", [("f", "rows")]),
        ("def f(row: Row[*tuple[Any, ...]]): ...", [("f", "row")]),
        ("def f() -> Any | None: ...", [("f", "return")]),
        ("async def f() -> list[Any]: ...", [("f", "return")]),
        ("class C:\n    row: Any = None", [("row", "variable")]),
        ("def f(row: UserRow, body: dict[str, Any], value: Json, **facts: Any) -> int: ...", []),
        ("def f(wanted: Select[Any], column: ColumnElement[Any]) -> None: ...", []),
    ],
)
def test_untyped_names_are_detected(source: str, expected: list[tuple[str, str]]) -> None:
    assert list(untyped(ast.parse(source))) == expected
