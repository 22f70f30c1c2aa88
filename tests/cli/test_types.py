"""`specd types`: types of many documents that type checkers accept, and errors that they detect."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specd._cli.scaffold import describe
from specd._engine.openapi.union import Document
from tests.architecture.imports import ROOT
from tests.cli.typed_corpus import write_packages
from tests.support.copied_tree import copy_types
from tests.support.stranger import PROGRAM, Stranger


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with packages of types, and their names."""
    folder = tmp_path_factory.mktemp("corpus")
    return folder, write_packages(folder)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """A project with two new services: one of an odd document, one of the example."""
    project = Stranger(tmp_path_factory.mktemp("project"))
    odd = Path(__file__).with_name("odd.yaml")
    project.specd("new", "odd", "--document", str(odd))
    project.specd("new", "greeter")
    return project


def run_python(*words: str, **env: str) -> str:
    """Run a Python program in this checkout. Return its output."""
    judged = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, env={**os.environ, **env},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return judged.stdout + judged.stderr


def test_generated_modules_can_be_imported(corpus: tuple[Path, list[str]]) -> None:
    folder, packages = corpus
    for package in packages:
        spec = importlib.util.spec_from_file_location(package, folder / package / "types.py")
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_generated_modules_are_formatted(corpus: tuple[Path, list[str]]) -> None:
    folder, packages = corpus
    files = [str(folder / package / "types.py") for package in packages]
    own = ("--isolated", "--line-length=100")
    assert run_python("ruff", "format", *own, "--check", "--quiet", *files) == ""
    chosen = "--select=E,F,I,B,UP,SIM,RUF"
    assert (
        run_python("ruff", "check", *own, "--quiet", chosen, "--target-version=py311", *files) == ""
    )


def test_generated_modules_have_no_private_functions(corpus: tuple[Path, list[str]]) -> None:
    """pyright reports a private function that nothing calls."""
    folder, packages = corpus
    texts = [(folder / package / "types.py").read_text() for package in packages]
    assert any("def compare_handlers() -> None:" in text for text in texts)
    assert not any(re.search(r"def _(?!_call__)", text) for text in texts)


def test_mypy_accepts_types_handlers_and_values(
    corpus: tuple[Path, list[str]], errors: list[str]
) -> None:
    folder, packages = corpus
    assert packages
    assert [line for line in errors if line.startswith(f"{folder}/")] == []


def test_new_services_are_formatted_and_typed(project: Stranger, errors: list[str]) -> None:
    source = f"src = ['{project.path}', '{ROOT}']"
    own = ("--isolated", "--line-length=100", "--quiet")
    rules = "--select=E,F,I,B,UP,SIM,RUF,PT"
    assert run_python("ruff", "check", *own, rules, "--config", source, str(project.path)) == ""
    assert run_python("ruff", "format", *own, "--check", str(project.path)) == ""
    assert [line for line in errors if line.startswith(f"{project.path}/")] == []


def test_corpus_has_many_values(corpus: tuple[Path, list[str]]) -> None:
    folder, _ = corpus
    lines = [
        line
        for file in folder.glob("*/values.py")
        for line in file.read_text().splitlines()
        if line.startswith("value_")
    ]
    assert len(lines) > 1000


@pytest.fixture
def shop(tmp_path: Path) -> Stranger:
    """The project of the tutorial."""
    shutil.copytree(ROOT / "examples/todo", tmp_path / "shop", dirs_exist_ok=True)
    return Stranger(tmp_path)


HANDLERS = "handlers/tasks.py"
PLANTED = {
    "unknown key of a body": (
        'text=body["text"]',
        'text=body["name"]',
        f'{HANDLERS}:LINE: error: TypedDict "NewTask" has no key "name"',
    ),
    "type of an argument": (
        "ctx: Context, *, task_id: int)",
        "ctx: Context, *, task_id: str)",
        'variable has type "_CompleteTask")',
    ),
    "status": (
        "Literal[201]]:",
        "Literal[200]]:",
        'variable has type "_CreateTask")',
    ),
    "status of a return": (
        "task.completed), 201",
        "task.completed), 202",
        f"{HANDLERS}:LINE: error: Incompatible return value type",
    ),
    "missing property": (
        ', "completed": completed}',
        "}",
        f'{HANDLERS}:LINE: error: Missing key "completed" for TypedDict "Task"',
    ),
    "unknown property": (
        '"completed": completed}',
        '"completed": completed, "due": 1}',
        f'{HANDLERS}:LINE: error: Extra key "due" for TypedDict "Task"',
    ),
    "type of a property": (
        '"text": text,',
        '"text": number,',
        f'{HANDLERS}:LINE: error: Incompatible types (expression has type "int", TypedDict item'
        ' "text" has type "str")',
    ),
    "another schema": (
        "-> types.TaskList:",
        "-> types.Task:",
        'variable has type "_ListTasks")',
    ),
    "missing argument": (
        ", completed: bool | None = None",
        "",
        'variable has type "_ListTasks")',
    ),
}


