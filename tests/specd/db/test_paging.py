"""Lists by pages: by offset, and by cursors, of which forged ones are refused."""

import base64
import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import String, func, insert, select, tuple_
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from specd.db import Cursors, Database, InvalidPage, RowNumber, UtcMs, page
from tests.specd.sample import Sample

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Base(DeclarativeBase):
    pass


class Ticket(Base):
    __tablename__ = "ticket"

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True)
    queue: Mapped[str] = mapped_column(String(20))
    opened_at: Mapped[datetime] = mapped_column(UtcMs)
    code: Mapped[str] = mapped_column(String(20))


def ticket(number: int) -> dict[str, Any]:
    """Return a row that has its time in common with others."""
    return {
        "id": number,
        "queue": "ab"[number % 2],
        "opened_at": START + timedelta(milliseconds=number * 7 % 4),
        "code": f"ü{number}",
    }


@pytest.fixture
def tickets(database: Database) -> Iterator[list[dict[str, Any]]]:
    rows = [ticket(number) for number in range(1, 41)]

    def fill(session: Session) -> None:
        Base.metadata.create_all(session.connection())
        session.execute(insert(Ticket), rows)

    database.run(fill)
    yield rows
    database.run(lambda session: Base.metadata.drop_all(session.connection()))


TICKETS = Cursors(UtcMs, int)


def list_tickets(
    session: Session, queue: str, *, limit: int, cursor: str | None = None
) -> tuple[list[int], str | None]:
    """Return the ids of a page, and the cursor of the next page, as the documentation shows."""
    listed = ["tickets", queue]
    query = select(Ticket).where(Ticket.queue == queue)
    if cursor is not None:
        place, _ = TICKETS.read(cursor, listed)
        query = query.where(tuple_(Ticket.opened_at, Ticket.id) < place)
    query = query.order_by(Ticket.opened_at.desc(), Ticket.id.desc())
    found = page(session, query, limit=limit)
    following = None
    if found.has_more:
        last = found.rows[-1]
        following = TICKETS.write((last.opened_at, last.id), listed)
    return [row.id for row in found.rows], following


class TestListByCursors:
    @pytest.mark.parametrize("limit", [1, 3, 19, 20, 21])
    def test_each_row_comes_once_in_order(
        self, database: Database, tickets: list[dict[str, Any]], limit: int
    ) -> None:
        rows = [row for row in tickets if row["queue"] == "a"]
        rows.sort(key=lambda row: (row["opened_at"], row["id"]), reverse=True)

        def read(session: Session) -> None:
            found: list[int] = []
            ids, cursor = list_tickets(session, "a", limit=limit)
            found += ids
            while cursor is not None:
                ids, cursor = list_tickets(session, "a", limit=limit, cursor=cursor)
                assert ids
                found += ids
            assert found == [row["id"] for row in rows]

        database.run(read)

    def test_cursor_of_another_list_is_refused(
        self, database: Database, tickets: list[dict[str, Any]]
    ) -> None:
        def read(session: Session) -> None:
            _, cursor = list_tickets(session, "a", limit=2)
            with pytest.raises(InvalidPage):
                list_tickets(session, "b", limit=2, cursor=cursor)

        database.run(read)

    def test_forged_cursor_is_a_page_or_refused(
        self, database: Database, tickets: list[dict[str, Any]]
    ) -> None:
        accepted = refused = 0

        def read(session: Session) -> None:
            nonlocal accepted, refused
            for at in (b"\0" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7, b"\1"):
                for key in (b"\0" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7, b""):
                    try:
                        cursor = forged(at + key, ["tickets", "a"])
                        list_tickets(session, "a", limit=2, cursor=cursor)
                        accepted += 1
                    except InvalidPage:
                        refused += 1

        database.run(read)
        assert (accepted, refused) == (3, 13)


