"""Processes collect a module when its turn comes, and count its tests as usual."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from tests.support.late_modules import LateModule, spread
from tests.support.touched import ROOT

MODULES = {
    "conftest.py": """
        import pytest
        pytest_plugins = ["tests.support.late_modules"]
        @pytest.fixture(scope="session")
        def shared():
            with open("log", "a") as log:
                log.write("begin\\n")
            yield
            with open("log", "a") as log:
                log.write("end\\n")
    """,
    "tests/a/test_first.py": """
        import pytest
        @pytest.mark.parametrize("number", range(3))
        def test_wanted(shared, number):
            assert number != 1
    """,
    "tests/a/test_none.py": "def test_other(): pass",
    "tests/b/test_second.py": """
        import os
        with open("imported", "a") as log:
            log.write(f"{os.getpid()}\\n")
        def test_wanted(shared): pass
    """,
    "tests/b/test_broken.py": "import absent",
    "tests/b/test_skipped.py": "import pytest; pytest.importorskip('absent')",
}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the modules in processes of xdist."""
    for name, text in MODULES.items():
        lines = text.replace("\n        ", "\n").strip()
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(lines)
    command = [sys.executable, "-m", "pytest", "-p", "no:schemathesis", "-c", os.devnull]
    command += ["--rootdir", ".", "--import-mode=importlib", "--dist", "loadfile", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_tests_of_late_modules_count(tmp_path: Path) -> None:
    done = run(tmp_path, "-n", "1", "-k", "wanted", "tests")
    assert "1 failed, 3 passed, 1 skipped, 1 error" in done.stdout
    assert "test_first.py::test_wanted[1]" in done.stdout
    assert "No module named 'absent'" in done.stdout
    assert done.returncode == 1
    assert (tmp_path / "log").read_text().split() == ["begin", "end"]


def test_module_is_imported_by_one_process(tmp_path: Path) -> None:
    run(tmp_path, "-n", "2", "--no-loadscope-reorder", "tests")
    assert len((tmp_path / "imported").read_text().split()) == 1


def test_single_tests_can_be_named(tmp_path: Path) -> None:
    done = run(tmp_path, "-n", "1", "tests/a/test_first.py::test_wanted")
    assert "1 failed, 2 passed" in done.stdout


def test_missing_file_is_reported(tmp_path: Path) -> None:
    done = run(tmp_path, "-n", "1", "tests/a/test_first.py", "tests/a/test_frist.py")
    assert done.returncode == 4
    assert "There is no" in done.stderr
    assert "test_frist.py" in done.stderr


def test_last_modules_are_quick() -> None:
    names = [f"tests/{folder}/test_{n}.py" for folder in ("models", "workers") for n in range(40)]
    modules = [cast(LateModule, SimpleNamespace(nodeid=name)) for name in names]
    order = [module.nodeid for module in spread(modules)]
    assert sorted(order) == sorted(names)
    assert not any("workers" in name for name in order[-8:])
    assert order[0] == "tests/workers/test_0.py"
    assert {"workers" in name for name in order[30:36]} == {True, False}
