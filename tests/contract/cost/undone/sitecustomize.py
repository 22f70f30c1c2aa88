"""First on a server's path, this makes each of its commits a rollback: the dearest requests find
the same data however often they are sent.
"""

from typing import Any

from sqlalchemy import Engine, event


@event.listens_for(Engine, "commit")
def _roll_back(connection: Any) -> None:
    connection.connection.dbapi_connection.rollback()