def forged(packed: bytes, listed: object) -> str:
    """Return a cursor with any content and the correct checksum."""
    text = json.dumps(listed, sort_keys=True).encode()
    data = packed + hashlib.sha256(packed + text).digest()[:8]
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class TestForgedCursor:
    @pytest.mark.parametrize("change", [
        lambda cursor: "", lambda cursor: cursor[:-1], lambda cursor: cursor + "A",
        lambda cursor: cursor[:5] + " " + cursor[5:], lambda cursor: cursor + "=",
        lambda cursor: cursor + "\n", lambda cursor: "ü" + cursor, lambda cursor: "\0",
        lambda cursor: "\ud800", lambda cursor: cursor.swapcase(), lambda cursor: "A" * 10_000_000,
    ])  # fmt: skip
    def test_other_text_is_rejected(self, change: Any) -> None:
        cursors = Cursors(int, str)
        cursor = cursors.write((7, "seven"), "list")
        assert cursors.read(cursor, "list") == ((7, "seven"), False)
        with pytest.raises(InvalidPage):
            cursors.read(change(cursor), "list")

    @pytest.mark.parametrize(("kind", "packed"), [
        (datetime, b"\x7f" + b"\xff" * 7 + b"\1"), (datetime, bytes(8) + b"\2"),
        (UtcMs, b"\x80" + bytes(7)), (date, bytes(8)), (bool, b"\2"),
        (float, b"\x7f\xf0" + bytes(6)), (float, b"\x7f\xf8" + bytes(6)),
        (str, b"\0\3a\0b"), (str, b"\0\1\xff"), (str, b"\0\2a"), (str, b"\0"),
        (Decimal, b"\0\3NaN"), (Decimal, b"\0\x088E999999"), (Decimal, b"\0\3inf"),
        (Decimal, b"\0\1x"), (Decimal, b"\0\0"),
    ], ids=str)  # fmt: skip
    def test_value_that_no_database_accepts_is_rejected(self, kind: type, packed: bytes) -> None:
        with pytest.raises(InvalidPage):
            Cursors(kind).read(forged(packed, None), None)


class TestCursors:
    @pytest.mark.parametrize(("kind", "value"), [
        *((int, value) for value in (0, -1, 2**63 - 1, -(2**63))),
        *((str, value) for value in ("", "ü", "x" * 2000)),
        (bool, True), (bool, False), (float, -0.1), (Decimal, Decimal("-1.50")),
        (UUID, UUID(int=2**128 - 1)), (date, date.max), (date, date.min),
        (datetime, datetime(1, 1, 1)), (datetime, datetime.max), (datetime, START),
        (UtcMs, START + timedelta(milliseconds=1)),
    ], ids=str)  # fmt: skip
    @pytest.mark.parametrize("is_backward", [True, False])
    def test_value_is_restored(self, kind: type, value: object, is_backward: bool) -> None:
        cursors = Cursors(kind, int)
        cursor = cursors.write((value, 1), ["list"], is_backward=is_backward)
        assert cursors.read(cursor, ["list"]) == ((value, 1), is_backward)
        with pytest.raises(InvalidPage):
            cursors.read(cursor, ["other"])

    @pytest.mark.parametrize("length", [4000, 2**16, 2**17])
    def test_position_that_is_too_long_is_rejected(self, length: int) -> None:
        with pytest.raises(ValueError, match="longer than 4096"):
            Cursors(str).write(("x" * length,), None)

    @pytest.mark.parametrize(
        ("kind", "value"),
        [
            *((float, float(name)) for name in ("nan", "inf", "-inf")),
            *((Decimal, Decimal(name)) for name in ("NaN", "sNaN", "Infinity", "1E+2000")),
            *(
                (kind, None)
                for kind in (int, str, bool, float, Decimal, UUID, date, datetime, UtcMs)
            ),
            (int, 2**63),
            (int, -(2**63) - 1),
            (str, "a\0b"),
            (str, "\ud800"),
        ],
        ids=str,
    )
    def test_place_that_would_not_be_read_is_refused(self, kind: type, value: object) -> None:
        with pytest.raises(ValueError, match=r"NULL|no cursor"):
            Cursors(kind).write((value,), None)

    @pytest.mark.parametrize("place", [(), (1,), (1, 2, 3)])
    def test_place_of_another_length_is_refused(self, place: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match="no cursor"):
            Cursors(int, int).write(place, None)


