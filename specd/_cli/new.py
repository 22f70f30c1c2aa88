"""`specd new`: the first version of a service, from its document."""

import ast
import json
import keyword
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import yaml

from specd._cli import scaffold
from specd._cli.documents import FILE, mistakes_shown, read_documents
from specd._cli.literals import literal
from specd._cli.output import printable
from specd._cli.scaffold import Described
from specd._engine.document.checking import published
from specd._engine.document.compiler import check_signature, is_handler
from specd._engine.errors import DocumentError
from specd._engine.openapi.naming import function_of, name_by_hand
from specd._engine.openapi.servers import base_path_of
from specd._engine.openapi.structure import resolved
from specd._engine.openapi.union import Document
from specd._project import EVERYTHING, current, find_root
from specd._settings import load_settings

ROOT = find_root()
_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
_TAKEN = (EVERYTHING,)
_LAYERS = ("handlers", "models", "models/migrations", "tests/handlers")
MAX_MODULE = 150
"""Bytes of the name of a module that is written."""
_OWN_MODULES = ("wire", "wiring")


@click.command()
@click.argument("name")
@click.option("--document", "file", type=FILE, help="OpenAPI document.  [default: specs/NAME.yaml]")
@click.option("--update", is_flag=True, help="Add what the document has gained to a service.")
def new(name: str, file: Path | None, update: bool) -> None:
    """Write the first version of a service from its OpenAPI document; it starts at once.

    Each operation answers 501 until its handler is written. Without a document a small example is
    written first. Nothing that is there is overwritten.
    """
    if not _NAME.fullmatch(name) or name in _TAKEN or keyword.iskeyword(name):
        raise click.UsageError("NAME has up to 30 lower-case letters, digits and underscores.")
    if not (ROOT / "setup.cfg").is_file():
        raise click.ClickException("specd new writes into a checkout of specd, and this is none.")
    with mistakes_shown():
        if update:
            if file is not None:
                raise click.UsageError(f"--update reads specs/{name}.yaml: change that.")
            if name not in current().names:
                raise click.ClickException(f"There is no service {name}; leave out --update.")
            _update(name)
        else:
            if name in current().names:
                raise click.ClickException(f"There is a service {name}; --update adds to it.")
            for there in (f"{layer}/{name}{end}" for layer in _LAYERS for end in ("", ".py")):
                if (ROOT / there).exists():
                    raise click.ClickException(f"{there} is there already.")
            _create(name, file)


def _create(name: str, file: Path | None) -> None:
    own = ROOT / "specs" / f"{name}.yaml"
    if file is not None and own.exists() and not own.samefile(file):
        raise click.ClickException(f"specs/{name}.yaml is there already.")
    tree = _Tree(name)
    if file is None and not own.exists():
        title = name.replace("_", " ").capitalize()
        text = scaffold.fill("document.yaml", name=name, title=title)
        own.write_text(text, encoding="utf-8")
        click.echo(f"wrote    specs/{name}.yaml")
    (document,) = read_documents([file or own])
    operations = _described([document], name)
    _ask_for_functions(document, name)
    schemes = _without_function(document)
    if not own.exists():
        tree.write(f"specs/{name}.yaml", _with_functions(document.text.decode(), name, schemes))
    elif schemes:
        text = _with_functions(own.read_text(encoding="utf-8"), name, schemes)
        tree.change(f"specs/{name}.yaml", text)
    base_path = scaffold.own_base_path(name, document.content, _base_paths())
    _write_service(tree, name, document, operations, schemes, base_path)
    _write_handlers(tree, name, operations)
    _write_tests(tree, name, operations, base_path)
    tree.change("wsgi.py", _with_service(name))
    tree.apply()
    if base_path != base_path_of(document.content):
        click.echo(
            f"The service is served under {printable(base_path)}, "
            "not under the server of its document."
        )
    click.echo(f"Next: specd migrate, then specd serve --only {name} --reload")


