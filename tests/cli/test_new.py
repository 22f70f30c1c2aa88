"""`specd new` in a copy of the tree: what it writes starts, is judged as ours is, and grows."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.live.running_server import free_port, until_it_answers
from tests.support.copied_tree import CopiedTree, copy_types

JUDGES = [
    f"tests/architecture/test_{name}.py"
    for name in ("types", "services", "layers", "packages", "commit_once")
]
ODD = """
openapi: 3.1.0
info: {title: Odd, version: "1"}
servers: [{url: "https://api.example.com/v1"}]
security: [{keyAuth: []}, {bearer: []}]
paths:
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get:
      summary: >-
        Get “the” pet \u2013 a very long summary that goes on, because whoever wrote it had a
        lot to say about pets.
      responses:
        "200":
          description: Names.
          content: {application/json: {schema: {type: array, items: {type: string}}}}
    delete:
      tags: [pet store]
      operationId: deletePet
      responses: {"204": {description: Gone.}}
  /pets:
    post:
      tags: [pet store]
      parameters:
        - {name: Idempotency-Key, in: header, required: true, schema: {type: string, format: uuid}}
        - {name: tags, in: query, schema: {type: array, items: {type: string}}, example: [a, b]}
        - {name: class, in: query, schema: {type: [string, "null"]}}
        - {name: order, in: query, schema: {type: string, default: x}}
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [name]
              properties:
                name: {type: string, minLength: 120}
                nested:
                  type: object
                  properties:
                    a: {type: array, items: {type: integer}}
                    b: {type: string, example: 'It "is" \u2013 so'}
                    cccccccccccccccccccccc: {type: boolean}
                    dddddddddddddddddddddd: {type: number}
      responses:
        "201": {description: The pet., content: {application/json: {schema: {type: object}}}}
        default:
          description: A problem.
          content:
            application/problem+json:
              schema:
                type: object
                required: [title, status]
                properties: {title: {type: string}, status: {type: integer}}
  /plans:
    get:
      operationId: plans.list
      responses:
        "200":
          description: Plans.
          content: {application/json: {schema: {type: array, items: {type: string}}}}
    post:
      operationId: plans.create
      parameters: [{name: labels, in: query, schema: {type: array, items: {type: string}}}]
      responses: {"204": {description: Made.}}
    put: {operationId: plans.items.put, responses: {"204": {description: Put.}}}
    delete: {operationId: settings.get-it, responses: {"204": {description: Gone.}}}
    patch: {operationId: settings.get_it, responses: {"204": {description: Changed.}}}
  /login:
    post:
      security: []
      tags: [session]
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              required: [user]
              properties: {user: {type: string}, age: {type: integer}}
      responses: {"303": {description: Elsewhere.}}
components:
  securitySchemes:
    keyAuth:
      type: apiKey
      in: header
      name: X-Key
    bearer: {type: http, scheme: bearer}
"""
MORE = """\
  /farewells:
    post:
      tags: [greetings]
      operationId: say_farewell
      responses: {"204": {description: Said.}}
"""
HEALTH = """\
  /health:
    get:
      responses: {"204": {description: Well.}}
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> CopiedTree:
    """A tree with two new services: one of an odd document, one of the example."""
    folder = tmp_path_factory.mktemp("new")
    tree = CopiedTree(folder, "tests")
    document = folder / "odd.yaml"
    document.write_text(ODD)
    said = tree.specd("new", "odd", "--document", str(document))
    assert "wrote    handlers/odd/pet_store.py\n" in said
    assert "wrote    handlers/odd/plans/__init__.py\n" in said
    assert "wrote    handlers/odd/plans/items.py\n" in said
    assert "wrote    handlers/odd/settings.py\n" in said
    assert [line for line in said.splitlines() if line.startswith("changed")] == [
        "changed  wsgi.py"
    ]
    assert "The service is served under /odd/v1, not under the server of its document.\n" in said
    tree.specd("new", "greeter")
    tree.specd("migrate")
    return tree


