"""Checks whether this process can write files into a folder. It tries, because permissions do not
tell everything.
"""

import os
import tempfile
from pathlib import Path

TRIED = b"specd\n" * 1000


def find_problem(folder: Path) -> str:
    """Return the reason why no file can be written into the folder, or an empty text. For a folder
    that does not exist yet, check the nearest existing folder above it.
    """
    try:
        if not folder.exists():
            above = next(each for each in folder.absolute().parents if each.exists())
            if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
                return ""
            return f"{folder} is not there, and {above} may not be written"
        descriptor, name = tempfile.mkstemp(prefix=".try-", dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(TRIED)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        return f"{folder} cannot be written ({error.strerror})"
    return ""
