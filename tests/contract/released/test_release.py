"""`scripts/release-documents`: accepted and rejected documents."""

from __future__ import annotations

from pathlib import Path

import pytest

import specs
from tests.contract.released import release as releasing
from tests.contract.released.release import RELEASED, release


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The directory of released documents, with copies of the present ones."""
    places = {service: tmp_path / f"{service}.yaml" for service in RELEASED}
    for service, place in places.items():
        place.write_bytes(specs.text(service))
    monkeypatch.setattr(releasing, "RELEASED", places)
    return places


def reword(place: Path, old: bytes, new: bytes) -> None:
    text = place.read_bytes()
    assert old in text
    place.write_bytes(text.replace(old, new, 1))


def test_released_document_is_unchanged(kept: dict[str, Path]) -> None:
    assert "is released already" in release("chat")


def test_changed_text_needs_a_new_version(kept: dict[str, Path]) -> None:
    reword(kept["chat"], b"  description: |", b"  description: |\n    Other words.\n")
    with pytest.raises(SystemExit, match=r"raise info\.version"):
        release("chat")


def test_newer_version_is_released(kept: dict[str, Path]) -> None:
    version = specs.load("chat")["info"]["version"].encode()
    reword(kept["chat"], b"version: " + version, b"version: 0.0.1")
    assert release("chat").endswith("is released.")
    assert kept["chat"].read_bytes() == specs.text("chat")


def test_fixed_version_stays_and_texts_may_change(kept: dict[str, Path]) -> None:
    reword(kept["payment"], b"Your identifier of the order.", b"Any number.")
    assert release("payment").endswith("is released.")
    assert kept["payment"].read_bytes() == specs.text("payment")


def test_fixed_version_allows_no_breaking_changes(kept: dict[str, Path]) -> None:
    before = kept["payment"].read_bytes()
    reword(kept["payment"], b"maxLength: 150", b"maxLength: 151")
    with pytest.raises(SystemExit, match=r"breaks what 0\.2\.1 promised"):
        release("payment")
    assert kept["payment"].read_bytes() != before