class TestPage:
    def test_reads_from_the_offset(self, database: Database, tickets: list[dict[str, Any]]) -> None:
        query = select(Ticket.id).order_by(Ticket.id)
        ids = [row["id"] for row in tickets]
        with database.reading() as reader:
            for offset in (0, 1, 38, 39, 40, 2**63 - 1, 2**200):
                for limit in (1, 3, 2**31, 2**80):
                    found = page(reader, query, limit=limit, offset=offset)
                    assert found.rows == ids[offset : offset + limit]
                    assert found.has_more is (offset + limit < 40)
                    assert found.total is None

    def test_counts_all_rows_on_request(
        self, database: Database, tickets: list[dict[str, Any]]
    ) -> None:
        query = select(Ticket).where(Ticket.queue == "a").order_by(Ticket.opened_at, Ticket.id)

        def read(session: Session) -> None:
            found = page(session, query, limit=2, offset=1, with_total=True)
            assert found.total == sum(row["queue"] == "a" for row in tickets)
            assert [type(row) for row in found.rows] == [Ticket, Ticket]
            pairs = page(session, select(Ticket.id, Ticket.code).order_by(Ticket.id), limit=1)
            assert [(row.id, row.code) for row in pairs.rows] == [(1, tickets[0]["code"])]

        database.run(read)

    @pytest.mark.parametrize(("limit", "offset"), [(0, 0), (-1, 0), (1, -1), (-(2**70), 0)])
    def test_rejects_a_negative_offset(self, database: Database, limit: int, offset: int) -> None:
        with database.reading() as reader, pytest.raises(InvalidPage):
            page(reader, select(func.now()), limit=limit, offset=offset)


def test_invalid_cursor_of_a_request_is_answered_400(sample: Sample) -> None:
    sample.write("{name}/__init__.py", "")
    sample.write(
        "{name}/openapi.yaml",
        """
        openapi: 3.1.0
        info: {title: Numbers, version: "1"}
        servers: [{url: /numbers}]
        paths:
          /numbers:
            get:
              tags: [numbers]
              operationId: list_numbers
              parameters:
                - {name: cursor, in: query, schema: {type: string}}
                - {name: limit, in: query, schema: {type: integer, default: 2}}
              responses:
                "200": {description: Some numbers.}
                default: {description: Not OK.}
        """,
    )
    sample.write(
        "{name}/models.py",
        """
        from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


        class Base(DeclarativeBase):
            pass


        class Number(Base):
            __tablename__ = "number"

            id: Mapped[int] = mapped_column(primary_key=True)
        """,
    )
    sample.write("{name}/handlers/__init__.py", "")
    sample.write(
        "{name}/handlers/numbers.py",
        """
        from sqlalchemy import insert, select

        from specd.db import Cursors, page
        from {name}.models import Base, Number

        NUMBERS = Cursors(int)


        async def list_numbers(ctx, *, cursor=None, limit):
            def fill(session):
                Base.metadata.create_all(session.connection())
                if session.get(Number, 1) is None:
                    session.execute(insert(Number), [{"id": number} for number in range(1, 6)])

            await ctx.write_down(fill)
            query = select(Number.id).order_by(Number.id.desc())
            if cursor is not None:
                (last,), _ = NUMBERS.read(cursor, "numbers")
                query = query.where(Number.id < last)
            found = await ctx.read(lambda db: page(db, query, limit=limit))
            last = found.rows[-1:]
            following = NUMBERS.write(last, "numbers") if found.has_more else None
            return {"data": found.rows, "next": following}
        """,
    )
    (sample.root / "var").mkdir(parents=True)
    with sample.client() as client:
        pages, cursor = [], None
        while cursor or not pages:
            response = client.get("/numbers/numbers", params={"cursor": cursor} if cursor else {})
            assert response.status_code == 200, response.text
            pages.append(response.json()["data"])
            cursor = response.json()["next"]
        assert pages == [[5, 4], [3, 2], [1]]
        for query in ({"cursor": "x"}, {"cursor": ""}, {"limit": 0}, {"limit": -5}):
            response = client.get("/numbers/numbers", params=query)
            assert response.status_code == 400
            assert response.json()["code"] == "invalid_page"
