"""The library is independent: it names no service, and its suite runs without services."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.imports import LIBRARY, ROOT, SERVICES
from tests.architecture.tracked import find_present

WORDS = re.compile(r"payment|invoice|chat|zulip|realm", re.IGNORECASE)
OTHERS = re.compile(r'realm="|\brealm=|payment=\(\)')
"""RFC 7617 names a `realm`, and Permissions-Policy a feature `payment`."""
COPIED = ("specd", "tests", "setup.cfg", "pyproject.toml", "README.md", "docs")
CHEAP = (
    *("tests/specd/engine/test_naming.py", "tests/specd/engine/test_marks.py"),
    *("tests/specd/engine/test_page_visits.py", "tests/specd/db/test_database_state.py"),
)
"""Modules that take a few seconds together and use an application, pages and databases."""


def find_words(text: str) -> list[str]:
    return WORDS.findall(OTHERS.sub("", text))


def test_library_names_no_domain() -> None:
    found = {}
    for name in find_present(LIBRARY):
        if "/swagger-ui/" not in name and (words := find_words((ROOT / name).read_text())):
            found[name] = words
    assert found == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Basic realm="api"', []),
        ("camera=(), payment=(), usb=()", []),
        ("an Invoice", ["Invoice"]),
        ("payments of a realm", ["payment", "realm"]),
    ],
)
def test_domain_word_is_detected(text: str, expected: list[str]) -> None:
    assert find_words(text) == expected


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the tracked files of the library, without those of the services."""
    folder = tmp_path_factory.mktemp("library")
    for name in find_present(*COPIED):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    assert not any((folder / name).exists() for name in SERVICES)
    return folder


PYTEST = """
import sys
sys.meta_path = [each for each in sys.meta_path if not each.__module__.startswith("__editable__")]
import pytest
sys.exit(pytest.main())
"""
"""An editable installation would find the services in the checkout."""


def run_pytest(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PYTEST, "-q", "-p", "no:cacheprovider", *words],
        cwd=tree, capture_output=True, text=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tree)},
    )  # fmt: skip


def test_library_suite_is_collected_without_services(tree: Path) -> None:
    done = run_pytest(tree, "--collect-only", "tests/specd")
    assert done.returncode == 0, done.stdout + done.stderr
    counts = [int(line.rpartition(": ")[2]) for line in done.stdout.splitlines() if ".py: " in line]
    assert sum(counts) > 3_000


def test_library_suite_passes_without_services(tree: Path) -> None:
    done = run_pytest(tree, *CHEAP)
    assert done.returncode == 0, done.stdout + done.stderr
