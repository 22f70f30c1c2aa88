"""Rules for every operation of the chat service: credentials, parameters, methods, limits."""

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from sqlalchemy import update

from models.chat.tables import Realm, User
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatApp, ChatClient, Repeated
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock

FORM = "application/x-www-form-urlencoded"
GROUP = {"description": "", "members": []}


def basic(credentials: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(credentials.encode()).decode()}"}


def multipart(**fields: str) -> tuple[bytes, dict[str, str]]:
    """Return a multipart/form-data body and its headers."""
    parts = "".join(
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    return f"{parts}--x--\r\n".encode(), {"Content-Type": "multipart/form-data; boundary=x"}


class TestCredentials:
    def refused(self, client: ChatClient, headers: dict[str, str]) -> str:
        """Return the message of a 401 response, after checking code and challenge."""
        response = client.request("GET", "/users/me", headers=headers)
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == 'Basic realm="zulip"'
        body = response.json()
        assert body == bad(body["msg"], "UNAUTHORIZED")
        return str(body["msg"])

    def test_real_and_dummy_emails_are_accepted_in_any_case_with_spaces(
        self, as_nobody: ChatClient, cast: Cast
    ) -> None:
        for email in (
            cast.hamlet.email,
            cast.hamlet.email.upper(),
            f"user{cast.hamlet.id}@acme.example",
            f"USER{cast.hamlet.id}@ACME.example",
            f"  {cast.hamlet.email} ",
        ):
            headers = basic(f"{email}: {cast.hamlet.key} ")
            response = as_nobody.request("GET", "/users/me", headers=headers)
            assert response.json()["user_id"] == cast.hamlet.id

    def test_scheme_is_accepted_in_any_case(self, as_nobody: ChatClient, cast: Cast) -> None:
        header = basic(f"{cast.hamlet.email}:{cast.hamlet.key}")["Authorization"]
        for scheme in ("basic", "BASIC"):
            headers = {"Authorization": header.replace("Basic", scheme)}
            assert as_nobody.request("GET", "/users/me", headers=headers).status_code == 200

    @pytest.mark.reaches("UNAUTHORIZED")
    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        expected = "Not logged in: API authentication or user session required"
        assert self.refused(as_nobody, {}) == expected

    @pytest.mark.parametrize("header", ["Bearer x", "Digest x", "x", "Basically x"])
    @pytest.mark.reaches("BAD_REQUEST")
    def test_other_scheme_is_a_bad_request(self, as_nobody: ChatClient, header: str) -> None:
        response = as_nobody.request("GET", "/users/me", headers={"Authorization": header})
        assert response.status_code == 400
        assert response.json() == bad("This endpoint requires HTTP basic authentication.")

    @pytest.mark.parametrize(
        "header", ["Basic", "Basic ", "Basic !!!", "Basic aGFtbGV0", "Basic YTpiOmM=", "Basic /w=="]
    )
    def test_malformed_credentials_are_rejected(self, as_nobody: ChatClient, header: str) -> None:
        """Empty, not base64, without a colon, with two colons, not UTF-8."""
        expected = "Invalid authorization header for basic auth"
        assert self.refused(as_nobody, {"Authorization": header}) == expected

    @pytest.mark.parametrize("key", ["", "x", "k" * 31, "k" * 33, "k" * 31 + "-", "é" * 32])
    def test_malformed_key_is_rejected(self, as_nobody: ChatClient, cast: Cast, key: str) -> None:
        assert self.refused(as_nobody, basic(f"{cast.hamlet.email}:{key}")) == "Malformed API key"

    def test_unknown_key_and_key_of_another_user_are_rejected_equally(
        self, as_nobody: ChatClient, cast: Cast
    ) -> None:
        for credentials in (
            f"{cast.hamlet.email}:{'k' * 32}",
            f"{cast.hamlet.email}:{cast.othello.key}",
            f"nobody@acme.example:{cast.hamlet.key}",
            f":{cast.hamlet.key}",
            f"{cast.hamlet.email}:{cast.hank.key}",
            f"user{cast.othello.id}@acme.example:{cast.hamlet.key}",
        ):
            assert self.refused(as_nobody, basic(credentials)) == "Invalid API key"

    def test_deactivated_user_is_rejected(self, as_nobody: ChatClient, cast: Cast) -> None:
        assert self.refused(as_nobody.acting_as(cast.ophelia), {}) == "Account is deactivated"

    def test_deactivated_organization_is_reported_before_a_deactivated_user(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat_database.run(
            lambda s: s.execute(
                update(Realm).where(Realm.id == cast.realm_id).values(is_deactivated=True)
            )
        )
        for member in (cast.cordelia, cast.ophelia):
            assert (
                self.refused(as_nobody.acting_as(member), {})
                == "This organization has been deactivated"
            )

    def test_host_of_another_organization_is_rejected(
        self, as_nobody: ChatClient, as_hank: ChatClient, cast: Cast
    ) -> None:
        expected = "Account is not associated with this subdomain"
        assert self.refused(as_hank, basic(f"{cast.hamlet.email}:{cast.hamlet.key}")) == expected
        left = basic(f"{cast.ophelia.email}:{cast.ophelia.key}")
        assert self.refused(as_hank, left) == "Account is deactivated"

    def test_incoming_webhook_bot_is_rejected(
        self, as_reminder: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat_database.run(
            lambda s: s.execute(update(User).where(User.id == cast.reminder.id).values(bot_type=2))
        )
        expected = "This API is not available to incoming webhook bots."
        assert self.refused(as_reminder, {}) == expected

    @pytest.mark.reaches("NONEXISTENT_SUBDOMAIN")
    def test_host_without_organization_is_rejected(self, chat: ChatClient) -> None:
        for headers in ({}, {"Authorization": "Bearer x"}, basic("a:b:c"), basic("a:b")):
            response = chat.request("GET", "/users/me", headers=headers, host="other.example")
            assert response.status_code == 404
            assert response.json() == bad("Invalid subdomain", "NONEXISTENT_SUBDOMAIN")

    def test_host_is_accepted_in_any_case_and_with_any_port(self, chat: ChatClient) -> None:
        for host in ("ACME.example", "acme.example:8080"):
            assert chat.request("GET", "/users/me", host=host).status_code == 200


class TestParameters:
    def test_accepted_in_body_query_or_multipart(self, chat: ChatClient, cast: Cast) -> None:
        members = f"[{cast.hamlet.id}]"
        body, headers = multipart(name="third", description="", members=members)
        for request in (
            chat.build("POST", "/user_groups/create", {**GROUP, "name": "first"}),
            chat.build("POST", f"/user_groups/create?name=second&description=&members={members}"),
            chat.build("POST", "/user_groups/create", content=body, headers=headers),
            chat.build("POST", "/user_groups/create?name=fourth", GROUP),
        ):
            (response,) = chat.at_once(request)
            assert response.json()["result"] == "success"
        names = [group["name"] for group in chat.get("/user_groups")["user_groups"]]
        assert names[-4:] == ["first", "second", "third", "fourth"]

    def test_body_takes_precedence_over_the_query(self, chat: ChatClient) -> None:
        chat.post("/user_groups/create?name=query", name="body", **GROUP)
        assert chat.get("/user_groups")["user_groups"][-1]["name"] == "body"

    def test_accepted_as_members_of_a_json_object(self, chat: ChatClient) -> None:
        made = self.in_json(chat, {"name": "players", "description": "5", "members": []})
        assert made["result"] == "success"
        assert chat.get("/user_groups")["user_groups"][-1]["description"] == "5"
        body = {"name": "more", "members": [], "colour": None}
        made = self.in_json(chat, body, "?description=from+the+query&members=x")
        assert made["ignored_parameters_unsupported"] == ["colour"]

    @pytest.mark.parametrize(
        ("body", "problem"),
        [
            ({"members": []}, "Missing 'description' argument"),
            ({"description": "", "members": "[4]"}, "members is not a list"),
            ({"description": "", "members": ["4"]}, "members[0] is not an integer"),
            ({"description": 5, "members": []}, "description is not a string"),
        ],
    )
    def test_values_in_json_are_not_decoded_from_text(
        self, chat: ChatClient, body: dict[str, Any], problem: str
    ) -> None:
        assert self.in_json(chat, {"name": "players", **body})["msg"] == problem

    @pytest.mark.parametrize("body", [[], "name=players", 5, None])
    def test_json_other_than_an_object_is_rejected(self, chat: ChatClient, body: Any) -> None:
        assert self.in_json(chat, body)["code"] == "BAD_REQUEST"

    def in_json(self, chat: ChatClient, body: Any, query: str = "") -> Any:
        return chat.request(
            "POST",
            f"/user_groups/create{query}",
            content=orjson.dumps(body),
            headers={"Content-Type": "application/json"},
        ).json()

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ("x", "members is not valid JSON"),
            ("[1", "members is not valid JSON"),
            ("[True]", "members is not valid JSON"),
            ('["4"]', "members[0] is not an integer"),
            ("[4.5]", "members[0] is not an integer"),
            ("[true]", "members[0] is not an integer"),
            ("{}", "members is not a list"),
            ("[null]", "members[0] is not an integer"),
            ("[-1]", "members[0] is too small"),
            ("[2147483648]", "members[0] is too large"),
        ],
    )
    def test_values_other_than_text_are_strict_json(
        self, chat: ChatClient, value: str, problem: str
    ) -> None:
        form = {"name": "players", "description": "", "members": value}
        assert chat.post("/user_groups/create", **form) == bad(problem)

    def test_arrays_are_accepted_as_repeated_keys(self, chat: ChatClient, cast: Cast) -> None:
        form = {"name": "players", "description": ""}
        members = Repeated((str(cast.hamlet.id), str(cast.othello.id)))
        assert chat.post("/user_groups/create", members=members, **form)["result"] == "success"
        members = Repeated(("1", "x"))
        answer = chat.post("/user_groups/create", members=members, **form)
        assert answer == bad("members is not valid JSON")

    def test_first_error_in_alphabetical_order_is_reported(self, chat: ChatClient) -> None:
        form = {"can_join_group": "x", "description": "x" * 1025, "members": "x"}
        for msg in (
            "can_join_group is not valid JSON",
            "description is too long (limit: 1024 characters)",
            "members is not valid JSON",
            "Missing 'name' argument",
        ):
            assert chat.post("/user_groups/create", **form)["msg"] == msg
            form.pop(next(iter(form)), None)
            form = {"description": "", "members": "[]"} | form if "members" not in form else form
            form.setdefault("description", "")

    def test_unknown_parameters_are_reported_only_on_success(self, chat: ChatClient) -> None:
        answer = chat.post("/user_groups/create?b=1&client=x", name="g", z="1", a="", **GROUP)
        assert answer["ignored_parameters_unsupported"] == ["a", "b", "z"]
        many = {f"p{n:03}": "1" for n in range(150)}
        told = chat.get("/users/me", **many)["ignored_parameters_unsupported"]
        assert told == sorted(many)[:100]
        again = chat.post("/user_groups/create", name="g", z="1", **GROUP)
        assert again == bad("User group 'g' already exists.")

    def test_null_bytes_are_rejected(self, chat: ChatClient) -> None:
        answer = chat.request(
            "POST",
            "/user_groups/create",
            content=b"name=a%00b&description=&members=[]",
            headers={"Content-Type": FORM},
        )
        assert answer.status_code == 400
        assert answer.json() == bad("name must not contain null bytes")

    def test_values_must_be_utf_8(self, chat: ChatClient) -> None:
        answer = chat.request(
            "POST",
            "/user_groups/create",
            content=b"name=%ff&description=&members=[]",
            headers={"Content-Type": FORM},
        )
        assert answer.status_code == 400
        assert answer.json()["code"] == "BAD_REQUEST"

    @pytest.mark.reaches("REQUEST_TOO_LARGE")
    def test_body_of_a_megabyte_is_accepted(self, chat: ChatClient) -> None:
        big = b"x=" + b"a" * (1024 * 1024)
        response = chat.request(
            "POST", "/user_groups/create", content=big, headers={"Content-Type": FORM}
        )
        assert response.status_code == 413
        assert response.json() == bad("The request body is too large", "REQUEST_TOO_LARGE")

    @pytest.mark.reaches("UNAUTHORIZED_PRINCIPAL")
    def test_role_is_checked_before_parameters(self, chat: ChatClient) -> None:
        answer = chat.patch("/realm", allow_message_editing="nonsense")
        assert answer["code"] == "UNAUTHORIZED_PRINCIPAL"


class TestMethods:
    def test_post_with_a_method_parameter_is_that_method(self, as_cordelia: ChatClient) -> None:
        assert as_cordelia.post("/realm", method="PATCH", name="Acme Corp") == {
            "result": "success",
            "msg": "",
            "ignored_parameters_unsupported": ["method"],
        }
        assert as_cordelia.get("/server_settings")["realm_name"] == "Acme Corp"
        body, headers = multipart(method="patch", name="Acme Inc")
        response = as_cordelia.request("POST", "/realm", content=body, headers=headers)
        assert response.json()["result"] == "success"
        assert as_cordelia.get("/server_settings")["realm_name"] == "Acme Inc"

    def test_post_as_get_keeps_its_parameters(self, chat: ChatClient, cast: Cast) -> None:
        answer = chat.post("/users", method="GET", user_ids=[cast.othello.id])
        assert [user["user_id"] for user in answer["members"]] == [cast.othello.id]

    def test_unknown_method_parameter_is_rejected(self, chat: ChatClient) -> None:
        assert chat.request("POST", "/users/me", {"method": "FROB"}).status_code == 405

    def test_email_is_not_accepted_for_deactivation(self, chat: ChatClient) -> None:
        response = chat.request("DELETE", "/users/null,null")
        allowed = "GET, HEAD, OPTIONS, PATCH"
        assert (response.status_code, response.headers["allow"]) == (405, allowed)

    @pytest.mark.reaches("405")
    def test_unsupported_method_lists_the_allowed_ones(self, chat: ChatClient) -> None:
        response = chat.request("DELETE", "/user_groups")
        assert response.status_code == 405
        assert response.headers["Allow"] == "GET, HEAD, OPTIONS"
        assert response.json() == {
            "result": "error",
            "msg": "Method Not Allowed",
            "allowed_methods": ["GET", "HEAD"],
        }

    def test_options_lists_the_allowed_methods(self, chat: ChatClient) -> None:
        response = chat.request("OPTIONS", "/user_groups")
        assert (response.status_code, response.content) == (204, b"")
        assert response.headers["Allow"] == "GET, HEAD, OPTIONS"

    def test_head_responds_like_get_without_a_body(self, chat: ChatClient) -> None:
        head, get = chat.request("HEAD", "/users/me"), chat.request("GET", "/users/me")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["Content-Length"] == get.headers["Content-Length"]

    def test_duplicate_slashes_are_merged(self, chat: ChatClient, cast: Cast) -> None:
        for path in ("//users/me", "///users//me"):
            assert chat.get(path)["user_id"] == cast.hamlet.id

    @pytest.mark.parametrize("path", ["/nothing", "/users/me/", "/messages/abc", "/", "/realms"])
    def test_unknown_path_returns_json(self, chat: ChatClient, path: str) -> None:
        response = chat.request("GET", path)
        assert response.status_code == 404
        assert response.json() == bad("Not found", "NOT_FOUND")


class TestRateLimits:
    @pytest.fixture
    def limited(self, chat_app_with: Callable[..., ChatApp]) -> ChatClient:
        """The service with limits: 5 per minute for a user, 3 for an address."""
        app = chat_app_with(
            rate_limits=True, chat_rate_limit_per_user=5, chat_rate_limit_per_address=3
        )
        return ChatClient(app, "acme.example")

    def test_users_are_counted_separately(
        self, limited: ChatClient, cast: Cast, clock: FrozenClock
    ) -> None:
        hamlet, othello = limited.acting_as(cast.hamlet), limited.acting_as(cast.othello)
        for left in (4, 3, 2, 1, 0):
            response = hamlet.request("GET", "/users/me")
            assert response.status_code == 200
            assert response.headers["X-RateLimit-Limit"] == "5"
            assert response.headers["X-RateLimit-Remaining"] == str(left)
            seconds = int(response.headers["X-RateLimit-Reset"]) - clock.now().timestamp()
            assert seconds == 12 * (5 - left)
        response = hamlet.request("GET", "/user_groups")
        assert response.status_code == 429
        assert response.headers["Retry-After"] == "12"
        assert response.headers["X-RateLimit-Remaining"] == "0"
        assert response.json() == {
            "result": "error",
            "msg": "API usage exceeded rate limit",
            "retry-after": 12.0,
            "code": "RATE_LIMIT_HIT",
        }
        assert othello.request("GET", "/users/me").status_code == 200
        clock.advance(seconds=12)
        assert hamlet.request("GET", "/users/me").status_code == 200

    def test_bots_of_an_owner_share_a_limit(
        self, limited: ChatClient, cast: Cast, clock: FrozenClock
    ) -> None:
        owner = limited.acting_as(cast.hamlet)
        keys = [
            owner.post("/bots", full_name=f"Bot {n}", short_name=f"b{n}")["api_key"]
            for n in range(4)
        ]
        clock.advance(seconds=60)
        ids = {each["api_key"]: each for each in owner.get("/bots")["bots"]}
        bots = [cast.reminder] + [
            replace(cast.reminder, email=ids[key]["username"], key=key) for key in keys
        ]
        taken = [
            limited.acting_as(bot).request("GET", "/users/me").status_code
            for _ in range(5)
            for bot in bots
        ]
        assert taken == [200] * 25
        extra = limited.acting_as(cast.hamlet).post("/bots", full_name="Bot x", short_name="x")
        bot = replace(cast.reminder, email="x-bot@acme.example", key=extra["api_key"])
        response = limited.acting_as(bot).request("GET", "/users/me")
        assert (response.status_code, response.headers["X-RateLimit-Limit"]) == (429, "25")
        assert owner.request("GET", "/users/me").status_code == 200

    @pytest.mark.reaches("RATE_LIMIT_HIT")
    def test_unauthenticated_requests_are_counted_by_address(
        self, limited: ChatClient, cast: Cast
    ) -> None:
        guess = limited.acting_as(replace(cast.hamlet, key="k" * 32))
        for expected in (401, 401, 401, 429):
            assert guess.request("GET", "/users/me").status_code == expected
        assert limited.request("GET", "/server_settings").status_code == 429
        assert limited.acting_as(cast.hamlet).request("GET", "/users/me").status_code == 200

    def test_no_limits_if_disabled(self, chat: ChatClient) -> None:
        response = chat.request("GET", "/users/me")
        assert not [name for name in response.headers if name.lower().startswith("x-ratelimit")]
