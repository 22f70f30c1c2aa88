"""The distribution of specd: its release, and how to install its extras."""

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "specd-server"


def _find_release() -> str:
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # run from a source folder that is not installed
        return "unknown"


def install_extra(extra: str) -> str:
    """Return the command that installs an extra of specd."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


RELEASE = _find_release()
"""The version of specd."""
