"""The root of a project is found upwards from the working directory, like that of git."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.live.running_server import free_port, until_it_answers
from tests.support.stranger import PROGRAM, Stranger

WSGI = """from specd import Project

project = Project()
__getattr__ = project.application
"""
COMMANDS = ("serve", "worker", "migrate", "doctor", "config check", "check", "routes")
DOCUMENT = """openapi: 3.1.0
info: {title: One, version: "1"}
paths:
  /greeting:
    get:
      responses: {"204": {description: Done.}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Stranger:
    """A project without services, and a folder in it with an unrelated wsgi.py."""
    shop = Stranger(tmp_path)
    (shop.path / "site" / "deep").mkdir(parents=True)
    (shop.path / "wsgi.py").write_text(WSGI)
    (shop.path / "site" / "wsgi.py").write_text("application = None\n")
    return shop


def folder_in(shop: Stranger, below: str = ".", **env: str) -> str:
    """Return the data directory of a project, which is in its root."""
    settings = json.loads(shop.specd("config", "check", "--json", below=below, **env))["settings"]
    return str({each["variable"]: each["value"] for each in settings}["SPECD_DATA_DIR"])


def test_commands_use_the_project_around_the_working_directory(shop: Stranger) -> None:
    assert folder_in(shop) == "var"
    for below in ("site", "site/deep"):
        assert folder_in(shop, below) == str(shop.path / "var")


def test_variable_names_the_project(shop: Stranger, tmp_path: Path) -> None:
    assert folder_in(shop, "..", SPECD_PROJECT=str(shop.path)) == str(shop.path / "var")
    wrong = str(shop.path / "site")
    output = f"SPECD_PROJECT names {wrong}, which has no wsgi.py with a `project`."
    assert shop.refusal("migrate", SPECD_PROJECT=wrong) == output


EACH = """
import contextlib, io, json, sys
from specd._cli.main import main
answers = {}
for command in sys.argv[1:]:
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(said):
        try:
            main(command.split())
        except SystemExit as end:
            answers[command] = (end.code, said.getvalue())
print(json.dumps(answers))
"""
NO_PROJECT = (
    "Error: There is no project here: neither this folder nor one above it has a wsgi.py with a"
    " `project`. Begin one with `specd new NAME`.\n"
)


def run_each(stranger: Stranger, *commands: str) -> dict[str, tuple[int, str]]:
    """Return the status and the output of commands that run in one process."""
    (stranger.path.parent / "library/each.py").write_text(EACH)
    done = stranger.run("each", *commands)
    assert done.returncode == 0, done.stderr
    return {
        command: (status, output) for command, (status, output) in json.loads(done.stdout).items()
    }


class TestOutsideOfAProject:
    def test_commands_describe_the_first_steps(self, tmp_path: Path) -> None:
        nowhere = Stranger(tmp_path)
        assert run_each(nowhere, *COMMANDS) == dict.fromkeys(COMMANDS, (1, NO_PROJECT))
        assert list(nowhere.path.iterdir()) == []

    def test_help_works(self, tmp_path: Path) -> None:
        commands = ["--help", *(f"{command} --help" for command in (*COMMANDS, "new", "mock"))]
        for status, output in run_each(Stranger(tmp_path), *commands).values():
            assert (status, output.partition(" ")[0]) == (0, "Usage:")

    def test_documents_are_checked_and_listed(self, tmp_path: Path) -> None:
        nowhere = Stranger(tmp_path)
        (nowhere.path / "one.yaml").write_text(DOCUMENT)
        (nowhere.path / "two.yaml").write_text(DOCUMENT.replace("description", "descripton"))
        commands = ("check one.yaml", "routes one.yaml", "check two.yaml")
        good, routes, bad = run_each(nowhere, *commands).values()
        assert good == (0, "Checked one.yaml: no mistakes.\n")
        assert (routes[0], "/greeting" in routes[1]) == (0, True)
        assert (bad[0], bad[1].partition(":")[0]) == (1, "two.yaml")

    def test_documents_are_mocked(self, tmp_path: Path) -> None:
        nowhere = Stranger(tmp_path)
        (nowhere.path / "one.yaml").write_text(DOCUMENT)
        bind = f"127.0.0.1:{free_port()}"
        log = tmp_path / "mock.log"
        with log.open("wb") as out:
            server = subprocess.Popen(
                nowhere.argv(PROGRAM, "mock", "one.yaml", "--bind", bind),
                cwd=nowhere.path, env=nowhere.env, stdout=out, stderr=out,
            )  # fmt: skip
        try:
            until_it_answers(f"http://{bind}/greeting", server, log)
        finally:
            server.terminate()
            server.wait(20)
