"""Checks whether two archives contain the same organization, with different ids.

Columns of ids are identified by their types, without the logic of imports. The rows of both
archives are in the same order, which pairs the ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import BigInteger

from models.chat.exports.tables import PARTS
from specd.db import table_of
from tests.support.archives import reading_archive, verify_archive
from workers.moves import ROOM

NUMBERS = {"flags", "size"}
"""Columns of large numbers that are not ids."""
ORDERED_BY_TEXT = {"user_topic": ("topic",), "bot_storage": ("key",)}
"""Databases sort texts differently."""
OF_THE_IMPORT = {"realm_imported", "export_requested"}
"""Kinds of audit log entries added by the import and the second export."""
_PIECES = re.compile(r"([0-9a-f]{32}|[0-9]+)")
Rows = dict[str, list[dict[str, Any]]]


def read(path: Path) -> tuple[Rows, dict[str, str]]:
    """Return the rows of each file, and the SHA-256 of each upload by name."""
    manifest = verify_archive(path)
    with reading_archive(path) as (archive, _):
        rows = {
            file["name"].removesuffix(".jsonl"): [
                orjson.loads(line) for line in archive.read(file["name"]).splitlines()
            ]
            for file in manifest["files"]
        }
    return rows, {each["name"]: each.get("sha256", "") for each in manifest["uploads"]}


class Comparison:
    """A comparison of an archive with that of its import. `differences` lists the differences."""

    def __init__(
        self,
        before: Path,
        after: Path,
        *,
        hosts: tuple[str, str] = ("", ""),
        was_moved: bool = False,
        keeps_ids: bool = False,
    ) -> None:
        """Compare two archives.

        `hosts` are the old and the new host. `was_moved` means that deleted rows got new ids during
        a move, so that references to them stay consistent. `keeps_ids` means that ids are equal,
        also of deleted rows.
        """
        self._hosts, self._was_moved, self._keeps_ids = hosts, was_moved, keeps_ids
        (self._before, files), (self._after, new_files) = read(before), read(after)
        self.differences: list[str] = []
        self.compared = 0
        """The number of compared values."""
        self.moved = 0
        """The number of ids among them that have changed."""
        self._maps: dict[str, dict[int, int]] = {}
        self._handles: dict[str, str] = {}
        self._cut_audit()
        for part in PARTS:
            self._pair(part.name)
        for part in PARTS:
            self._compare(part.name, part.table)
        renamed = {self._text(name): digest for name, digest in files.items()}
        if renamed != new_files:
            self.differences.append(f"files: {renamed} became {new_files}")

    def _cut_audit(self) -> None:
        if self._was_moved:  # by the export of the old organization
            assert self._before["audit_log"].pop()["kind"] in OF_THE_IMPORT
        count = len(self._before["audit_log"])
        rest = self._after["audit_log"][count:]
        if not {row["kind"] for row in rest} <= OF_THE_IMPORT:
            self.differences.append(f"audit_log: grew by {rest}")
        del self._after["audit_log"][count:]

    def _pair(self, name: str) -> None:
        before, after = self._before[name], self._after[name]
        if len(before) != len(after):
            self.differences.append(f"{name}: {len(before)} rows became {len(after)}")
        if before and "id" in before[0]:
            known = self._maps.setdefault(name, {})
            known.update((a["id"], b["id"]) for a, b in zip(before, after, strict=False))
            for column in ("handle", "avatar_handle"):
                if column in before[0]:
                    pairs = zip(before, after, strict=False)
                    self._handles |= {a[column]: b[column] for a, b in pairs}

    def _compare(self, name: str, model: Any) -> None:
        before, after = self._before[name], self._after[name]
        texts = ORDERED_BY_TEXT.get(name)
        if texts is not None:
            keys = [each for each in next(p for p in PARTS if p.name == name).order if "id" in each]
            for rows in (before, after):
                rows.sort(key=lambda row: [row[key] for key in (*keys, *texts)])
        for number, (a, b) in enumerate(zip(before, after, strict=False), 1):
            for column in a:
                self.compared += 1
                if not self._same(table_of(model).c[column], a[column], b[column]):
                    self.differences.append(
                        f"{name} {number}, {column}: {a[column]!r} became {b[column]!r}"
                    )

    def _same(self, column: Any, a: Any, b: Any) -> bool:
        if type(a) is not type(b):
            return column.name == "scheduled_message_id"  # of a deleted row
        is_id = isinstance(column.type, BigInteger) and column.name not in NUMBERS
        if is_id and type(a) is int and a > 0:
            self.moved += a != b
            return self._same_id(column.name, a, b)
        if column.name == "facts":
            return self._facts_are(orjson.loads(a), orjson.loads(b))
        if isinstance(a, str):
            return self._text_is(a, b) or self._text_is(a.replace(*self._hosts), b)
        return bool(a == b)

    def _same_id(self, name: str, a: int, b: int) -> bool:
        if any(known.get(a) == b for known in self._maps.values()) or (self._keeps_ids and a == b):
            return True
        is_known = any(a in known for known in self._maps.values())
        if name == "joined_after_id":
            messages = self._maps.get("message", {})
            return sum(old <= a for old in messages) == sum(new <= b for new in messages.values())
        if self._was_moved and self._is_gone(b):
            return True
        return b == 0 and not (is_known and a in self._maps.get("message", {}))

    def _is_gone(self, new: int) -> bool:
        """Return whether a new id belongs to no row. Such ids are greater than all old ones."""
        return new > ROOM and not any(new in known.values() for known in self._maps.values())

    def _facts_are(self, a: dict[str, Any], b: dict[str, Any]) -> bool:
        """Return whether facts differ only in ids. The name of a fact identifies its table: a
        `field_id` is that of a `profile_field`.
        """
        return a.keys() == b.keys() and all(self._fact_is(name, a[name], b[name]) for name in a)

    def _fact_is(self, name: str, a: Any, b: Any) -> bool:
        if type(a) is int and type(b) is int and name.endswith("_id") and self._was_moved:
            of = name.removesuffix("_id")
            tables = [known for table, known in self._maps.items() if table.endswith(of)]
            if any(a not in known and b not in known.values() for known in tables):
                return True
        return self._text_is(orjson.dumps(a).decode(), orjson.dumps(b).decode())

    def _text_is(self, a: str, b: str) -> bool:
        """Return whether the texts differ only in numbers that were replaced consistently."""
        before, after = _PIECES.split(a), _PIECES.split(b)
        if len(before) != len(after):
            return False
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            if old == new:
                continue
            if not number % 2 or not self._may_become(old, new):
                return False
        return True

    def _may_become(self, old: str, new: str) -> bool:
        if len(old) == 32:
            return self._handles.get(old, new) == new
        numbers = int(old), int(new)
        if self._was_moved and self._is_gone(numbers[1]):
            return True
        if new == "0" or any(known.get(numbers[0]) == numbers[1] for known in self._maps.values()):
            return True
        messages: Mapping[int, int] = self._maps.get("message", {})
        return numbers[0] not in messages and numbers[1] in messages.values()

    def _text(self, name: str) -> str:
        return _PIECES.sub(lambda each: self._handles.get(each[0], each[0]), name)
