"""SDKs of an older version of the service can read newer responses."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.contract.sdk.generate import row_of
from tests.contract.sdk.growing import NEW, VALUES, growing, grown
from tests.contract.sdk.stage import DOCUMENTS, Stage, staged
from tests.contract.sdk.table import growth_of
from tests.contract.sdk.test_python import DRIVEN_BY, python_drive, skip_unless_generated
from tests.contract.sdk.toolchains import TOOLCHAINS, bridged_drive, program
from tests.contract.sdk.typescript_programs import WRITERS, typescript_drive
from tests.support.marks import in_all

Drive = Callable[[Stage, list[dict[str, Any]]], None]


@contextmanager
def growing_stage(
    document: str, directory: Path, values: tuple[str, ...]
) -> Iterator[tuple[Stage, list[dict[str, Any]]]]:
    """Yield a stage whose server has a newer version, and its responses so far."""
    with (
        staged(document, directory) as stage,
        growing(stage.server.url, values=values) as (url, answers),
    ):
        facts = json.loads(stage.facts.read_text())
        facts["base_url"] = facts["base_url"].replace(stage.server.url, url)
        stage.facts.write_text(json.dumps(facts))
        stage.calls.write_text(json.dumps([asdict(call) for call in growth_of(document)]))
        yield stage, answers


def read_on(sdk: str, document: str, directory: Path, drive: Drive) -> None:
    """Check that the drive tolerates as much of a later version as the list states, and no more."""
    stops = "stops" in row_of(sdk, document)
    with growing_stage(document, directory, () if stops else VALUES) as (stage, answers):
        drive(stage, answers)
    if stops:
        directory = directory / "refused"
        directory.mkdir()
        with growing_stage(document, directory, VALUES) as (stage, answers):
            with pytest.raises(AssertionError):
                drive(stage, answers)
            assert answers


def lost(answer: Any, record: Any, path: str = "") -> set[str]:
    """Return where a record lacks data of the response, except data that was unknown before."""
    if isinstance(answer, dict):
        known = {name: value for name, value in answer.items() if name != NEW and value is not None}
        return {
            place
            for name, value in known.items()
            for place in lost(value, (record or {}).get(name), f"{path}.{name}")
        }
    if isinstance(answer, list):
        if len(answer) != len(record or []):
            return {path}
        return {p for a, r in zip(answer, record, strict=True) for p in lost(a, r, f"{path}[]")}
    return set() if answer in (NEW, NEW.upper(), record) else {path}


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("sdk", TOOLCHAINS)
def test_bridged_sdk_loses_no_data(sdk: str, document: str, tmp_path: Path) -> None:
    command = program(document, sdk)

    def drive(stage: Stage, answers: list[dict[str, Any]]) -> None:
        count = 0
        for answer in bridged_drive(stage, command):
            count += 1
            told = answers[-1]
            if "leaves_out" in row_of(sdk, document) and told.get("events"):
                told = {**told, "events": told["events"][1:]}
            assert lost(told, answer.record) == set()
        assert count == len(growth_of(document)) == len(answers)

    read_on(sdk, document, tmp_path, drive)


@pytest.mark.parametrize(
    "document", ["chat", *(in_all(each) for each in DOCUMENTS if each != "chat")]
)
@pytest.mark.parametrize("sdk", DRIVEN_BY)
def test_python_sdk_reads_newer_responses(sdk: str, document: str, tmp_path: Path) -> None:
    def drive(stage: Stage, answers: list[dict[str, Any]]) -> None:
        python_drive(stage, sdk)
        assert len(answers) == len(growth_of(document))

    skip_unless_generated(document, sdk)
    read_on(sdk, document, tmp_path, drive)


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("sdk", WRITERS)
def test_typescript_sdk_reads_newer_responses(
    compiled: Path, sdk: str, document: str, tmp_path: Path
) -> None:
    def drive(stage: Stage, answers: list[dict[str, Any]]) -> None:
        typescript_drive(stage, compiled, sdk, "growth.")
        assert len(answers) == len(growth_of(document))

    read_on(sdk, document, tmp_path, drive)


def test_lost_data_is_detected() -> None:
    answer = grown({"data": [{"id": 1, "type": "known"}], "more": False})
    assert [item["type"] for item in answer["data"]] == [NEW, "known"]
    assert answer[NEW] == answer["data"][0][NEW] == {"a": 1}
    assert lost(answer, {"data": answer["data"], "more": False}) == set()
    assert lost(answer, {"data": [{"id": 1}, {"id": 1}], "more": False}) == {".data[].type"}
    assert lost(answer, {"data": answer["data"][:1]}) == {".data", ".more"}
