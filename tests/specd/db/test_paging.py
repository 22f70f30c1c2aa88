"""Lists by pages: each row comes once in both directions, and a forged cursor is no failure."""

import base64
import hashlib
import json
import random
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
    UniqueConstraint,
    bindparam,
    event,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from specd.db import Cursors, Database, InvalidPage, Keyset, RowNumber, UtcMs, page
from tests.specd.sample import Sample

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Base(DeclarativeBase):
    pass


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Ticket(Base):
    __tablename__ = "ticket"
    __table_args__ = (
        UniqueConstraint("code", "day"),
        Index("ix_ticket_queue_opened_at", "queue", "opened_at"),
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True)
    queue: Mapped[str] = mapped_column(String(20))
    opened_at: Mapped[datetime] = mapped_column(UtcMs)
    local_at: Mapped[datetime]
    day: Mapped[date]
    code: Mapped[str] = mapped_column(String(20))
    key: Mapped[UUID] = mapped_column(unique=True)
    price: Mapped[Decimal] = mapped_column(Numeric(12, 2, asdecimal=True))
    weight: Mapped[float]
    is_urgent: Mapped[bool]
    color: Mapped[Color]
    closed_at: Mapped[datetime | None] = mapped_column(UtcMs)


class Note(Base):
    __tablename__ = "note"

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True)
    ticket_id: Mapped[int] = mapped_column(ForeignKey("ticket.id"))


def ticket(number: int, rng: random.Random) -> dict[str, Any]:
    """Return a row that has most of its values in common with others."""
    return {
        "id": number,
        "queue": rng.choice("ab"),
        "opened_at": START + timedelta(milliseconds=rng.randrange(4)),
        "local_at": datetime(2026, 11, 21) + timedelta(microseconds=rng.randrange(3)),
        "day": date(2026, 11, 1 + rng.randrange(3)),
        "code": f"ü{number}",
        "key": UUID(int=rng.getrandbits(128)),
        "price": Decimal(rng.randrange(4)) / 4,
        "weight": rng.randrange(3) / 3,
        "is_urgent": rng.random() < 0.5,
        "color": Color.RED,
        "closed_at": None,
    }


@pytest.fixture
def tickets(database: Database) -> Iterator[list[dict[str, Any]]]:
    rng = random.Random(7)
    rows = [ticket(number, rng) for number in range(1, 41)]

    def fill(session: Session) -> None:
        Base.metadata.create_all(session.connection())
        session.execute(insert(Ticket), rows)

    database.run(fill)
    yield rows
    database.run(lambda session: Base.metadata.drop_all(session.connection()))


ORDERS: Mapping[str, tuple[Any, ...]] = {
    "key": (Ticket.id,),
    "key down": (Ticket.id.desc(),),
    "times down": (Ticket.opened_at.desc(), Ticket.id.desc()),
    "mixed": (Ticket.is_urgent.desc(), Ticket.opened_at, Ticket.id.desc()),
    "without a zone": (Ticket.local_at.asc(), Ticket.key),
    "unique pair": (Ticket.day.desc(), Ticket.code.desc()),
    "numbers": (Ticket.price, Ticket.weight.desc(), Ticket.id),
    "table": (Ticket.__table__.c.opened_at, Ticket.__table__.c.id),
}


def sorted_by(order: tuple[Any, ...], rows: list[dict[str, Any]]) -> list[int]:
    """Return the ids of rows in an order, by Python."""
    rows = [*rows]
    for each in reversed(order):
        element = getattr(each, "__clause_element__", lambda each=each: each)()
        is_descending = getattr(element, "modifier", None).__class__.__name__ == "function" and (
            element.modifier.__name__ == "desc_op"
        )
        name = getattr(element, "element", element).name
        rows.sort(key=lambda row: row[name], reverse=is_descending)
    return [row["id"] for row in rows]


def forward(
    keyset: Keyset[Any], db: Any, limit: int, values: Mapping[str, object] | None = None
) -> Iterator[Any]:
    """Yield the pages of a list, from the first to the last."""
    found = keyset.page(db, values or {}, limit=limit)
    assert found.previous_cursor is None
    while True:
        yield found
        assert found.has_more is (found.next_cursor is not None)
        if found.next_cursor is None:
            return
        found = keyset.page(db, values or {}, limit=limit, cursor=found.next_cursor)
        assert found.rows
        assert found.previous_cursor is not None


