"""The library as installed: without this repository on Python's path."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import specd
from tests.architecture.imports import ROOT
from tests.support import warm
from tests.support.copied_tree import copy

PROGRAM = "specd._cli.main"
PACKAGED = ("specd", "setup.cfg", "pyproject.toml", "README.md", "LICENSE", "NOTICE")


def build_wheel(folder: Path) -> Path:
    """Build a wheel from a copy of the library's files. Return its path."""
    source = folder / "source"
    source.mkdir()
    for name in PACKAGED:
        copy(ROOT / name, source / name)
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", folder, source],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


class Stranger:
    """A folder of a user of the library, and the programs that run in it."""

    def __init__(self, folder: Path, place: str = "shop", *, wheel: Path | None = None) -> None:
        library = folder / "library"
        library.mkdir(exist_ok=True)
        if wheel is None:
            (library / "specd").symlink_to(Path(specd.__file__).parent)
        else:
            zipfile.ZipFile(wheel).extractall(library)
        self.path = folder / place
        self.path.mkdir(parents=True, exist_ok=True)
        kept = {name: text for name, text in os.environ.items() if not name.startswith("SPECD_")}
        packages = sysconfig.get_path("purelib")
        self.env = {**kept, "PYTHONPATH": f"{library}{os.pathsep}{packages}"}
        if wheel is None:  # its tests name the pytest plugin, which this checkout also has
            self.env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    def argv(self, *words: str) -> list[str]:
        """Return the command line of a Python module. It ignores editable installations, and cannot
        import from the working directory, just like a console script.
        """
        return [*warm.LIBRARY, *words]

    def run(self, *words: str, below: str = ".", **env: str) -> subprocess.CompletedProcess[str]:
        """Run a Python module, warm if possible. Return its status and output."""
        return warm.run(
            self.argv(*words), cwd=self.path / below, env={**self.env, **env},
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    def specd(self, *words: str, below: str = ".", **env: str) -> str:
        """Run a command that must succeed. Return its standard output."""
        done = self.run(PROGRAM, "--traceback", *words, below=below, **env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def refusal(self, *words: str, **env: str) -> str:
        """Run a command that must fail with one sentence. Return the sentence."""
        done = self.run(PROGRAM, *words, **env)
        assert (done.returncode, done.stdout) == (1, ""), done.stdout + done.stderr
        assert done.stderr.count("\n") == 1
        return done.stderr.removeprefix("Error: ").rstrip("\n")
