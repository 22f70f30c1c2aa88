"""How the drives of openapi-python-client call the chat service, and who calls."""

import base64
import json
from typing import Any, TypeVar

from facts import FACTS
from specd_chat_client import AuthenticatedClient
from specd_chat_client.models import ErrorResponse, ErrorResponseResult, ResultSuccess, Success
from specd_chat_client.types import Unset

PEOPLE = FACTS["people"]
Record = TypeVar("Record")


def asking(**query: Any) -> AuthenticatedClient:
    """Hamlet, who sends these as JSON in the query: no operation takes such parameters."""
    texts = {name: json.dumps(value) for name, value in query.items()}
    hamlet = PEOPLE["hamlet"]
    return client(hamlet["email"], hamlet["key"], httpx_args={"params": texts})


def client(email: str, key: str, **more: Any) -> AuthenticatedClient:
    credentials = base64.b64encode(f"{email}:{key}".encode()).decode()
    return AuthenticatedClient(
        base_url=FACTS["base_url"], token=credentials, prefix="Basic", **more
    )


CORDELIA, HAMLET, OTHELLO = (
    client(PEOPLE[name]["email"], PEOPLE[name]["key"]) for name in ("cordelia", "hamlet", "othello")
)
OTHELLO_AGAIN = client(FACTS["email_change"]["new_email"], PEOPLE["othello"]["key"])
NOBODY = client("nobody@acme.example", "x" * 32)


def read(
    kind: type[Record], operation: Any, *path: Any, by: Any = HAMLET, **parameters: Any
) -> Record:
    """The typed answer of an operation."""
    answer = operation.sync(*path, client=by, **parameters)
    assert isinstance(answer, kind), answer
    return answer


def done(operation: Any, *path: Any, **parameters: Any) -> None:
    answer = read(Success, operation, *path, **parameters)
    assert answer.result is ResultSuccess.SUCCESS
    assert isinstance(answer.ignored_parameters_unsupported, Unset)


def refused(operation: Any, *path: Any, **parameters: Any) -> str | Unset:
    """The code in the typed error record of a call that is refused."""
    answer = read(ErrorResponse, operation, *path, **parameters)
    assert answer.result is ErrorResponseResult.ERROR
    assert answer.msg
    return answer.code


def unknown(operation: Any, *path: Any, **parameters: Any) -> None:
    """Nobody may call it."""
    assert refused(operation, *path, by=NOBODY, **parameters) == "UNAUTHORIZED"
