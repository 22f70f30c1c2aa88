"""Cursors of payment's lists are part of what clients store, so a release reads older ones."""

from models.payment.cursors import Position, read_cursor, write_cursor

LISTED = ["invoices", {"project_id": "p", "statuses": ["paid"]}]
POSITION = Position(1764417600123, "3fa85f64-5717-4562-b3fc-2c963f66afa6")
CURSOR = "AAABms97-ns_qF9kVxdFYrP8LJY_Zq-mX03i7GA4jsk"
"""As releases before `specd.db.Cursors` wrote it."""


def test_cursor_of_an_earlier_release_is_read() -> None:
    assert read_cursor(CURSOR, LISTED) == POSITION
    assert write_cursor(POSITION, LISTED) == CURSOR