DECORATED = (
    ("def complete_task(", "@idempotent\ndef complete_task("),
    ("import Context, Refusal", "import Context, Refusal, idempotent"),
)
OTHER_RETURN = ("task_id: int) -> types.Task", "task_id: int) -> str")


@pytest.fixture(scope="module")
def todos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the tutorial's service for each mistake: `todo_0` and so on. Also
    `right`, `decorated`, and `decorated_wrong`.
    """
    folder = tmp_path_factory.mktemp("todos")
    variants = {f"todo_{at}": [(old, new)] for at, (old, new, _) in enumerate(PLANTED.values())}
    variants |= {
        "right": [],
        "decorated": [*DECORATED],
        "decorated_wrong": [*DECORATED, OTHER_RETURN],
    }
    for package, changes in variants.items():
        shutil.copytree(ROOT / "examples/todo/todo", folder / package)
        for file in (folder / package).rglob("*.py"):
            file.write_text(file.read_text().replace("from todo", f"from {package}"))
        handlers = folder / package / HANDLERS
        source = handlers.read_text()
        for old, new in changes:
            assert source.count(old) == 1, (package, old)
            source = source.replace(old, new)
        handlers.write_text(source)
    return folder


def test_mypy_detects_each_planted_error(todos: Path, errors: list[str]) -> None:
    def find(package: str) -> list[str]:
        place = f"{todos}/{package}/"
        return [line.removeprefix(place) for line in errors if line.startswith(place)]

    assert find("right") == []
    assert find("decorated") == []
    assert any('variable has type "_CompleteTask"' in each for each in find("decorated_wrong"))
    source = (todos / "right" / HANDLERS).read_text()
    for number, (name, (old, _, message)) in enumerate(PLANTED.items()):
        line = source[: source.index(old)].count("\n") + 1
        wanted = message.replace("LINE", str(line))
        found = find(f"todo_{number}")
        assert any(wanted in each for each in found), (name, found)


CHAT, PAYMENT = "handlers/chat", "handlers/payment"
PLANTED_IN_SERVICES = {
    "chat: unknown key of an item": (
        f"{CHAT}/drafts.py",
        'content=draft["content"]',
        'content=draft["text"]',
        'TypedDict "DraftData" has no key "text"',
    ),
    "chat: type of a property": (
        f"{CHAT}/drafts.py",
        '"count": len(drafts)',
        '"count": str(len(drafts))',
        'TypedDict item "count" has type "int")',
    ),
    "chat: missing property": (
        f"{CHAT}/uploads.py",
        ', "filename": row.name}',
        "}",
        'Missing key "filename" for TypedDict "FileUploaded"',
    ),
    "chat: unknown property": (
        f"{CHAT}/linkifiers.py",
        '"id": linkifier_id}',
        '"id": linkifier_id, "pattern": ""}',
        'Extra key "pattern" for TypedDict "LinkifierCreated"',
    ),
    "chat: neither success nor error": (
        f"{CHAT}/users.py",
        '"result": "success", "msg"',
        '"result": "done", "msg"',
        'TypedDict item "result" has type "Literal[\'success\']")',
    ),
    "chat: answer of another operation": (
        f"{CHAT}/exports.py",
        "envelope.Answer[types.ExportList]",
        "envelope.Answer[types.ExportConsentList]",
        'variable has type "_ListExports")',
    ),
    "chat: any status": (
        f"{CHAT}/playgrounds.py",
        "playground_id: int) -> envelope.Answer[types.Success]",
        "playground_id: int) -> tuple[types.Success, int]",
        'variable has type "_DeletePlayground")',
    ),
    "chat: type of an argument": (
        f"{CHAT}/muted_users.py",
        "async def mute_user(ctx: Context, *, muted_user_id: int)",
        "async def mute_user(ctx: Context, *, muted_user_id: str)",
        'variable has type "_MuteUser")',
    ),
    "chat: name of an argument": (
        f"{CHAT}/typing_status.py",
        "    op: Op,",
        "    operation: Op,",
        'variable has type "_SetTypingStatus")',
    ),
    "payment: unknown key of a body": (
        f"{PAYMENT}/chains.py",
        'body["calls"]',
        'body["count"]',
        'TypedDict "FaultsRequest" has no key "count"',
    ),
    "payment: missing property": (
        f"{PAYMENT}/chains.py",
        '"head_number": head.number, ',
        "",
        'Missing key "head_number" for TypedDict "TestChain"',
    ),
    "payment: unknown property": (
        f"{PAYMENT}/events.py",
        '"data": orjson',
        '"live": False, "data": orjson',
        'Extra key "live" for TypedDict "Event"',
    ),
    "payment: type of a property": (
        f"{PAYMENT}/scenarios.py",
        '"fulfilments": scenario.fulfilments',
        '"fulfilments": scenario.name',
        'TypedDict item "fulfilments" has type "int")',
    ),
    "payment: value that is not listed": (
        f"{PAYMENT}/webhook_endpoints.py",
        '"state": cast("types.DeliveryState", state)',
        '"state": "sent"',
        'TypedDict item "state" has type "Literal[',
    ),
    "payment: status": (
        f"{PAYMENT}/checkout_sessions.py",
        "Literal[201]]:",
        "Literal[200]]:",
        'variable has type "_CreateCheckoutSession")',
    ),
}


@pytest.fixture(scope="module")
def errors(
    corpus: tuple[Path, list[str]],
    todos: Path,
    project: Stranger,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[str]:
    """Return the errors of mypy in the corpus, the projects and both services with planted errors.

    One run checks them all, because each run reads the libraries, which takes half a minute.
    """  # fmt: skip
    folder, packages = corpus
    scratch = tmp_path_factory.mktemp("mypy")
    planted: dict[str, str] = {}
    for name, (file, old, new, _) in PLANTED_IN_SERVICES.items():
        text = planted.get(file) or (ROOT / file).read_text()
        assert text.count(old) == 1, name
        planted[file] = text.replace(old, new)
    shadows: list[str] = []
    for number, (file, text) in enumerate(planted.items()):
        shadow = scratch / f"{number}.py"
        shadow.write_text(text)
        shadows += ["--shadow-file", file, str(shadow)]
    checked = [
        *(folder / package for package in packages),
        *sorted(todos.iterdir()),
        *(project.path / name for name in ("odd", "greeter", "tests", "wsgi.py")),
        *(f"{service}/types.py" for service in (CHAT, PAYMENT)),
        *planted,
    ]
    found = run_python(
        "mypy", copy_types(scratch), "--strict", "--follow-imports=silent", "--no-error-summary",
        "--hide-error-context", *shadows, *map(str, checked),
        MYPYPATH=os.pathsep.join(map(str, (folder, todos, project.path))),
    ).splitlines()  # fmt: skip
    places = (*map(str, (folder, todos, project.path)), CHAT, PAYMENT)
    assert [line for line in found if not line.startswith(places)] == []
    return [line for line in found if "error:" in line]


def test_mypy_detects_errors_in_both_services(errors: list[str]) -> None:
    for name, (file, _, _, message) in PLANTED_IN_SERVICES.items():
        compared = f"{Path(file).parent}/types.py"
        place = compared if "variable has type" in message else file
        assert any(line.startswith(place) and message in line for line in errors), (name, errors)


def test_check_reports_stale_and_edited_types(shop: Stranger) -> None:
    assert "no mistakes" in shop.specd("check")
    document = shop.path / "todo/openapi.yaml"
    text = document.read_text()
    document.write_text(text.replace("Something to do.", "A thing to do."))
    assert "no mistakes" in shop.specd("check"), "words are not types"
    document.write_text(text.replace("required: [id, text, completed]", "required: [id, text]"))
    stale = shop.run(PROGRAM, "check")
    assert (stale.returncode, stale.stdout.splitlines()[0]) == (
        1,
        "todo/types.py:1:1: these types do not match the document: run `specd types --only todo`",
    )
    assert shop.specd("types", "--only", "todo") == "changed  todo/types.py\n"
    types = shop.path / "todo/types.py"
    assert "    completed: NotRequired[bool]\n" in types.read_text()
    assert "no mistakes" in shop.specd("check")
    assert shop.specd("types") == "todo/types.py is up to date\n"
    types.write_text(types.read_text().replace("NotRequired[bool]", "bool"))
    assert shop.run(PROGRAM, "check").returncode == 1
    document.write_text(text)
    assert "changed  todo/types.py" in shop.specd("new", "todo", "--update").splitlines()
    assert "no mistakes" in shop.specd("check")


def test_types_of_a_file_are_printed(shop: Stranger) -> None:
    printed = shop.specd("types", "todo/openapi.yaml")
    assert "class NewTask(TypedDict):\n    text: str\n" in printed
    assert "todo.handlers" not in printed


NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
NUMBERS = {"type": "integer"}


@pytest.mark.parametrize("media_type", ["application/x-www-form-urlencoded", "application/json"])
@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({**NAMED, "additionalProperties": NUMBERS}, "dict[str, int | str]"),
        ({**NAMED, "unevaluatedProperties": NUMBERS}, "dict[str, int | str]"),
        ({"type": "object", "additionalProperties": NUMBERS}, "dict[str, int]"),
        ({"allOf": [NAMED, {"additionalProperties": NUMBERS}]}, "dict[str, int | str]"),
    ],
    ids=str,
)
def test_described_properties_without_a_name_have_a_type(
    schema: dict[str, Any], kind: str, media_type: str
) -> None:
    operation = {
        "operationId": "change",
        "requestBody": {"required": True, "content": {media_type: {"schema": schema}}},
        "responses": {"204": {"description": "Done."}},
    }
    content = {
        "openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "servers": [{"url": "/a"}],
        "paths": {"/a": {"post": operation}},
    }  # fmt: skip
    (described,) = describe([Document("a", content)], "a.handlers")
    assert described.signature().startswith(f"def change(ctx: Context, *, body: {kind}) ->")


@pytest.mark.parametrize("keyword", ["allOf", "anyOf"])
def test_schemas_that_repeat_another_are_read_once(keyword: str) -> None:
    """Each of 60 levels has the next one twice, so it has 2**60 paths."""
    levels: dict[str, Any] = {"L0": {**NAMED, "additionalProperties": NUMBERS}}
    for level in range(1, 60):
        inner = {"$ref": f"#/components/schemas/L{level - 1}"}
        levels[f"L{level}"] = {keyword: [inner, inner]}
    media = {"application/x-www-form-urlencoded": {"schema": {"$ref": "#/components/schemas/L59"}}}
    operation = {
        "operationId": "change",
        "requestBody": {"required": True, "content": media},
        "responses": {"204": {"description": "Done."}},
    }
    content = {
        "openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "servers": [{"url": "/a"}],
        "paths": {"/a": {"post": operation}}, "components": {"schemas": levels},
    }  # fmt: skip
    (described,) = describe([Document("a", content)], "a.handlers")
    assert described.signature().startswith("def change(ctx: Context, *, body: types.L59) ->")


HOSTILE = """
openapi: 3.1.0
info: {title: Hostile, version: "1"}
servers: [{url: /hostile}]
paths:
  /things:
    get:
      parameters: [{name: self, in: query, schema: {type: string}}]
      operationId: list_things
      responses:
        "200":
          description: Things.
          content: {application/json: {schema: {$ref: "#/components/schemas/S0"}}}
      security: [{token: []}]
