"""docs/tutorial.md, pasted word by word into a copy of the tree: it must build what it promises."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.architecture.imports import SHIPPED
from tests.live import guides
from tests.live.running_server import ROOT, free_port, until_it_answers
from tests.support.copied_tree import copy, copy_types

BESIDE = ("setup.cfg", "pyproject.toml", "README.md", "docs", "scripts", "tests")
"""What the copy needs beyond what ships: the tests, and what they read."""
JUDGES = [
    *(
        f"tests/architecture/test_{name}.py"
        for name in ("settings", "types", "services", "layers", "packages", "commit_once")
    ),
    "tests/architecture/test_docs.py::test_the_settings_table_is_what_settings_py_says",
]
"""The tests of the source that a new service can break."""
LEFT = re.compile(r"(^|/)(var|__pycache__|\.[^/]+)/")
OWN = re.compile(r"(specs/todo\.yaml|(handlers|models|models/migrations|tests/handlers)/todo/.+)")


def files(tree: Path) -> dict[str, bytes]:
    """Every file of the source by its path; what programs leave behind is not source."""
    paths = (path.relative_to(tree) for path in sorted(tree.rglob("*")) if path.is_file())
    return {str(path): (tree / path).read_bytes() for path in paths if not LEFT.search(str(path))}


class Reader:
    """Somebody who pastes the tutorial into a shell in `tree`, with the server in a second one."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.address = f"127.0.0.1:{free_port()}"
        self.env = {
            **{name: value for name, value in os.environ.items() if "SPECD_" not in name},
            "PYTHONPATH": str(tree),
            "PYTHON": sys.executable,
            "SPECD_BIND": self.address,
            "SPECD_WORKERS": "1",
        }
        self._server: subprocess.Popen[bytes] | None = None

    def here(self, text: str) -> str:
        """A piece of the tutorial with this server's address and this machine's programs."""
        return guides.as_installed(text).replace("127.0.0.1:8080", self.address)

    def paste(self, block: str) -> str:
        """What the shell prints."""
        pasted = subprocess.run(
            ["bash", "-ec", self.here(block)],
            cwd=self.tree, env=self.env, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert pasted.returncode == 0, f"{block}\n{pasted.stdout}\n{pasted.stderr}"
        return pasted.stdout.strip()

    def serve(self, block: str) -> None:
        log = self.tree.parent / "server.log"
        with log.open("wb") as out:
            self._server = subprocess.Popen(
                ["bash", "-c", f"exec env {self.here(block)}"],
                cwd=self.tree, env=self.env, stdout=out, stderr=out,
            )  # fmt: skip
        until_it_answers(f"http://{self.address}/readyz", self._server, log)

    def judge(self, *words: str) -> None:
        """Run a Python program that must find nothing to complain of."""
        judged = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.tree, env=self.env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert judged.returncode == 0, judged.stdout + judged.stderr

    def stop(self) -> None:
        if self._server is not None:
            self._server.terminate()
            self._server.wait(20)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in (*SHIPPED, *BESIDE):
        source, target = ROOT / name, tree / name
        target.parent.mkdir(exist_ok=True)
        copy(source, target)
    reader = Reader(tree)
    yield reader
    reader.stop()


def test_the_tutorial_builds_a_service(reader: Reader) -> None:
    before = files(reader.tree)
    said, answers = "", 0
    for language, block in guides.tutorial():
        if language == "json":
            answers += 1
            assert said == block
        elif language == "sh" and " serve " in block:
            reader.serve(block)
        elif language == "sh":
            said = reader.paste(block)
    assert answers == 6
    assert "No issues found" in said, "the last block that is pasted fuzzes"
    after = files(reader.tree)

    changed = {path for path in before if before[path] != after.get(path)}
    assert changed == {"wsgi.py", "docs/settings.md"}
    added = set(after["wsgi.py"].splitlines()) - set(before["wsgi.py"].splitlines())
    assert added == {b'        Service("todo"),'}
    assert [path for path in after.keys() - before.keys() if not OWN.fullmatch(path)] == []

    text = (ROOT / guides.TUTORIAL).read_text()
    (page,) = re.findall(r"<(http://127\S+)>", text)
    assert "/todo/v1/openapi.json" in httpx.get(reader.here(page), timeout=10).text
    served = httpx.get(f"http://{reader.address}/todo/v1/openapi.json", timeout=10)
    assert set(json.loads(served.content)["paths"]) == {"/tasks", "/tasks/{task_id}/complete"}
    reader.judge("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:warnings", *JUDGES)
    reader.judge("ruff", "check", "--no-cache", ".")
    reader.judge("ruff", "format", "--no-cache", "--check", ".")
    # The types of the other services do not depend on this one's.
    own = ("models/todo", "handlers/todo", "wsgi.py")
    reader.judge("mypy", copy_types(reader.tree.parent), *own)


def test_every_block_is_played_or_says_that_it_is_not() -> None:
    languages = [language for language, _ in guides.tutorial()]
    assert set(languages) == {"sh", "json", ""}
    answer, command = (block for language, block in guides.tutorial() if not language)
    assert "not_implemented" in answer, "the answer of a function that is not written"
    assert command == "scripts/sdk generate todo", "it needs Node.js and Java"
