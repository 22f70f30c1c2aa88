"""The content of responses from bots."""

from dataclasses import dataclass

from models.json import Json


class NoAnswer(Exception):
    """The response does not match its format. The message is the reason."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply from a bot. `content` is Markdown. If `is_inert`, mentions have no effect. If
    `is_private`, only the user who called the bot gets it.
    """

    content: str
    is_inert: bool = False
    is_private: bool = False


def read_content(value: Json) -> Answer | None:
    """Return a reply in Markdown, or None if there is no value or it is blank. Raise `NoAnswer`."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise NoAnswer("The content of the answer is no text.")
    return Answer(value.replace("\0", "\ufffd")) if value.strip() else None