def column_of(kind: Any) -> Column[Any]:
    return Table("other", MetaData(), Column("value", kind, nullable=False)).c.value


class TestKeyset:
    @pytest.mark.parametrize("limit", [1, 7, 39, 40, 41])
    @pytest.mark.parametrize("name", ORDERS)
    def test_each_row_comes_once_in_both_directions(
        self, database: Database, tickets: list[dict[str, Any]], name: str, limit: int
    ) -> None:
        order = ORDERS[name]
        keyset = Keyset(select(Ticket.id), *order)
        expected = sorted_by(order, tickets)
        with database.reading() as reader:
            pages = list(forward(keyset, reader, limit))
            assert [id_ for each in pages for id_ in each.rows] == expected
            assert [len(each.rows) for each in pages[:-1]] == [limit] * (len(pages) - 1)
            rows, found = [*pages[-1].rows], pages[-1]
            while found.previous_cursor is not None:
                found = keyset.page(reader, limit=limit, cursor=found.previous_cursor)
                rows = [*found.rows, *rows]
                assert found.next_cursor is not None
            assert rows == expected

    def test_rows_that_come_and_go_move_no_others(
        self, database: Database, tickets: list[dict[str, Any]]
    ) -> None:
        keyset = Keyset(select(Ticket.id), Ticket.opened_at, Ticket.id)
        expected = sorted_by(ORDERS["table"], tickets)
        with database.reading() as reader:
            first = keyset.page(reader, limit=10)
        early = {**ticket(99, random.Random(1)), "opened_at": START - timedelta(days=1)}

        def change(session: Session) -> None:
            session.execute(insert(Ticket), [early])
            for id_ in (expected[3], expected[9]):
                session.delete(session.get_one(Ticket, id_))

        database.run(change)
        with database.reading() as reader:
            second = keyset.page(reader, limit=10, cursor=first.next_cursor)
            assert second.rows == expected[10:20]
            back = keyset.page(reader, limit=10, cursor=second.previous_cursor)
            assert back.rows == [99, *expected[:3], *expected[4:9]]
            assert back.previous_cursor is None

    def test_place_after_the_last_row_has_an_empty_page(
        self, database: Database, tickets: list[dict[str, Any]]
    ) -> None:
        keyset = Keyset(select(Ticket.id).where(Ticket.id > bindparam("least")), Ticket.id)
        with database.reading() as reader:
            first = keyset.page(reader, {"least": 30}, limit=5)
        database.run(lambda session: session.execute(text("DELETE FROM ticket WHERE id > 35")))
        with database.reading() as reader:
            found = keyset.page(reader, {"least": 30}, limit=5, cursor=first.next_cursor)
        assert (found.rows, found.next_cursor, found.previous_cursor) == ([], None, None)

    def test_rows_are_entities_values_or_tuples(
        self, database: Database, tickets: list[dict[str, Any]]
    ) -> None:
        def read(session: Session) -> None:
            (entity,) = Keyset(select(Ticket), Ticket.id).page(session, limit=1).rows
            assert isinstance(entity, Ticket)
            assert entity.code == tickets[0]["code"]
            pairs = Keyset(select(Ticket.id, Ticket.code), Ticket.opened_at, Ticket.id)
            for row in pairs.page(session, limit=3).rows:
                id_, code = row
                assert (row.id, row.code) == (id_, code)

        database.run(read)

    def test_statements_are_built_once(
        self, database: Database, tickets: list[dict[str, Any]]
    ) -> None:
        keyset = Keyset(select(Ticket.id), Ticket.opened_at, Ticket.id)
        seen = []
        with database.reading() as reader:
            event.listen(reader, "before_execute", lambda *given: seen.append(given[1]))
            for _ in range(2):
                second = keyset.page(
                    reader, limit=2, cursor=keyset.page(reader, limit=2).next_cursor
                )
                keyset.page(reader, limit=2, cursor=second.previous_cursor)
        assert len(seen) == 6
        assert seen[:3] == seen[3:]
        assert all(one is other for one, other in zip(seen[:3], seen[3:], strict=True))

    def test_index_finds_a_page(self, sqlite_url: str) -> None:
        """The row number is the end of an index in SQLite, which compares no rows by it."""
        keyset = Keyset(
            select(Ticket.id).where(Ticket.queue == bindparam("queue")),
            Ticket.opened_at.desc(), Ticket.id.desc(),
        )  # fmt: skip
        plans = []

        def explain(connection: Connection, cursor: Any, sql: str, given: Any, *_: Any) -> None:
            if sql.startswith("SELECT"):
                found = connection.connection.cursor().execute(f"EXPLAIN QUERY PLAN {sql}", given)
                plans.append([row[-1] for row in found])

        database = Database(sqlite_url, rewrites_tables=True)
        database.run(lambda session: Base.metadata.create_all(session.connection()))
        rows = [ticket(number, random.Random(number)) for number in range(1, 9)]
        database.run(lambda session: session.execute(insert(Ticket), rows))
        values = {"queue": "a"}
        with database.reading() as reader:
            cursor = keyset.page(reader, values, limit=1).next_cursor
            event.listen(reader, "before_cursor_execute", explain)
            assert keyset.page(reader, values, limit=1, cursor=cursor).rows
        database.dispose()
        index = "ticket USING COVERING INDEX ix_ticket_queue_opened_at (queue=? AND opened_at<?)"
        assert [plan[0] for plan in plans] == [f"SEARCH {index}"]

    @pytest.mark.parametrize(
        ("order", "problem"),
        [
            ((), "no unique key"),
            ((Ticket.opened_at,), "no unique key"),
            ((Ticket.day, Ticket.opened_at.desc()), "no unique key"),
            ((Ticket.closed_at, Ticket.id), "NULL"),
            ((Ticket.color, Ticket.id), "no cursor has a value of the type"),
            ((func.lower(Ticket.code), Ticket.id), "ordered by columns"),
            ((Ticket.id.desc().nulls_last(),), "ordered by columns"),
            (("id",), "ordered by columns"),
            ((column_of(String), Ticket.id), "at most 500 characters"),
            ((column_of(String(501)), Ticket.id), "at most 500 characters"),
            ((column_of(Numeric), Ticket.id), "without a scale"),
        ],
    )
    def test_refuses_an_order_that_is_not_definite(
        self, order: tuple[Any, ...], problem: str
    ) -> None:
        with pytest.raises(ValueError, match=problem):
            Keyset(select(Ticket.id), *order)