@pytest.fixture(scope="module")
def address(tree: CopiedTree) -> Iterator[str]:
    bind = f"127.0.0.1:{free_port()}"
    log = tree.path.parent / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "specd._cli.main", "serve"],
            cwd=tree.path, env={**tree.env, "SPECD_BIND": bind, "SPECD_WORKERS": "1"},
            stdout=out, stderr=out,
        )  # fmt: skip
    try:
        until_it_answers(f"http://{bind}/healthz", server, log)
        yield f"http://{bind}"
    finally:
        server.terminate()
        server.wait(20)


def test_what_is_not_written_answers_501_in_the_envelope(address: str) -> None:
    greeting = httpx.get(f"{address}/greeter/v1/greetings/Ada")
    assert greeting.status_code == 501
    assert greeting.json() == {
        "code": "not_implemented",
        "message": "This operation is not written yet.",
    }
    pet = httpx.get(f"{address}/odd/v1/pets/1", headers={"X-Key": "a"})
    assert pet.status_code == 501
    assert pet.headers["Content-Type"] == "application/problem+json"
    assert pet.json()["status"] == 501


def test_the_rest_works_already(address: str) -> None:
    assert httpx.get(f"{address}/odd/v1/pets/1").status_code == 401
    refused = httpx.post(f"{address}/odd/v1/login", data={"age": "x"})
    assert (refused.status_code, refused.json()["title"]) == (400, "bad_request")
    assert httpx.get(f"{address}/readyz").status_code == 200
    assert "keyAuth" in httpx.get(f"{address}/odd/v1/openapi.yaml").text


def test_what_is_written_is_judged_as_ours_is(tree: CopiedTree) -> None:
    own = [f"{layer}/{name}" for layer in ("models", "handlers", "tests/handlers")
           for name in ("odd", "greeter")]  # fmt: skip
    tree.judge("ruff", "check", "--no-cache", "wsgi.py", *own)
    tree.judge("ruff", "format", "--no-cache", "--check", "wsgi.py", *own)
    tree.judge("mypy", copy_types(tree.path.parent), *own)
    # A test of what is not written is skipped.
    options = ("-p", "no:cacheprovider", "-p", "no:warnings", "-rs")
    ran = tree.judge("pytest", *options, "tests/handlers/odd", *JUDGES)
    assert "9 skipped" in ran
    assert "the handler is not written yet" in ran


def test_a_handler_has_the_signature_of_the_document(tree: CopiedTree) -> None:
    written = (tree.path / "handlers/odd/pet_store.py").read_text()
    assert written.endswith(
        '''
def post_pets(
    ctx: Context,
    *,
    idempotency_key: str,
    tags: list[str] | None = None,
    class_: str | None = None,
    order: str,
    body: dict[str, Any],
) -> tuple[dict[str, Any], int]:
    """POST /pets."""
    raise NotImplementedError
'''
    )


