"""`specd new` with an installed library: its services can be served and extended."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from specd._cli import scaffold
from tests.architecture.imports import ROOT
from tests.live.running_server import free_port, until_it_answers
from tests.support.copied_tree import CopiedTree
from tests.support.stranger import PROGRAM, Stranger

ODD = Path(__file__).with_name("odd.yaml").read_text()
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
def shop(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """A project with two new services: one from an unusual document, one from the example."""
    folder = tmp_path_factory.mktemp("new")
    shop = Stranger(folder)
    document = folder / "odd.yaml"
    document.write_text(ODD)
    output = shop.specd("new", "odd", "--document", str(document))
    assert output.splitlines() == [
        *("wrote    wsgi.py", "wrote    pyproject.toml", "wrote    README.md"),
        *("wrote    .gitignore", "wrote    odd/__init__.py", "wrote    odd/openapi.yaml"),
        *("wrote    odd/errors.py", "wrote    odd/models.py", "wrote    odd/auth.py"),
        *("wrote    odd/handlers/__init__.py", "wrote    odd/handlers/operations.py"),
        *("wrote    odd/handlers/pet_store.py", "wrote    odd/handlers/plans/__init__.py"),
        *("wrote    odd/handlers/plans/items.py", "wrote    odd/handlers/settings.py"),
        *("wrote    odd/handlers/session.py", "wrote    odd/types.py"),
        "wrote    tests/odd/test_operations.py",
        *("wrote    tests/odd/test_pet_store.py", "wrote    tests/odd/test_plans.py"),
        *("wrote    tests/odd/test_plans__items.py", "wrote    tests/odd/test_settings.py"),
        *("wrote    tests/odd/test_session.py",),
        "Next: specd migrate && pytest && specd serve --reload",
    ]
    output = shop.specd("new", "greeter", below="odd")
    assert [line for line in output.splitlines() if line.startswith("changed")] == [
        "changed  wsgi.py"
    ]
    assert 'project = Project("odd", "greeter")\n' in (shop.path / "wsgi.py").read_text()
    assert shop.specd("migrate") == "Migrated: odd, greeter.\n"
    return shop


@pytest.fixture(scope="module")
def address(shop: Stranger) -> Iterator[str]:
    bind = f"127.0.0.1:{free_port()}"
    log = shop.path.parent / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            shop.argv(PROGRAM, "serve"),
            cwd=shop.path, env={**shop.env, "SPECD_BIND": bind, "SPECD_WORKERS": "1"},
            stdout=out, stderr=out,
        )  # fmt: skip
    try:
        until_it_answers(f"http://{bind}/healthz", server, log)
        yield f"http://{bind}"
    finally:
        server.terminate()
        server.wait(20)


def test_unwritten_handler_answers_501_in_the_form_of_the_document(address: str) -> None:
    plan = httpx.get(f"{address}/v1/plans", headers={"X-Key": "a"})
    assert plan.status_code == 501
    assert plan.headers["Content-Type"] == "application/problem+json"
    assert plan.json()["status"] == 501


def test_example_is_written(address: str) -> None:
    assert httpx.get(f"{address}/greeter/v1/greetings/Ada").json() == {"text": "Hello Ada"}


def test_requests_are_validated_before_handlers_are_written(address: str) -> None:
    assert httpx.get(f"{address}/v1/pets/1").status_code == 401
    refused = httpx.post(f"{address}/v1/login", data={"age": "x"})
    assert (refused.status_code, refused.json()["title"]) == (400, "invalid_request")
    assert httpx.get(f"{address}/readyz").status_code == 200
    assert "keyAuth" in httpx.get(f"{address}/v1/openapi.yaml").text


def run_at_root(*words: str, **env: str) -> None:
    """Run a Python program in this checkout that must report nothing."""
    judged = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, env={**os.environ, **env},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_written_tests_pass_or_are_skipped_until_their_handler_is_written(shop: Stranger) -> None:
    ran = shop.run("pytest", "-p", "specd.testing", "-p", "no:cacheprovider", "-rs")
    assert ran.returncode == 0, ran.stdout
    # One from the example, and one without credentials for each of the secured operations.
    assert "9 passed, 9 skipped" in ran.stdout
    assert "the handler is not written yet" in ran.stdout
    handlers = shop.path / "odd/handlers/plans/__init__.py"
    source = handlers.read_text()
    handlers.write_text(source.replace("raise NotImplementedError", 'return ["a"]'))
    ran = shop.run("pytest", "-p", "specd.testing", "-p", "no:cacheprovider", "tests/odd")
    handlers.write_text(source)
    assert "1 failed" in ran.stdout, ran.stdout
    assert "status 200 is undocumented" in ran.stdout


def test_handler_has_the_signature_of_the_document(shop: Stranger) -> None:
    written = (shop.path / "odd/handlers/pet_store.py").read_text()
    assert written.endswith(
        '''
def post_pets(
    ctx: Context,
    *,
    idempotency_key: str,
    tags: list[str] | None = None,
    class_: str | None = None,
    order: str,
    body: types.PostPetsBody,
) -> tuple[dict[str, Any], Literal[201]]:
    """POST /pets."""
    raise NotImplementedError
'''
    )


RULES = "E,F,I,B,UP,SIM,RUF,PT"
NO_NAMES = ("Pet", "app", "tests", "1st", "a-b", "a" * 31, "class")
TAKEN = {
    "taken": "taken already exists.",
    "json": "json is the name of an installed module.",
    "click": "click is the name of an installed module.",
    "odd": "The service odd already exists; use --update to add to it.",
}
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
def refusals(shop: Stranger) -> dict[str, tuple[int, str]]:
    """Return the status and output of `specd new NAME` for each rejected name."""
    (shop.path / "taken").mkdir()
    (shop.path.parent / "library/each.py").write_text(IN_ONE_PROCESS)
    done = shop.run("each", *NO_NAMES, *TAKEN)
    (shop.path / "taken").rmdir()
    assert done.returncode == 0, done.stderr
    return {name: (status, output) for name, (status, output) in json.loads(done.stdout).items()}


@pytest.mark.parametrize("name", NO_NAMES)
def test_name_must_be_a_package_name(refusals: dict[str, tuple[int, str]], name: str) -> None:
    assert refusals[name][0] == 2


@pytest.mark.parametrize("name", TAKEN)
def test_existing_name_is_rejected(
    shop: Stranger, refusals: dict[str, tuple[int, str]], name: str
) -> None:
    assert refusals[name] == (1, f"Error: {TAKEN[name]}\n")
    assert name == "odd" or not (shop.path / name).exists()


def test_document_that_cannot_be_served_changes_nothing(tmp_path: Path) -> None:
    empty = Stranger(tmp_path)
    document = tmp_path / "bad.yaml"
    document.write_text(ODD.replace("type: integer", "type: integr", 1))
    refused = empty.run(PROGRAM, "new", "bad", "--document", str(document))
    assert refused.returncode == 1
    assert "paths./pets/{id}" in refused.stderr
    assert list(empty.path.iterdir()) == []


class TestBasePath:
    def test_path_of_another_service_is_rejected_with_its_name(self, shop: Stranger) -> None:
        document = shop.path.parent / "odd.yaml"
        words = ("new", "second", "--document", str(document))
        assert shop.refusal(*words) == (
            "second would be served under /v1, and odd is served under /v1: choose another path"
            " with --base-path."
        )
        assert shop.refusal(*words, "--base-path", "/v1/more").startswith("second would be served")
        assert not (shop.path / "second").exists()

    @pytest.mark.parametrize(
        "servers", ["servers: [{url: /a}]", "servers:\n- url: /a\n- url: /b", ""]
    )
    def test_option_replaces_the_path_of_the_document(self, tmp_path: Path, servers: str) -> None:
        empty = Stranger(tmp_path)
        document = tmp_path / "one.yaml"
        text = ODD.replace('servers: [{url: "https://api.example.com/v1"}]', servers)
        document.write_text(text)
        words = ("new", "one", "--document", str(document))
        empty.specd(*words, "--base-path", "/own/v2")
        assert "/own/v2/pets" in empty.specd("routes")
        written = (empty.path / "one/openapi.yaml").read_text()
        assert written.replace('servers: [{"url": "/own/v2"}]', servers) != written


def test_update_adds_new_operations_of_the_document(tmp_path: Path) -> None:
    shop = Stranger(tmp_path)
    shop.specd("new", "greeter")
    handlers = shop.path / "greeter/handlers/greetings.py"
    own = handlers.read_text()
    output = shop.specd("new", "greeter", "--update")
    assert output == "Nothing to add: the handlers match the document.\n"

    document = shop.path / "greeter/openapi.yaml"
    document.write_text(document.read_text() + MORE + HEALTH)
    output = shop.specd("new", "greeter", "--update")
    assert output.splitlines() == [
        "wrote    greeter/handlers/operations.py",
        "wrote    tests/greeter/test_operations.py",
        "changed  greeter/handlers/greetings.py",
        "changed  greeter/types.py",
        "changed  tests/greeter/test_greetings.py",
    ]
    now = handlers.read_text()
    assert own.partition("\n\n\n")[2].rstrip() in now
    assert "def say_farewell(ctx: Context) -> tuple[None, Literal[204]]:" in now
    run_at_root(
        "ruff", "check", "--isolated", "--line-length=100", f"--select={RULES}",
        "--config", f"src = ['{shop.path}', '{ROOT}']", str(shop.path),
    )  # fmt: skip
    run_at_root("ruff", "format", "--isolated", "--line-length=100", "--check", str(shop.path))

    document.write_text(document.read_text().replace("person", "somebody"))
    handlers.write_text(now + "\n\ndef left_over(ctx: Context) -> None:\n    pass\n")
    updated = shop.run(PROGRAM, "new", "greeter", "--update")
    assert updated.returncode == 1
    line = 1 + now.splitlines().index(next(n for n in now.splitlines() if "def get_greeting" in n))
    assert updated.stderr.startswith(
        f"greeter/handlers/greetings.py:{line}: get_greeting:"
        " greeter.handlers.greetings.get_greeting takes person, which the document does not know\n"
        "The document requires:\n"
        "def get_greeting(ctx: Context, *, somebody: str) -> types.GetGreetingResponse:\n"
    )
    assert "no operation is left_over\n" in updated.stderr
    assert handlers.read_text().startswith(now), "no file may be overwritten"


class TestInThisRepository:
    def test_update_reads_each_document_of_a_service(self, tmp_path: Path) -> None:
        tree = CopiedTree(tmp_path, "tests/support")
        document = tree.path / "specs/payment-events.yaml"
        text = document.read_text()
        assert "\npaths:\n" in text
        document.write_text(text.replace("\npaths:\n", f"\npaths:\n{HEALTH}", 1))
        output = tree.specd("new", "payment", "--update")
        assert output.splitlines() == [
            "wrote    handlers/payment/operations.py",
            "wrote    tests/handlers/payment/test_operations.py",
            "changed  handlers/payment/types.py",
        ]

        output = tree.specd("new", "greeter")
        assert "changed  wsgi.py" in output.splitlines()
        assert "wrote    greeter/handlers/greetings.py" in output.splitlines()
        assert "/greeter/v1/greetings/{person}" in tree.specd("routes")


def test_new_project_is_short(tmp_path: Path) -> None:
    empty = Stranger(tmp_path)
    empty.specd("new", "greeter")
    written = [path for path in empty.path.rglob("*") if path.is_file()]
    assert len(written) == 12
    assert sum(len(path.read_text().splitlines()) for path in written) < 170


class TestServiceWithoutADatabase:
    """A service of three files: the document, the handlers and wsgi.py."""

    def test_service_is_checked_served_and_reloaded(self, tmp_path: Path) -> None:
        shop = Stranger(tmp_path)
        document = (scaffold.TEMPLATES / "document.yaml.txt").read_text()
        (shop.path / "one").mkdir()
        (shop.path / "one/openapi.yaml").write_text(document.replace("$name", "one"))
        handlers = shop.path / "one/handlers.py"
        handlers.write_text('def get_greeting(ctx, *, person):\n    return {"text": person}\n')
        (shop.path / "wsgi.py").write_text(
            'from specd import Project\n\nproject = Project("one")\n'
            "__getattr__ = project.application\n"
        )
        assert shop.specd("check") == (
            "Checked one/openapi.yaml and their handlers: no mistakes.\n"
        )
        assert "one.handlers.get_greeting" in shop.specd("routes")
        assert shop.specd("migrate") == "There is no database to migrate.\n"
        bind = f"127.0.0.1:{free_port()}"
        url = f"http://{bind}/one/v1/greetings/Ada"
        log = tmp_path / "server.log"
        with log.open("wb") as out:
            server = subprocess.Popen(
                shop.argv(PROGRAM, "serve", "--reload"),
                cwd=shop.path, env={**shop.env, "SPECD_BIND": bind}, stdout=out, stderr=out,
            )  # fmt: skip
        try:
            until_it_answers(url, server, log)
            assert httpx.get(url).json() == {"text": "Ada"}
            handlers.write_text(handlers.read_text().replace("person}", "person.upper()}"))
            deadline = time.monotonic() + 30
            while httpx.get(url).json() != {"text": "ADA"}:
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
        finally:
            server.terminate()
            server.wait(20)


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}, True),
        ({"type": "http", "scheme": "Bearer", "bearerFormat": "jwt"}, True),
        ({"type": "http", "scheme": "bearer"}, False),
        ({"type": "http", "scheme": "basic", "bearerFormat": "JWT"}, False),
    ],
)
def test_scheme_with_tokens_shows_its_security_function(
    scheme: dict[str, str], expected: bool
) -> None:
    source = scaffold.auth_module({"userToken": scheme})
    line = "# check_user_token = Bearer(lambda settings: Tokens(settings.token_secret))\n"
    assert (line in source) is expected
    compile(source, "auth.py", "exec")
