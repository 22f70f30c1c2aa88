"""This checkout of the repository and another one, which `--beside DIRECTORY` measures in turn."""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Checkout:
    """The files of one commit, under the name that tables give its servers."""

    root: Path
    name: str

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """The modules are the checkout's, wherever the interpreter has others installed, and Python
        keeps what it compiles.
        """
        modules = {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": ""}
        return {**os.environ, **modules, **more}

    def run(self, statements: str, *arguments: str) -> str:
        """The last line that these statements of Python print, with this checkout's modules.

        What they write to standard error is shown. Raises CalledProcessError.
        """
        finished = subprocess.run(
            [sys.executable, "-P", "-c", statements, *arguments],
            cwd=self.root,
            env=self.environment({}),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return finished.stdout.splitlines()[-1]


def checkout_at(directory: Path | str) -> Checkout:
    """Named by its commit, marked where files differ from that.

    Raises ArgumentTypeError where Python would not take the modules from that directory.
    """
    root = Path(directory).resolve()
    if not (root / "wsgi.py").exists():
        raise argparse.ArgumentTypeError(f"{root} is no checkout of this repository")
    described = subprocess.run(
        ["git", "-C", root, "describe", "--always", "--dirty", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    checkout = Checkout(root, f"specd at {described.stdout.strip() or root.name}")
    found = Path(checkout.run("import wsgi; print(wsgi.__file__)"))
    if found != root / "wsgi.py":
        raise argparse.ArgumentTypeError(f"with PYTHONPATH={root} Python imports {found}")
    return checkout


def add_beside(parser: argparse.ArgumentParser) -> None:
    """The option; its value is a Checkout, or None."""
    parser.add_argument(
        "--beside",
        type=checkout_at,
        metavar="DIRECTORY",
        help="another checkout, measured in turn with the Python of this one",
    )


HERE = Checkout(ROOT, "specd")


def with_ours(beside: Checkout | None) -> list[Checkout]:
    """Those that are measured: ours, and the other one if one is asked for."""
    return [HERE] if beside is None else [HERE, beside]