NO_NAMES = ("Pet", "app", "1st", "a-b", "a" * 31, "class")
TAKEN = {"composition": "specd/_composition.py", "migrations": "models/migrations"}
IN_ONE_PROCESS = """
import contextlib, io, json, sys
from specd._cli.main import main
answers = {}
for name in sys.argv[1:]:
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            main(["new", name])
        except SystemExit as end:
            answers[name] = (end.code, said.getvalue())
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def refusals(tree: CopiedTree) -> dict[str, tuple[int, str]]:
    """Status and words of `specd new NAME`, by names that are refused."""
    (tree.path.parent / "each.py").write_text(IN_ONE_PROCESS)
    done = subprocess.run(
        [sys.executable, tree.path.parent / "each.py", "odd", *NO_NAMES, *TAKEN],
        cwd=tree.path, env=tree.env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {name: (status, said) for name, (status, said) in json.loads(done.stdout).items()}


def test_nothing_is_written_twice(refusals: dict[str, tuple[int, str]]) -> None:
    assert refusals["odd"] == (1, "Error: There is a service odd; --update adds to it.\n")


@pytest.mark.parametrize("name", NO_NAMES)
def test_names_are_names_of_packages(refusals: dict[str, tuple[int, str]], name: str) -> None:
    assert refusals[name][0] == 2


@pytest.mark.parametrize("name", TAKEN)
def test_a_name_of_something_else_is_refused(
    tree: CopiedTree, refusals: dict[str, tuple[int, str]], name: str
) -> None:
    assert refusals[name] == (1, f"Error: {TAKEN[name]} is there already.\n")
    assert not (tree.path / "specs" / f"{name}.yaml").exists()


def test_a_document_that_cannot_be_served_changes_nothing(tree: CopiedTree) -> None:
    document = tree.path.parent / "bad.yaml"
    document.write_text(ODD.replace("type: integer", "type: integr", 1))
    refused = tree.run("specd._cli.main", "new", "bad", "--document", str(document))
    assert refused.returncode == 1
    assert "paths./pets/{id}" in refused.stderr
    assert not list(tree.path.rglob("bad"))
    assert '"bad"' not in (tree.path / "wsgi.py").read_text()


def test_an_update_adds_what_the_document_has_gained(tmp_path: Path) -> None:
    tree = CopiedTree(tmp_path, "tests/support", "tests/architecture")
    tree.specd("new", "greeter")
    handlers = tree.path / "handlers/greeter/greetings.py"
    own = handlers.read_text().replace("raise NotImplementedError", 'return {"text": person}')
    handlers.write_text(own)
    said = tree.specd("new", "greeter", "--update")
    assert said == "Nothing to add: the handlers are those of the document.\n"

    document = tree.path / "specs/greeter.yaml"
    document.write_text(document.read_text() + MORE + HEALTH)
    said = tree.specd("new", "greeter", "--update")
    assert said.splitlines() == [
        "wrote    handlers/greeter/operations.py",
        "wrote    tests/handlers/greeter/test_operations.py",
        "changed  handlers/greeter/greetings.py",
        "changed  tests/handlers/greeter/test_greetings.py",
    ]
    now = handlers.read_text()
    assert now.startswith(own.rstrip())
    assert "def say_farewell(ctx: Context) -> tuple[None, int]:" in now
    tree.judge("ruff", "check", "--no-cache", "handlers", "tests/handlers")
    tree.judge("ruff", "format", "--no-cache", "--check", "handlers", "tests/handlers")

    document.write_text(document.read_text().replace("person", "somebody"))
    handlers.write_text(now + "\n\ndef left_over(ctx: Context) -> None:\n    pass\n")
    updated = tree.run("specd._cli.main", "new", "greeter", "--update")
    assert updated.returncode == 1
    line = 1 + now.splitlines().index(next(n for n in now.splitlines() if "def get_greeting" in n))
    assert updated.stderr.startswith(
        f"handlers/greeter/greetings.py:{line}: get_greeting:"
        " handlers.greeter.greetings.get_greeting takes person, which the document does not know\n"
        "The document demands:\n"
        "def get_greeting(ctx: Context, *, somebody: str) -> dict[str, Any]:\n"
    )
    assert "no operation is left_over\n" in updated.stderr
    assert handlers.read_text().startswith(now), "nothing is overwritten"


def test_an_update_reads_each_document_of_a_service(tmp_path: Path) -> None:
    tree = CopiedTree(tmp_path, "tests/support")
    document = tree.path / "specs/payment-events.yaml"
    text = document.read_text()
    assert "\npaths:\n" in text
    document.write_text(text.replace("\npaths:\n", f"\npaths:\n{HEALTH}", 1))
    said = tree.specd("new", "payment", "--update")
    assert said.splitlines() == [
        "wrote    handlers/payment/operations.py",
        "wrote    tests/handlers/payment/test_operations.py",
    ]


def test_a_service_of_three_operations_is_short(tmp_path: Path) -> None:
    tree = CopiedTree(tmp_path)
    before = {path for path in tree.path.rglob("*.*")}
    tree.specd("new", "greeter")
    document = tree.path / "specs/greeter.yaml"
    document.write_text(document.read_text() + MORE + HEALTH)
    tree.specd("new", "greeter", "--update")
    written = [
        path for path in tree.path.rglob("*.*")
        if path not in before and path.suffix in (".py", ".mako")
    ]  # fmt: skip
    assert len(written) > 8
    assert sum(len(path.read_text().splitlines()) for path in written) < 150
