"""Alternative names of parameters: every alias in the document."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import specs
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.documents import resolved

DOCUMENT = specs.load("chat")
resolve = partial(resolved, DOCUMENT)
ALIAS = "x-alias-of"


def aliases() -> Iterator[Any]:
    """Return method, path, name and alias of each alias of each operation."""
    for path, item in DOCUMENT["paths"].items():
        for method in ("get", "post", "patch", "delete"):
            operation = item.get(method)
            if operation is None:
                continue
            found = {p["name"]: p for p in map(resolve, operation.get("parameters", ()))}
            content = resolve(operation.get("requestBody", {})).get("content", {})
            form = content.get("application/x-www-form-urlencoded", {})
            found |= resolve(form.get("schema", {})).get("properties", {})
            for alias, node in found.items():
                name = resolve(node).get(ALIAS)
                if name is not None:
                    place = f"{operation['operationId']}-{alias}"
                    yield pytest.param(method.upper(), path, name, alias, id=place)


def example_of(method: str, path: str) -> dict[str, Any]:
    """Return the first example of the operation's form, or nothing if it has no form."""
    body = resolve(DOCUMENT["paths"][path][method.lower()].get("requestBody", {}))
    form = body.get("content", {}).get("application/x-www-form-urlencoded", {})
    examples = [resolve(example)["value"] for example in form.get("examples", {}).values()]
    return dict(examples[0]) if examples else {}


ALIASES = list(aliases())


def test_document_has_aliases() -> None:
    assert len(ALIASES) >= 6


@pytest.mark.parametrize(("method", "path", "name", "alias"), ALIASES)
def test_two_names_with_different_values_are_rejected(
    as_cordelia: ChatClient, method: str, path: str, name: str, alias: str
) -> None:
    """Errors follow the alphabetical order of parameters, so no other error precedes this one."""
    template = path
    for part, value in (("{email}", "cordelia@acme.example"), ("{message_id}", "1")):
        path = path.replace(part, value)
    path = path.replace("{user_id}", "1").replace("{stream_id}", "1")
    form = {**example_of(method, template), name: "true", alias: "false"}
    answer = as_cordelia.call(method, path, form)
    assert answer == bad(
        f"Can't decide between '{name}' and '{alias}' arguments",
        "REQUEST_CONFUSING_VAR",
        var_name1=name,
        var_name2=alias,
    )


def test_two_names_with_one_value_are_accepted(as_cordelia: ChatClient) -> None:
    query = {"client_extavatar": "false", "client_gravatar": "false"}
    answer = as_cordelia.call("GET", "/users/1", query)
    assert answer["user"]["avatar_url"] is not None


@pytest.mark.reaches("REQUEST_CONFUSING_VAR")
def test_alias_sets_the_parameter(chat: ChatClient) -> None:
    """Also in the query string, and together with the parameter in the body."""
    chat.post("/users/me/subscriptions", subscriptions=[{"name": "Denmark"}])
    wish = {"type": "channel", "to": "Denmark", "content": "x"}
    sent = chat.post("/messages", **wish, subject="castle")
    assert "ignored_parameters_unsupported" not in sent
    assert chat.get(f"/messages/{sent['id']}")["message"]["subject"] == "castle"
    queried = chat.call("POST", "/messages?subject=castle", wish)
    assert queried["result"] == "success"
    both = chat.call("POST", "/messages?subject=castle", {**wish, "topic": "court"})
    assert both["code"] == "REQUEST_CONFUSING_VAR"
    (user, *_) = chat.get("/users", client_gravatar=False)["members"]
    assert user["avatar_url"] is not None
    bad = chat.get("/users", client_gravatar="yes")
    assert bad["msg"] == "client_extavatar is not valid JSON"
