"""Messages of Zulip's export, with their edits, reactions and users' copies."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping

import orjson

from models.chat.messages.flags import EDITABLE, FIXED, IS_PRIVATE
from models.chat.people.emoji import CLIENTS_EXTRA, REALM, UNICODE, own_kind
from models.chat.rendering import Names, render
from models.chat.rendering.texts import CONTENT_MAX
from models.chat.zulip_form.channels import Channels
from models.chat.zulip_form.conversations import Recipients
from models.chat.zulip_form.files import Uploads
from models.chat.zulip_form.fitting import Changes
from models.chat.zulip_form.people import People
from models.chat.zulip_form.rows import Source, ZulipRow, rows_of
from models.json import Json

MESSAGES, SCHEDULED = "zerver_message", "zerver_scheduledmessage"
FLAGS = sum((*EDITABLE.values(), *FIXED.values())) | IS_PRIVATE
"""The flags of message copies, which have the same bits in Zulip. Zulip has one more flag, for its
push service.
"""
REACTION_TYPES = frozenset((UNICODE, REALM, CLIENTS_EXTRA))


class MessageIds:
    """The ids of messages. If the export orders its messages by time and not by id, they get new
    ids in that order.
    """

    def __init__(self) -> None:
        self._old, self._new = array("q"), array("q")
        self._is_sorted = True

    def add(self, old: int) -> None:
        """Add the id of the next message."""
        if self._old and old <= self._old[-1]:
            self._is_sorted = False
        self._old.append(old)

    def finish(self) -> None:
        """Sort the ids for lookups."""
        if self._is_sorted:
            return
        order = sorted(range(len(self._old)), key=self._old.__getitem__)
        self._old = array("q", (self._old[place] for place in order))
        self._new = array("q", (place + 1 for place in order))

    def find(self, old: int) -> int | None:
        """Return the new id, or None if the message does not exist."""
        place = bisect_left(self._old, old)
        if place == len(self._old) or self._old[place] != old:
            return None
        return old if self._is_sorted else self._new[place]

    def before(self, old: int) -> int:
        """Return an id that can be compared with the new ids of messages. The message may be
        missing.
        """
        return old if self._is_sorted else 0


class Messages:
    """All messages. The constructor reads them once to collect their ids and conversations."""

    def __init__(
        self,
        source: Source,
        changes: Changes,
        people: People,
        channels: Channels,
        recipients: Recipients,
        uploads: Uploads,
        names: Names,
    ) -> None:
        self._source, self._changes = source, changes
        self._people, self._channels, self._recipients = people, channels, recipients
        self._uploads, self._names = uploads, names
        self.ids = MessageIds()
        self.first_of_channel: dict[int, int] = {}
        self._clients = {
            row.integer("id"): changes.line(row.table, row.text("name"), 30)
            for row in rows_of(source, "zerver_client")
        }
        self._delivered: dict[int, int] = {}
        for row in rows_of(source, SCHEDULED):
            if row.flag("delivered", False) and row.has("delivered_message"):
                self._delivered[row.integer("delivered_message")] = row.integer("id")
        firsts: dict[int, int] = {}
        for row in rows_of(source, MESSAGES):
            message_id = row.integer("id")
            self.ids.add(message_id)
            channel_id = recipients.channel(row)
            if channel_id is None:
                recipients.note(recipients.people(row, people.find(row, "sender")))
            else:
                firsts.setdefault(channel_id, message_id)
        self.ids.finish()
        for channel_id, message_id in firsts.items():
            self.first_of_channel[channel_id] = self._known(message_id)

    def find(self, row: ZulipRow, name: str) -> int:
        """Return the new id of the message in a field. Raise `BrokenRow`."""
        found = self.ids.find(row.integer(name))
        if found is None:
            raise row.refuse(f"{name} refers to message {row.integer(name)}, which is not there")
        return found

    # --- rows of the archive ----------------------------------------------------------------------

    def messages(self, realm_id: int) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `message`."""
        for row in rows_of(self._source, MESSAGES):
            sender_id = self._people.find(row, "sender")
            channel_id = self._recipients.channel(row)
            conversation_id, topic = None, ""
            if channel_id is None:
                users = self._recipients.people(row, sender_id)
                conversation_id = self._recipients.conversation(users)
            else:
                topic = self._channels.topic(MESSAGES, row.text("subject", ""))
            old_id = row.integer("id")
            yield {
                "id": self._known(old_id),
                "realm_id": realm_id,
                "sender_id": sender_id,
                "channel_id": channel_id,
                "conversation_id": conversation_id,
                "topic": topic,
                **self._texts(row),
                "sent_at": row.time("date_sent"),
                **self._last_edits(row),
                "has_link": row.flag("has_link", False),
                "has_image": row.flag("has_image", False),
                "has_attachment": row.flag("has_attachment", False),
                "client": self._client(row),
                "scheduled_message_id": self._delivered.get(old_id),
            }

    def edits(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `message_edit`, oldest first for each message."""
        number = 0
        for row in rows_of(self._source, MESSAGES):
            for edit in self._edits(row):
                number += 1
                yield self._edit(row, edit, number)

    def reactions(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_reaction"):
            kind = row.text("reaction_type")
            if kind not in REACTION_TYPES:
                raise row.refuse("reaction_type is none that there is")
            yield {
                "id": row.integer("id"),
                "message_id": self.find(row, "message"),
                "user_id": self._people.find(row, "user_profile"),
                "reaction_type": own_kind(kind),
                "emoji_code": self._emoji_code(row, kind),
                "emoji_name": self._changes.line(row.table, row.text("emoji_name"), 100),
            }

    def copies(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `user_message`."""
        for row in rows_of(self._source, "zerver_usermessage"):
            user_id = self._people.find(row, "user_profile")
            message_id = self.find(row, "message")
            if self._people.is_own(user_id):
                flags = row.integer("flags_mask") & FLAGS
                yield {"user_id": user_id, "message_id": message_id, "flags": flags}

    def attachment_messages(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_attachment"):
            shown = row.get("messages") or []
            if not isinstance(shown, list):
                raise row.refuse("messages is no list")
            for old in sorted(set(map(_whole, shown))):
                found = self.ids.find(old)
                if found is None:
                    raise row.refuse(f"messages has {old}, which is not there")
                yield {"attachment_id": row.integer("id"), "message_id": found}

    def scheduled(self, realm_id: int) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `scheduled_message`."""
        for row in rows_of(self._source, SCHEDULED):
            sender_id = self._people.find(row, "sender")
            channel_id = self._recipients.channel(row)
            target = row.integer_or_none("reminder_target_message_id")
            others = None
            if channel_id is None:
                users = self._recipients.people(row, sender_id)
                others = [sender_id] if target is not None else sorted(users - {sender_id})
                others = others or [sender_id]
            sent = row.integer_or_none("delivered_message")
            message_id = None if sent is None else self.ids.find(sent)
            state, failure = "pending", None
            if row.flag("delivered", False):
                if message_id is None:
                    self._changes.note(SCHEDULED, "the message that was sent is gone")
                    continue
                state = "sent"
            elif row.flag("failed", False):
                state, failure = "failed", row.text("failure_message", "")
            at = row.time("scheduled_timestamp")
            yield {
                "id": row.integer("id"),
                "realm_id": realm_id,
                "sender_id": sender_id,
                "channel_id": channel_id,
                "recipient_ids": None if others is None else orjson.dumps(others).decode(),
                "topic": ""
                if channel_id is None
                else self._channels.topic(SCHEDULED, row.text("subject", "")),
                **self._scheduled_texts(row),
                "client": self._client(row),
                "read_by_sender": row.flag("read_by_sender", False),
                "scheduled_at": at,
                "state": state,
                "failure": failure,
                "message_id": message_id if state == "sent" else None,
                "target_message_id": None if target is None else self.ids.find(target) or target,
                "note": row.text_or_none("reminder_note"),
                "created_at": row.time_or_none("request_timestamp") or at,
            }

    # --- parts of one message ---------------------------------------------------------------------

    def _known(self, old: int) -> int:
        found = self.ids.find(old)
        assert found is not None
        return found

    def _texts(self, row: ZulipRow) -> Mapping[str, Json]:
        """Return content and HTML. Messages that Zulip imported from another product have no HTML
        yet.
        """
        content, was_cut = self._content(row.table, row.text("content"))
        html = None if was_cut else row.text_or_none("rendered_content")
        if html is None:
            html = render(content, self._names).html
        return {"content": content, "rendered_content": self._uploads.rewrite_html(html)}

    def _last_edits(self, row: ZulipRow) -> Mapping[str, Json]:
        """Return the times of the last edit and the last move. Zulip stores one exact time for
        both, and whole seconds in the history.
        """
        edits = self._edits(row)
        if not edits:
            return {"last_edit_at": row.time_or_none("last_edit_time"), "last_moved_at": None}
        edited = [edit for edit in edits if "prev_content" in edit]
        moved = [edit for edit in edits if _is_move(edit)]
        return {
            "last_edit_at": self._edit_time(row, edited[-1]) if edited else None,
            "last_moved_at": self._edit_time(row, moved[-1]) if moved else None,
        }

    def _edit_time(self, row: ZulipRow, edit: Mapping[str, Json]) -> str:
        whole, exact = edit["timestamp"], row.get("last_edit_time")
        is_last = type(exact) is float and int(exact) == whole
        return row.time_of("edit_history", exact if is_last else whole)

    def _client(self, row: ZulipRow) -> str:
        return self._clients.get(row.integer("sending_client", 0), "")

    def _emoji_code(self, row: ZulipRow, kind: str) -> str:
        code = row.text("emoji_code")
        if kind == REALM:
            known = code.isascii() and code.isdigit() and len(code) < 20
            if not known or int(code) not in self._uploads.pictures:
                raise row.refuse("emoji_code refers to no custom emoji")
        return self._changes.line(row.table, code, 100)

    def _edits(self, row: ZulipRow) -> list[Mapping[str, Json]]:
        """Return the edits of a message, oldest first."""
        text = row.text_or_none("edit_history")
        if not text:
            return []
        try:
            edits = orjson.loads(text)
        except orjson.JSONDecodeError:
            raise row.refuse("edit_history is not JSON") from None
        if not isinstance(edits, list) or not all(isinstance(each, dict) for each in edits):
            raise row.refuse("edit_history is no list of edits")
        if any(type(each.get("timestamp")) is not int for each in edits):
            raise row.refuse("edit_history has an edit without a time")
        return sorted(reversed(edits), key=_timestamp)

    def _scheduled_texts(self, row: ZulipRow) -> Mapping[str, Json]:
        content, was_cut = self._content(SCHEDULED, row.text("content", ""))
        html = render(content, self._names).html if was_cut else row.text("rendered_content", "")
        return {"content": content, "rendered_content": self._uploads.rewrite_html(html)}

    def _content(self, table: str, text: str) -> tuple[str, bool]:
        """Return the content of a message as our database stores it, and whether it was cut."""
        new = self._uploads.rewrite(self._changes.short(table, text, CONTENT_MAX))
        if len(new) > CONTENT_MAX:
            self._changes.note(table, "a text was cut")
        return new[:CONTENT_MAX], max(len(text), len(new)) > CONTENT_MAX

    def _edit(self, row: ZulipRow, edit: Mapping[str, Json], number: int) -> Mapping[str, Json]:
        values = ZulipRow(row.table, row.number, edit)
        channel, topic = values.integer_or_none("prev_stream"), values.get("prev_topic")
        if topic is None:
            topic = values.get("prev_subject")
        if topic is not None and type(topic) is not str:
            raise row.refuse("edit_history has a topic that is no text")
        content, was_cut = values.text_or_none("prev_content"), False
        if content is not None:
            content, was_cut = self._content(row.table, content)
        html = None if was_cut else values.text_or_none("prev_rendered_content")
        if content is not None and html is None:
            html = render(content, self._names).html
        return {
            "id": number,
            "message_id": self._known(row.integer("id")),
            "editor_id": self._people.find_or_none(values, "user_id"),
            "edited_at": self._edit_time(row, edit),
            "prev_topic": None if topic is None else self._channels.topic(MESSAGES, topic),
            "prev_channel_id": channel,
            "prev_content": content,
            "prev_rendered_content": None if html is None else self._uploads.rewrite_html(html),
        }


def _is_move(edit: Mapping[str, Json]) -> bool:
    return any(name in edit for name in ("prev_topic", "prev_subject", "prev_stream"))


def _timestamp(edit: Mapping[str, Json]) -> int:
    found: int = edit["timestamp"]
    return found


def _whole(value: Json) -> int:
    return value if type(value) is int else 0
