"""The TypeScript SDKs that `scripts/sdk` generates pass `tsc --strict`, make every call of the
table and read typed results.
"""

from pathlib import Path

import pytest

from tests.contract.sdk.stage import DOCUMENTS, staged
from tests.contract.sdk.typescript_programs import (
    DRIVES,
    PROJECT,
    TSC,
    WRITERS,
    node,
    typescript_drive,
)


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("sdk", WRITERS)
def test_sdk_calls_every_operation(compiled: Path, sdk: str, document: str, tmp_path: Path) -> None:
    with staged(document, tmp_path) as stage:
        typescript_drive(stage, compiled, sdk)
        assert stage.undriven() == {}
        assert stage.unrefused() == {}


def test_mismatch_with_the_types_is_an_error(compiled: Path) -> None:
    """`tsc --strict` really checks sent values, positions, and presence."""
    mistakes = (
        ('"12.5"', "12.5", "TS2322"),
        ('"status"', '"statuss"', "TS2345"),
        ('"none"', '"nonee"', "TS2345"),
        ('"12500000"', "12500000", "TS2345"),
    )
    mistaken = [DRIVES / f"mistaken.{sdk}.ts" for sdk in WRITERS]
    for path in mistaken:
        source = path.with_name(path.name.replace("mistaken", "payment")).read_text()
        for right, wrong, _ in mistakes:
            assert right in source
            source = source.replace(right, wrong, 1)
        path.write_text(source, encoding="utf-8")
    try:
        done = node(TSC, "--project", PROJECT, "--noEmit")
    finally:
        for path in mistaken:
            path.unlink()
    for path in mistaken:
        found = [line for line in done.stdout.splitlines() if path.name in line]
        codes = [line.partition("error ")[2][:6] for line in found]
        assert codes == [code for *_, code in mistakes], done.stdout
