"""Operations of the tag profile_fields."""

from typing import Any

import pytest

from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.rows import audited, events_of

PATH = "/realm/profile_fields"
VIM = {"0": {"text": "Vim", "order": "1"}}
FORGE = {"subtype": "custom", "url_pattern": "https://forge.example/%(username)s"}


class TestListProfileFields:
    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.get(PATH)["code"] == "UNAUTHORIZED"

    def test_all_users_of_the_organization_are_allowed(
        self, as_iago: ChatClient, as_polonius: ChatClient, as_hank: ChatClient
    ) -> None:
        as_iago.post(PATH, name="Job", field_type=1)
        assert [one["name"] for one in as_polonius.get(PATH)["custom_fields"]] == ["Job"]
        assert as_hank.get(PATH) == {"result": "success", "msg": "", "custom_fields": []}


class TestCreateProfileField:
    def test_creates_and_announces_a_field(
        self, as_iago: ChatClient, chat_database: Database
    ) -> None:
        made = as_iago.post(
            PATH,
            name=" Editor ",
            hint="Vim",
            field_type=3,
            field_data=VIM,
            display_in_profile_summary=True,
            required=True,
            editable_by_user=False,
        )
        field = {
            "id": made["id"],
            "name": "Editor",
            "type": 3,
            "order": made["id"],
            "hint": "Vim",
            "field_data": '{"0":{"text":"Vim","order":"1"}}',
            "required": True,
            "editable_by_user": False,
            "display_in_profile_summary": True,
        }
        assert made == {"result": "success", "msg": "", "id": made["id"]}
        assert as_iago.get(PATH)["custom_fields"] == [field]
        told = {"type": "custom_profile_fields", "to": None}
        assert events_of(chat_database, "custom_profile_fields") == [told]
        assert len(audited(chat_database, "profile_field_created")) == 1

    def test_all_types_and_known_accounts(self, as_iago: ChatClient) -> None:
        for number in range(1, 9):
            data = {3: VIM, 7: FORGE}.get(number, {})
            body = as_iago.post(PATH, name=f"F{number}", field_type=number, field_data=data)
            assert body["result"] == "success"
        as_iago.post(
            PATH, name="Mine", hint="x", field_type=7, field_data={"subtype": "github"},
            use_for_user_matching=True,
        )  # fmt: skip
        fields = as_iago.get(PATH)["custom_fields"]
        assert [one["type"] for one in fields] == [1, 2, 3, 4, 5, 6, 7, 8, 7]
        assert (fields[-1]["name"], fields[-1]["hint"]) == ("GitHub username", "")
        assert fields[-1]["use_for_user_matching"] is True
        assert "use_for_user_matching" not in fields[0]

    def test_limits(self, as_iago: ChatClient) -> None:
        longest = {"name": "n" * 40, "hint": "h" * 80, "field_type": 1}
        assert as_iago.post(PATH, **longest)["result"] == "success"
        assert as_iago.post(PATH, name="n" * 41, field_type=1) == bad(
            "name is too long (limit: 40 characters)"
        )
        assert as_iago.post(PATH, name="m", hint="h" * 81, field_type=1) == bad(
            "hint is too long (limit: 80 characters)"
        )
        for name in ("a", "b"):
            as_iago.post(PATH, name=name, field_type=1, display_in_profile_summary=True)
        # The limit is checked first.
        assert as_iago.post(PATH, name="", field_type=3, display_in_profile_summary=True) == bad(
            "Only 2 custom profile fields can be displayed in the profile summary."
        )

    @pytest.mark.parametrize(
        ("fields", "msg"),
        [
            ({"name": " ", "field_type": 1}, "Label cannot be blank."),
            ({"name": "x", "field_type": 0}, "Invalid field type."),
            ({"name": "x", "field_type": 9}, "Invalid field type."),
            ({"field_type": 3}, "Field must have at least one choice."),
            (
                {"field_type": 3, "field_data": {**VIM, "1": VIM["0"]}},
                "Field must not have duplicate choices.",
            ),
            ({"field_type": 3, "field_data": {" ": VIM["0"]}}, "'value' cannot be blank."),
            ({"field_type": 7}, "subtype key is missing from field_data"),
            ({"field_type": 7, "field_data": {"subtype": "x"}}, "Invalid external account type"),
            (
                {"field_type": 7, "field_data": {"subtype": "custom"}},
                "Custom external account must define URL pattern",
            ),
            (
                {"field_type": 7, "field_data": {**FORGE, "url_pattern": "https://x"}},
                "URL pattern must contain '%(username)s'.",
            ),
            (
                {"name": "x", "field_type": 6, "display_in_profile_summary": True},
                "Field type not supported for display in profile summary.",
            ),
            (
                {"name": "x", "field_type": 2, "use_for_user_matching": True},
                "Field type not supported for user matching.",
            ),
        ],
    )
    def test_rejects_invalid_requests(
        self, as_iago: ChatClient, fields: dict[str, Any], msg: str
    ) -> None:
        assert as_iago.post(PATH, **fields) == bad(msg)
        assert as_iago.get(PATH)["custom_fields"] == []

    def test_rejects_duplicate_labels(self, as_iago: ChatClient) -> None:
        as_iago.post(PATH, name="Job", field_type=1)
        assert as_iago.post(PATH, name=" Job ", field_type=2) == bad(
            "A field with that label already exists."
        )
        assert as_iago.post(PATH, name="job", field_type=2)["result"] == "success"

    def test_role_is_checked_before_parameters(
        self, chat: ChatClient, as_nobody: ChatClient
    ) -> None:
        assert chat.post(PATH, field_type="x") == bad(
            "Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL"
        )
