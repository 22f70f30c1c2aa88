"""The operations from which random histories are made."""

from __future__ import annotations

from collections.abc import Callable

from tests.contract.continuity.world import Call, World

Make = Callable[[World], Call]
OPERATIONS: dict[str, Make] = {}
"""Operation id -> a function that creates a call with random arguments. It may raise `Nothing`."""

LEFT_OUT = {
    "accept_invitation": "takes a token from a mail; `create_user` makes accounts as well",
    "begin_session": "sessions of browsers are in no snapshot",
    "confirm_new_email": "takes a link from a mail; `update_user` changes emails as well",
    "create_channel": "does what `subscribe` does",
    "create_invitation_link": "invitations are in no snapshot",
    "create_video_call": "asks the vendor, changes nothing that is kept",
    "create_zoom_call": "the same",
    "delete_export": "exports are in no snapshot",
    "delete_queue": "ends a queue",
    "dev_fetch_api_key": "signs in",
    "edit_invitation_link": "invitations are in no snapshot",
    "end_session": "sessions of browsers are in no snapshot",
    "fetch_api_key": "signs in",
    "jwt_fetch_api_key": "signs in",
    "receive_json": "sends as `send_message` does",
    "receive_webhook": "the same",
    "receive_vendor_notice": "comes from the vendor; `revoke_vendor_token` forgets tokens as well",
    "register_push_device": "encrypts for a relay; tests/handlers/chat/test_mobile_push.py",
    "register_queue": "creates the snapshots of the histories",
    "remove_bot_storage": "what bots store is in no snapshot",
    "render_text": "changes nothing",
    "resend_invitation": "the same",
    "revoke_invitation": "the same",
    "revoke_invitation_link": "the same",
    "send_invitations": "the same",
    "send_test_push_notification": "asks the relay",
    "session_fetch_api_key": "signs in",
    "update_bot_storage": "what bots store is in no snapshot",
    "update_subscriptions": "does what `subscribe` and `unsubscribe` do",
    "update_user_by_email": "does what `update_user` does",
}
"""Operations excluded from histories -> the reason."""


def operation(make: Make) -> Make:
    """Register a maker under its name, which is the operation's id."""
    OPERATIONS[make.__name__] = make
    return make
