"""The base classes of the chat service's errors. Each error is a class with its code and its text.

The errors of a package are in its `errors.py`, and those of a single module in that module; the
first line of its docstring is the heading on the page of errors. Errors that only handlers raise
are there, too. Clients match the texts, so they are the reference's. Facts fill the text. Errors
without a code of their own are `BAD_REQUEST`; handlers/chat/wire/errors.py adds status and extra
keys.
"""

from specd import Refusal


class ChatError(Refusal):
    """An error. Subclasses without a code of their own are answered as 400 BAD_REQUEST."""

    code = "BAD_REQUEST"


class RefusedCommand(ChatError):
    """An error of the operator's commands, which no caller gets over HTTP."""
