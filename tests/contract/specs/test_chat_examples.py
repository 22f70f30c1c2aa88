"""The chat document's request examples work: each is sent unchanged, in every documented media
type, to an organization with its objects, and gets the documented response.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.specs.chat_player import (
    JSON,
    OPERATIONS,
    REFUSED,
    STANDS_FOR,
    Player,
    example,
    operation_of,
    resolve,
)
from tests.support.chat.mail import token_of

# Preconditions: example -> the example of another operation.
AFTER = {
    ("unsubscribe", "leave"): ("subscribe", "elsinore"),
    ("update_muted_topic", "unmute"): ("update_muted_topic", "mute"),
    ("update_linkifier", "reverse"): ("update_linkifier", "cases"),
}
# Objects that already exist in the organization. The example is for one without them.
BEFORE = {
    ("create_domain", "acme"): ("delete_domain", {"domain": "acme.example"}),
    ("update_channel", "restore"): ("archive_channel", {}),
    ("create_linkifier", "cases"): ("delete_linkifier", {"filter_id": "$linkifier"}),
    ("create_linkifier", "reverse"): ("delete_linkifier", {"filter_id": "$linkifier"}),
    ("create_channel_folder", "plays"): (
        "update_channel_folder",
        {"channel_folder_id": "$channel_folder", "name": "Old plays"},
    ),
}


def examples() -> Iterator[Any]:
    """Yield (operationId, media type, name, value) of every example of a request body."""
    for operation_id in OPERATIONS:
        body = resolve(operation_of(operation_id).get("requestBody", {}))
        for kind, media in body.get("content", {}).items():
            for name, shown in media.get("examples", {}).items():
                value = resolve(shown)["value"]
                yield pytest.param(
                    operation_id, kind, name, value, id=f"{operation_id}-{name}-{kind}"
                )


def invite(player: Player, name: str) -> str:
    """Return the token of an invitation for the example of that name, by link or mail."""
    if name == "address":
        link = player.send("create_invitation_link", {}).json()["invite_link"]
        return str(link).rpartition("/")[2]
    invited = {"invitee_emails": "rosencrantz@acme.example", "stream_ids": []}
    assert player.send("send_invitations", invited).is_success
    return token_of(player.database)


@pytest.mark.parametrize(("operation_id", "kind", "name", "value"), list(examples()))
def test_every_request_example_works(
    player: Player, operation_id: str, kind: str, name: str, value: Any
) -> None:
    if (operation_id, name) in AFTER:
        other, named = AFTER[operation_id, name]
        first = player.send(other, {**example(other, named), **STANDS_FOR.get((other, named), {})})
        assert first.is_success, first.text
    if (operation_id, name) in BEFORE:
        before = player.send(*BEFORE[operation_id, name])
        assert before.is_success, before.text
    if operation_id == "accept_invitation":
        value = {**value, "token": invite(player, name)}
    replaced = STANDS_FOR.get((operation_id, name), {})
    assert set(replaced) <= set(value), "unused stand-in"
    answer = player.send(operation_id, {**value, **replaced}, kind)
    if operation_id in REFUSED:
        assert (answer.status_code, answer.json()["msg"]) == (400, REFUSED[operation_id])
        return
    assert answer.status_code == 200, answer.text
    shown = operation_of(operation_id)["responses"]["200"]
    bodies = resolve(shown)["content"][JSON].get("examples", {})
    keys = [set(resolve(it)["value"]) for it in bodies.values()]
    assert not keys or set(answer.json()) in keys, answer.text


def test_every_stand_in_belongs_to_an_example() -> None:
    there = {(p.values[0], p.values[2]) for p in examples()}
    assert set(STANDS_FOR) | set(AFTER) | set(BEFORE) <= there
    assert {name for name, _ in there} >= set(REFUSED)
