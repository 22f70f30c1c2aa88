"""Each service of the project is complete, and code shared by the services names none of them."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

import specs
from settings import Settings
from specd import Service
from specd._settings import variables
from wsgi import project

ROOT = Path(__file__).parents[2]
# Modules that all services share. They must not name a service.
FOR_ALL = (
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "specd").rglob("*.py"))),
    "settings.py",
)


@pytest.mark.parametrize("entry", project.services, ids=project.names)
def test_entry_is_complete(entry: Service) -> None:
    assert all(specs.load(name)["openapi"].startswith("3.") for name in entry.files)
    wiring = import_module(entry.wiring)
    assert callable(wiring.compose)
    assert list(project.migrations(entry.name).glob("0001_*.py"))
    if entry.pages:
        assert callable(import_module(entry.pages).install_for)
    if entry.workers:
        assert import_module(entry.workers).WORKERS
    if entry.commands:
        assert isinstance(getattr(import_module(entry.commands), entry.name), click.Group)


@pytest.mark.parametrize("entry", project.services, ids=project.names)
def test_service_has_a_variable_for_its_database(entry: Service) -> None:
    name = f"SPECD_{entry.name.upper()}_DATABASE_URL"
    assert variables()[name].is_secret
    assert Settings.from_env({name: "sqlite:///a.db"}).database_urls[entry.name] == "sqlite:///a.db"


@pytest.mark.parametrize("path", FOR_ALL)
def test_shared_modules_name_no_service(path: str) -> None:
    named = {
        node.value
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.Constant) and node.value in project.names
    }
    assert not named


def test_help_imports_no_service() -> None:
    program = (
        "import sys, specd._cli.main\n"
        "try:\n    specd._cli.main.main(['serve', '--help'])\n"
        "except SystemExit:\n    pass\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'web3', 'connexion', 'handlers', 'workers', 'demo'}))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "[]"
