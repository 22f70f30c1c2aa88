"""What `scripts/release-documents` takes as released, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import specs
from tests.contract.released import release as releasing
from tests.contract.released.release import RELEASED, release


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Where the documents last released are: copies of the present ones."""
    places = {service: tmp_path / f"{service}.yaml" for service in RELEASED}
    for service, place in places.items():
        place.write_bytes(specs.text(service))
    monkeypatch.setattr(releasing, "RELEASED", places)
    return places


def reword(place: Path, old: bytes, new: bytes) -> None:
    text = place.read_bytes()
    assert old in text
    place.write_bytes(text.replace(old, new, 1))


def test_what_is_released_is_so_already(kept: dict[str, Path]) -> None:
    assert "is released already" in release("chat")


def test_another_text_needs_another_version(kept: dict[str, Path]) -> None:
    reword(kept["chat"], b"  description: |", b"  description: |\n    Other words.\n")
    with pytest.raises(SystemExit, match=r"raise info\.version"):
        release("chat")


def test_a_newer_version_is_taken(kept: dict[str, Path]) -> None:
    version = specs.load("chat")["info"]["version"].encode()
    reword(kept["chat"], b"version: " + version, b"version: 0.0.1")
    assert release("chat").endswith("is released.")
    assert kept["chat"].read_bytes() == specs.text("chat")


def test_a_version_from_outside_stays_and_its_words_may_change(kept: dict[str, Path]) -> None:
    reword(kept["payment"], b"Your own number of the order.", b"Any number.")
    assert release("payment").endswith("is released.")
    assert kept["payment"].read_bytes() == specs.text("payment")


def test_and_nothing_may_break_under_it(kept: dict[str, Path]) -> None:
    before = kept["payment"].read_bytes()
    reword(kept["payment"], b"maxLength: 150", b"maxLength: 151")
    with pytest.raises(SystemExit, match=r"breaks what 0\.2\.1 promised"):
        release("payment")
    assert kept["payment"].read_bytes() != before
