"""docs/reference.md: the public names of the library, generated from `__all__` and docstrings.

The source is parsed and not imported, so that the page is the same for every version of Python.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference.md"
WIDTH = 88
"""Longer signatures have a line for each parameter."""
HEAD = """# Reference

For users of the library: every public name, with its signature. All other names are private and may
change in any release ([stability](stability.md)).

Written by `scripts/reference` from `__all__` and the docstrings of the public modules.
"""


def modules() -> list[str]:
    """Return the public modules of the library, the package first."""
    files = sorted((ROOT / "specd").glob("[!_]*.py"))
    return ["specd", *(f"specd.{file.stem}" for file in files)]


def names(module: str) -> list[str]:
    """Return the public names of a module, sorted."""
    for node in _tree(module).body:
        if isinstance(node, ast.Assign) and _target(node) == "__all__":
            found: list[str] = ast.literal_eval(node.value)
            return sorted(found, key=str.lower)
    raise LookupError(f"{module} has no __all__")


def rendered() -> str:
    """Return the text of the page."""
    links = ", ".join(f"[{module}](#{module.replace('.', '')})" for module in modules())
    return "\n".join([HEAD, f"On this page: {links}.", *_sections()]) + "\n"


def _sections() -> Iterator[str]:
    for module in modules():
        yield f"\n## {module}\n\n{ast.get_docstring(_tree(module))}"
        for name in names(module):
            yield f"\n### `{name}`\n"
            yield from _entry(*find(module, name))


def find(module: str, name: str) -> tuple[str, ast.stmt, str]:
    """Return the module and the statement that define a name, and its docstring. Raise LookupError
    if there is none.
    """
    body = _tree(module).body
    for node, following in reversed([*zip(body, [*body[1:], None], strict=True)]):
        match node:  # the last definition of a function is not an overload
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if node.name == name:
                return module, node, ast.get_docstring(node) or ""
            case ast.Assign() | ast.AnnAssign() if _target(node) == name:
                return module, node, _text_of(following)
    for each in ast.walk(_tree(module)):
        if isinstance(each, ast.ImportFrom) and str(each.module).startswith("specd"):
            for alias in each.names:
                if (alias.asname or alias.name) == name:
                    return find(str(each.module), alias.name)
    raise LookupError(f"{module} defines no {name}")


@cache
def _source(module: str) -> str:
    path = ROOT.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.read_text(encoding="utf-8")


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_source(module))


def _lines(module: str, node: ast.stmt) -> list[str]:
    """Return the source lines of a statement."""
    return _source(module).splitlines()[node.lineno - 1 : node.end_lineno]


def _code(node: ast.expr) -> str:
    """Return an expression with the quotes of the source."""
    return re.sub(r"'([^'\"\\]*)'", r'"\1"', ast.unparse(node))


def _target(node: ast.stmt) -> str:
    """Return the name that a statement assigns to, or an empty string."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""


def _text_of(node: ast.stmt | None) -> str:
    """Return the string of a statement that is only a string, or an empty string."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text)
    return ""


def _entry(module: str, node: ast.stmt, text: str) -> Iterator[str]:
    if _is_fixture(node):
        yield f"A fixture of pytest. {text}"
        return
    yield "```python"
    yield from _declaration(module, node)
    yield "```"
    if text:
        yield f"\n{text}"
    if isinstance(node, ast.ClassDef):
        members = list(_members(node))
        if members:
            yield ""
        yield from members


def _declaration(module: str, node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef():
            yield from _class(module, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield _signature(node)
        case _:
            yield from _lines(module, node)


def _class(module: str, node: ast.ClassDef) -> Iterator[str]:
    if _has(node, "dataclass"):
        yield "@dataclass"
    lines = []
    for member in node.body:
        match member:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if _is_public(member.name):
                lines += ["    @property"] if _has(member, "property") else []
                lines += ["    @classmethod"] if _has(member, "classmethod") else []
                lines += [f"    {line}" for line in _signature(member, 4).splitlines()]
            case ast.Assign() | ast.AnnAssign() if _is_public(_target(member)):
                lines += _lines(module, member)
    bases = ", ".join(base for base in map(_code, node.bases) if not base.startswith("_"))
    head = f"class {node.name}({bases}):" if bases else f"class {node.name}:"
    yield head if lines else f"{head} ..."
    yield from lines


def _members(node: ast.ClassDef) -> Iterator[str]:
    """Yield an item of a list for each field and each method with a docstring."""
    for member, following in zip(node.body, [*node.body[1:], None], strict=True):
        match member:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if _is_public(member.name):
                name, text = member.name, ast.get_docstring(member)
            case ast.Assign() | ast.AnnAssign() if _is_public(_target(member)):
                name, text = _target(member), _text_of(following)
            case _:
                continue
        if text:
            yield f"- `{name}`: {' '.join(text.split())}"


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, indentation: int = 0) -> str:
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    result = f" -> {_code(node.returns)}" if node.returns else ""
    parameters = _parameters(node.args)
    line = f"{start} {node.name}({', '.join(parameters)}){result}"
    if len(line) + indentation <= WIDTH:
        return line
    return "\n".join(
        [f"{start} {node.name}(", *(f"    {each}," for each in parameters), f"){result}"]
    )


def _parameters(given: ast.arguments) -> list[str]:
    """Return each parameter with its annotation and its default, including `*` and `/`."""
    positional = [*given.posonlyargs, *given.args]
    without = [None] * (len(positional) - len(given.defaults))
    shown = [
        _parameter(each, value)
        for each, value in zip(positional, [*without, *given.defaults], strict=True)
    ]
    if given.posonlyargs:
        shown.insert(len(given.posonlyargs), "/")
    if given.vararg:
        shown.append(f"*{_parameter(given.vararg, None)}")
    elif given.kwonlyargs:
        shown.append("*")
    shown += [
        _parameter(each, value)
        for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        shown.append(f"**{_parameter(given.kwarg, None)}")
    return shown


def _parameter(given: ast.arg, default: ast.expr | None) -> str:
    annotation = f": {_code(given.annotation)}" if given.annotation else ""
    if default is None:
        return f"{given.arg}{annotation}"
    equals = " = " if annotation else "="
    return f"{given.arg}{annotation}{equals}{_code(default)}"


def _is_public(name: str) -> bool:
    return name == "__init__" or (bool(name) and not name.startswith("_"))


def _is_fixture(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and _has(node, "pytest.fixture")


def _has(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, decorator: str) -> bool:
    return any(ast.unparse(each).startswith(decorator) for each in node.decorator_list)
