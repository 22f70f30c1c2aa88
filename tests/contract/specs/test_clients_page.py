"""docs/clients.md compared with the document: supported operations exist, and others do not."""

import re

import specs
from handlers.chat.server_settings import FEATURE_LEVEL
from models.chat.integrations.catalogue import INTEGRATIONS
from tests.live.running_server import ROOT

PAGE = (ROOT / "docs" / "clients.md").read_text()
DOCUMENT = specs.load("chat")
PAGES = {"GET /login/"}
"""Operations that `pages/chat.py` serves."""


def find_rows(heading: str) -> list[list[str]]:
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]


def without_names(operation: str) -> str:
    return re.sub(r"{\w+}", "{}", operation)


def test_operations_are_supported_as_listed() -> None:
    existing = {
        f"{method.upper()} {without_names(path)}"
        for path, item in DOCUMENT["paths"].items()
        for method in item
    }
    listed = {
        without_names(operation): supported
        for cell, _, supported, *_ in find_rows("Operations")
        if not cell.startswith("a picture in")
        for operation in re.findall(r"`([A-Z]+ /[^`]+)`", cell)
    }
    assert set(listed.values()) == {"yes", "no"}
    for operation, supported in listed.items():
        assert (operation in existing | PAGES) == (supported == "yes"), operation


def test_keys_are_supported_as_listed() -> None:
    existing = DOCUMENT["components"]["schemas"]["RegisteredQueue"]["properties"]
    listed = {
        key: supported
        for cell, supported, *_ in find_rows("Keys of `POST /register`")
        for key in re.findall(r"`(\w+)`", cell)
    }
    assert set(listed.values()) == {"yes", "no"}
    for key, supported in listed.items():
        assert (key in existing) == (supported == "yes"), key


def test_integrations_are_those_of_the_service() -> None:
    (row,) = (row for row in find_rows("Operations") if "{integration}" in row[0])
    others = {
        path.rpartition("/")[2] for path in DOCUMENT["paths"] if path.startswith("/external/")
    }
    assert set(re.findall(r"`(\w+)`", row[3])) == {*INTEGRATIONS, *others} - {"{integration}"}


def test_feature_level_is_that_of_the_server() -> None:
    assert f"The service reports feature level {FEATURE_LEVEL}." in PAGE
