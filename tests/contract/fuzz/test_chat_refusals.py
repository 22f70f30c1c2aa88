"""The rejections of documented requests that a fuzzer may receive."""

import pytest

from tests.contract.fuzz.chat_refusals import is_of_the_domain


@pytest.mark.parametrize(
    ("operation", "msg", "expected"),
    [
        ("update_subscription_setting", "color is not a valid hex color code", True),
        ("subscribe", 'subscriptions[0]["color"] is not a valid hex color code', False),
        ("update_subscription_setting", "is_muted is not a boolean", True),
        ("list_users", "client_gravatar is not a boolean", False),
        ("create_profile_field", "'value' cannot be blank.", True),
        ("create_profile_field", "Field must have at least one choice.", True),
        ("update_settings", "timezone is not a recognized time zone", True),
        ("update_settings", "color_scheme is not an integer", False),
        ("list_messages", "Missing 'anchor' argument", True),
        ("send_message", "Missing 'content' argument", False),
        ("send_message", "content must not contain null bytes", True),
        ("get_topics", "Invalid channel ID", True),
        ("create_playground", "Missing 'syntax_language' argument", True),
        ("create_playground", "Missing 'name' argument", False),
        ("update_user", "Favorite editor is not a string", True),
        ("update_user", "role is not an integer", False),
    ],
)
def test_state_errors_are_distinguished_from_format_errors(
    operation: str, msg: str, expected: bool
) -> None:
    assert is_of_the_domain({"msg": msg}, operation) is expected
