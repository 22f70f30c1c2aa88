"""The files of this repository, as git knows them."""

import subprocess

import pytest

from tests.architecture.imports import ROOT


def find_files(*options: str) -> list[str]:
    """Return the names that `git ls-files` lists. Skips where this is not a checkout of git's."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", *options], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: cannot tell our files from others")
    return listed.stdout.splitlines()


def find_present(*paths: str) -> list[str]:
    """Return those that are here, committed or not yet, in these paths."""
    names = find_files("--cached", "--others", "--exclude-standard", *paths)
    return [name for name in names if (ROOT / name).is_file()]
