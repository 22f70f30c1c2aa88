"""The files of this repository that git tracks."""

import subprocess

import pytest

from tests.architecture.imports import ROOT


def find_files(*options: str) -> list[str]:
    """Return the names that `git ls-files` lists. Skips the test outside a git checkout."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", *options], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: cannot tell our files from others")
    return listed.stdout.splitlines()


def find_present(*paths: str) -> list[str]:
    """Return the existing files in these paths, committed or not."""
    names = find_files("--cached", "--others", "--exclude-standard", *paths)
    return [name for name in names if (ROOT / name).is_file()]
