"""What can go wrong in the chat service: one class per failure, with its wire code and its text.

A module here holds the failures of one subject. Clients match the texts, so they are the
reference's. A class that says nothing else is a plain `BAD_REQUEST`; handlers/chat/wire/errors.py
gives status and extra keys. Facts fill the text.
"""

from models.errors import DomainError


class ChatError(DomainError):
    """A refusal. Subclasses without a code of their own go out as 400 BAD_REQUEST."""

    code = "BAD_REQUEST"
