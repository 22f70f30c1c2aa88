"""The declarative base of the chat service."""

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

from specd.db import NAMING


class ChatBase(DeclarativeBase):
    """Everything the chat service stores."""

    metadata = MetaData(naming_convention=NAMING)
