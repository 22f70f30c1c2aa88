"""The base classes of the chat service's errors. Each error is a class with a code and a text.

The errors of a package are in its `errors.py`, and those of a single module in that module. The
first line of its docstring is the heading on the page of errors. Errors that only handlers raise
are defined in the handlers. Clients match the texts, so they are Zulip's. Facts fill the text.
Errors without a specific code are `BAD_REQUEST`. handlers/chat/wire/errors.py adds status and extra
keys.
"""

from specd import Refusal


class ChatError(Refusal):
    """An error. Subclasses without a specific code are returned as 400 BAD_REQUEST."""

    code = "BAD_REQUEST"


class RefusedCommand(ChatError):
    """An error of the operator's commands. It is not returned over HTTP."""
