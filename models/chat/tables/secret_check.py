"""A text that only the secret of the server opens (specd/_db/secret_checks.py)."""

from sqlalchemy import Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase


class SecretCheck(ChatBase):
    """The only row has the id 1."""

    __tablename__ = "secret_check"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    sealed: Mapped[str] = mapped_column(Text)
