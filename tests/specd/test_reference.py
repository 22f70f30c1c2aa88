"""docs/reference.md has exactly the public names of the library."""

import re
from importlib import import_module

import pytest

from tests.specd import reference_page
from tests.specd.reference_page import PAGE

MAX_MODULES = 9


def names_on_page(module: str) -> list[str]:
    """Return the headings in the section of a module."""
    section = PAGE.read_text().partition(f"\n## {module}\n")[2].partition("\n## ")[0]
    return re.findall(r"^### `(\w+)`$", section, re.MULTILINE)


def test_page_is_generated_from_the_source() -> None:
    assert reference_page.rendered() == PAGE.read_text(), "run scripts/reference"


def test_library_has_few_public_modules() -> None:
    assert 1 < len(reference_page.modules()) <= MAX_MODULES


@pytest.mark.parametrize("module", reference_page.modules())
def test_page_has_all_names(module: str) -> None:
    public = import_module(module)
    assert sorted(names_on_page(module)) == sorted(public.__all__)
    assert [name for name in public.__all__ if not hasattr(public, name)] == []


@pytest.mark.parametrize("module", reference_page.modules())
def test_public_name_has_a_description(module: str) -> None:
    names = reference_page.names(module)
    assert [name for name in names if not reference_page.find(module, name)[2]] == []
