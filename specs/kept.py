"""Documents as they were parsed before: read again in a twentieth of the time that YAML takes.

A parsed document is kept where Python keeps the compiled modules of this package, in `__pycache__`,
and by the same rules: `PYTHONDONTWRITEBYTECODE` and `PYTHONPYCACHEPREFIX` hold, a folder that
cannot be written is left alone, and whoever may write there may change the code as well. It is JSON
beside a digest of all that it was made from. What has changed, is damaged or is missing is made
anew.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import orjson
import yaml

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document: the text that is published, and its content as JSON."""

    text: bytes
    content: bytes


def parsed(name: str, parse: Callable[[str], tuple[bytes, dict[str, Any]]]) -> Parsed:
    """The document as it is kept, else as `parse(name)` makes it.

    Raises `ValueError` for values that JSON has not: a date that is not quoted.
    """
    place = place_of(name)
    digest = sources_digest()
    with suppress(OSError, ValueError):
        kept, size, rest = place.read_bytes().split(b"\n", 2)
        if kept == digest:
            return Parsed(rest[: int(size)], rest[int(size) :])
    text, content = parse(name)
    made = Parsed(text, orjson.dumps(content))
    if orjson.loads(made.content) != content:
        raise ValueError(f"the document {name} has values that JSON has not")
    if not sys.dont_write_bytecode:
        whole = b"%b\n%d\n%b%b" % (digest, len(text), text, made.content)
        _keep(place, HERE / f"{name}.yaml", whole)
    return made


def place_of(name: str) -> Path:
    """Where a parsed document is kept: beside the compiled modules."""
    return Path(cache_from_source(str(HERE / f"{name}.py"))).with_suffix(".parsed")


@cache
def sources_digest() -> bytes:
    """Of all documents, because one may borrow of another, and of what parses them."""
    whole = sha256(yaml.__version__.encode())
    for path in sorted((*HERE.glob("*.yaml"), *HERE.glob("*.py"))):
        whole.update(b"%b %d\n" % (path.name.encode(), path.stat().st_size))
        whole.update(path.read_bytes())
    return whole.hexdigest().encode()


def _keep(place: Path, source: Path, content: bytes) -> None:
    """Write the file whole or not at all: several processes may start at once. Whoever may read
    the source may read the file.
    """
    unfinished = place.with_name(f"{place.name}.{os.getpid()}")
    with suppress(OSError):
        mode = source.stat().st_mode
        place.parent.mkdir(exist_ok=True)
        descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode & 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            unfinished.replace(place)
        except OSError:
            unfinished.unlink()
