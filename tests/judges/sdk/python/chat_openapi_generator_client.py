"""How the drives of openapi-generator's Python SDK call the chat service, and who calls."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import specd_chat as sdk
from facts import FACTS
from specd_chat.exceptions import ApiException, BadRequestException, UnauthorizedException

PEOPLE = FACTS["people"]


class ApiClient(sdk.ApiClient):
    """Writes lists in the query as JSON, as the document says, and not with commas."""

    def parameters_to_url_query(self, params: Iterable[tuple[str, Any]], formats: Any) -> str:
        texts = [(name, json.dumps(v) if isinstance(v, list) else v) for name, v in params]
        return super().parameters_to_url_query(texts, formats)


def client(email: str, key: str) -> ApiClient:
    return ApiClient(sdk.Configuration(host=FACTS["base_url"], username=email, password=key))


CORDELIA, IAGO, HAMLET, OTHELLO = (
    client(PEOPLE[name]["email"], PEOPLE[name]["key"])
    for name in ("cordelia", "iago", "hamlet", "othello")
)
OTHELLO_AGAIN = client(FACTS["email_change"]["new_email"], PEOPLE["othello"]["key"])
NOBODY = client("nobody@acme.example", "x" * 32)


def refusal(call: Callable[..., Any], *arguments: Any, error: type[ApiException]) -> str | None:
    """The code in the typed error record of a call that is refused."""
    record = None
    try:
        call(*arguments)
    except error as refused:
        record = refused.data
    assert isinstance(record, sdk.ErrorResponse), f"{call} was not refused"
    assert record.result == "error"
    assert record.msg
    return record.code


def bad(call: Callable[..., Any], *arguments: Any) -> str | None:
    return refusal(call, *arguments, error=BadRequestException)


def unknown(call: Callable[..., Any], *arguments: Any) -> None:
    """Nobody may call it."""
    assert refusal(call, *arguments, error=UnauthorizedException) == "UNAUTHORIZED"


def done(answer: sdk.Success) -> None:
    assert (answer.result, answer.msg) == ("success", "")
    assert answer.ignored_parameters_unsupported is None
