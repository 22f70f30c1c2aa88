"""Text from a document is never code in the files that `specd new` writes."""

import ast
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from specd._cli import new, scaffold
from specd._engine.openapi.structure import lookup

FIELDS = (
    "/info/title", "/servers/0/url", "/paths/~1a~1{id}/get/summary",
    "/paths/~1a~1{id}/get/description", "/paths/~1a~1{id}/get/tags/0",
    "/paths/~1a~1{id}/get/operationId", "/paths/~1a~1{id}/get/parameters/0/example",
    "/paths/~1a~1{id}/get/parameters/1/name", "/paths/~1a~1{id}/get/parameters/1/schema/default",
    "/paths/~1a~1{id}/get/parameters/1/example", "/paths/~1a~1{id}/get/parameters/2/name",
    "/paths/~1a~1{id}/post/summary",
    "/paths/~1a~1{id}/post/requestBody/content/application~1json/example/a",
    "/paths/~1a~1{id}/post/x-openapi-router-controller", "/paths/~1a~1{id}/post/operationId",
    "/components/securitySchemes/key/name", "/components/securitySchemes/key/description",
    "/components/securitySchemes/http/scheme",
    "/components/securitySchemes/key/x-apikeyInfoFunc",
    "/components/securitySchemes/key/x-scopeValidateFunc",
)  # fmt: skip
KEYS = (
    "/components/securitySchemes/key",
    "/paths/~1a~1{id}",
    "/paths/~1a~1{id}/post/requestBody/content/application~1json/schema/properties/a",
    "/paths/~1a~1{id}/post/requestBody/content/application~1json",
    "/paths/~1a~1{id}/get/responses/404/content/application~1json",
)
"""Keys of maps that are replaced by a hostile text."""
HOSTILE = (
    '"""\nimport os; os.system("touch PWNED")\n"""',
    "'''\nimport os; os.system('touch PWNED')\n'''",
    '/evil"+str(__import__("os").system("touch PWNED"))+"',
    "/evil'+str(__import__('os').system('touch PWNED'))+'",
    "a\\", 'a\\"', "a\\" * 97 + '"', "{__import__('os')}", "$name ${body}", "%(name)s",
    "# noqa\nimport os", "a\r\nimport os", "a\x0cimport os", "a\x85import os", "a\u2028import os",
    "a\u202eimport os", "\x1b]0;PWNED\x07", "a\x00b", "../../../etc/passwd", "/etc/passwd",
    "..", "os.system", "json.loads", "models.chat.identity.api_keys.secrets", "handlers.chat.users",
    "odd.errors", "odd.handlers.__init__", "odd.handlers.class", "__init__",
    "x" * 300,
    "import os", "-*- coding: utf-7 -*-", "!!python/object/apply:os.system [true]", "a: {b: c}",
    "a\n  x-apikeyInfoFunc: os.system", "²", "\ud800",
)  # fmt: skip


def harmless() -> dict[str, Any]:
    parameters = [
        {
            "name": "id",
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "example": "a",
        },
        {"name": "q", "in": "query", "schema": {"type": "string", "default": "d"}, "example": "e"},
        {"name": "h", "in": "header", "required": True, "schema": {"type": "string"}},
    ]
    error = {"description": "No.", "content": {"application/json": {"schema": {"type": "object"}}}}
    body = {
        "schema": {"type": "object", "properties": {"a": {"type": "string"}}},
        "example": {"a": "b"},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "servers": [{"url": "/odd"}],
        "security": [{"key": []}, {"http": []}],
        "paths": {
            "/a/{id}": {
                "get": {
                    "tags": ["things"],
                    "operationId": "get_a",
                    "summary": "Get it",
                    "description": "It",
                    "parameters": parameters,
                    "responses": {"204": {"description": "Gone."}, "404": error},
                },
                "post": {
                    "tags": ["things"],
                    "operationId": "post_a",
                    "summary": "Post it",
                    "parameters": parameters[:1],
                    "requestBody": {"content": {"application/json": body}},
                    "responses": {"204": {"description": "Gone."}},
                },
            }
        },
        "components": {
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
                "http": {"type": "http", "scheme": "bearer"},
            }
        },
    }


def with_text(place: str, text: str) -> dict[str, Any]:
    document = copy.deepcopy(harmless())
    way, _, last = place.rpartition("/")
    node = lookup(document, f"#{way}")
    step = int(last) if isinstance(node, list) else last.replace("~1", "/")
    if place in KEYS:
        node[text] = node.pop(step)
    else:
        node[step] = text
    return document


