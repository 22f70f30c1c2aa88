"""Finds errors in the source of handlers that an operation raises but its document does not list.

A finding must be right, so a `raise` counts only if it can certainly be reached: in a handler, in
its first phase, and in functions of the service that these call by a name of their module. Errors
that may be caught are skipped, and so is code that a decorator, a `with` block or a nested function
may change. In a called function, a branch is skipped if its condition depends on an argument that
is always the same, or that the caller has tested before.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from connexion.exceptions import ProblemException

from specd._db.errors import Refusal
from specd._engine.document.operation import Operation
from specd._engine.errors import DocumentError, SourceLocation, must_be_documented
from specd._engine.phases import preparation_of

DEPTH = 2
"""The maximum number of calls between the handler and a `raise`: a helper of its module, and a rule
of the models that the helper calls.
"""
Function = Callable[..., Any]
_Node = ast.FunctionDef | ast.AsyncFunctionDef
_OWN = "specd."
_SKIPPED = (
    ast.AsyncFunctionDef,
    ast.AsyncWith,
    ast.ClassDef,
    ast.DictComp,
    ast.FunctionDef,
    ast.GeneratorExp,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.TryStar,
    ast.With,
)
"""Nodes that do not run as a part of their function, or that may catch errors raised in them."""
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Raised:
    """One `raise` statement that a function may reach, directly or by a call of `callee`."""

    kind: type[Exception]
    spot: SourceLocation
    callee: str = ""


def find_undocumented(
    operation: Operation,
    at: Sequence[str],
    packages: Collection[str],
    status_of: Callable[[type[Exception]], int | None],
) -> Iterator[DocumentError]:
    """Yield the errors that an operation raises but does not document, once for each class.

    `at` are the steps to the operation in the document. Functions below `packages` are followed.
    `status_of(kind)` returns the status of the responses to a class, or None if it is unknown.
    """
    phases = filter(None, (preparation_of(operation.function), operation.function))
    seen: set[type[Exception]] = set()
    for raised in (each for phase in phases for each in find_raised(phase, packages)):
        status = status_of(raised.kind)
        if status is None or raised.kind in seen or operation.responses.has(status):
            continue
        seen.add(raised.kind)
        if must_be_documented(raised.kind, status):
            by = f"{raised.callee}, which it calls, raises" if raised.callee else "raises"
            message = (
                f"{operation.service.name}: {operation.operation_id}"
                f" ({at[-1].upper()} {at[-2]}): {by} {raised.kind.__name__}, and the document does"
                f" not list its status {status}"
            )
            yield DocumentError(message, at, spot=raised.spot)


def find_raised(
    function: Function, packages: Collection[str], depth: int = DEPTH
) -> Iterator[Raised]:
    """Yield the `raise` statements that a call of a function may reach."""
    while hasattr(function, "__wrapped__") and _is_own(function.__globals__["__name__"]):
        function = function.__wrapped__
    node = _node_of(function)
    if node is not None and _is_followed(function, node):
        yield from _Reader(function, frozenset(packages), depth).block(node.body, ())


def _is_own(module: str) -> bool:
    """Return whether a module belongs to the library, whose decorators do not catch errors."""
    return module.startswith(_OWN)


def _is_followed(function: Function, node: _Node) -> bool:
    """Return whether a call of a function runs its body directly."""
    if hasattr(function, "__wrapped__"):
        return False
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return False
    decorators = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    found = (_named(each, function) for each in decorators)
    return all(_is_own(str(getattr(each, "__module__", ""))) for each in found)


@dataclass(slots=True)
class _Reader:
    """Reads the body of one function. `guards` are the classes that are caught around a
    statement.
    """

    function: Any
    packages: frozenset[str]
    depth: int
    fixed: set[str] = field(default_factory=set)
    """Names, or dotted names of attributes, about whose values the caller knows something, so that
    some branches may never run.
    """
    tested: set[str] = field(default_factory=set)
    """Names that were tested before."""

    def block(self, statements: Sequence[ast.stmt], guards: tuple[type, ...]) -> Iterator[Raised]:
        for statement in statements:
            yield from self.statement(statement, guards)
            if isinstance(statement, _ENDS) or self._may_end(statement):
                return

    def statement(self, node: ast.AST, guards: tuple[type, ...]) -> Iterator[Raised]:
        """Yield the `raise` statements that a statement or an expression may reach."""
        match node:
            case ast.Raise(exc=exc) if exc is not None:
                kind = _named(exc.func if isinstance(exc, ast.Call) else exc, self.function)
                if _is_error(kind) and not issubclass(kind, guards):
                    yield Raised(kind, self._spot(node))
            case ast.Try():
                caught = (*guards, *self._caught(node))
                yield from self.block(node.body, caught)
                rest = guards if not _leaves(node.finalbody) else (BaseException,)
                for handler in node.handlers:
                    yield from self.block(handler.body, rest)
                yield from self.block([*node.orelse, *node.finalbody], rest)
            case ast.If() | ast.While() | ast.IfExp() | ast.Match() | ast.BoolOp():
                test = _test_of(node)
                self.tested |= _names_in(test)
                if not self._is_known(test):
                    yield from self._parts(node, guards)
            case ast.Call():
                yield from self._parts(node, guards)
                yield from self._of_call(node, guards)
            case _ if isinstance(node, _SKIPPED):
                pass
            case _:
                if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
                    self._note(node)
                yield from self._parts(node, guards)

    def _parts(self, node: ast.AST, guards: tuple[type, ...]) -> Iterator[Raised]:
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from self.block(value, guards)
            else:
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, ast.AST):
                        yield from self.statement(part, guards)

    def _of_call(self, node: ast.Call, guards: tuple[type, ...]) -> Iterator[Raised]:
        """Yield the `raise` statements in a called function of the service."""
        called = _named(node.func, self.function)
        if not self.depth or not inspect.isfunction(called):
            return
        module = f"{called.__module__}."
        if not any(module.startswith(f"{package}.") for package in self.packages):
            return
        body = _node_of(called)
        if not isinstance(body, ast.FunctionDef) or not _is_followed(called, body):
            return
        inner = _Reader(called, self.packages, self.depth - 1, self._fixed_by(node, body))
        name = f"{called.__module__}.{called.__qualname__}"
        for raised in inner.block(body.body, guards):
            yield Raised(raised.kind, raised.spot, raised.callee or name)

    def _caught(self, node: ast.Try) -> Iterator[type]:
        """Yield the classes that a `try` catches, or BaseException for an unknown class."""
        if _leaves(node.finalbody):
            yield BaseException
        for handler in node.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            for each in kinds:
                kind = None if each is None else _named(each, self.function)
                yield kind if isinstance(kind, type) else BaseException

    def _note(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> None:
        """Add names whose assigned values depend on names that are already in `fixed` or
        `tested`.
        """
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {name for target in targets for name in _names_in(target)}
        for noted in (self.fixed, self.tested):
            if node.value is not None and _overlap(_names_in(node.value), noted):
                noted |= names

    def _is_known(self, node: ast.AST) -> bool:
        """Return whether a condition may have only one value, in this call or in all calls."""
        names = _names_in(node)
        return not any(map(self._is_local, names)) or _overlap(names, self.fixed)

    def _is_local(self, name: str) -> bool:
        return name.partition(".")[0] in self.function.__code__.co_varnames + _cells(self.function)

    def _fixed_by(self, call: ast.Call, called: ast.FunctionDef) -> set[str]:
        """Return the parameters of a function about whose values the caller knows something."""
        declared = called.args
        names = [each.arg for each in (*declared.posonlyargs, *declared.args)]
        every = {*names, *(each.arg for each in declared.kwonlyargs)}
        if any(isinstance(each, ast.Starred) for each in call.args) or any(
            keyword.arg is None for keyword in call.keywords
        ):
            return every  # the arguments are not known
        given: Mapping[str, ast.expr] = {
            **dict(zip(names, call.args, strict=False)),
            **{keyword.arg: keyword.value for keyword in call.keywords if keyword.arg},
        }
        return {
            name
            for name in every
            if name not in given
            or self._is_known(given[name])
            or _overlap(_names_in(given[name]), self.tested)
        }

    def _may_end(self, node: ast.stmt) -> bool:
        """Return whether a known condition decides if the statements after this one run."""
        return any(
            isinstance(each, ast.If | ast.While | ast.Match)
            and self._is_known(_test_of(each))
            and any(isinstance(inner, _ENDS) for inner in ast.walk(each))
            for each in ast.walk(node)
        )

    def _spot(self, node: ast.Raise) -> SourceLocation:
        file = Path(self.function.__code__.co_filename)
        return SourceLocation(file, node.lineno, node.col_offset + 1)


def _test_of(node: ast.AST) -> ast.AST:
    """Return the expression that decides which part of a node runs."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return test
        case ast.Match(subject=subject):
            return subject
    return node


