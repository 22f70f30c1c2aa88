"""The wheel contains only the library, and a deployed tree contains everything that runs."""

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.tracked import find_present

ROOT = Path(__file__).parent.parent.parent
COPIED = [
    line.removeprefix("!")
    for line in (ROOT / ".dockerignore").read_text().splitlines()
    if line.startswith("!")
]
"""The files in an image, which `scripts/deploy` copies."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of a copy of the tracked files, built outside this tree."""
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


def test_wheel_contains_exactly_the_files_of_specd(wheel: Path) -> None:
    assert wheel.name.startswith("specd_server-")
    assert shipped(wheel) == set(find_present("specd"))


def test_wheel_has_the_marker_for_types(wheel: Path) -> None:
    """Without it, type checkers treat every name of an installed package as Any (PEP 561)."""
    assert "specd/py.typed" in shipped(wheel)


def test_wheel_has_the_licenses(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for license in ("LICENSE", "NOTICE"):
        (name,) = [n for n in names if ".dist-info/" in n and n.endswith(f"/{license}")]
        assert zipfile.ZipFile(wheel).read(name) == (ROOT / license).read_bytes()


def test_notice_names_every_third_party_file() -> None:
    """Files with their own license, and data that a module describes as copied from elsewhere."""
    notice = (ROOT / "NOTICE").read_text()
    carried = [
        Path(name).parent.as_posix()
        for name in find_present(*COPIED)
        if Path(name).parent != Path() and Path(name).name.startswith(("LICENSE", "NOTICE"))
    ]
    assert len(carried) >= 2
    for folder in [
        *carried, "people/confusables.txt", "rendering/emoji.txt", "specd/_engine/openapi/schemas",
    ]:  # fmt: skip
        assert folder in notice


def test_installed_wheel_runs_without_the_sources(wheel: Path, tmp_path: Path) -> None:
    """In a project, the command checks a document against a schema that is a file in the wheel."""
    target = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--target", str(target),
         str(wheel)],
        check=True, cwd=tmp_path,
    )  # fmt: skip
    (tmp_path / "wsgi.py").write_text("from specd import Project\n\nproject = Project()\n")
    document = tmp_path / "wrong.yaml"
    document.write_text("openapi: 3.1.0\ninfo: {title: T, version: '1', oops: 1}\npaths: {}\n")
    program = "import specd, sys; print(specd.__file__); from specd._cli.main import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, "check", str(document)],
        cwd=tmp_path, capture_output=True, text=True,
        env={"PYTHONPATH": str(target), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert ran.stdout.splitlines()[0] == str(target / "specd" / "__init__.py"), ran.stderr
    assert ran.returncode == 1
    assert '"oops"' in ran.stdout + ran.stderr


def test_copied_tree_has_every_imported_module() -> None:
    assert [name for name in COPIED if not (ROOT / name).exists()] == []
    missing = set()
    for name in find_present(*COPIED):
        if not name.endswith(".py"):
            continue
        for node in ast.walk(ast.parse((ROOT / name).read_text())):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [str(node.module)]
            else:
                continue
            for top in (module.partition(".")[0] for module in modules):
                missing |= {place for place in (top, f"{top}.py") if (ROOT / place).exists()}
    assert missing <= {*COPIED}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a checkout that only its owner can read, with an interpreter that installs nothing."""
    source = tmp_path / "source"
    for name in find_present(*COPIED, "docs/deploy"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
        (source / name).chmod((source / name).stat().st_mode & 0o700)
    (source / "handlers" / "__pycache__").mkdir()
    (source / "handlers" / "__pycache__" / "old.pyc").touch()
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\ncase "$*" in\n-c*) echo "good 3.14" ;;\n'
        '"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python && cp "$0" .venv/bin/specd ;;\n'
        '*) echo "$@" >> calls ;;\nesac\n'
    )
    python.chmod(0o755)
    return source


def deploy(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [clone / "scripts/deploy", *arguments],
        cwd=clone.parent, env={**os.environ, "PYTHON": str(clone.parent / "python")},
        capture_output=True, text=True, umask=0o077,
    )  # fmt: skip


def test_deploy_copies_everything_that_runs(clone: Path) -> None:
    done = deploy(clone, "release", "limits,s3")
    assert done.returncode == 0, done.stderr
    release = clone.parent / "release"
    copied = {
        path.relative_to(release).as_posix(): path
        for path in release.rglob("*")
        if path.is_file() and ".venv" not in path.parts
    }
    calls = copied.pop("calls").read_text()
    assert copied.keys() == set(find_present(*COPIED))
    assert {path.stat().st_mode & 0o044 for path in copied.values()} == {0o044}
    assert "--editable .[services,limits,s3]\n" in calls
    assert calls.endswith("\ncheck\n")


def test_deploy_rejects_a_directory_with_files(clone: Path) -> None:
    (clone.parent / "release").mkdir()
    (clone.parent / "release" / "old").touch()
    done = deploy(clone, "release")
    assert done.returncode == 1
    assert done.stderr.endswith("is not empty; each release needs a directory of its own.\n")
    assert [path.name for path in (clone.parent / "release").iterdir()] == ["old"]