class Project:
    """An empty folder, in which `specd new` starts a project."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = folder / "project"
        self.path.mkdir(parents=True)
        (folder / "hostile").mkdir(parents=True)
        self.file = folder / "hostile" / "odd.yaml"
        monkeypatch.chdir(self.path)

    def new(self, document: dict[str, Any], said: str = "") -> Result:
        self.file.write_text(json.dumps(document))
        return CliRunner().invoke(new.new, ["odd", "--document", str(self.file)], input=said)

    def files(self) -> dict[str, bytes]:
        paths = (path for path in self.path.parent.rglob("*") if path.is_file())
        return {
            str(path.relative_to(self.path.parent)): path.read_bytes()
            for path in paths
            if path != self.file
        }


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


OWN = ("odd/", "tests/odd/")
FOR_ALL = {
    "wsgi.py": scaffold.fill("wsgi.py", name="odd"),
    "pyproject.toml": scaffold.fill("pyproject.toml", project="project"),
    "README.md": scaffold.fill("README.md", project="project", name="odd"),
    ".gitignore": scaffold.fill("gitignore"),
}
"""The files that do not depend on the document."""


TYPED_DICT = ast.Name("typed dictionary", ast.Load())
"""Replaces all of them, because names that are invalid in Python need another form."""


class _Shapes(ast.NodeTransformer):
    """Removes requested texts and names from a syntax tree."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name, node.returns = "function", None
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords = [it for it in node.keywords if not isinstance(it.value, ast.Constant)]
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        parts = [*node.keys, *node.values]
        return ast.Constant("") if all(isinstance(it, ast.Constant) for it in parts) else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg, node.annotation = "argument", None
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node.value:
            case ast.Call(func=ast.Name(id="TypedDict"), args=[ast.Constant(), ast.Dict() as it]):
                texts = all(isinstance(key, ast.Constant) for key in it.keys)
                calls = any(isinstance(each, ast.Call) for each in ast.walk(it))
                return TYPED_DICT if texts and not calls else node
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        calls = any(isinstance(each, ast.Call) for each in ast.walk(node))
        if ast.unparse(node.annotation) == "TypeAlias" and not calls:
            return ast.Name("type", ast.Load())
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        if [ast.unparse(each) for each in node.bases] == ["TypedDict"]:
            fields = (ast.AnnAssign, ast.Pass)
            calls = any(isinstance(each, ast.Call) for each in ast.walk(node))
            if all(isinstance(each, fields) for each in node.body) and not calls:
                return TYPED_DICT
        self.generic_visit(node)
        node.name = "class"
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.module in ("typing", "collections.abc"):
            return ast.Name("standard", ast.Load())
        is_renamed = all(each.asname for each in node.names)
        is_own = (node.module or "").startswith("odd")
        return ast.Name("handlers", ast.Load()) if is_renamed and is_own else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        is_handler = isinstance(node.value, ast.Name) and node.value.id.startswith("_")
        return ast.Name("handler", node.ctx) if is_handler else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("name", node.ctx) if node.id.startswith("_") else node


def shapes(files: dict[str, bytes]) -> set[str]:
    """Return the syntax trees of the statements of all modules of a service, without texts and
    names.
    """
    modules = [
        ast.parse(text)
        for name, text in files.items()
        if name.endswith(".py") and "wsgi.py" not in name
    ]
    statements = [
        inner
        for module in modules
        for each in module.body
        for inner in (each.body if isinstance(each, ast.If) else [each])
    ]
    return {ast.dump(_Shapes().visit(each)) for each in statements}


def check(project: Project, document: dict[str, Any]) -> bool:
    """Return whether a document was accepted. Asserts that nothing was written elsewhere."""
    before = project.files()
    result = project.new(document)
    after = project.files()
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert all(it.isprintable() or it == "\n" for it in result.output), result.output
    if result.exit_code:
        assert after == before
        return False
    for name, text in after.items():
        inner = name.removeprefix("project/")
        if before.get(name) != text:
            assert inner.startswith(OWN) or text.decode() == FOR_ALL[inner], inner
    return True


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[set[str]]:
    with pytest.MonkeyPatch.context() as patch:
        project = Project(tmp_path_factory.mktemp("plain"), patch)
        assert check(project, harmless())
        yield shapes(project.files())


PAIRS = [(place, text) for place in FIELDS + KEYS for text in HOSTILE]
DAILY = [
    (place, HOSTILE[(at * 7 + more) % len(HOSTILE)])
    for at, place in enumerate(FIELDS + KEYS)
    for more in range(1)
]


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param(DAILY, id="some"),
        pytest.param(PAIRS, id="all", marks=pytest.mark.exhaustive),
    ],
)
def test_hostile_text_stays_text(
    pairs: list[tuple[str, str]],
    expected: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accepted = []
    for number, (place, text) in enumerate(pairs):
        project = Project(tmp_path / str(number), monkeypatch)
        if check(project, with_text(place, text)):
            assert shapes(project.files()) <= expected, (place, text)
            accepted.append(place)
    assert len(accepted) > len(pairs) // 3
    assert {"/servers/0/url", "/paths/~1a~1{id}/get/summary"} <= set(accepted)


OUTSIDE = [
    "json",
    "models.chat.identity.api_keys",
    "handlers.chat.users",
    "odd.errors",
]


@pytest.mark.parametrize("controller", [*OUTSIDE, "odd.handlers.__init__", "odd.handlersly.things"])
def test_handler_outside_the_service_is_rejected(empty: Project, controller: str) -> None:
    document = with_text("/paths/~1a~1{id}/post/x-openapi-router-controller", controller)
    before = empty.files()
    result = empty.new(document)
    assert (result.exit_code, empty.files()) == (1, before)
    assert "odd.handlers" in result.output
    document = with_text("/paths/~1a~1{id}/post/x-openapi-router-controller", "odd.handlers.a.b")
    assert empty.new(document).exit_code == 0
    assert (empty.path / "odd/handlers/a/b.py").is_file()


def test_foreign_security_function_requires_an_option(empty: Project) -> None:
    document = with_text("/components/securitySchemes/key/x-apikeyInfoFunc", "os.system")
    before = empty.files()
    for said in ("", "n\n"):
        result = empty.new(document, said)
        assert (result.exit_code, empty.files()) == (1, before)
        assert "scheme key call os.system (x-apikeyInfoFunc)" in result.output
    assert empty.new(document, "y\n").exit_code == 0


def test_referenced_security_function_requires_an_option(empty: Project) -> None:
    document = harmless()
    schemes = document["components"]["securitySchemes"]
    document["components"]["x-more"] = {"a": {**schemes["key"], "x-apikeyInfoFunc": "os.system"}}
    schemes["key"] = {"$ref": "#/components/x-more/a"}
    assert "call os.system" in empty.new(document).output
