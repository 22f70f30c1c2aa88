"""A service that receives files in multipart forms."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from specd import Context, File, FileIntake
from tests.specd.engine.client import Client
from tests.specd.engine.services import post

MULTIPART = "multipart/form-data"
LIMIT = 1000


class TooLarge(Exception):
    """The file exceeds the limit of the intake."""

    status = 400


def make_thing(ctx: Context, *, file: File, text: str = "") -> dict[str, Any]:
    there = file.path.read_bytes()
    return {"name": file.name, "type": file.media_type, "bytes": list(there), "text": text,
            "size": file.size}  # fmt: skip


MEDIA: dict[str, Any] = {
    MULTIPART: {
        "schema": {
            "type": "object",
            "required": ["file"],
            "properties": {
                "file": {"type": "string", "format": "binary"},
                "text": {"type": "string", "maxLength": 20},
            },
        }
    }
}


def taking(folder: Path, handler: Callable[..., Any], *, limit: int = LIMIT, **more: Any) -> Client:
    return post(MEDIA, handler, files=FileIntake(folder, limit, TooLarge), **more)


def a_file(content: bytes, name: str = "file") -> bytes:
    head = f'--x\r\nContent-Disposition: form-data; name="{name}"; filename="f.bin"\r\n'
    return f"{head}Content-Type: image/png\r\n\r\n".encode() + content + b"\r\n"