class TestCursorOfAnotherList:
    def test_is_refused(self, database: Database, tickets: list[dict[str, Any]]) -> None:
        of_queue = select(Ticket.id).where(Ticket.queue == bindparam("queue"))
        order = (Ticket.opened_at, Ticket.id)
        keyset = Keyset(of_queue, *order)
        others = [
            (Keyset(of_queue, *order), {"queue": "b"}),
            (Keyset(of_queue, Ticket.opened_at.desc(), Ticket.id.desc()), {"queue": "a"}),
            (Keyset(of_queue, Ticket.id), {"queue": "a"}),
            (Keyset(of_queue.where(Ticket.is_urgent), *order), {"queue": "a"}),
            (Keyset(select(Ticket.id), *order), {}),
            (Keyset(select(Ticket.id).where(Ticket.queue == "b"), *order), {}),
            (Keyset(select(Ticket.id).where(Ticket.code == "a"), *order), {}),
            (Keyset(select(Ticket.id).where(Ticket.queue.in_({"a", "c"})), *order), {}),
        ]
        with database.reading() as reader:
            cursors = [
                keyset.page(reader, {"queue": "a"}, limit=2).next_cursor,
                *(other.page(reader, values, limit=1).next_cursor for other, values in others),
            ]
            lists = [(keyset, {"queue": "a"}), *others]
            for mine, (each, values) in enumerate(lists):
                for at, cursor in enumerate(cursors):
                    if cursor is None:
                        continue
                    if at == mine:
                        assert each.page(reader, values, limit=1, cursor=cursor).rows
                        continue
                    with pytest.raises(InvalidPage):
                        each.page(reader, values, limit=1, cursor=cursor)

    def test_filter_of_a_set_is_the_same_in_each_order(self, database: Database) -> None:
        names = ["a", "c", "bb", "d"]
        cursors = Cursors(int)
        one, other = (
            Keyset(select(Ticket.id).where(Ticket.queue.in_(each)), Ticket.id)._listed
            for each in (names, names[::-1])
        )
        assert cursors.write((1,), one) == cursors.write((1,), other)


