"""The output of commands contains no secrets, and help answers the questions of new users."""

import re
import sys
from types import ModuleType

import pytest
from click.testing import CliRunner

from specd import Project, Settings
from specd._cli import output
from specd._cli.serve import serve

KEY = "shop_" + "k3y-" * 5


def test_secrets_of_the_project_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = ModuleType("shop_secrets")
    shapes.SHAPES = (re.compile(r"shop_[a-z0-9-]+"),)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shop_secrets", shapes)
    project = Project(secrets="shop_secrets:SHAPES")
    monkeypatch.setattr(output, "find_project", lambda: project)
    assert KEY not in output.without_secrets(f"the key {KEY} is wrong")
    assert output.without_secrets("the shop is closed") == "the shop is closed"


@pytest.mark.parametrize("project", [None, Project(), Project(secrets="no_such_module:SHAPES")])
def test_passwords_are_masked_in_every_project(
    project: Project | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "find_project", lambda: project)
    text = output.without_secrets(f"{KEY} postgresql://shop:s3cret@db/shop")
    assert text == f"{KEY} postgresql://shop:***@db/shop"


def test_help_of_serve_names_the_address() -> None:
    (bind,) = (line for line in Settings().describe({}) if line.variable == "SPECD_BIND")
    help = CliRunner().invoke(serve, ["--help"]).output
    assert "SPECD_BIND" in help
    assert bind.default in help
