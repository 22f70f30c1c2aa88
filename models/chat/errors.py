"""The bases of every failure of the chat service: a class each, with its wire code and its text.

Each package holds the failures of its subject in its own `errors.py`, and a module that is no
package holds its own; the first line of that module's docstring is the subject on the page of
errors. A failure that only handlers raise stands with its subject too. Clients match the texts, so
they are the reference's.
A class that says nothing else is a plain `BAD_REQUEST`; handlers/chat/wire/errors.py gives status
and extra keys. Facts fill the text.
"""

from models.errors import DomainError


class ChatError(DomainError):
    """A refusal. Subclasses without a code of their own go out as 400 BAD_REQUEST."""

    code = "BAD_REQUEST"


class RefusedCommand(ChatError):
    """What only the operator meets, at the command line: no caller ever sees it over HTTP."""
