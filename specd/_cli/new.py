"""`specd new`: generates the first version of a service from its document."""

import ast
import json
import keyword
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import yaml

from specd._cli import scaffold
from specd._cli.deep import run_deep
from specd._cli.documents import FILE, mistakes_shown, read_documents
from specd._cli.output import printable
from specd._cli.scaffold import Described
from specd._cli.types import file_of_types, source_of
from specd._composition import find_documents
from specd._engine.document.compiler import check_signature, is_handler, is_single_module
from specd._engine.errors import DocumentError
from specd._engine.openapi.naming import function_of, name_by_hand
from specd._engine.openapi.servers import base_path_of
from specd._engine.openapi.structure import resolved
from specd._engine.openapi.union import Document
from specd._project import EVERYTHING, Service, current, find_root_above

_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
_BASE_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")
_TAKEN = (EVERYTHING, "tests")
MAX_MODULE = 150
"""The maximum length in bytes of the name of a generated module."""
EXAMPLE = 'return {"text": f"Hello {person}"}'
"""The body of the only function of the example."""
_OWN_MODULES = ("types", "wire", "wiring")
"""Modules that cannot have handlers in a package of handlers that a service names itself."""


@click.command()
@click.argument("name")
@click.option("--document", "file", type=FILE, help="OpenAPI document.  [default: an example]")
@click.option("--base-path", help="Path of the service, instead of the document's path.")
@click.option("--update", is_flag=True, help="Add new operations of the document to a service.")
def new(name: str, file: Path | None, base_path: str | None, update: bool) -> None:
    """Write the first version of a service from its OpenAPI document.

    The service is added to the project, or begins one in this folder. Each operation answers 501
    until its handler is written. Existing files are kept.
    """
    if not _NAME.fullmatch(name) or name in _TAKEN or keyword.iskeyword(name):
        raise click.UsageError(
            "NAME must consist of up to 30 lower-case letters, digits and underscores."
        )
    if base_path is not None and not _BASE_PATH.fullmatch(base_path):
        raise click.UsageError("--base-path must be a path such as /shop/v1.")
    root = find_root_above(Path.cwd())
    names = current().names if root else ()
    with mistakes_shown():
        if update:
            if file is not None or base_path is not None:
                raise click.UsageError(
                    "--update reads the document of the service: edit that document."
                )
            if name not in names:
                raise click.ClickException(f"There is no service {name}; omit --update.")
            run_deep(lambda: _update(current()[name]))
        else:
            if name in names:
                raise click.ClickException(
                    f"The service {name} already exists; use --update to add to it."
                )
            _require_free(root or Path.cwd(), name)
            run_deep(lambda: _create(name, root, file, base_path))


def _require_free(root: Path, name: str) -> None:
    """Raise ClickException if a new service would replace something."""
    for there in (name, f"{name}.py", f"tests/{name}"):
        if (root / there).exists():
            raise click.ClickException(f"{there} already exists.")
    if name in sys.stdlib_module_names or find_spec(name) is not None:
        raise click.ClickException(f"{name} is the name of an installed module.")


def _create(name: str, root: Path | None, file: Path | None, base_path: str | None) -> None:
    tree = _Tree(root or Path.cwd(), name, f"{name}/handlers", f"tests/{name}")
    document, text = _document(name, file)
    operations = _described([document], name, f"{name}.handlers")
    _ask_for_functions(document, name)
    schemes = _without_function(document)
    text = _with_functions(text, name, schemes)
    own_path = base_path_of(document.content)
    if base_path or not own_path:
        base_path = base_path or f"/{name.replace('_', '-')}"
        text = _with_server(text, base_path)
        if not own_path:
            click.echo(f"The document has no base path: the service is served under {base_path}.")
    _require_free_path(name, base_path or own_path, current().services if root else ())
    if root is None:
        facts = {"name": name, "project": _project_name(tree.root)}
        if (tree.root / "wsgi.py").exists():
            raise click.ClickException("wsgi.py already exists, without a `project`.")
        for target in ("wsgi.py", "pyproject.toml", "README.md", ".gitignore"):
            tree.write(target, scaffold.fill(target.removeprefix("."), **facts))
    else:
        tree.change("wsgi.py", _with_service((root / "wsgi.py").read_text(encoding="utf-8"), name))
    tree.write(f"{name}/__init__.py", "")
    tree.write(f"{name}/openapi.yaml", text)
    for module in ("errors.py", "models.py"):
        tree.write(f"{name}/{module}", scaffold.fill(module, name=name))
    if schemes:
        tree.write(f"{name}/auth.py", scaffold.auth_module(schemes))
    tree.write(f"{name}/handlers/__init__.py", "")
    _write_handlers(tree, operations, f"{name}.types")
    service = Service(name).placed_in(tree.root)
    tree.write(f"{name}/types.py", source_of(service, [_read_again(text)], operations))
    if file is None:
        tree.replace(f"{name}/handlers/greetings.py", "raise NotImplementedError", EXAMPLE)
    _write_tests(tree, operations)
    tree.apply()
    click.echo("Next: specd migrate && pytest && specd serve --reload")


