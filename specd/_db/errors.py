"""The base of every error of the domain. It has no status number: callers map errors to those."""

from typing import Any, ClassVar


class DomainError(Exception):
    """A rule is violated.

    A subclass is named for what is wrong, carries a stable `code`, and a `sentence`; the keyword
    facts it was raised with fill the sentence's placeholders and are attributes of `facts`. Never
    pass a secret as a fact. Callers read its docstring as when it comes, and `advice` as what to
    do: the page of errors is written from these two.
    """

    code: ClassVar[str]
    sentence: ClassVar[str]
    advice: ClassVar[str]

    def __init__(self, **facts: Any) -> None:
        super().__init__(facts)
        self.facts = facts

    def __str__(self) -> str:
        return self.sentence.format(**self.facts)


class DatabaseUnavailable(DomainError):
    """The database did not answer before the deadline. The request changed nothing, so a retry is
    safe.
    """

    code = "database_unavailable"
    sentence = "The database did not answer in time; try again in a moment."
    advice = "Wait the number of seconds in `Retry-After`, then send the same request again."
