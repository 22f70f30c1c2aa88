"""The SDKs in languages without a compiler here have none of the known errors."""

from pathlib import Path

import pytest

import specs
from tests.contract.sdk.generate import row_of
from tests.contract.sdk.searched import LANGUAGES, faults, wide
from tests.contract.sdk.stage import DOCUMENTS, GENERATED, NOT_GENERATED

WRONG = {
    "csharp": '[JsonPropertyName("at")]\n public int At { get; set; } enum E { = 1 } '
    "public partial class C : I { }",
    "kotlin": '@Json(name = "at")\n val at: kotlin.Int, @Json(name = "") (""), data class C ( )',
    "swift": 'case = "" public struct C: Codable { public init() { }',
    "dart": "static const = E._(r'');\nclass C {\n  /// Returns a new [C] instance.\n  C();",
}


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("sdk", LANGUAGES)
def test_sdk_has_no_known_errors(sdk: str, document: str) -> None:
    directory = GENERATED / document / sdk
    if not directory.is_dir():
        pytest.skip(NOT_GENERATED)
    language = LANGUAGES[sdk]
    assert len(list(directory.rglob(f"*{language.suffix}"))) > 10
    names = wide(specs.load(document))
    assert names
    found = list(faults(directory, language, names))
    if "empty" in row_of(sdk, document):
        assert {fault for fault in found if ": no members" not in fault} == set() != set(found)
    else:
        assert found == []


@pytest.mark.parametrize("sdk", LANGUAGES)
def test_known_errors_are_detected(sdk: str, tmp_path: Path) -> None:
    language = LANGUAGES[sdk]
    (tmp_path / f"a{language.suffix}").write_text(WRONG[sdk])
    found = [
        fault.partition(": ")[2].partition(":")[0] for fault in faults(tmp_path, language, {"at"})
    ]
    wide_ones = ["at has 32 bits"] if sdk in ("csharp", "kotlin") else []
    assert found == [*wide_ones, "no name", "no members"]