def _read_again(text: str) -> Document:
    """Return the document of a text that was changed since it was read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "openapi.yaml"
        path.write_text(text, encoding="utf-8")
        (document,) = read_documents([path])
    return document


def _document(name: str, file: Path | None) -> tuple[Document, str]:
    """Return the document of a new service and its text, from a file or from the example."""
    if file is not None:
        (document,) = read_documents([file])
        return document, document.text.decode()
    title = name.replace("_", " ").capitalize()
    text = scaffold.fill("document.yaml", name=name, title=title)
    return Document(name, yaml.safe_load(text), text.encode()), text


def _project_name(root: Path) -> str:
    """Return the name of a new project: the name of its folder, with the characters that a package
    name allows.
    """
    return re.sub(r"[^a-z0-9]+", "-", root.name.lower()).strip("-") or "project"


def _require_free_path(name: str, base_path: str, others: Collection[Service]) -> None:
    """Raise ClickException if the path of a service would contain, or be contained in, that of
    another service.
    """
    for other in others:
        content = next(find_documents(other)).content
        taken = {base_path_of(content)} - {""} or {
            f"/{path.split('/')[1]}" for path in content["paths"]
        }
        for path in sorted(taken):
            short, long = sorted((f"{base_path}/", f"{path}/"), key=len)
            if long.startswith(short):
                raise click.ClickException(
                    f"{name} would be served under {printable(base_path)}, and {other.name} is"
                    f" served under {printable(path)}: choose another path with --base-path."
                )


def _update(service: Service) -> None:
    package = service.handlers
    folder = package.replace(".", "/")
    is_own_package = package == f"{service.name}.handlers"
    tests = f"tests/{service.name if is_own_package else folder}"
    documents = list(find_documents(service))
    operations = _described(documents, service.name, package, snake_case=service.snake_case)
    tree = _Tree(current().root, service.name, folder, tests)
    added = _write_handlers(tree, operations, service.types)
    source = source_of(service, documents, operations)
    place = file_of_types(service)
    if not place.exists():
        tree.write(str(place.relative_to(tree.root)), source)
    elif place.read_text(encoding="utf-8") != source:
        tree.change(str(place.relative_to(tree.root)), source)
    _write_tests(tree, added)
    has_written = tree.apply()
    misfits = list(_misfits(tree.root, operations, {str(each.handler) for each in added}))
    for misfit in misfits:
        click.echo(misfit, err=True)
    if not (has_written or misfits):
        click.echo("Nothing to add: the handlers match the document.")
    if misfits:
        raise SystemExit(1)


def _described(
    documents: list[Document], name: str, package: str, *, snake_case: bool = False
) -> list[Described]:
    """Return the operations of a service. Raise `ClickException` for a handler that would be
    outside of the service's package of handlers, or in a module that cannot have handlers.
    """
    has_modules = not is_single_module(package)
    operations = scaffold.describe(
        documents, package, has_modules=has_modules, snake_case=snake_case
    )
    for each in operations:
        module = each.handler.module
        inner = module.removeprefix(package).removeprefix(".").split(".") if has_modules else []
        operation = each.operation
        where = f"The handler of {operation.method} {printable(each.path)}"
        if not f"{module}.".startswith(f"{package}.") or not all(map(_is_module, inner)):
            raise click.ClickException(
                f"{where} would be in {printable(module)}: choose a module of {package}."
            )
        if package != f"{name}.handlers" and inner[:1] and inner[0] in _OWN_MODULES:
            raise click.ClickException(
                f"{package}.{inner[0]} cannot contain handlers; rename the tag."
            )
    return operations


def _is_module(part: str) -> bool:
    """Return whether a part of a dotted name may be the name of a generated module."""
    return (
        part.isidentifier()
        and len(part.encode()) <= MAX_MODULE
        and not part.startswith("__")
        and not keyword.iskeyword(part)
    )


def _ask_for_functions(document: Document, name: str) -> None:
    """Ask whether to keep functions of security schemes that do not belong to the service, because
    they are called with untrusted input.
    """
    for scheme, key, function in _functions_named(document):
        if not str(function).startswith(f"{name}."):
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
    """The files to write below the root of a project. Existing files are not replaced, and only
    files of the service and of a new project are written.
    """

    def __init__(self, root: Path, name: str, handlers: str, tests: str) -> None:
        self.root = root
        self.handlers = Path(handlers)
        self.tests = Path(tests)
        self._own = {Path(name), self.handlers, self.tests}
        self._files = {
            Path(file)
            for file in ("wsgi.py", "pyproject.toml", "README.md", ".gitignore", f"{handlers}.py")
        }
        self._written: dict[str, str] = {}
        self._changed: dict[str, str] = {}

    def write(self, name: str, text: str) -> None:
        """Add a file, unless it exists."""
        self._check(name)
        if not (self.root / name).exists():
            self._written[name] = text

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a part of a new file."""
        self._written[name] = self._written[name].replace(old, new)

    def change(self, name: str, text: str) -> None:
        """Change an existing file."""
        self._check(name)
        self._changed[name] = text

    def _check(self, name: str) -> None:
        path = Path(name)
        if ".." in path.parts or not (path in self._files or self._own & set(path.parents)):
            raise click.ClickException(f"{printable(name)} is not part of the service.")

    def extend(self, name: str, text: str, imports: list[str]) -> None:
        """Add functions to the end of a module, with the imports that it lacks."""
        source = _with_imports((self.root / name).read_text(encoding="utf-8"), imports)
        self.change(name, f"{source.rstrip()}\n\n\n{text}")

    def apply(self) -> bool:
        """Write everything and print the names. Return whether there was anything."""
        for verb, files in (("wrote", self._written), ("changed", self._changed)):
            for name, text in files.items():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                (self.root / name).write_text(text, encoding="utf-8")
                click.echo(f"{verb:8} {name}")
        return bool(self._written or self._changed)


