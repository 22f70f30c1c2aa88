"""The recipients of messages in Zulip's export: channels and sets of users."""

from collections.abc import Iterator, Mapping

from models.chat.zulip_form.channels import SUBSCRIPTIONS, Channels
from models.chat.zulip_form.people import People
from models.chat.zulip_form.rows import Source, ZulipRow, rows_of
from models.json import Json

RECIPIENTS, GROUPS = "zerver_recipient", "zerver_huddle"
PERSONAL, CHANNEL, GROUP = 1, 2, 3
"""Types of recipients. Newer releases also use groups for messages between two users."""


class Recipients:
    """All recipients by id."""

    def __init__(self, source: Source, people: People, channels: Channels) -> None:
        self._source, self._people, self._channels = source, people, channels
        self._groups: dict[int, frozenset[int]] = {}
        self._ids: dict[frozenset[int], int] = {}
        groups: dict[int, set[int]] = {}
        for row in rows_of(source, GROUPS):
            if row.has("recipient"):
                groups[row.integer("recipient")] = set()
        for row in rows_of(source, RECIPIENTS):
            recipient, of = row.integer("id"), row.integer("type_id")
            match row.integer("type"):
                case 1:
                    people.recipients[recipient] = people.check(row, "type_id", of)
                case 2:
                    channels.recipients[recipient] = channels.check(row, "type_id", of)
                case 3:
                    groups[recipient] = set()
                case _:
                    raise row.refuse("type is none that there is")
        for row in rows_of(source, SUBSCRIPTIONS):
            members = groups.get(row.integer("recipient"))
            if members is not None:
                members.add(people.find(row, "user_profile"))
        self._groups = {recipient: frozenset(members) for recipient, members in groups.items()}

    def channel(self, row: ZulipRow) -> int | None:
        """Return the channel of a message, or None if it is a direct message."""
        return self._channels.recipients.get(row.integer("recipient"))

    def people(self, row: ZulipRow, sender_id: int) -> frozenset[int]:
        """Return the users of the conversation of a message, including the sender. Raise
        `BrokenRow` if the recipient does not exist.
        """
        recipient = row.integer("recipient")
        other = self._people.recipients.get(recipient)
        if other is not None:
            return frozenset((sender_id, other))
        members = self._groups.get(recipient)
        if not members:
            raise row.refuse(f"recipient {recipient} is neither a channel nor people")
        return members | {sender_id}

    def note(self, users: frozenset[int]) -> None:
        """Record the conversation of these users."""
        self._ids.setdefault(users, len(self._ids) + 1)

    def conversation(self, users: frozenset[int]) -> int:
        """Return the id of a recorded conversation."""
        return self._ids[users]

    # --- rows of the archive ----------------------------------------------------------------------

    def conversations(self, realm_id: int) -> Iterator[Mapping[str, Json]]:
        for number in self._ids.values():
            yield {"id": number, "realm_id": realm_id}

    def members(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `conversation_member`, ordered by conversation."""
        for users, number in self._ids.items():
            for user_id in sorted(users):
                yield {"conversation_id": number, "user_id": user_id}