def forged(packed: bytes, listed: object) -> str:
    """Return a cursor with any bytes and the right checksum."""
    text = json.dumps(listed, sort_keys=True).encode()
    data = packed + hashlib.sha256(packed + text).digest()[:8]
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class TestForgedCursor:
    def test_with_a_right_checksum_is_a_page_or_refused(
        self, database: Database, tickets: list[dict[str, Any]]
    ) -> None:
        rng = random.Random(3)
        accepted = refused = 0
        with database.reading() as reader:
            for name, order in ORDERS.items():
                keyset = Keyset(select(Ticket.id), *order)
                first = keyset.page(reader, limit=3)
                assert first.next_cursor is not None
                good = base64.urlsafe_b64decode(first.next_cursor + "==")[:-8]
                packed = [b"", good, good + b"\1", good + b"\2", good[:-1], b"\xff" * len(good)]
                for _ in range(150):
                    changed = bytearray(good)
                    for _ in range(rng.randrange(1, 4)):
                        changed[rng.randrange(len(good))] = rng.choice((0, 1, 127, 128, 255))
                    packed.append(bytes(changed))
                for each in packed:
                    cursor = forged(each, [keyset._listed, {}])
                    try:
                        keyset.page(reader, limit=3, cursor=cursor)
                        accepted += 1
                    except InvalidPage:
                        refused += 1
                assert keyset.page(reader, limit=3, cursor=first.next_cursor).rows, name
        assert accepted > 100
        assert refused > 100

    def test_out_of_the_range_of_its_column_is_refused(self, database: Database) -> None:
        table = Table(
            "measure", MetaData(), Column("id", Integer, primary_key=True),
            Column("size", Numeric(4, 2), nullable=False),
        )  # fmt: skip
        database.run(lambda session: table.metadata.create_all(session.connection()))
        keyset = Keyset(select(table.c.id), table.c.size, table.c.id)
        listed = [keyset._listed, {}]
        with database.reading() as reader:
            for size, number, is_valid in (
                ("99.99", 2**31 - 1, True), ("100", 1, False), ("1", 2**31, False),
                ("1", -(2**31) - 1, False), ("1", -(2**31), True),
            ):  # fmt: skip
                cursor = Cursors(Decimal, int).write((Decimal(size), number), listed)
                with nullcontext() if is_valid else pytest.raises(InvalidPage):
                    keyset.page(reader, limit=2**31 - 1, cursor=cursor)

    @pytest.mark.parametrize("change", [
        lambda cursor: "", lambda cursor: cursor[:-1], lambda cursor: cursor + "A",
        lambda cursor: cursor[:5] + " " + cursor[5:], lambda cursor: cursor + "=",
        lambda cursor: cursor + "\n", lambda cursor: "ü" + cursor, lambda cursor: "\0",
        lambda cursor: "\ud800", lambda cursor: cursor.swapcase(), lambda cursor: "A" * 10_000_000,
    ])  # fmt: skip
    def test_with_another_text_is_refused(self, change: Any) -> None:
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
    def test_with_a_value_that_no_database_takes_is_refused(
        self, kind: type, packed: bytes
    ) -> None:
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
    def test_value_comes_back(self, kind: type, value: object, is_backward: bool) -> None:
        cursors = Cursors(kind, int)
        cursor = cursors.write((value, 1), ["list"], is_backward=is_backward)
        assert cursors.read(cursor, ["list"]) == ((value, 1), is_backward)
        with pytest.raises(InvalidPage):
            cursors.read(cursor, ["other"])

    def test_place_that_is_too_long_is_refused(self) -> None:
        with pytest.raises(ValueError, match="longer than 4096"):
            Cursors(str).write(("x" * 4000,), None)


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
    def test_refuses_a_negative_place(self, database: Database, limit: int, offset: int) -> None:
        with database.reading() as reader, pytest.raises(InvalidPage):
            page(reader, select(func.now()), limit=limit, offset=offset)


def test_bad_cursor_of_a_request_is_answered_400(sample: Sample) -> None:
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

        from specd import read_only
        from specd.db import Keyset
        from {name}.models import Base, Number

        NUMBERS = Keyset(select(Number.id), Number.id.desc())


        async def list_numbers(ctx, *, cursor=None, limit):
            def fill(session):
                Base.metadata.create_all(session.connection())
                if session.get(Number, 1) is None:
                    session.execute(insert(Number), [{"id": number} for number in range(1, 6)])

            await ctx.write_down(fill)
            page = await ctx.read(lambda db: NUMBERS.page(db, limit=limit, cursor=cursor))
            return {"data": page.rows, "next": page.next_cursor}
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
