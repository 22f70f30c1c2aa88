"""Python runs this at the start of a server if it is on its path. Each commit becomes a rollback,
so that repeated requests find the same data.
"""

from typing import Any

from sqlalchemy import Engine, event


@event.listens_for(Engine, "commit")
def _roll_back(connection: Any) -> None:
    connection.connection.dbapi_connection.rollback()