components:
  securitySchemes: {token: {type: http, scheme: bearer}}
  schemas:
    S0:
      type: object
      properties:
        "area_m\u00b2": {type: object, required: [a], properties: {a: {type: string}}}
        "\ufb01": {type: integer}
        next: {$ref: "#/components/schemas/S1"}
"""
DEPTH = 1500
CODE = r"hostile.handlers.x import y\nopen('pwned', 'w')\nfrom a.b"
INJECTED = f'x-openapi-router-controller: "{CODE}"\n      operationId: list_things'


def test_names_and_depth_of_a_document_give_valid_types(tmp_path: Path) -> None:
    chain = "".join(
        f"    S{at}:\n      type: object\n"
        f"      properties: {{next: {{$ref: '#/components/schemas/S{at + 1}'}}}}\n"
        for at in range(1, DEPTH)
    )
    document = tmp_path / "hostile.yaml"
    document.write_text(f"{HOSTILE}{chain}    S{DEPTH}: {{type: object}}\n")
    shop = Stranger(tmp_path)
    shop.specd("new", "hostile", "--document", str(document))
    assert "no mistakes" in shop.specd("check")  # also with the functions that `new` has added
    types = shop.path / "hostile/types.py"
    source = types.read_text()
    compile(source, "types.py", "exec")
    assert f"class S{DEPTH - 1}(" in source
    written = shop.path / "hostile/openapi.yaml"
    written.write_text(written.read_text().replace("operationId: list_things", INJECTED))
    shop.run(PROGRAM, "types")
    assert types.read_text() == source
