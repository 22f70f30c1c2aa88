"""The base class of refusals, and the error of a database that does not respond."""

from typing import Any, ClassVar


class Refusal(Exception):
    """A rule is violated.

    A subclass is named after the failure and has a stable `code` and a `sentence`. The keyword
    arguments are its `facts`, which fill the placeholders of the sentence. Never pass a secret as a
    fact. `status` is the status of the response, and `retry_after_s` is given if a later request
    can succeed. The error table can override both. The page of errors shows the docstring, which
    says when the error occurs, and `advice`, which says what the caller can do.

    An operation must document the status, unless `is_of_any_operation` is true, because then any
    operation can respond with it.
    """

    status: ClassVar[int]
    code: ClassVar[str]
    sentence: ClassVar[str]
    advice: ClassVar[str]
    retry_after_s: ClassVar[int | None] = None
    is_of_any_operation: ClassVar[bool] = False

    def __init__(self, **facts: Any) -> None:
        super().__init__(facts)
        self.facts = facts

    def __str__(self) -> str:
        return self.sentence.format(**self.facts)


class DatabaseUnavailable(Refusal):
    """The database did not respond before the deadline. The request changed nothing, so a retry is
    safe.
    """

    status = 503
    code = "database_unavailable"
    is_of_any_operation = True
    retry_after_s = 1
    sentence = "The database did not answer in time; try again in a moment."
    advice = "Wait the number of seconds in `Retry-After`, then send the same request again."
