"""Creates the data to which the chat document's examples refer, in the demo's organization.

In a new demo, the objects have the ids of the document, such as channel 9, message 42 and reminder
2. Values that only the server can generate, such as tokens, are written to the database
(`seed_secrets`), but only if no other machine can reach the demo, because the document publishes
them.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from html import unescape
from typing import Any

import click
import httpx
from sqlalchemy.orm import Session

from demo.chat import ChatAccess
from demo.phone import Phone
from models.chat.common.vault import Vault
from models.chat.identity.actors import find_actor
from models.chat.identity.jwt_sign_in import change_configuration
from models.chat.identity.passwords import hash_password
from models.chat.identity.roles import Role
from models.chat.invitations.records import Terms, new_invitation
from models.chat.queues.queues import QueueOptions, find_head, open_queue
from models.chat.tables import EmailChange, EventQueue, User

PASSWORD = "to be or not to be"
JWT_KEY = "the key that the organization and its portal share"
TOKEN = "2vI0s6cA6D3jLxGQ8b1n9w4m7kT5yRzPfHqUeXoNsWg"
QUEUE_ID = "7cfb2d8f-9cf4-4bb3-9d7c-4f0b1f0c4ef1"
QUEUE_LIFETIME_S = 7 * 24 * 3600
DESCRIPTION = "The organization of the examples"
"""The organization's description. It is set last, so it shows that all examples have been created.
"""
LATER = 4_070_908_800
"""1 January 2099, in seconds."""

CHANNELS = {
    "Denmark": "Something is rotten here.",
    "Verona": "Two households.",
    "Venice": "The Rialto.",
    "Rome": "Friends and countrymen.",
    "Scotland": "Fair is foul.",
    "Cyprus": "A castle by the sea.",
    "Elsinore": "Who's there?",
}
GUARD = "Elsinore", "the ghost"
HALL = "Denmark", "castle"
MOUSETRAP = "Denmark", "the play"
LINES: tuple[tuple[str, tuple[str, str], str], ...] = (
    ("Hamlet", GUARD, "The air bites shrewdly; it is very cold."),
    ("Othello", GUARD, "It is a nipping and an eager air."),
    ("Hamlet", GUARD, "What hour now?"),
    ("Othello", GUARD, "I think it lacks of twelve."),
    ("Iago", GUARD, "No, it is struck."),
    ("Othello", GUARD, "Indeed? I heard it not."),
    ("Othello", GUARD, "Look, my lord, it comes!"),
    ("Hamlet", GUARD, "Angels and ministers of grace defend us!"),
    ("Hamlet", GUARD, "Whither wilt thou lead me? Speak; I'll go no further."),
    ("Hamlet", GUARD, "Rest, rest, perturbed spirit."),
    ("Hamlet", GUARD, "The time is out of joint."),
    ("Polonius", HALL, "What do you read, my lord?"),
    ("Hamlet", HALL, "Words, words, words."),
    ("Polonius", HALL, "What is the matter, my lord?"),
    ("Hamlet", HALL, "Between who?"),
    ("Polonius", HALL, "I mean, the matter that you read, my lord."),
    ("Polonius", HALL, "Though this be madness, yet there is **method** in it."),
    ("Polonius", HALL, "Will you walk out of the air, my lord?"),
    ("Hamlet", HALL, "Into my grave."),
    ("Polonius", HALL, "My honourable lord, I will most humbly take my leave of you."),
    ("Hamlet", MOUSETRAP, "Speak the speech, I pray you, as I pronounced it to you."),
    ("Hamlet", MOUSETRAP, "Suit the action to the word, the word to the action."),
    ("Polonius", MOUSETRAP, "How now, my lord! Will the king hear this piece of work?"),
    ("Hamlet", MOUSETRAP, "Bid the players make haste."),
    ("Polonius", MOUSETRAP, "The king rises."),
    ("Polonius", MOUSETRAP, "Give over the play."),
    ("Hamlet", MOUSETRAP, "For some must watch, while some must sleep."),
)
FILLING = "Who's there?"


class Example:
    """Calls the demo's chat service as its users."""

    def __init__(self, client: httpx.Client, access: ChatAccess) -> None:
        self._client = client
        self._users = {user.name: user for user in access.users}

    def send(self, who: str, method: str, path: str, /, **form: Any) -> Mapping[str, Any]:
        """Send a request as a user and return the response. Raise ClickException if it failed."""
        user = self._users[who]
        files = form.pop("files", None)
        fields = {key: v if isinstance(v, str) else json.dumps(v) for key, v in form.items()}
        answer = self._client.request(
            method,
            f"/api/v1{path}",
            data=fields,
            files=files,
            auth=(user.email, user.api_key),
        )
        if answer.status_code != 200:
            raise click.ClickException(
                f"The server answered {answer.status_code} to the demo's {method} {path}:"
                f" {answer.text}"
            )
        parsed: Mapping[str, Any] = answer.json()
        return parsed

    def say(self, name: str, place: tuple[str, str], content: str) -> int:
        """Send a message to a channel and topic. Return its id."""
        channel, topic = place
        form = {"type": "channel", "to": channel, "topic": topic, "content": content}
        return int(self.send(name, "POST", "/messages", **form)["id"])

    def own(self, method: str, path: str, /, **form: Any) -> Mapping[str, Any]:
        """Send a request as the owner and return the response."""
        return self.send("Cordelia", method, path, **form)


