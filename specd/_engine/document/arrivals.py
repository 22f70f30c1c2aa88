"""Reads bodies with files as they arrive: bodies that are a file, and forms, whose other fields are
kept in memory.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO

from starlette.types import Receive

from specd._engine.document.bodies import Disconnected, check_length
from specd._engine.document.forms import Form
from specd._engine.document.operation import Call, Operation
from specd._engine.errors import BodyTooLarge, RequestTimeout
from specd._engine.files import File, FileIntake, refusal_of_larger
from specd._engine.http.guard import decode_text, pointer_step
from specd._engine.http.multipart import Head, PartStream
from specd._engine.http.queries import MAX_QUERY_FIELDS
from specd._engine.pools import Pool

PIECE = 256 * 1024
"""The maximum number of bytes of a body that are in memory at the same time."""
TEXTS_MAX = 64 * 1024
"""The maximum total size in bytes of the fields that are not files."""
PIECES = Pool("pieces", 4)
"""The threads that write pieces of bodies to the disk. Each piece takes milliseconds."""


@asynccontextmanager
async def arriving(operation: Operation, call: Call, receive: Receive) -> AsyncIterator[None]:
    """Read an operation's body into `call.fields`. Its files exist within the context.

    The client has the service's `body_timeout_s` for each `PIECE` of it. Raise `RequestTimeout`,
    `Disconnected`, `InvalidRequest`, or the intake's error for files that are too large.
    """
    intake, body = operation.service.files, operation.body
    assert intake is not None
    assert body is not None
    form = body.arrival_of(call.headers)
    content_type = call.headers.get(b"content-type", b"").decode("latin-1")
    arrival: Arrival
    if isinstance(form, Form):
        arrival = FormArrival(form, intake, content_type)
    else:
        arrival = FileArrival(intake, content_type)
    try:
        await arrival.read(receive, call.headers, operation.service.body_timeout_s)
        call.fields = arrival.arrived
        yield
    finally:
        arrival.discard()


class Arrival(ABC):
    """A body that is being received."""

    def __init__(self, intake: FileIntake) -> None:
        self._intake = intake
        self._paths: list[Path] = []
        self._size = 0
        self._file: File | None = None
        self._out: BinaryIO | None = None

    @property
    @abstractmethod
    def arrived(self) -> dict[str, list[Any]] | File:
        """The received fields or file, in the form for `Body.decode_arrived`."""

    async def read(self, receive: Receive, headers: Mapping[bytes, bytes], seconds: float) -> None:
        """Read the complete body. If its Content-Length is too large, refuse it before reading."""
        loop = asyncio.get_running_loop()
        try:
            check_length(headers, self._intake.limit + TEXTS_MAX)
        except BodyTooLarge:
            raise refusal_of_larger(self._intake) from None
        pending = bytearray()
        deadline = loop.time() + seconds
        is_more = True
        while is_more:
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise RequestTimeout(seconds) from None
            if message["type"] == "http.disconnect":
                raise Disconnected
            pending += message.get("body", b"")
            is_more = message.get("more_body", False)
            if len(pending) >= PIECE or not is_more:
                await PIECES.run(self._take, bytes(pending))
                pending.clear()
                deadline = loop.time() + seconds
        await PIECES.run(self._end)

    def discard(self) -> None:
        """Delete the files that the handler did not move away."""
        if self._out is not None:
            self._out.close()
        for path in self._paths:
            path.unlink(missing_ok=True)

    @abstractmethod
    def _take(self, data: bytes) -> None:
        """Process a piece of the body."""

    @abstractmethod
    def _end(self) -> None:
        """Process the end of the body."""

    def _begin_file(self, name: str, media_type: str) -> None:
        folder = self._intake.folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, path = tempfile.mkstemp(dir=folder)
        except OSError as error:
            raise self._intake.fail() from error
        self._out = os.fdopen(descriptor, "wb", buffering=0)
        self._paths.append(Path(path))
        self._file = File(Path(path), name, media_type)

    def _add_to_file(self, file: File, piece: bytes) -> None:
        assert self._out is not None
        file.size += len(piece)
        self._size += len(piece)
        if self._size > self._intake.limit:
            raise refusal_of_larger(self._intake)
        rest = memoryview(piece)
        try:
            while rest:
                rest = rest[self._out.write(rest) :]
        except OSError as error:
            raise self._intake.fail() from error


class FileArrival(Arrival):
    """A body that is one file."""

    def __init__(self, intake: FileIntake, media_type: str) -> None:
        super().__init__(intake)
        self._media_type = media_type

    @property
    def arrived(self) -> File:
        assert self._file is not None
        return self._file

    def _take(self, data: bytes) -> None:
        if self._file is None:
            self._begin_file("", self._media_type)
        assert self._file is not None
        self._add_to_file(self._file, data)

    def _end(self) -> None:
        assert self._out is not None
        self._out.close()


class FormArrival(Arrival):
    """A form in which each file is a part."""

    def __init__(self, form: Form, intake: FileIntake, content_type: str) -> None:
        super().__init__(intake)
        self._fields: dict[str, list[Any]] = {}
        self._form = form
        self._parts = PartStream(content_type, limit=MAX_QUERY_FIELDS)
        self._name = ""
        self._text = bytearray()
        self._texts_size = 0
        self._with_files: set[str] = set()

    @property
    def arrived(self) -> dict[str, list[Any]]:
        return self._fields

    def _take(self, data: bytes) -> None:
        for item in self._parts.feed(data):
            if isinstance(item, Head):
                self._finish_part()
                self._begin_part(item)
            elif self._file is not None:
                self._add_to_file(self._file, item)
            else:
                self._add_to_text(item)

    def _begin_part(self, head: Head) -> None:
        self._form.check_part(head)
        name = self._form.file_field_of(head)
        self._name = head.name if name is None else name
        if name is None:
            return
        if name in self._with_files:
            self._form.require_takes_many(name)
        self._with_files.add(name)
        self._begin_file(head.file_name or "", head.media_type)

    def _add_to_text(self, piece: bytes) -> None:
        self._texts_size += len(piece)
        if self._texts_size > TEXTS_MAX:
            raise BodyTooLarge(TEXTS_MAX)
        self._text += piece

    def _finish_part(self) -> None:
        if self._out is not None:
            self._out.close()
        if self._file is not None:
            self._fields.setdefault(self._name, []).append(self._file)
        elif self._name:
            text = decode_text(bytes(self._text), f"/body/{pointer_step(self._name)}")
            self._fields.setdefault(self._name, []).append(text)
        self._text.clear()
        self._name, self._file, self._out = "", None, None

    def _end(self) -> None:
        self._parts.end()
        self._finish_part()
