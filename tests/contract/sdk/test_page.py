"""docs/sdks.md matches its script, and the first call of each SDK works unchanged, except the
server's address.
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.sdk.page import FIRST_CALLS, PAGE, first_call, page
from tests.contract.sdk.payment_stage import payment_stage
from tests.contract.sdk.stage import GENERATED
from tests.contract.sdk.test_python import DRIVEN_BY, PYTHON, skip_unless_generated
from tests.contract.sdk.toolchains import TOOLCHAINS, Command, first_program, program
from tests.contract.sdk.typescript_programs import MODULES, WRITERS

ADDRESS = "http://127.0.0.1:8080"
HOST = ADDRESS.removeprefix("http://")


def test_page_matches_the_list() -> None:
    assert PAGE.read_text() == page(), "python -m tests.contract.sdk.page > docs/sdks.md"


def test_every_driven_sdk_has_a_first_call() -> None:
    driven = {*TOOLCHAINS, *DRIVEN_BY, *WRITERS}
    assert {sdk for sdk in driven if first_call(sdk) is None} == set()
    assert sum(each.is_file() for each in FIRST_CALLS.iterdir()) == len(driven)


def makes_an_invoice(
    directory: Path, source: str, command: Callable[[str], Command], **environment: str
) -> None:
    """Check that the program that `command` builds from the source creates an invoice on a new
    server.
    """
    assert source.count(HOST) == 1
    with payment_stage(directory) as stage:
        facts = json.loads(stage.facts.read_text())
        done = subprocess.run(
            command(source.replace(HOST, stage.server.url.removeprefix("http://"))),
            cwd=directory,
            env={
                "PATH": os.environ["PATH"],
                "KEY": facts["callers"]["ada"]["token"],
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("unpaid 1500000 0x"), done.stdout


@pytest.mark.parametrize("sdk", TOOLCHAINS)
def test_bridged_sdk_makes_its_first_call(sdk: str, tmp_path: Path) -> None:
    program("payment", sdk)
    path = first_call(sdk)
    assert path is not None

    def command(source: str) -> Command:
        written = tmp_path / path.name
        written.write_text(source)
        return first_program(sdk, written)

    makes_an_invoice(tmp_path, path.read_text(), command)


@pytest.mark.parametrize("sdk", DRIVEN_BY)
def test_python_sdk_makes_its_first_call(sdk: str, tmp_path: Path) -> None:
    skip_unless_generated("payment", sdk)
    path = first_call(sdk)
    assert path is not None
    directory = str(GENERATED / "payment" / sdk)
    makes_an_invoice(
        tmp_path, path.read_text(), lambda source: [PYTHON, "-c", source], PYTHONPATH=directory
    )


@pytest.mark.parametrize("sdk", WRITERS)
def test_typescript_sdk_makes_its_first_call(compiled: Path, sdk: str, tmp_path: Path) -> None:
    path = compiled / "payment" / f"first.{sdk}.js"

    def command(source: str) -> Command:
        written = path.with_name(f"here.{sdk}.js")
        written.write_text(source)
        return ["node", written]

    makes_an_invoice(tmp_path, path.read_text(), command, NODE_PATH=str(MODULES))
