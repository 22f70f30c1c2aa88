"""Creates unpaid invoices for the cancel load as copies of one row.

They are written directly to the database, because creating them over HTTP would take longer than
the load.
"""

from secrets import token_hex
from uuid import uuid4

from eth_utils.address import to_checksum_address
from sqlalchemy import MetaData, Table, create_engine, select, text


def stock_invoices(url: str, *, like: str, count: int) -> list[str]:
    """Copy the invoice `like` `count` times, with new orders and addresses. Return the ids."""
    engine = create_engine(url)
    table = Table("invoice", MetaData(), autoload_with=engine)
    with engine.begin() as connection:
        row = connection.execute(select(table).where(table.c.id == like)).mappings().one()
        copies = [
            {
                **row,
                "id": str(uuid4()),
                "external_order_id": f"stock-{token_hex(12)}",
                "deposit_address": to_checksum_address(f"0x{token_hex(20)}"),
            }
            for _ in range(count)
        ]
        connection.execute(table.insert(), copies)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # The load must not pay for writing these rows to the database file.
        sqlite = engine.dialect.name == "sqlite"
        connection.execute(text("PRAGMA wal_checkpoint(PASSIVE)" if sqlite else "CHECKPOINT"))
        connection.execute(text("ANALYZE"))
    engine.dispose()
    return [copy["id"] for copy in copies]