def _update(name: str) -> None:
    service = current()[name]
    documents = read_documents([current().document_file(each) for each in service.files])
    operations = _described(documents, name)
    wiring = import_module(f"handlers.{name}.wiring")
    base_path = wiring.compose(load_settings()).base_path
    tree = _Tree(name)
    added = _write_handlers(tree, name, operations)
    _write_tests(tree, name, added, base_path)
    has_written = tree.apply()
    misfits = list(_misfits(operations, {str(each.handler) for each in added}))
    for misfit in misfits:
        click.echo(misfit, err=True)
    if not (has_written or misfits):
        click.echo("Nothing to add: the handlers are those of the document.")
    if misfits:
        raise SystemExit(1)


def _described(documents: list[Document], name: str) -> list[Described]:
    """Return the operations of a service. Raise `ClickException` for a handler that would lie
    outside of the service's package, or in a module of another purpose.
    """
    package = f"handlers.{name}"
    operations = scaffold.describe(documents, package)
    for each in operations:
        module = each.handler.module
        inner = module.removeprefix(f"{package}.").split(".")
        operation = each.operation
        where = f"The handler of {operation.method} {printable(each.path)}"
        if not module.startswith(f"{package}.") or not all(map(_is_module, inner)):
            raise click.ClickException(
                f"{where} would be in {printable(module)}: name a module of {package}."
            )
        if inner[0] in _OWN_MODULES:
            raise click.ClickException(
                f"{package}.{inner[0]} cannot have handlers; name the tag otherwise."
            )
    return operations


def _is_module(part: str) -> bool:
    """Return whether a part of a dotted name may be the name of a module that is written."""
    return (
        part.isidentifier()
        and len(part.encode()) <= MAX_MODULE
        and not part.startswith("__")
        and not keyword.iskeyword(part)
    )


def _ask_for_functions(document: Document, name: str) -> None:
    """Ask whether to keep the functions of security schemes that are not the service's own: each
    runs with what a stranger sends.
    """
    for scheme, key, function in _functions_named(document):
        if not str(function).startswith(f"handlers.{name}."):
            click.confirm(
                f"The document lets the security scheme {printable(scheme)} call "
                f"{printable(str(function))} ({printable(key)}), which is not part of the "
                "service. Keep that?",
                abort=True,
            )


def _functions_named(document: Document) -> Iterator[tuple[str, str, Any]]:
    schemes = document.content.get("components", {}).get("securitySchemes", {})
    for name, scheme in schemes.items():
        for key, value in resolved(document.content, scheme).items():
            if key.endswith("Func"):
                yield name, key, value


