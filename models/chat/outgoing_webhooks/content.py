"""What bots answer."""

from dataclasses import dataclass

from models.json import Json


class NoAnswer(Exception):
    """The answer does not match its format; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a bot says. `content` is Markdown, in which nobody is mentioned if `is_inert`;
    `is_private`: only the user who called the bot reads it.
    """

    content: str
    is_inert: bool = False
    is_private: bool = False


def read_content(value: Json) -> Answer | None:
    """Return an answer in Markdown; None without a value and for a blank one. Raise `NoAnswer`."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise NoAnswer("The content of the answer is no text.")
    return Answer(value.replace("\0", "\ufffd")) if value.strip() else None
