"""The table of Zulip's fields, compared with exports, the converter and our archive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.zulip_tarball import ZulipTarball
from models.chat.exports.tables import PARTS
from models.chat.tables.setting_table import SETTINGS
from models.chat.zulip_form.files import Measured
from models.chat.zulip_form.from_zulip import Conversion
from models.chat.zulip_form.table import RELEASES, losses, without_field, zulip_tables
from tests.support.chat.zulip_acme import HOST, make_acme
from tests.support.chat.zulip_export import SCHEMAS, VERSIONS

BESIDE_THE_ARCHIVE = {"user.password_hash"}
COLUMNS = {f"{part.name}.{column}" for part in PARTS for column in part.columns}


def test_table_lists_every_zulip_table() -> None:
    assert zulip_tables().keys() == SCHEMAS.keys()
    assert tuple(VERSIONS) == RELEASES


@pytest.mark.parametrize("release", RELEASES)
def test_table_lists_every_field_of_a_release(release: int) -> None:
    export = make_acme(release)
    for name, table in zulip_tables().items():
        written = set(export.fields(name)) if name in export.tables else set()
        assert table.fields_of(release) == written, name


def test_every_field_is_in_the_fixtures() -> None:
    seen: dict[str, set[str]] = defaultdict(set)
    for release in RELEASES:
        for name, rows in make_acme(release).tables.items():
            for row in rows:
                seen[name] |= row.keys()
    for name, table in zulip_tables().items():
        assert table.fields == seen[name], name


def test_field_is_listed_once() -> None:
    for name, table in zulip_tables().items():
        count = len(table.taken) + len(table.derived) + len(table.dropped)
        assert count == len(table.fields), name
        assert (table.first.keys() | table.last.keys()) - {"*"} <= table.fields, name
        assert all(table.first.get(each, 9) <= last for each, last in table.last.items()), name


def test_converted_fields_are_in_our_archive() -> None:
    for table in zulip_tables().values():
        assert set(table.taken.values()) <= COLUMNS | BESIDE_THE_ARCHIVE, table.name


def test_every_column_of_ours_is_listed_once() -> None:
    taken = {to for table in zulip_tables().values() for to in table.taken.values()}
    others: list[str] = []
    for file, reasons in (each for both in without_field() for each in both.items()):
        (part,) = [part for part in PARTS if part.name == file]
        assert reasons.keys() <= {"*", *part.columns}, file
        others += [f"{file}.{name}" for name in (part.columns if "*" in reasons else reasons)]
    keys = {name for name in COLUMNS if name.endswith(".realm_id")} | {"user_settings.id"}
    keys -= set(others)
    for name in COLUMNS:
        assert (name in taken) + others.count(name) + (name in keys) == 1, name


def test_every_setting_is_converted() -> None:
    taken = zulip_tables()["zerver_userprofile"].taken
    assert {f"user_settings.{name}" for name in SETTINGS} <= set(taken.values())


class Watched(dict[str, Any]):
    """A row that records which of its fields were read."""

    def __init__(self, values: Any, asked: set[str]) -> None:
        super().__init__(values)
        self._asked = asked

    def get(self, key: str, default: Any = None) -> Any:
        self._asked.add(key)
        return super().get(key, default)


class WatchedSource:
    def __init__(self, source: ZulipTarball) -> None:
        self._source, self.facts = source, source.facts
        self.asked: dict[str, set[str]] = defaultdict(set)

    def has(self, table: str) -> bool:
        return self._source.has(table)

    def rows(self, table: str) -> Iterator[tuple[int, Any]]:
        for number, values in self._source.rows(table):
            yield number, Watched(values, self.asked[table])


class SomeFiles:
    def size(self, path: str) -> int | None:
        return 7 if path.endswith(".png") else None

    def measure(self, path: str) -> Measured | None:
        return None

    def has_emoji(self, path: str) -> tuple[bool, bool]:
        return True, False

    def has_avatar(self, path: str) -> bool:
        return True


def test_converted_fields_are_read_and_dropped_fields_are_not(tmp_path: Path) -> None:
    asked: dict[str, set[str]] = defaultdict(set)
    for release in RELEASES:
        folder = tmp_path / str(release)
        folder.mkdir()
        tarball = make_acme(release).write(tmp_path / f"{release}.tar.gz")
        source = WatchedSource(ZulipTarball(tarball, folder))
        conversion = Conversion(source, SomeFiles(), host=HOST)
        for part in PARTS:
            for _ in conversion.rows(part):
                pass
        for name, fields in source.asked.items():
            asked[name] |= fields
    # The same rows, for users who cannot sign in.
    asked["zerver_userprofile_mirrordummy"] |= asked["zerver_userprofile"]
    lists = {name for name in zulip_tables() if "/" in name}
    for name in zulip_tables().keys() - lists:
        table = zulip_tables()[name]
        assert table.taken.keys() <= asked[name], name
        assert not asked[name] & table.dropped.keys(), name


def test_losses_name_the_dropped_fields() -> None:
    named = {(table, field) for table, _, fields in losses() for field in fields}
    assert named == {
        (name, field) for name, table in zulip_tables().items() for field in table.dropped
    }


def test_page_lists_the_dropped_fields() -> None:
    """If it fails, paste the expected lines into the page."""
    tables: dict[str, list[str]] = defaultdict(list)
    for table, why, _ in losses():
        tables[why].append(f"`{table}`")
    expected = [f"| {why} | {', '.join(names)} |" for why, names in sorted(tables.items())]
    page = Path("docs/moving.md").read_text()
    listed = page.partition("| dropped data or reason | table |\n|---|---|\n")[2].partition("\n\n")[
        0
    ]
    assert listed.split("\n") == expected, "\n".join(expected)
