"""The small changes of a source file that a test should detect.

A mutant replaces one piece of text: a comparison, a boolean or arithmetic operator, a number, a
condition, a returned value, a raised error, a call with an unused result, two arguments.
Docstrings, annotations, formatted strings, protocols and abstract methods are unchanged.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
_HAVE_OWN_TYPES = frozenset({"isinstance", "issubclass", "session", "connection", "ctx"})
"""Calls and first arguments for which mypy detects an exchange."""
_ENDS = (ast.Raise, ast.Return, ast.Continue)
_UNCHECKED = frozenset({"Protocol", "TypedDict"})
"""Base classes of types without effect at run time."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change of one file. `start` and `end` are offsets in bytes."""

    file: str
    line: int
    function: str
    kind: str
    start: int
    end: int
    original: str
    replacement: str
    context: str
    """The line of the change, to find the mutant in a later version of the file."""
    number: int
    """Counts otherwise identical mutants of a file."""

    def apply(self, source: bytes) -> bytes:
        """Return the changed file."""
        return source[: self.start] + self.replacement.encode() + source[self.end :]

    def identity(self) -> tuple[str, ...]:
        """Return the properties that are unchanged if other lines of the file change."""
        return (
            self.file, self.function, self.kind, self.original, self.replacement, self.context,
            str(self.number),
        )  # fmt: skip

    def __str__(self) -> str:
        change = f"{_short(self.original)} -> {_short(self.replacement)}"
        return f"{self.file}:{self.line} {self.kind}: {change}"


def find_mutants(file: str, source: bytes) -> list[Mutant]:
    """Return all mutants of a file, in the order of its lines."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    lines = source.decode().splitlines()
    found: list[Mutant] = []
    alike: Counter[tuple[str, ...]] = Counter()
    for change in sorted(finder.changes, key=lambda change: (change.start, change.kind)):
        original = source[change.start : change.end].decode()
        context = " ".join(lines[change.line - 1].split())
        key = (change.function, change.kind, original, change.replacement, context)
        number = alike[key]
        alike[key] += 1
        mutant = Mutant(
            file=file, line=change.line, function=change.function, kind=change.kind,
            start=change.start, end=change.end, original=original, replacement=change.replacement,
            context=context, number=number,
        )  # fmt: skip
        if mutant.replacement != original:
            found.append(mutant)
    return found


@dataclass(frozen=True)
class _Change:
    line: int
    function: str
    kind: str
    start: int
    end: int
    replacement: str


class _Finder(ast.NodeVisitor):
    def __init__(self, source: bytes) -> None:
        self.changes: list[_Change] = []
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._scope: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if any(ast.unparse(mark).endswith("abstractmethod") for mark in node.decorator_list):
            return
        self._visit_all([*node.decorator_list, *node.args.defaults])
        self._visit_all([value for value in node.args.kw_defaults if value])
        self._visit_body(node.name, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not any(ast.unparse(base).split("[")[0] in _UNCHECKED for base in node.bases):
            self._visit_all(node.decorator_list)
            self._visit_body(node.name, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip it, because Python 3.11 does not report the positions of its parts."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """Skip it, because the product's assertions are for mypy."""

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            self._replace_between("comparison", left, right, _COMPARISONS[type(operator)])
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._replace_between("boolean", left, right, words)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace("not", node, f"({self._text(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        is_type = isinstance(node.op, ast.BitOr) and not self._scope
        words = _ARITHMETIC.get(type(node.op))
        if words and not is_type and not (_is_text(node.left) or _is_text(node.right)):
            self._replace_between("arithmetic", node.left, node.right, words)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace("removed", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._replace("removed", node, "pass")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace("constant", node, str(not node.value))
        elif isinstance(node.value, int | float):
            self._replace("constant", node, repr(node.value + 1))

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._replace("removed", node, "pass")
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        self._replace("removed", node, "pass")

    def visit_Raise(self, node: ast.Raise) -> None:
        if "NotImplementedError" not in self._text(node):
            self._replace("removed", node, "pass")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace("loop", node, "break")

    def visit_Break(self, node: ast.Break) -> None:
        self._replace("loop", node, "continue")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._replace("return", node.value, "None")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if self._text(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node.body[-1], _ENDS) and not node.orelse:
            self._replace("guard", node.test, "False")
        self._replace("condition", node.test, f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._replace("condition", node.test, f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        first, second = [*node.args, None, None][:2]
        if (
            isinstance(first, ast.Name | ast.Attribute)
            and isinstance(second, ast.Name | ast.Attribute)
            and not _HAVE_OWN_TYPES & {self._text(node.func), self._text(first)}
        ):
            start, end = self._place(first)[0], self._place(second)[1]
            between = self._source[self._place(first)[1] : self._place(second)[0]].decode()
            swapped = f"{self._text(second)}{between}{self._text(first)}"
            self._add("swapped", first.lineno, start, end, swapped)
        self.generic_visit(node)

    def _visit_all(self, nodes: Sequence[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _visit_body(self, name: str, body: Sequence[ast.stmt]) -> None:
        self._scope.append(name)
        self._visit_all(body)
        self._scope.pop()

    def _place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._place(node)
        return self._source[start:end].decode()

    def _replace(self, kind: str, node: ast.expr | ast.stmt, replacement: str) -> None:
        self._add(kind, node.lineno, *self._place(node), replacement)

    def _replace_between(
        self, kind: str, left: ast.expr, right: ast.expr, words: tuple[str, str]
    ) -> None:
        """Replace the operator between two operands, also between parentheses and comments."""
        start, end = self._place(left)[1], self._place(right)[0]
        pattern = r"\s+".join(re.escape(word) for word in words[0].split())
        found = re.search(pattern.encode(), self._source[start:end])
        if found:
            first, last = start + found.start(), start + found.end()
            line = self._source.count(b"\n", 0, first) + 1
            self._add(kind, line, first, last, words[1])

    def _add(self, kind: str, line: int, start: int, end: int, replacement: str) -> None:
        self.changes.append(_Change(line, ".".join(self._scope), kind, start, end, replacement))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def is_python(source: bytes) -> bool:
    """Return whether a changed file can be compiled."""
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:57]}..."


def mutable_lines(mutants: Sequence[Mutant]) -> Iterator[tuple[int, list[Mutant]]]:
    """Yield each line that has mutants, with its mutants."""
    lines: dict[int, list[Mutant]] = {}
    for mutant in mutants:
        lines.setdefault(mutant.line, []).append(mutant)
    yield from sorted(lines.items())
