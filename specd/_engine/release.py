"""Which release this is."""

from importlib.metadata import PackageNotFoundError, version


def _find_release() -> str:
    try:
        return version("specd")
    except PackageNotFoundError:  # run from a folder of source that is not installed
        return "unknown"


RELEASE = _find_release()
