"""The public names of the library. Their number may only fall: a new name replaces another."""

from importlib import import_module
from inspect import isclass, isfunction
from pkgutil import iter_modules

import pytest

import specd

NAMES = {
    "specd.auth": ["Bearer", "Passwords", "Tokens"],
    "specd.commands": ["Finding", "answer", "json_option", "open_database"],
    "specd.db": [
        *(
            "NAMING",
            "Change",
            "Clock",
            "Cursors",
            "Database",
            "Db",
            "IdempotencyKeyColumns",
            "InvalidPage",
            "Page",
            "Query",
        ),
        *("RowNumber", "Rule", "SealedTexts", "SharedSecret", "UtcMs"),
        *("WorkQueue", "older_than", "page", "table_of", "upsert"),
    ],
    "specd.pages": ["Catalogue", "Texts", "add_entrance"],
    "specd.settings": ["is_loopback", "parse_public_url", "setting_for_each"],
    "specd.testing": ["Client", "actor", "as_user", "client", "service", "service_settings"],
    "specd.workers": ["Worker", "WorkerContext", "every"],
}
MOST = {"specd": 26, "specd.errors": 10}
"""Maximum number of names in modules whose names are not final."""

MODULES = pytest.mark.parametrize("module", [*NAMES, *MOST])


@pytest.mark.parametrize("module", NAMES)
def test_names_are_listed(module: str) -> None:
    assert sorted(import_module(module).__all__) == sorted(NAMES[module])


@pytest.mark.parametrize("module", MOST)
def test_number_of_names_is_limited(module: str) -> None:
    assert len(import_module(module).__all__) <= MOST[module]


def test_no_other_module_is_public() -> None:
    public = {
        f"specd.{module.name}"
        for module in iter_modules(specd.__path__)
        if not module.name.startswith("_")
    }
    assert public == {*NAMES, *MOST} - {"specd"}


@MODULES
def test_each_name_exists_and_is_documented(module: str) -> None:
    public = import_module(module)
    assert public.__doc__
    for name in public.__all__:
        value = getattr(public, name)
        if isclass(value) or isfunction(value):
            assert value.__doc__, f"{module}.{name} has no docstring"
            assert not value.__doc__.startswith(f"{name}("), f"{module}.{name} has no docstring"
        if isclass(value):
            methods = ((key, found) for key, found in vars(value).items() if key[0] != "_")
            lacks = [key for key, found in methods if isfunction(found) and not found.__doc__]
            assert lacks == [], f"methods of {module}.{name} have no docstring"
