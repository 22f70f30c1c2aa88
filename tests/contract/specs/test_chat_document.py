"""The chat document contains the original interface description, is consistent, and has valid
examples.
"""

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from openapi_schema_validator import OAS30ReadValidator, OAS30WriteValidator
from openapi_spec_validator import validate

import specs
from handlers.chat.wire import envelope
from models.chat.access.group_settings import REALM_GROUPS, USER_GROUP_GROUPS
from models.chat.organization.settings import SETTINGS
from models.chat.people.defaults import CHANGEABLE
from specd._engine.document.compiler import is_handler
from specd._engine.document.responses import holds_list
from specd._engine.document.schemas import Schemas
from tests.support.documents import resolved

DOCUMENT = specs.load("chat")
WITH_FILES = frozenset(("create_custom_emoji", "upload_file", "upload_own_avatar"))
"""Operations whose body is a file, for which JSON and urlencoded forms have no notation."""
resolve = partial(resolved, DOCUMENT)
SCHEMAS = DOCUMENT["components"]["schemas"]
METHODS = ("get", "put", "post", "delete", "patch")
OPEN = {
    "accept_invitation",
    "get_invitation",
    "get_server_settings",
    "fetch_api_key",
    "dev_fetch_api_key",
    "jwt_fetch_api_key",
    "session_fetch_api_key",
    "complete_vendor_authorization",
    "confirm_new_email",
    "get_email_confirmation",
    "receive_json",
    "receive_webhook",
    "receive_vendor_notice",
}

# The field tables of the original interface description: name -> (type, may be null).
USER = {
    "user_id": ("integer", False),
    "delivery_email": ("string", True),
    "email": ("string", False),
    "full_name": ("string", False),
    "date_joined": ("string", False),
    "is_active": ("boolean", False),
    "is_owner": ("boolean", False),
    "is_admin": ("boolean", False),
    "is_guest": ("boolean", False),
    "is_bot": ("boolean", False),
    "bot_type": ("integer", True),
    "bot_owner_id": ("integer", True),
    "role": ("integer", False),
    "timezone": ("string", False),
    "avatar_url": ("string", True),
    "avatar_version": ("integer", False),
    "is_imported_stub": ("boolean", False),
    "is_deleted": ("boolean", False),
    "profile_data": ("object", False),
}
OWN_USER = [
    "avatar_url",
    "avatar_version",
    "email",
    "full_name",
    "is_admin",
    "is_owner",
    "is_guest",
    "is_bot",
    "is_active",
    "role",
    "timezone",
    "date_joined",
    "max_message_id",
    "user_id",
    "delivery_email",
    "is_imported_stub",
    "profile_data",
]
ENVELOPE = ["result", "msg", "ignored_parameters_unsupported"]


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, item[method]


def by_id() -> dict[str, dict[str, Any]]:
    return {operation["operationId"]: operation for _, _, operation in operations()}


def media_examples(operation: Any) -> Iterator[tuple[str, Any, str, Any]]:
    """Yield place, schema, direction and value of every example of an operation's bodies."""
    bodies = [("request", resolve(operation.get("requestBody", {})))]
    bodies += [(status, resolve(r)) for status, r in operation["responses"].items()]
    for name, body in bodies:
        for media in body.get("content", {}).values():
            for key, example in media.get("examples", {}).items():
                yield f"{name} {key}", media["schema"], name, resolve(example)["value"]


def test_is_valid_openapi() -> None:
    validate(DOCUMENT)


@pytest.mark.parametrize("operation_id", list(by_id()))
def test_every_example_is_valid(operation_id: str) -> None:
    wrong = {}
    validators: dict[tuple[int, str], Any] = {}
    for place, schema, direction, value in media_examples(by_id()[operation_id]):
        if (id(schema), direction) not in validators:
            validator_class = OAS30WriteValidator if direction == "request" else OAS30ReadValidator
            validators[id(schema), direction] = validator_class(
                {**schema, "components": DOCUMENT["components"]}
            )
        if found := [each.message for each in validators[id(schema), direction].iter_errors(value)]:
            wrong[place] = found
    assert wrong == {}


def test_number_of_examples() -> None:
    assert sum(1 for each in by_id().values() for _ in media_examples(each)) > 3000


