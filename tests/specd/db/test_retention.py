"""`older_than`: the rows that a rule deletes, and the columns that it reports."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from specd.db import UtcMs, older_than

NOW = datetime(2026, 11, 29, tzinfo=UTC)


class Base(DeclarativeBase):
    pass


class Visit(Base):
    __tablename__ = "visit"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcMs, index=True)
    is_open: Mapped[bool]


@pytest.fixture
def session() -> Iterator[Session]:
    """A session with four visits. The third is in the future, and the second has not ended."""
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    days = {1: 9, 2: 8, 3: 0, 4: 7}
    with Session(engine) as session:
        for id_, age in days.items():
            session.add(Visit(id=id_, at=NOW - timedelta(days=age), is_open=id_ == 2))
        session.flush()
        yield session


def left(session: Session) -> list[int]:
    return [*session.scalars(select(Visit.id).order_by(Visit.id))]


@pytest.mark.parametrize("by_key", [False, True])
def test_keeps_rows_excluded_by_the_condition(session: Session, *, by_key: bool) -> None:
    rule = older_than(Visit.at, "visits", days=1, only=~Visit.is_open, by_key=by_key)
    assert rule.delete_expired(session, NOW - timedelta(days=1), 10)
    assert left(session) == [2, 3]
    assert not rule.delete_expired(session, NOW - timedelta(days=1), 10)


@pytest.mark.parametrize("by_key", [False, True])
def test_reports_the_columns_of_deleted_rows(session: Session, *, by_key: bool) -> None:
    noted: list[tuple[int, bool]] = []
    rule = older_than(
        Visit.at, "visits", days=1, by_key=by_key, noted=(Visit.id, Visit.is_open),
        note=lambda _, rows: noted.extend(tuple(row) for row in rows),
    )  # fmt: skip
    assert rule.delete_expired(session, NOW - timedelta(days=1), 2)
    assert sorted(noted) == [(1, False), (2, True)]
    assert left(session) == [3, 4]


def test_by_key_reads_only_the_first_rows(session: Session) -> None:
    """The third row is recent, so the old row after it is kept until the third row is old too."""
    rule = older_than(Visit.at, "visits", days=1, by_key=True)
    assert rule.delete_expired(session, NOW - timedelta(days=1), 2)
    assert not rule.delete_expired(session, NOW - timedelta(days=1), 1)
    assert left(session) == [3, 4]