def play_examples(
    client: httpx.Client, access: ChatAccess, *, vendor_url: str, relay_url: str
) -> None:
    """Create the data of the examples unless it exists. `vendor_url` and `relay_url` are the URLs
    of the local video call vendor and push relay, empty if they are not used.
    """
    stage = Example(client, access)
    answer = client.get("/api/v1/server_settings")
    if answer.status_code != 200:
        raise click.ClickException(
            f"The server answered {answer.status_code} to the demo's GET /server_settings:"
            f" {answer.text}"
        )
    if DESCRIPTION in answer.json()["realm_description"]:
        return
    everybody = [user.user_id for user in access.users]
    for name, description in CHANNELS.items():
        subscriptions = [{"name": name, "description": description}]
        stage.own(
            "POST", "/users/me/subscriptions", subscriptions=subscriptions, principals=everybody
        )
    _talk(stage)
    _furnish(stage)
    if relay_url:
        _register_phone(stage, client.get(relay_url).json()["bouncer_public_key"])
    if vendor_url:
        _authorize_calls(stage, client, vendor_url)
    stage.own("PATCH", "/realm", description=DESCRIPTION)


def _talk(stage: Example) -> None:
    """Send messages up to id 45. 42 is the owner's, 43 is to be deleted, and 44 is a poll."""
    newest = 0
    for name, place, content in LINES:
        newest = stage.say(name, place, content)
    while newest < 41:
        newest = stage.say("Othello", GUARD, FILLING)
    stage.say("Cordelia", HALL, "Nothing, my lord.")
    stage.say("Cordelia", HALL, "Nothing will come of nothing.")
    stage.say("Hamlet", MOUSETRAP, "/poll To be?\nYes\nNo")
    stage.say("Cordelia", MOUSETRAP, "That is the question.")


