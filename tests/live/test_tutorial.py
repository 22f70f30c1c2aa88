"""docs/tutorial.md, pasted into an empty folder with the library from a wheel, builds
examples/todo.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.live import guides
from tests.live.running_server import ROOT, free_port, until_it_answers
from tests.support.stranger import PROGRAM, Stranger, build_wheel

EXAMPLE = ROOT / "examples/todo"
LEFT = re.compile(r"(^|/)(var|__pycache__|\.pytest_cache|\.hypothesis|\.schemathesis)/")
PROGRAMS = {"specd": PROGRAM, "pytest": "pytest", "schemathesis": "schemathesis.cli"}


def files(tree: Path) -> dict[str, str]:
    """Return every source file by its path, without files that programs create."""
    paths = (path.relative_to(tree) for path in sorted(tree.rglob("*")) if path.is_file())
    return {str(path): (tree / path).read_text() for path in paths if not LEFT.search(str(path))}


class Reader:
    """A user who pastes the tutorial into a shell in a folder, with the server in a second
    shell.
    """

    def __init__(self, stranger: Stranger) -> None:
        self.tree = stranger.path
        self.address = f"127.0.0.1:{free_port()}"
        programs = self.tree.parent / "programs"
        programs.mkdir()
        for name, module in PROGRAMS.items():
            words = " ".join(f"'{word}'" for word in stranger.argv(module))
            (programs / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            (programs / name).chmod(0o755)
        self.env = {
            **stranger.env,
            "PATH": f"{programs}:{stranger.env['PATH']}",
            "SPECD_BIND": self.address,
            "SPECD_WORKERS": "1",
        }
        self._server: subprocess.Popen[bytes] | None = None

    def here(self, text: str) -> str:
        """Return a block of the tutorial with the address of this server."""
        return text.replace("127.0.0.1:8080", self.address)

    def paste(self, block: str) -> str:
        """Return the output of the shell."""
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

    def stop(self) -> None:
        if self._server is not None:
            self._server.terminate()
            self._server.wait(20)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(Stranger(tmp_path, "todo-list", wheel=build_wheel(tmp_path)))
    yield reader
    reader.stop()


def test_tutorial_builds_the_example(reader: Reader) -> None:
    said: dict[str | int, str] = {}
    answers = 0
    for language, block in guides.tutorial():
        if language == "json":
            answers += 1
            assert said[-1] == block
        elif language == "sh" and "specd serve" in block:
            reader.serve(block)
        elif language == "sh":
            said[-1] = said[block] = reader.paste(block)
    assert answers == 6
    assert "4 passed" in said["pytest"]
    assert "No issues found" in said[-1], "the last block that is pasted fuzzes"

    (page,) = re.findall(r"<(http://127\S+)>", (ROOT / guides.TUTORIAL).read_text())
    assert "/todo/v1/openapi.json" in httpx.get(reader.here(page), timeout=10).text
    served = httpx.get(f"http://{reader.address}/todo/v1/openapi.json", timeout=10)
    assert set(json.loads(served.content)["paths"]) == {"/tasks", "/tasks/{task_id}/complete"}

    built, kept = files(reader.tree), files(EXAMPLE)
    assert built.keys() == kept.keys()
    for name, text in built.items():
        assert text == kept[name], name


def test_every_block_is_played_or_says_that_it_is_not() -> None:
    languages = [language for language, _ in guides.tutorial()]
    assert set(languages) == {"sh", "json", ""}
    installation, answer, generator = (
        block for language, block in guides.tutorial() if not language
    )
    assert "pip install 'specd-server[test]'" in installation
    assert "not_implemented" in answer, "the answer of a function that is not written"
    assert generator.startswith("openapi-python-client"), "it is installed by the reader"
