"""Clients store cursors of payment's lists, so a release reads those of older releases."""

from models.payment.cursors import Position, read_cursor, write_cursor

LISTED = ["invoices", {"project_id": "p", "statuses": ["paid"]}]
POSITION = Position(1764417600123, "3fa85f64-5717-4562-b3fc-2c963f66afa6")
CURSOR = "AAABms97-ns_qF9kVxdFYrP8LJY_Zq-mX03i7GA4jsk"
"""A cursor in the form of releases before `specd.db.Cursors`."""


def test_cursor_of_an_earlier_release_is_accepted() -> None:
    assert read_cursor(CURSOR, LISTED) == POSITION
    assert write_cursor(POSITION, LISTED) == CURSOR
