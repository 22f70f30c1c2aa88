"""What a read may run on."""

from sqlalchemy import Connection
from sqlalchemy.orm import Session

Db = Connection | Session
"""What a read may run on: a Core connection, or a session. A session is flushed first."""
