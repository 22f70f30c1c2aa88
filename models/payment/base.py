"""The declarative base of the payment service."""

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

from specd.db import NAMING


class PaymentBase(DeclarativeBase):
    """The base class of all payment tables. The chat service has a separate one."""

    metadata = MetaData(naming_convention=NAMING)
