"""The sample project, which the suite uses in a tree without services."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LENDING = Path(__file__).with_name("lending")
CALLS = """
import asyncio, httpx, wsgi

async def call():
    transport = httpx.ASGITransport(app=wsgi.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://lending.test") as client:
        for title in ("emma", "persuasion"):
            answer = await client.get(f"/lending/books/{title}")
            print(answer.status_code, answer.json().get("code"), answer.json().get("copies"))

asyncio.run(call())
"""


def run(folder: Path, *words: str) -> str:
    env = {name: value for name, value in os.environ.items() if "SPECD_" not in name}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=LENDING,
        capture_output=True,
        text=True,
        env={**env, "PYTHONPATH": f"{LENDING}:{ROOT}", "SPECD_DATA_DIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("command", "output"), [("check", "no mistakes"), ("routes", "get_book")])
def test_commands_accept_its_document(tmp_path: Path, command: str, output: str) -> None:
    assert output in run(tmp_path, "-m", "specd._cli.main", command)


def test_service_responds_and_rejects(tmp_path: Path) -> None:
    assert run(tmp_path, "-c", CALLS).splitlines() == ["200 None 2", "404 book_not_found None"]
