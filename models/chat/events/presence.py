"""Events of presence, which expire soon (models/chat/queues/retention.py)."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from models.chat.events.log import ClientEvent, EmailFact


class SlimPresence(TypedDict):
    """When a user was last active, and when a client of theirs last reported, in Unix seconds."""

    active_timestamp: int
    idle_timestamp: int


class ClientPresence(TypedDict):
    """The older form: the status as of the last report, and its time in Unix seconds."""

    client: Literal["website"]
    status: Literal["active", "idle"]
    timestamp: int
    pushable: bool


class PresenceEvent(ClientEvent, type="presence", internal=("emails",)):
    """A user is active again, or has changed whether others see that. Sent to everybody who may see
    the user.

    The delivery leaves `presences`, by user id as text, to a client that has the capability
    `simplified_presence_events`, and the other fields to the others.
    """

    user_id: int
    email: str
    server_timestamp: float
    presence: Mapping[str, ClientPresence]
    presences: Mapping[str, SlimPresence]
    emails: Sequence[EmailFact]