class TestOperations:
    def test_are_the_functions_of_their_names(self) -> None:
        for operation_id, operation in by_id().items():
            (tag,) = operation["tags"]
            function = getattr(importlib.import_module(f"handlers.chat.{tag}"), operation_id)
            first = (inspect.getdoc(function) or "").splitlines()[0]
            assert first == operation["summary"] + ".", "docstring and summary must be the same"
            assert len(operation["summary"]) <= 60, operation_id

    def test_every_handler_has_an_operation(self) -> None:
        tags = {operation["tags"][0] for operation in by_id().values()}
        found = {
            name
            for tag in tags
            for name, value in vars(importlib.import_module(f"handlers.chat.{tag}")).items()
            if is_handler(value, f"handlers.chat.{tag}")
        }
        assert found == set(by_id())

    def test_every_tag_is_used_and_described(self) -> None:
        used = {tag for operation in by_id().values() for tag in operation["tags"]}
        assert {tag["name"] for tag in DOCUMENT["tags"] if tag["description"]} == used

    def test_require_credentials_except_for_sign_in(self) -> None:
        assert DOCUMENT["security"] == [{"basicAuth": []}]
        found = {name for name, operation in by_id().items() if operation.get("security") == []}
        assert found == OPEN

    def test_document_the_errors_of_every_operation(self) -> None:
        for name, operation in by_id().items():
            common = {"200", "400", "404", "414", "429", "431", "500", "503"}
            if name not in OPEN:
                common.add("401")
            if "requestBody" in operation:
                common |= {"408", "413", "415"}
            assert common <= operation["responses"].keys(), name

    def test_have_examples_of_requests_and_responses(self) -> None:
        for name, operation in by_id().items():
            answers = resolve(operation["responses"]["200"])["content"]["application/json"]
            assert answers["examples"], name
            forms = resolve(operation.get("requestBody", {})).get("content", {})
            form = forms.get("application/x-www-form-urlencoded")
            if form and resolve(form["schema"]).get("properties"):
                assert form["examples"], name

    def test_accept_the_same_fields_urlencoded_and_multipart(self) -> None:
        for name, operation in by_id().items():
            forms = resolve(operation.get("requestBody", {})).get("content", {})
            if forms and "application/json" not in forms and name not in WITH_FILES:
                assert {"application/x-www-form-urlencoded", "multipart/form-data"} <= set(forms)
                first, *others = (resolve(form["schema"]) for form in forms.values())
                assert all(other == first for other in others), name


def test_small_reads_are_classified_as_small() -> None:
    """On databases whose reads never wait, these run on the event loop and must be short."""
    small = set()
    for operation_id, operation in by_id().items():
        answer = resolve(operation["responses"]["200"])
        media = answer.get("content", {}).get("application/json", {})
        if not holds_list(Schemas(DOCUMENT, drop="writeOnly"), media.get("schema", {})):
            small.add(operation_id)
    assert small >= {
        *("get_channel_id", "get_own_user", "get_server_settings", "get_user"),
        *("get_user_by_email", "get_user_status", "get_vendor_token_state", "list_own_devices"),
    }
    assert SCHEMAS["IgnoredParameters"]["maxItems"] == envelope.MAX_IGNORED


class TestSeed:
    def test_user_object(self) -> None:
        properties = {name: resolve(p) for name, p in SCHEMAS["User"]["properties"].items()}
        found = {n: (p["type"], p.get("nullable", False)) for n, p in properties.items()}
        assert found == USER
        optional = set(USER) - set(SCHEMAS["User"]["required"])
        assert optional == {"is_deleted", "profile_data"}

    def test_own_user(self) -> None:
        properties = [name for name in SCHEMAS["OwnUser"]["properties"] if name not in ENVELOPE]
        assert properties == OWN_USER
        assert set(OWN_USER) - set(SCHEMAS["OwnUser"]["required"]) == {"profile_data"}
        assert SCHEMAS["OwnUser"]["properties"]["max_message_id"]["deprecated"] is True

    def test_roles(self) -> None:
        assert SCHEMAS["Role"]["enum"] == [100, 200, 300, 400, 600]

    def test_options_of_get_user_by_email(self) -> None:
        parameters = [resolve(p) for p in by_id()["get_user_by_email"]["parameters"]]
        said = {
            p["name"]: re.search("(True|False) by default", p["description"]) for p in parameters
        }
        assert {name: found and found[1] for name, found in said.items()} == {
            "email": None,
            "client_extavatar": "True",
            "client_gravatar": None,
            "include_custom_profile_fields": "False",
        }


class TestModels:
    def test_update_realm_accepts_every_setting(self) -> None:
        body = by_id()["update_realm"]["requestBody"]["content"]
        form = resolve(body["application/x-www-form-urlencoded"]["schema"])["properties"]
        assert set(form) == {*SETTINGS, *REALM_GROUPS}

    def test_update_user_defaults_accepts_every_setting_except_personal_ones(self) -> None:
        body = by_id()["update_user_defaults"]["requestBody"]["content"]
        form = resolve(body["application/x-www-form-urlencoded"]["schema"])["properties"]
        assert set(form) == CHANGEABLE | {"email_address_visibility"}

    def test_user_groups_have_every_group_setting(self) -> None:
        assert set(USER_GROUP_GROUPS) <= SCHEMAS["UserGroup"]["properties"].keys()
        body = by_id()["create_user_group"]["requestBody"]["content"]
        form = resolve(body["application/x-www-form-urlencoded"]["schema"])["properties"]
        assert set(USER_GROUP_GROUPS) <= form.keys()
