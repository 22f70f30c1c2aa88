"""The declarative base of the payment service."""

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

from specd.db import NAMING


class PaymentBase(DeclarativeBase):
    """Everything the payment service stores. The chat service has a base of its own."""

    metadata = MetaData(naming_convention=NAMING)