def _names_in(node: ast.AST) -> set[str]:
    """Return the names in an expression, with their attributes: `ctx.actor`."""
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Attribute(value=value, attr=attribute):
            holders = _names_in(value)
            is_chain = isinstance(value, ast.Name | ast.Attribute) and len(holders) == 1
            return {f"{holder}.{attribute}" for holder in holders} if is_chain else holders
    return {name for part in ast.iter_child_nodes(node) for name in _names_in(part)}


def _overlap(names: set[str], noted: set[str]) -> bool:
    """Return whether one of the names is in `noted`, or is an attribute or a holder of one of
    these.
    """
    return any(
        name == each or name.startswith(f"{each}.") or each.startswith(f"{name}.")
        for name in names
        for each in noted
    )


def _leaves(block: Sequence[ast.stmt]) -> bool:
    """Return whether a `finally` block may replace the error by another result."""
    return any(isinstance(each, _ENDS) for part in block for each in ast.walk(part))


def _is_error(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Refusal | ProblemException)


def _named(node: ast.expr, function: Any) -> Any:
    """Return the global object that an expression in a function names, or None."""
    if isinstance(node, ast.Attribute):
        holder = _named(node.value, function)
        return getattr(holder, node.attr, None) if inspect.ismodule(holder) else None
    if not isinstance(node, ast.Name):
        return None
    if node.id in function.__code__.co_varnames + _cells(function):
        return None
    return function.__globals__.get(node.id, getattr(builtins, node.id, None))


def _cells(function: Any) -> tuple[str, ...]:
    code = function.__code__
    return (*code.co_cellvars, *code.co_freevars)


def _node_of(function: Any) -> _Node | None:
    """Return the definition of a function in its source, or None if it is not found."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    return _definitions_in(code.co_filename).get((function.__name__, code.co_firstlineno))


@cache
def _definitions_in(file: str) -> Mapping[tuple[str, int], _Node]:
    """Return the functions in a file by name and first line, including decorators."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    return {
        (node.name, min(part.lineno for part in (node, *node.decorator_list))): node
        for node in ast.walk(tree)
        if isinstance(node, _Node)
    }
