"""What a read may run on."""

from sqlalchemy import Connection
from sqlalchemy.orm import Session

Db = Connection | Session
"""What a read may run on: a Core connection of a GET, or the session of a write unit."""
