"""The declarative base of the chat service."""

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

from specd.db import NAMING


class ChatBase(DeclarativeBase):
    """Base class of the chat service's tables."""

    metadata = MetaData(naming_convention=NAMING)
