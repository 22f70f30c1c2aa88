"""The SDKs in Go, Java, PHP and Ruby that `scripts/sdk` generates make every call of the table and
read typed results.
"""

from pathlib import Path

import pytest

from tests.contract.sdk.stage import DOCUMENTS, staged
from tests.contract.sdk.toolchains import TOOLCHAINS, bridged_drive, program


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("sdk", TOOLCHAINS)
def test_sdk_calls_every_operation(sdk: str, document: str, tmp_path: Path) -> None:
    command = program(document, sdk)
    with staged(document, tmp_path) as stage:
        assert list(bridged_drive(stage, command))
        assert stage.undriven() == {}
        assert stage.unrefused() == {}
