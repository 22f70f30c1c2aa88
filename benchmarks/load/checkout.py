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
    """The files of one commit, and the name of its servers in tables."""

    root: Path
    name: str

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which modules come from the checkout, regardless of what the
        interpreter has installed, and Python stores compiled files.
        """
        modules = {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": ""}
        return {**os.environ, **modules, **more}

    def run(self, statements: str, *arguments: str) -> str:
        """Run Python statements with this checkout's modules. Return the last line that they print.

        Standard error is inherited. Raise CalledProcessError.
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
    """Return the checkout in a directory, named by its commit and marked if files differ.

    Raise ArgumentTypeError if Python would not import the modules from that directory.
    """
    root = Path(directory).resolve()
    if not (root / "wsgi.py").exists():
        raise argparse.ArgumentTypeError(f"{root} is not a checkout of this repository")
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
    """Add the option `--beside`. Its value is a Checkout or None."""
    parser.add_argument(
        "--beside",
        type=checkout_at,
        metavar="DIRECTORY",
        help="another checkout, measured in turn with the Python of this one",
    )


HERE = Checkout(ROOT, "specd")


def with_ours(other: Checkout | None) -> list[Checkout]:
    """Return the checkouts to measure: ours, and the other one if it is given."""
    return [HERE] if other is None else [HERE, other]
