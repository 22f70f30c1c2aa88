"""Every operation has a test class of its name and checks credentials and roles."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import specs
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient

DOCUMENT = specs.load("chat")
TESTS = Path(__file__).parent
IN_PARTS = {
    "add_default_channel": ["TestDefaultChannels"],
    "remove_default_channel": ["TestDefaultChannels"],
    "update_user": ["TestWho", "TestRole", "TestFullName", "TestNewEmail", "TestProfileData"],
    "create_zoom_call": ["TestCreateVideoCall"],
    "get_email_confirmation": ["TestEmail"],
    "confirm_new_email": ["TestEmail"],
}
"""Operations whose tests are in several classes, or in a shared class."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method in ("get", "post", "put", "patch", "delete"):
            if method in item:
                yield method, path, item[method]


def classes() -> dict[str, list[str]]:
    """Return the names of the tests of each class in this folder."""
    found: dict[str, list[str]] = {}
    for path in TESTS.glob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                tests = [n.name for n in node.body if isinstance(n, ast.FunctionDef)]
                found[node.name] = [name for name in tests if name.startswith("test_")]
    return found


def test_each_operation_has_its_class() -> None:
    known = classes()
    wanted = {
        operation["operationId"]: IN_PARTS.get(
            operation["operationId"],
            ["Test" + operation["operationId"].title().replace("_", "")],
        )
        for _, _, operation in operations()
    }
    missing = {
        name: lacking
        for name, parts in wanted.items()
        if (lacking := [part for part in parts if not known.get(part)])
    }
    assert missing == {}


def call(client: ChatClient, method: str, path: str) -> tuple[int, dict[str, Any]]:
    for name, value in (("{email}", "nobody@acme.example"), ("{domain}", "acme.example")):
        path = path.replace(name, value)
    while "{" in path:
        start, end = path.index("{"), path.index("}")
        path = f"{path[:start]}1{path[end + 1 :]}"
    response = client.request(method.upper(), path, {})
    return response.status_code, response.json() if response.content else {}


def test_each_operation_rejects_missing_credentials(as_nobody: ChatClient) -> None:
    """Before it checks any parameter, unless the document requires no credentials."""
    for method, path, operation in operations():
        if operation.get("security") == []:
            continue
        status, body = call(as_nobody, method, path)
        assert (status, body.get("code")) == (401, "UNAUTHORIZED"), operation["operationId"]


NOT_A_PRINCIPAL = "UNAUTHORIZED_PRINCIPAL"
ROLES = {
    "administrator": bad("Must be an organization administrator", NOT_A_PRINCIPAL),
    "human": bad("This endpoint does not accept bot requests."),
    "member": bad("Not allowed for guest users"),
    "owner": bad("Must be an organization owner", NOT_A_PRINCIPAL),
}


def test_each_role_is_checked_before_parameters(
    chat: ChatClient, as_polonius: ChatClient, as_iago: ChatClient, as_reminder: ChatClient
) -> None:
    """A caller without the role sends no parameters and receives the error about the role."""
    weaker = {
        "administrator": chat,
        "human": as_reminder,
        "member": as_polonius,
        "owner": as_iago,
    }
    met = set()
    for method, path, operation in operations():
        role = operation.get("x-required-role")
        if role is None:
            continue
        met.add(role)
        answer = call(weaker[role], method, path)
        assert answer == (400, ROLES[role]), operation["operationId"]
    assert met == ROLES.keys()