class _Tree:
    """What is to be written into the tree. No file that is there is written anew, and none that is
    not the service's.
    """

    def __init__(self, name: str) -> None:
        self._own = {Path(f"{layer}/{name}") for layer in _LAYERS}
        self._files = {Path("wsgi.py"), Path(f"specs/{name}.yaml")}
        self._written: dict[str, str] = {}
        self._changed: dict[str, str] = {}

    def write(self, name: str, text: str) -> None:
        """Add a file, unless it is there."""
        self._check(name)
        if not (ROOT / name).exists():
            self._written[name] = text

    def change(self, name: str, text: str) -> None:
        """Change a file that is there."""
        self._check(name)
        self._changed[name] = text

    def _check(self, name: str) -> None:
        path = Path(name)
        if ".." in path.parts or not (path in self._files or self._own & set(path.parents)):
            raise click.ClickException(f"{printable(name)} is not part of the service.")

    def extend(self, name: str, text: str, imports: list[str]) -> None:
        """Add functions to the end of a module, with the imports that it lacks."""
        source = _with_imports((ROOT / name).read_text(encoding="utf-8"), imports)
        self.change(name, f"{source.rstrip()}\n\n\n{text}")

    def apply(self) -> bool:
        """Write everything and say so. Return whether there was anything."""
        for verb, files in (("wrote", self._written), ("changed", self._changed)):
            for name, text in files.items():
                (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
                (ROOT / name).write_text(text, encoding="utf-8")
                click.echo(f"{verb:8} {name}")
        return bool(self._written or self._changed)


def _write_service(
    tree: _Tree,
    name: str,
    document: Document,
    operations: list[Described],
    schemes: Mapping[str, Any],
    base_path: str,
) -> None:
    for package in (f"handlers/{name}", f"handlers/{name}/wire", f"models/{name}"):
        tree.write(f"{package}/__init__.py", "")
    history = f"models/migrations/{name}"
    for place, template in (
        (f"handlers/{name}/wiring.py", "wiring.py"),
        (f"models/{name}/tables.py", "tables.py"),
        (f"{history}/env.py", "env.py"),
        (f"{history}/versions/0001_baseline.py", "0001_baseline.py"),
    ):
        tree.write(place, scaffold.fill(template, name=name, base_path=literal(base_path)))
    mako = next((ROOT / "models/migrations").glob("*/script.py.mako"))
    tree.write(f"{history}/script.py.mako", mako.read_text(encoding="utf-8"))
    table = scaffold.error_table(name, document.content, operations)
    tree.write(f"handlers/{name}/wire/errors.py", table)
    if schemes:
        tree.write(f"handlers/{name}/wire/auth.py", scaffold.auth_module(schemes))


def _write_handlers(tree: _Tree, name: str, operations: list[Described]) -> list[Described]:
    """Write the handlers that are not there yet, and return their operations."""
    added = []
    modules = _by_module(operations)
    for module, its in modules.items():
        path = ROOT / _file_of(module, modules)
        known = _functions_of(path)
        known |= {function_of(function) for function in known}
        lacking = [each for each in its if each.handler.function not in known]
        added += lacking
        if not path.exists():
            for package in _packages_of(module):
                if package not in modules:
                    tree.write(f"{package.replace('.', '/')}/__init__.py", "")
            tree.write(str(path.relative_to(ROOT)), scaffold.handlers_module(module, its))
        elif lacking:
            text = "\n\n".join(each.handler_source() for each in lacking)
            tree.extend(str(path.relative_to(ROOT)), text, scaffold.imports_of(text))
    return added


def _write_tests(tree: _Tree, name: str, operations: list[Described], base_path: str) -> None:
    for module, its in _by_module(operations).items():
        inner = module.removeprefix(f"handlers.{name}.").replace(".", "__")
        place = f"tests/handlers/{name}/test_{inner}.py"
        known = _functions_of(ROOT / place)
        lacking = [each for each in its if f"test_{each.handler.function}" not in known]
        source = scaffold.tests_module(module, lacking, base_path)
        if not (ROOT / place).exists():
            tree.write(place, source)
        elif lacking:
            head, text = source.split("\n\n\n", 1)
            tree.extend(place, text, head.splitlines()[2:])


def _file_of(module: str, modules: Collection[str]) -> str:
    """Return the file of a module, which is a package where others lie below it. Raise
    `ClickException` for a module that is there and has to become a package.
    """
    place = module.replace(".", "/")
    is_package = any(other.startswith(f"{module}.") for other in modules)
    if not (is_package or (ROOT / place / "__init__.py").exists()):
        return f"{place}.py"
    if (ROOT / f"{place}.py").exists():
        raise click.ClickException(f"Other modules lie below {place}.py: make it a package.")
    return f"{place}/__init__.py"


def _by_module(operations: list[Described]) -> dict[str, list[Described]]:
    found = defaultdict(list)
    for each in operations:
        found[each.handler.module].append(each)
    return found


def _packages_of(module: str) -> Iterator[str]:
    parts = module.split(".")[:-1]
    yield from (".".join(parts[: end + 1]) for end in range(1, len(parts)))


def _functions_of(path: Path) -> set[str]:
    if not path.exists():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def _with_imports(source: str, imports: list[str]) -> str:
    """Return a module with the imports that it lacks, below those that it has."""
    tree = ast.parse(source)
    known = {
        alias.name for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }  # fmt: skip
    lacking = [line for line in imports if line and line.rpartition(" ")[2] not in known]
    if not lacking:
        return source
    present = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    lines = source.splitlines()
    standard = [line for line in lacking if line.startswith("from typing")]
    others = [line for line in lacking if line not in standard]
    first = present[0].lineno - 1 if present else len(lines)
    last = present[-1].end_lineno or first if present else len(lines)
    lines[last:last] = others
    if standard:
        lines[first:first] = [*standard, ""]
    return "\n".join(lines) + "\n"


def _misfits(operations: list[Described], added: set[str]) -> Iterator[str]:
    """Yield what is wrong with handlers that were there: signatures, and such as no operation has.

    Raise what a module of handlers raises when it is imported.
    """
    modules = _by_module(operations)
    named = {str(each.handler) for each in operations}
    named |= {f"{it.handler.module}.{name_by_hand(it.handler.function)}" for it in operations}
    for module, its in modules.items():
        loaded = import_module(module)
        path = _file_of(module, modules)
        for each in its:
            function = _function_of(loaded, each.handler.function)
            if str(each.handler) in added or function is None:
                continue
            try:
                check_signature(each.operation, function, each.operation.operation_id)
            except DocumentError as error:
                line = function.__code__.co_firstlineno
                yield f"{path}:{line}: {error}\nThe document demands:\n{each.signature()}"
        for attribute, function in vars(loaded).items():
            if is_handler(function, module) and f"{module}.{attribute}" not in named:
                yield f"{path}:{function.__code__.co_firstlineno}: no operation is {attribute}"


def _function_of(module: Any, name: str) -> Any:
    """Return a handler of a module; None if it is not there."""
    return getattr(module, name, None) or vars(module).get(name_by_hand(name))


def _without_function(document: Document) -> dict[str, Any]:
    """Return the security schemes that name no function."""
    schemes = document.content.get("components", {}).get("securitySchemes", {})
    return {
        name: scheme
        for name, scheme in schemes.items()
        if "$ref" not in scheme and not any(re.fullmatch(r"x-.+InfoFunc", key) for key in scheme)
    }


def _with_functions(text: str, name: str, schemes: Mapping[str, Any]) -> str:
    """Return a document's text, in which each of the schemes names its function."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for scheme in reversed(list(schemes)):
        node = _child(root, "components", "securitySchemes", scheme)
        key = scaffold.key_of_function(schemes[scheme])
        function = f"handlers.{name}.wire.auth.{scaffold.function_of_scheme(scheme)}"
        if not isinstance(node, yaml.MappingNode):
            raise click.ClickException(
                f"The security scheme {scheme} is in another file; write {key}: {function} there."
            )
        pair = f"{json.dumps(key)}: {json.dumps(function)}"
        at, column = node.start_mark.index, node.start_mark.column
        if node.flow_style:
            text = f"{text[: at + 1]}{pair}, {text[at + 1 :]}"
        else:
            text = f"{text[:at]}{pair}\n{' ' * column}{text[at:]}"
    return text


def _child(node: Any, *steps: str) -> Any:
    for step in steps:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((value for key, value in pairs if key.value == step), None)
    return node


def _base_paths() -> list[str]:
    """Return where the other services are served: the paths of their servers and operations."""
    found = []
    for document in current().documents:
        content = published(document, current().document_file(document)).content
        base_path = base_path_of(content)
        found += (
            [base_path] if base_path else [f"/{path.split('/')[1]}" for path in content["paths"]]
        )
    return sorted(set(found))


def _with_service(name: str) -> str:
    """Return `wsgi.py` with the service in its project."""
    text = (ROOT / "wsgi.py").read_text(encoding="utf-8")
    head, start, services = text.partition("project = Project(\n")
    service = f"""    Service(
        "{name}",
        documents=("specs/{name}.yaml",),
        handlers="handlers.{name}",
        models="models.{name}",
        migrations="models/migrations/{name}",
        wiring="handlers.{name}.wiring",
    ),
"""
    return f"{head}{start}{service}{services}"