def _furnish(stage: Example) -> None:
    """Create objects of every kind that the owner can list."""
    own = stage.own
    for name in ("courtiers", "clowns", "gravediggers"):
        form = {"name": name, "description": "Of the castle", "members": [4, 5]}
        own("POST", "/user_groups/create", **form)
    words = {"topic": "castle", "content": "Words.", "scheduled_delivery_timestamp": LATER}
    own("POST", "/scheduled_messages", type="channel", to=3, **words)
    own("POST", "/reminders", message_id=42, scheduled_delivery_timestamp=LATER)
    draft = {"type": "stream", "to": [3], "topic": "castle", "content": "Words."}
    own("POST", "/drafts", drafts=[draft])
    own("POST", "/saved_snippets", title="Greeting", content="Words, words, words.")
    own("POST", "/user_uploads", files={"file": ("speech.txt", b"Words, words, words.")})
    own("PUT", "/bot_storage", storage={"visits": "16"})
    own("POST", "/register_client_device")
    for _ in range(3):
        own("POST", "/users/me/sessions")
    own("POST", "/invites", invitee_emails="yorick@acme.example", stream_ids=[3])
    own("POST", "/invites/multiuse")
    own("POST", "/realm/profile_fields", name="Title", field_type=1)
    own("POST", "/realm/profile_fields", name="Born", field_type=4)
    own("POST", "/realm/profile_fields", name="Home", field_type=1)
    for mark in ("ACT", "SCENE"):
        form = {"pattern": f"{mark}-(?P<id>[0-9]+)", "url_template": "https://plays.example/{id}"}
        own("POST", "/realm/filters", **form)
    for name in ("Tragedies", "Comedies", "Histories"):
        own("POST", "/channel_folders/create", name=name, description="")
    form = {"name": "Stage", "url_template": "https://play.example/{code}"}
    own("POST", "/realm/playgrounds", pygments_language="Python", **form)
    own("POST", "/export/realm", export_type="public")
    stage.send("Hamlet", "POST", "/users/me/presence", status="active", last_update_id=-1)


def _register_phone(stage: Example, public_key: str) -> None:
    """Register the owner's phone at the local push relay."""
    phone = Phone()
    device_id = stage.own("POST", "/register_client_device")["device_id"]
    fields = phone.key_fields() | phone.token_fields(public_key)
    stage.own("POST", "/mobile_push/register", device_id=device_id, **fields)


def _authorize_calls(stage: Example, client: httpx.Client, vendor_url: str) -> None:
    """Authorize video calls for the owner at the local vendor, as a browser would."""
    link = stage.own("GET", "/calls/vendor/register")["url"]
    begun = client.get(link)
    page = client.get(begun.json()["url"])
    fields = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', page.text)
    form = {name: unescape(value) for name, value in fields}
    form |= {"login": "cordelia", "consent": "yes"}
    back = client.post(f"{vendor_url}/oauth/authorize", data=form)
    answer = client.get(back.headers["Location"])
    if answer.status_code != 200:
        raise click.ClickException(
            f"The server answered {answer.status_code} to the demo's consent"
        )


def seed_secrets(session: Session, vault: Vault, access: ChatAccess, now: datetime) -> None:
    """Write the secrets that the document publishes, if they are missing: a password, a key for
    signed tokens, the token of an email change and an invitation, and the id of a queue.
    """
    users = {user.name: user for user in access.users}
    hamlet = session.get_one(User, users["Hamlet"].user_id)
    owner = find_actor(session, users["Cordelia"].user_id)
    assert owner is not None
    if hamlet.password_hash is not None:
        return
    hamlet.password_hash = hash_password(PASSWORD)
    changes = {"jwt_key": JWT_KEY, "jwt_algorithms": "HS256", "jwt_audience": "", "jwt_max_age": 0}
    change_configuration(session, vault, access.realm_id, changes, now=now)
    session.add(
        EmailChange(
            user_id=users["Othello"].user_id,
            new_email="moor@acme.example",
            token_sha256=sha256(TOKEN.encode()).hexdigest(),
            created_at=now,
            expires_at=now + timedelta(days=7),
        )
    )
    terms = Terms(
        role=int(Role.MEMBER),
        channel_ids=[],
        group_ids=[],
        joins_default_channels=True,
        tells_inviter=False,
        lifetime=timedelta(days=7),
    )
    session.add(new_invitation(owner, terms, TOKEN, email="laertes@acme.example", now=now))
    options = QueueOptions(idle_timeout_s=QUEUE_LIFETIME_S)
    head = find_head(session, access.realm_id)
    given = open_queue(session, owner, options, position=head, client="specd", now=now)
    session.flush()
    session.get_one(EventQueue, given).id = QUEUE_ID
