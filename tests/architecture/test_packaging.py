"""The distribution holds every file of our packages, and works where the sources are not."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.tracked import find_present
from wsgi import project

ROOT = Path(__file__).parent.parent.parent
PACKAGES = (
    "server", "handlers", "models", "adapters", "workers", "pages", "demo", "cli", "specs",
    "tracing",
)  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of the tracked files, built without touching this tree."""
    source = tmp_path_factory.mktemp("source")
    out = tmp_path_factory.mktemp("wheel")
    for name in find_present():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", str(out), str(source)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return next(out.glob("*.whl"))


def shipped(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def expected() -> set[str]:
    return {
        *find_present(*PACKAGES),
        "applications.py",
        "base_settings.py",
        "base_values.py",
        "logs.py",
        "project.py",
        "seams.py",
        "security_events.py",
        "setting_values.py",
        "settings.py",
        "wsgi.py",
    }


def test_every_file_of_our_packages_is_shipped_and_nothing_else(wheel: Path) -> None:
    assert shipped(wheel) == expected()


def test_the_licences_are_shipped(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for licence in ("LICENSE", "NOTICE"):
        (name,) = [n for n in names if ".dist-info/" in n and n.endswith(f"/{licence}")]
        assert zipfile.ZipFile(wheel).read(name) == (ROOT / licence).read_bytes()


def test_the_notice_names_every_file_of_others() -> None:
    """Files that carry a licence of their own, and data that a module says is taken from others."""
    notice = (ROOT / "NOTICE").read_text()
    carried = [
        path.relative_to(ROOT).parent.as_posix()
        for name in PACKAGES
        for path in (ROOT / name).rglob("*")
        if path.name.startswith(("LICENSE", "NOTICE")) or "LICENSE" in path.name
    ]
    assert len(carried) >= 3
    for folder in [*carried, "people/confusables.txt", "rendering/emoji.txt"]:
        assert folder in notice


def test_an_image_is_built_of_all_that_is_shipped() -> None:
    """`.dockerignore` leaves everything out that it does not name."""
    let_in = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    needed = {name.partition("/")[0] for name in expected()}
    needed |= {"LICENSE", "NOTICE", "README.md", "constraints.txt", "pyproject.toml", "setup.cfg"}
    assert needed <= let_in
    assert {name for name in let_in if not (ROOT / name).exists()} == set()


def test_runs_from_an_installed_wheel_without_the_sources(wheel: Path, tmp_path: Path) -> None:
    """Installed, not editable: documents, templates and migrations are found beside the code."""
    target = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--target", str(target),
         str(wheel)],
        check=True, cwd=tmp_path,
    )  # fmt: skip
    program = (
        "import settings, specs, specd._cli.main\n"
        "print(settings.__file__)\n"
        "assert specs.load('payment')['openapi'].startswith('3.0')\n"
        "specd._cli.main.main(['migrate', '--json'])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path, capture_output=True, text=True,
        env={"PYTHONPATH": str(target), "SPECD_DATA_DIR": str(tmp_path / "var")},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        str(target / "settings.py"),
        json.dumps({"migrated": list(project.names)}),
    ]
