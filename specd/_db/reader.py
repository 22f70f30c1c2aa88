"""What a read may run on."""

from sqlalchemy import Connection
from sqlalchemy.orm import Session

Db = Connection | Session
"""The argument of reads: a Core connection, or a session, which is flushed first."""
