"""pytest reads bytecode that was written before the run."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support import rewritten


def test_pytest_reads_existing_bytecode(tmp_path: Path) -> None:
    source = tmp_path / "test_it.py"
    source.write_text("def test_it():\n    assert 1 + 1 == 3\n")
    rewritten.write(source)
    (written,) = tmp_path.rglob("*.pyc")
    before = written.stat()
    words = ("-p", "no:cacheprovider", "-p", "no:schemathesis", "-c", os.devnull, "--rootdir", ".")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, source.name],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
    )  # fmt: skip
    assert "assert (1 + 1) == 3" in done.stdout, done.stderr
    assert list(tmp_path.rglob("test_it*.pyc")) == [written]
    after = written.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_every_test_module_is_found() -> None:
    assert {Path(__file__), rewritten.TESTS / "conftest.py"} <= set(rewritten.test_modules())