def _write_handlers(tree: _Tree, operations: list[Described], types: str) -> list[Described]:
    """Write the missing handlers, and return their operations. Their types are in the module
    `types`.
    """
    added = []
    modules = _by_module(operations)
    for module, its in modules.items():
        file = _file_of(tree.root, module, modules)
        path = tree.root / file
        known = _functions_of(path)
        known |= {function_of(function) for function in known}
        lacking = [each for each in its if each.handler.function not in known]
        added += lacking
        if not path.exists():
            for package in _packages_of(module):
                if package not in modules:
                    tree.write(f"{package.replace('.', '/')}/__init__.py", "")
            tree.write(file, scaffold.handlers_module(module, its, types))
        elif lacking:
            text = "\n\n".join(each.handler_source() for each in lacking)
            tree.extend(file, text, scaffold.imports_of(text, types))
    return added


def _write_tests(tree: _Tree, operations: list[Described]) -> None:
    for module, its in _by_module(operations).items():
        package = ".".join(tree.handlers.parts)
        inner = module.removeprefix(package).removeprefix(".").replace(".", "__")
        place = str(tree.tests / f"test_{inner or tree.handlers.name}.py")
        known = _functions_of(tree.root / place)
        lacking = [each for each in its if f"test_{each.handler.function}" not in known]
        source = scaffold.tests_module(module, lacking)
        if not (tree.root / place).exists():
            tree.write(place, source)
        elif lacking:
            head, text = source.split("\n\n\n", 1)
            tree.extend(place, text, head.splitlines()[2:])


