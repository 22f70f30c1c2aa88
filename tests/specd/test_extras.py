"""Each missing extra is named in one sentence without a traceback."""

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from specd._auth.passwords import Passwords
from specd._auth.tokens import Tokens
from specd._db.database import Database
from specd._db.sealing import SealedTexts
from specd._limits.wiring import open_limit_store
from specd._release import DISTRIBUTION
from specd._settings import MissingExtra, Settings

SPECD = Path(__file__).parents[2] / "specd"
OPTIONAL = {
    "argon2": "auth",
    "cryptography": "sealing",
    "jwt": "auth",
    "opentelemetry": "otel",
    "psycopg": "postgresql",
    "pytest": "test",
    "redis": "limits",
}
"""Module -> the extra that installs it."""


@pytest.fixture
def lacks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate that a distribution with this module is not installed."""
    name = request.param
    for module in [*sys.modules]:
        if module.partition(".")[0] == name or module == "specd._limits.redis_store":
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)


def told(error: Exception) -> str:
    assert len(str(error).splitlines()) == 1
    return str(error)


@pytest.mark.parametrize("lacks", ["psycopg"], indirect=True)
@pytest.mark.usefixtures("lacks")
def test_postgresql_needs_its_extra() -> None:
    with pytest.raises(MissingExtra) as raised:
        Database("postgresql+psycopg://localhost/shop")
    assert told(raised.value) == (
        "A PostgreSQL database requires the extra `postgresql`: "
        "pip install 'specd-server[postgresql]'."
    )


@pytest.mark.parametrize("lacks", ["cryptography"], indirect=True)
@pytest.mark.usefixtures("lacks")
def test_sealed_texts_need_their_extra() -> None:
    with pytest.raises(MissingExtra) as raised:
        SealedTexts(b"secret", label=b"shop")
    assert told(raised.value) == (
        "Sealing secrets requires the extra `sealing`: pip install 'specd-server[sealing]'."
    )


@pytest.mark.parametrize("lacks", ["argon2"], indirect=True)
@pytest.mark.usefixtures("lacks")
def test_passwords_need_their_extra() -> None:
    with pytest.raises(MissingExtra) as raised:
        Passwords()
    assert told(raised.value) == (
        "Hashing passwords requires the extra `auth`: pip install 'specd-server[auth]'."
    )


@pytest.mark.parametrize("lacks", ["jwt"], indirect=True)
@pytest.mark.usefixtures("lacks")
def test_tokens_need_their_extra() -> None:
    with pytest.raises(MissingExtra) as raised:
        Tokens("x" * 32)
    assert told(raised.value) == (
        "Signing tokens requires the extra `auth`: pip install 'specd-server[auth]'."
    )


@pytest.mark.parametrize("lacks", ["redis"], indirect=True)
@pytest.mark.usefixtures("lacks")
def test_shared_limits_need_their_extra() -> None:
    with pytest.raises(MissingExtra) as raised:
        open_limit_store(Settings(limits_url="redis://localhost:6379/0"), "shop", lambda: b"secret")
    assert told(raised.value) == (
        "SPECD_LIMITS_URL requires the extra `limits`: pip install 'specd-server[limits]'."
    )


def imported() -> Iterator[tuple[str, Path]]:
    """Yield the top-level name of each third-party import, and the importing file."""
    for path in SPECD.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [str(node.module)]
            else:
                continue
            for name in names:
                top = name.partition(".")[0]
                if top not in sys.stdlib_module_names and top != "specd":
                    yield top, path


def required(*extras: str) -> set[str]:
    """Return the distributions that `pip install specd-server[extras]` installs."""
    found: set[str] = set()
    left = [(DISTRIBUTION, extra) for extra in ("", *extras)]
    done = set(left)
    while left:
        name, extra = left.pop()
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            continue
        for requirement in map(Requirement, lines):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                found.add(canonicalize_name(requirement.name))
                new = {(requirement.name, each) for each in ("", *requirement.extras)} - done
                done |= new
                left += new
    return found


def test_imports_are_required() -> None:
    """The library only imports packages that its requirements or one of its extras install."""
    installers = {
        module: {canonicalize_name(name) for name in names}
        for module, names in packages_distributions().items()
    }
    always = required()
    missing = set()
    for module, path in imported():
        if module in OPTIONAL and module not in installers:
            continue  # the extra is not installed here
        expected = required(OPTIONAL[module]) if module in OPTIONAL else always
        if not installers.get(module, set()) & expected:
            missing.add((module, path.name))
    assert missing == set()
