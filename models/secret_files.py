"""The secret of a service: from a setting, or from a file that the first process creates."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

SECRET_BYTES = 32


def load_secret(file: Path, given: str) -> bytes:
    """Return the setting if given, otherwise the content of the file. If the file is missing, it is
    created with access only for its owner.

    If several processes create it concurrently, one complete file is kept, and all processes read
    it.
    """
    if given:
        return given.encode("utf-8")
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(f".{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w") as out:
            out.write(secrets.token_hex(SECRET_BYTES))
        with suppress(FileExistsError):
            os.link(unfinished, file)
        unfinished.unlink()
    return file.read_text().strip().encode("utf-8")


def load_secrets(file: Path, given: str, previous: str) -> tuple[bytes, bytes | None]:
    """Return the current secret, and the previous secret or None."""
    return load_secret(file, given), previous.encode("utf-8") if previous else None