def _file_of(root: Path, module: str, modules: Collection[str]) -> str:
    """Return the file of a module, which is a package if other modules are below it. Raise
    `ClickException` for an existing module that must become a package.
    """
    place = module.replace(".", "/")
    is_package = any(other.startswith(f"{module}.") for other in modules)
    if not (is_package or (root / place / "__init__.py").exists()):
        return f"{place}.py"
    if (root / f"{place}.py").exists():
        raise click.ClickException(f"Other modules belong below {place}.py: make it a package.")
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
    """Return the source of a module with missing imports added to the existing ones."""
    tree = ast.parse(source)
    known = {
        alias.name for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }  # fmt: skip
    lacking = []
    for line in filter(None, imports):
        source_of_names, _, names = line.partition(" import ")
        unknown = [name for name in names.split(", ") if name not in known]
        if unknown:
            lacking.append(f"{source_of_names} import {', '.join(unknown)}")
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


def _misfits(root: Path, operations: list[Described], added: set[str]) -> Iterator[str]:
    """Yield the mistakes of existing handlers: wrong signatures, and handlers without an operation.

    Raise the exceptions of imported modules.
    """
    modules = _by_module(operations)
    named = {str(each.handler) for each in operations}
    named |= {f"{it.handler.module}.{name_by_hand(it.handler.function)}" for it in operations}
    for module, its in modules.items():
        loaded = import_module(module)
        path = _file_of(root, module, modules)
        for each in its:
            function = _function_of(loaded, each.handler.function)
            if str(each.handler) in added or function is None:
                continue
            try:
                check_signature(each.operation, function, each.operation.operation_id)
            except DocumentError as error:
                line = function.__code__.co_firstlineno
                yield f"{path}:{line}: {error}\nThe document requires:\n{each.signature()}"
        for attribute, function in vars(loaded).items():
            if is_handler(function, module) and f"{module}.{attribute}" not in named:
                yield f"{path}:{function.__code__.co_firstlineno}: no operation is {attribute}"


def _function_of(module: Any, name: str) -> Any:
    """Return a handler of a module, or None if it does not exist."""
    return getattr(module, name, None) or vars(module).get(name_by_hand(name))


def _without_function(document: Document) -> dict[str, Any]:
    """Return the security schemes that do not name a function."""
    schemes = document.content.get("components", {}).get("securitySchemes", {})
    return {
        name: scheme
        for name, scheme in schemes.items()
        if "$ref" not in scheme and not any(re.fullmatch(r"x-.+InfoFunc", key) for key in scheme)
    }


def _with_functions(text: str, name: str, schemes: Mapping[str, Any]) -> str:
    """Return a document's text in which each of the schemes names its function."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for scheme in reversed(list(schemes)):
        node = _child(root, "components", "securitySchemes", scheme)
        key = scaffold.key_of_function(schemes[scheme])
        function = f"{name}.auth.{scaffold.function_of_scheme(scheme)}"
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


def _with_server(text: str, base_path: str) -> str:
    """Return a document's text with its servers replaced by a server with this path."""
    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    server = json.dumps([{"url": base_path}])
    for key, value in root.value:
        if key.value == "servers":
            start, end = key.end_mark.index, value.end_mark.index
            space = "\n" if text[start:end].endswith("\n") else ""
            return f"{text[:start]}: {server}{space}{text[end:]}"
    at = root.start_mark.index
    if root.flow_style:
        return f'{text[: at + 1]}"servers": {server}, {text[at + 1 :]}'
    return f"{text[:at]}servers: {server}\n{text[at:]}"


def _with_service(text: str, name: str) -> str:
    """Return the text of `wsgi.py` with the service added at the end of its project."""
    lines = text.splitlines(keepends=True)
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Name) and each.id == "project" for each in targets):
                call = node.value
                break
    else:
        raise click.ClickException("wsgi.py has no `project = Project(...)` to add the service to.")
    last = call.args[-1] if call.args else call.func
    row, column = (last.end_lineno or 1) - 1, last.end_col_offset or 0
    line = lines[row].encode()
    head, tail = line[:column].decode(), line[column:].decode()
    if not call.args:
        text = f'{head}("{name}"' + ("" if tail.startswith("()") else ", ") + tail[1:]
    elif last.lineno > call.lineno:
        indentation = " " * last.col_offset
        text = f'{head},\n{indentation}"{name}"{tail}'
    else:
        text = f'{head}, "{name}"{tail}'
    lines[row] = text
    return "".join(lines)
