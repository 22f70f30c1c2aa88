"""docs/security.md names a test for each claim, and these tests exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/.]+)(?:::(\w+))?`", PAGE)))
CHAPTERS = [f"V{number}" for number in range(1, 18)]
RISKS = [f"API{number}" for number in range(1, 11)]


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_named_tests_exist(path: str, name: str) -> None:
    place = ROOT / path
    assert place.exists()
    if name:
        assert re.search(rf"^ *(?:async )?def {name}\(", place.read_text(), re.MULTILINE)


def test_every_line_of_both_lists_has_a_verdict() -> None:
    rows = re.findall(r"^\| (V\d+|API\d+) [^|]+\| (\w[\w ]*) \| (.+) \|$", PAGE, re.MULTILINE)
    assert [name for name, _, _ in rows] == [*CHAPTERS, *RISKS]
    for name, verdict, evidence in rows:
        assert verdict in ("holds", "partly", "does not hold", "does not apply"), name
        assert verdict != "holds" or "`" in evidence, f"{name}: no evidence"
