"""The dialog of `/chat` that shows the message formatting."""

from pathlib import Path

import pytest

from pages.formatting import FORMATS

PAGE = Path(__file__).parent.parent.parent / "docs" / "markdown.md"


@pytest.mark.parametrize(("meaning", "samples"), FORMATS)
def test_sample_is_on_the_page_for_users(meaning: str, samples: tuple[str, ...]) -> None:
    text = (
        PAGE.read_text(encoding="utf-8").replace("\\|", "|").replace("`[text]` and `(", "[text](")
    )
    for sample in samples:
        assert sample in text
