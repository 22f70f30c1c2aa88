"""Convert our archive format to Zulip's: yield the rows of each table of an export of release 12.

Each file of an archive is read row by row. Only users, channels, groups and the index of
conversations are in memory. The caller stores the edits of messages.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha1
from typing import Protocol

import orjson

from models.chat.access.group_settings import CHANNEL_GROUPS, REALM_GROUPS, USER_GROUP_GROUPS
from models.chat.exports.rows import avatar_file
from models.chat.people.defaults import CHANGEABLE
from models.chat.people.emoji import clients_kind
from models.chat.tables.setting_table import SETTINGS
from models.chat.zulip_form.channels import SUBSCRIBED, TOPICS_POLICY
from models.chat.zulip_form.conversations import CHANNEL, GROUP, PERSONAL
from models.chat.zulip_form.organization import EDIT_HISTORY
from models.chat.zulip_form.people import NOTIFICATION_EMAIL, UPLOADED
from models.chat.zulip_form.settings import given_settings
from models.json import Json

Row = Mapping[str, Json]
_ADDRESS = re.compile(
    r"(?P<folder>user_uploads/(?:thumbnail/)?)[0-9]+/(?P<handle>[0-9a-f]{32})-[^/\s\"'<>()\[\]?#]+"
    r"|user_avatars/[0-9]+/emoji/images/(?P<still>still/)?(?P<emoji>[0-9a-f]{32})\.webp"
)
EMPTY_TABLES = (
    "zerver_botconfigdata", "zerver_onboardingstep", "zerver_onboardingusermessage",
    "zerver_presencesequence", "zerver_realmexport", "zerver_useractivity",
    "zerver_useractivityinterval", "zerver_userpresence", "zerver_externalauthid",
    "zerver_userprofile_mirrordummy",
)  # fmt: skip
"""Tables that Zulip's import requires and for which we have no data."""


class Archive(Protocol):
    """One of our archives."""

    def lines(self, file: str) -> Iterator[Row]:
        """Yield the rows of a file in order."""

    def edits_of(self, message_id: int) -> Sequence[Row]:
        """Return the edits of a message, oldest first."""

    def has_file(self, name: str) -> bool:
        """Return whether the archive contains the uploaded file."""


def _seconds(value: Json) -> float | None:
    return None if value is None else datetime.fromisoformat(value).timestamp()


def _backwards(table: Mapping[int, str]) -> Mapping[str, int]:
    return {name: number for number, name in table.items()}


class ToZulip:
    """The tables of an export. Each is created when it is read."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        (self._realm,) = archive.lines("realm")
        self.realm_id: int = self._realm["id"]
        self._bots = {row["id"] for row in archive.lines("user") if row["is_system_bot"]}
        self._recipients: dict[tuple[int, int], int] = {}
        members: dict[int, set[int]] = {}
        for row in archive.lines("conversation_member"):
            members.setdefault(row["conversation_id"], set()).add(row["user_id"])
        for row in archive.lines("user"):
            self._add_recipient(PERSONAL, row["id"])
        for row in archive.lines("channel"):
            self._add_recipient(CHANNEL, row["id"])
        self._groups: dict[frozenset[int], int] = {}
        self._conversations = {key: frozenset(users) for key, users in members.items()}
        self._clients: dict[str, int] = {"website": 1}
        for row in archive.lines("message"):
            self._clients.setdefault(row["client"], len(self._clients) + 1)
            if row["conversation_id"] is not None:
                self._add_group(self._conversations[row["conversation_id"]])
        for row in archive.lines("scheduled_message"):
            self._clients.setdefault(row["client"], len(self._clients) + 1)
            if row["recipient_ids"] is not None:
                others = orjson.loads(row["recipient_ids"])
                self._add_group(frozenset((*others, row["sender_id"])))
        self._shown: dict[int, list[int]] = {}
        for row in archive.lines("attachment_message"):
            self._shown.setdefault(row["attachment_id"], []).append(row["message_id"])
        self._paths = {
            row["handle"]: (
                f"{self.realm_id}/{row['handle'][:2]}/{row['handle']}/{row['path_name']}"
            )
            for row in archive.lines("attachment")
            if row["id"] in self._shown
        }
        self._emoji = {
            row["handle"]: f"{self.realm_id}/emoji/images/{row['id']}.webp"
            for row in archive.lines("realm_emoji")
            if row["handle"] is not None
        }
        self.tables: Mapping[str, Callable[[], Iterator[Row]]] = {
            "zerver_realm": self._realms,
            "zerver_realmuserdefault": self._user_defaults,
            "zerver_realmauthenticationmethod": self._sign_in,
            "zerver_realmdomain": self._same("realm_domain", "domain", "allow_subdomains"),
            "zerver_realmemoji": self._emoji_rows,
            "zerver_realmfilter": self._linkifiers,
            "zerver_realmplayground": self._playgrounds,
            "zerver_client": self._client_rows,
            "zerver_userprofile": self._users,
            "zerver_userprofile_crossrealm": self._cross_realm,
            "zerver_userstatus": self._statuses,
            "zerver_customprofilefield": self._profile_fields,
            "zerver_customprofilefieldvalue": self._profile_values,
            "zerver_usergroup": self._all_groups,
            "zerver_namedusergroup": self._named_groups,
            "zerver_usergroupmembership": self._numbered(
                "user_group_member", user_group="group_id", user_profile="user_id"
            ),
            "zerver_groupgroupmembership": self._numbered(
                "subgroup", supergroup="group_id", subgroup="subgroup_id"
            ),
            "zerver_channelfolder": self._folders,
            "zerver_stream": self._channels,
            "zerver_defaultstream": self._numbered("default_channel", stream="channel_id"),
            "zerver_recipient": self._recipient_rows,
            "zerver_huddle": self._huddles,
            "zerver_subscription": self._subscriptions,
            "zerver_realmauditlog": self._beginnings,
            "zerver_usertopic": self._user_topics,
            "zerver_reaction": self._reactions,
            "zerver_scheduledmessage": self._scheduled,
            "zerver_savedsnippet": self._snippets,
            "zerver_service": self._services,
            "zerver_botstoragedata": self._numbered(
                "bot_storage", bot_profile="user_id", key="key", value="value"
            ),
            "zerver_navigationview": self._views,
            "zerver_alertword": self._alert_words,
            "zerver_muteduser": self._muted_users,
            **{name: lambda: iter(()) for name in EMPTY_TABLES},
        }
        """The tables of realm.json."""

    def _add_recipient(self, kind: int, of: int) -> None:
        self._recipients[kind, of] = len(self._recipients) + 1

    def _add_group(self, users: frozenset[int]) -> None:
        if len(users) > 2 and users not in self._groups:
            self._groups[users] = len(self._groups) + 1
            self._add_recipient(GROUP, self._groups[users])

    # --- files and tables outside realm.json ------------------------------------------------------

    def messages(self) -> Iterator[Row]:
        """Yield the rows of `zerver_message`."""
        for row in self._archive.lines("message"):
            channel_id = row["channel_id"]
            edits = self._archive.edits_of(row["id"])
            times = [each for each in (row["last_edit_at"], row["last_moved_at"]) if each]
            if channel_id is None:
                users = self._conversations[row["conversation_id"]]
                recipient = self._recipient_of(users, row["sender_id"])
            else:
                recipient = self._recipients[CHANNEL, channel_id]
            yield {
                "id": row["id"],
                "sender": row["sender_id"],
                "recipient": recipient,
                "realm": self.realm_id,
                "subject": row["topic"],
                "content": self._text(row["content"]),
                "rendered_content": self._text(row["rendered_content"]),
                "rendered_content_version": 1,
                "date_sent": _seconds(row["sent_at"]),
                "sending_client": self._clients[row["client"]],
                "last_edit_time": max(map(_exact, times), default=None),
                "edit_history": self._history(row, edits) if edits else None,
                "has_attachment": row["has_attachment"],
                "has_image": row["has_image"],
                "has_link": row["has_link"],
                "is_channel_message": channel_id is not None,
            }

    def copies(self) -> Iterator[Row]:
        """Yield the rows of `zerver_usermessage`. Zulip exports no rows for its system bots."""
        number = 0
        for row in self._archive.lines("user_message"):
            if row["user_id"] not in self._bots:
                number += 1
                yield {
                    "id": number, "user_profile": row["user_id"], "message": row["message_id"],
                    "flags_mask": row["flags"],
                }  # fmt: skip

    def attachments(self) -> Iterator[Row]:
        """Yield the rows of `zerver_attachment`: the files that messages show."""
        for row in self._archive.lines("attachment"):
            if row["id"] in self._shown:
                yield {
                    "id": row["id"],
                    "file_name": row["name"],
                    "path_id": self._paths[row["handle"]],
                    "owner": row["owner_id"],
                    "realm": self.realm_id,
                    "create_time": _seconds(row["created_at"]),
                    "size": row["size"],
                    "content_type": row["media_type"],
                    "is_realm_public": None,
                    "is_web_public": None,
                    "messages": self._shown[row["id"]],
                    "scheduled_messages": [],
                }

    def upload_files(self) -> Iterator[tuple[str, Row]]:
        """Yield the name of each exported file in our archive, with its record."""
        names = {
            self._paths[row["handle"]]: f"uploads/{row['handle']}-{row['path_name']}"
            for row in self._archive.lines("attachment")
            if row["id"] in self._shown
        }
        for row in self.attachments():
            path = row["path_id"]
            yield names[path], {
                "path": path, "s3_path": path, "realm_id": self.realm_id, "content_type": None,
                "size": row["size"], "user_profile_id": row["owner"],
            }  # fmt: skip

    def emoji_files(self) -> Iterator[tuple[str, Row]]:
        """Yield the name of each emoji's image in our archive, with its record."""
        for row in self._archive.lines("realm_emoji"):
            path = self._emoji.get(row["handle"])
            if path is not None:
                yield f"emoji/{row['handle']}.webp", {
                    "path": path, "s3_path": path, "realm_id": self.realm_id,
                    "author": row["author_id"], "file_name": path.rpartition("/")[2],
                    "name": row["name"], "deactivated": row["is_deactivated"],
                }  # fmt: skip

    def avatar_files(self) -> Iterator[tuple[str, Row]]:
        """Yield the name of each avatar in our archive, with its record for Zulip. The path in the
        record lacks the ending.
        """
        for row in self._archive.lines("user"):
            if self._has_avatar(row) and row["id"] not in self._bots:
                path = f"{self.realm_id}/{row['avatar_handle']}"
                yield avatar_file(row["avatar_handle"]), {
                    "path": path, "s3_path": path, "realm_id": self.realm_id,
                    "user_profile_id": row["id"], "user_profile_email": row["delivery_email"],
                    "avatar_version": row["avatar_version"], "content_type": None,
                }  # fmt: skip

    # --- the organization -------------------------------------------------------------------------

    def _realms(self) -> Iterator[Row]:
        realm = self._realm
        same = (
            "id", "name", "description", "default_language", "emails_restricted_to_domains",
            "disallow_disposable_email_addresses", "require_unique_names", "name_changes_disabled",
            "email_changes_disabled", "avatar_changes_disabled", "enable_spectator_access",
            "enable_read_receipts",
            "welcome_message_custom_text", "message_retention_days", "allow_message_editing",
            "message_content_edit_limit_seconds", "message_content_delete_limit_seconds",
            "move_messages_within_stream_limit_seconds",
            "move_messages_between_streams_limit_seconds", *REALM_GROUPS,
        )  # fmt: skip
        history = _backwards(EDIT_HISTORY)[realm["message_edit_history_visibility_policy"]]
        yield {
            **{name: realm[name] for name in same},
            "string_id": realm["host"].partition(".")[0][:40],
            "date_created": _seconds(realm["date_created"]),
            "deactivated": realm["is_deactivated"],
            "topics_policy": _backwards(TOPICS_POLICY)[realm["topics_policy"]],
            "message_edit_history_visibility_policy": history,
            "moderation_request_channel": realm["moderation_request_channel_id"],
            "new_stream_announcements_stream": realm["new_stream_announcements_stream_id"],
            "signup_announcements_stream": None,
            "zulip_update_announcements_stream": None,
        }

    def _user_defaults(self) -> Iterator[Row]:
        changed = orjson.loads(self._realm["user_defaults"])
        settings = {name: changed.get(name, SETTINGS[name].default) for name in CHANGEABLE}
        yield {
            **given_settings(settings),
            "id": 1,
            "realm": self.realm_id,
            "email_address_visibility": self._realm["email_address_visibility"],
        }

    def _sign_in(self) -> Iterator[Row]:
        yield {"id": 1, "realm": self.realm_id, "name": "Email"}

    def _emoji_rows(self) -> Iterator[Row]:
        for row in self._archive.lines("realm_emoji"):
            path = self._emoji.get(row["handle"], "")
            yield {
                "id": row["id"],
                "author": row["author_id"],
                "realm": self.realm_id,
                "name": row["name"],
                "file_name": path.rpartition("/")[2] or None,
                "is_animated": row["still_url"] is not None,
                "deactivated": row["is_deactivated"],
            }

    def _linkifiers(self) -> Iterator[Row]:
        for row in self._archive.lines("linkifier"):
            yield {
                **{name: row[name] for name in ("id", "pattern", "url_template", "example_input")},
                "reverse_template": row["reverse_template"],
                "alternative_url_templates": orjson.loads(row["alternative_url_templates"]),
                "order": row["position"],
                "realm": self.realm_id,
            }

    def _playgrounds(self) -> Iterator[Row]:
        for row in self._archive.lines("playground"):
            yield {
                "id": row["id"], "realm": self.realm_id, "name": row["name"],
                "pygments_language": row["syntax_language"], "url_template": row["url_template"],
            }  # fmt: skip

    def _client_rows(self) -> Iterator[Row]:
        for name, number in self._clients.items():
            yield {"id": number, "name": name}

    # --- people -----------------------------------------------------------------------------------

    def _users(self) -> Iterator[Row]:
        settings = self._archive.lines("user_settings")
        same = (
            "id", "full_name", "delivery_email", "role", "is_active", "is_imported_stub",
            "is_deleted", "can_create_users", "can_change_user_emails", "avatar_version",
        )  # fmt: skip
        for row, chosen in zip(self._archive.lines("user"), settings, strict=True):
            if row["id"] in self._bots:
                continue
            yield {
                **given_settings({name: chosen[name] for name in SETTINGS}),
                **{name: row[name] for name in same},
                "email": row["delivery_email"],
                "avatar_source": UPLOADED if self._has_avatar(row) else "G",
                "realm": self.realm_id,
                "date_joined": _seconds(row["date_joined"]),
                "is_bot": row["bot_type"] is not None,
                "bot_type": row["bot_type"],
                "bot_owner": row["bot_owner_id"],
                "is_mirror_dummy": False,
                "default_sending_stream": None,
                "default_events_register_stream": None,
                "last_active_message_id": None,
                "last_login": None,
                "last_reminder": None,
                "user_permissions": [],
                "groups": [],
            }

    def _has_avatar(self, user: Row) -> bool:
        handle = user["avatar_handle"]
        return handle is not None and self._archive.has_file(avatar_file(handle))

    def _cross_realm(self) -> Iterator[Row]:
        for user_id in self._bots:
            recipient = self._recipients[PERSONAL, user_id]
            yield {"id": user_id, "email": NOTIFICATION_EMAIL, "recipient_id": recipient}

    def _statuses(self) -> Iterator[Row]:
        for number, row in enumerate(self._archive.lines("user_status"), 1):
            yield {
                "id": number,
                "user_profile": row["user_id"],
                "timestamp": _seconds(row["updated_at"]),
                "client": 1,
                "status_text": row["status_text"],
                "emoji_name": row["emoji_name"],
                "emoji_code": row["emoji_code"],
                "reaction_type": clients_kind(row["reaction_type"]),
            }

    def _profile_fields(self) -> Iterator[Row]:
        same = (
            "id", "name", "hint", "field_data", "display_in_profile_summary", "editable_by_user",
            "use_for_user_matching",
        )  # fmt: skip
        for row in self._archive.lines("profile_field"):
            yield {
                **{name: row[name] for name in same},
                "realm": self.realm_id,
                "field_type": row["type"],
                "order": row["position"],
                "required": row["is_required"],
            }

    def _profile_values(self) -> Iterator[Row]:
        yield from self._numbered(
            "profile_value", user_profile="user_id", field="field_id", value="value",
            rendered_value="rendered_value",
        )()  # fmt: skip

    # --- groups -----------------------------------------------------------------------------------

    def _all_groups(self) -> Iterator[Row]:
        for row in self._archive.lines("user_group"):
            yield {"id": row["id"], "realm": self.realm_id}

    def _named_groups(self) -> Iterator[Row]:
        for row in self._archive.lines("user_group"):
            if row["kind"] != "anonymous":
                yield {
                    "id": row["id"],
                    "usergroup_ptr": row["id"],
                    "name": row["name"],
                    "description": row["description"],
                    "is_system_group": row["kind"] == "system",
                    "realm_for_sharding": self.realm_id,
                    "deactivated": row["is_deactivated"],
                    "creator": row["creator_id"],
                    "date_created": _seconds(row["date_created"]),
                    **{name: row[name] for name in USER_GROUP_GROUPS},
                }

    # --- channels ---------------------------------------------------------------------------------

    def _folders(self) -> Iterator[Row]:
        for row in self._archive.lines("channel_folder"):
            yield {
                "id": row["id"],
                "realm": self.realm_id,
                "name": row["name"],
                "description": row["description"],
                "rendered_description": row["rendered_description"],
                "order": row["position"],
                "date_created": _seconds(row["date_created"]),
                "creator": row["creator_id"],
                "is_archived": row["is_archived"],
            }

    def _channels(self) -> Iterator[Row]:
        same = (
            "id", "name", "description", "rendered_description", "invite_only", "is_web_public",
            "history_public_to_subscribers", "message_retention_days", "first_message_id",
            *CHANNEL_GROUPS,
        )  # fmt: skip
        for row in self._archive.lines("channel"):
            yield {
                **{name: row[name] for name in same},
                "realm": self.realm_id,
                "recipient": self._recipients[CHANNEL, row["id"]],
                "date_created": _seconds(row["date_created"]),
                "deactivated": row["is_archived"],
                "creator": row["creator_id"],
                "folder": row["folder_id"],
                "topics_policy": _backwards(TOPICS_POLICY)[row["topics_policy"]],
            }

    def _recipient_rows(self) -> Iterator[Row]:
        for (kind, of), number in self._recipients.items():
            if kind != PERSONAL or of not in self._bots:
                yield {"id": number, "type": kind, "type_id": of}

    def _huddles(self) -> Iterator[Row]:
        for users, number in self._groups.items():
            text = ",".join(map(str, sorted(users)))
            yield {
                "id": number,
                "recipient": self._recipients[GROUP, number],
                "huddle_hash": sha1(text.encode(), usedforsecurity=False).hexdigest(),
                "group_size": len(users),
            }

    def _subscriptions(self) -> Iterator[Row]:
        active = {row["id"]: row["is_active"] for row in self._archive.lines("user")}
        number = 0

        def subscription(user_id: int, recipient: int, **more: Json) -> Row:
            nonlocal number
            number += 1
            return {
                "id": number, "user_profile": user_id, "recipient": recipient, "active": True,
                "is_user_active": active[user_id], **more,
            }  # fmt: skip

        for (kind, of), recipient in self._recipients.items():
            if kind == PERSONAL and of not in self._bots:
                yield subscription(of, recipient)
        for users, group in self._groups.items():
            for user_id in sorted(users):
                yield subscription(user_id, self._recipients[GROUP, group])
        settings = self._archive.lines("subscription_settings")
        same = (
            "color", "is_muted", "pin_to_top", "desktop_notifications", "audible_notifications",
            "push_notifications", "email_notifications", "wildcard_mentions_notify",
        )  # fmt: skip
        for row, chosen in zip(self._archive.lines("subscription"), settings, strict=True):
            yield subscription(
                row["user_id"], self._recipients[CHANNEL, row["channel_id"]],
                **{name: chosen[name] for name in same} | {"active": row["is_active"]},
            )  # fmt: skip

    def _beginnings(self) -> Iterator[Row]:
        for number, row in enumerate(self._archive.lines("subscription_settings"), 1):
            yield {
                "id": number,
                "realm": self.realm_id,
                "acting_user": None,
                "modified_user": row["user_id"],
                "modified_stream": row["channel_id"],
                "modified_user_group": None,
                "modified_channel_folder": None,
                "event_type": SUBSCRIBED,
                "event_time": _seconds(row["subscribed_at"]),
                "event_last_message_id": row["joined_after_id"],
                "extra_data": {},
                "backfilled": True,
            }

    def _user_topics(self) -> Iterator[Row]:
        for number, row in enumerate(self._archive.lines("user_topic"), 1):
            yield {
                "id": number,
                "user_profile": row["user_id"],
                "stream": row["channel_id"],
                "recipient": self._recipients[CHANNEL, row["channel_id"]],
                "topic_name": row["topic"],
                "visibility_policy": row["visibility_policy"],
                "last_updated": _seconds(row["last_updated"]),
            }

    # --- messages ---------------------------------------------------------------------------------

    def _reactions(self) -> Iterator[Row]:
        for row in self._archive.lines("reaction"):
            yield {
                "id": row["id"], "message": row["message_id"], "user_profile": row["user_id"],
                "reaction_type": clients_kind(row["reaction_type"]),
                "emoji_code": row["emoji_code"], "emoji_name": row["emoji_name"],
            }  # fmt: skip

    def _scheduled(self) -> Iterator[Row]:
        for row in self._archive.lines("scheduled_message"):
            if row["channel_id"] is None:
                others = orjson.loads(row["recipient_ids"])
                users = frozenset((*others, row["sender_id"]))
                recipient = self._recipient_of(users, row["sender_id"])
            else:
                recipient = self._recipients[CHANNEL, row["channel_id"]]
            is_reminder = row["target_message_id"] is not None
            yield {
                "id": row["id"],
                "sender": row["sender_id"],
                "recipient": recipient,
                "stream": row["channel_id"],
                "realm": self.realm_id,
                "subject": row["topic"],
                "content": self._text(row["content"]),
                "rendered_content": self._text(row["rendered_content"]),
                "sending_client": self._clients[row["client"]],
                "scheduled_timestamp": _seconds(row["scheduled_at"]),
                "request_timestamp": _seconds(row["created_at"]),
                "read_by_sender": row["read_by_sender"],
                "delivered": row["state"] == "sent",
                "delivered_message": row["message_id"],
                "failed": row["state"] == "failed",
                "failure_message": row["failure"],
                "has_attachment": False,
                "delivery_type": 2 if is_reminder else 1,
                "reminder_target_message_id": row["target_message_id"],
                "reminder_note": row["note"],
            }

    def _recipient_of(self, users: frozenset[int], sender_id: int) -> int:
        if len(users) > 2:
            return self._recipients[GROUP, self._groups[users]]
        (other,) = (users - {sender_id}) or {sender_id}
        return self._recipients[PERSONAL, other]

    def _history(self, message: Row, edits: Sequence[Row]) -> str:
        """Return the edits in Zulip's format, newest first."""
        channel_id, topic = message["channel_id"], message["topic"]
        history = []
        for row in reversed(edits):
            edit: dict[str, Json] = {
                "user_id": row["editor_id"],
                "timestamp": int(_exact(row["edited_at"])),
            }
            if row["prev_channel_id"] is not None:
                edit |= {"prev_stream": row["prev_channel_id"], "stream": channel_id}
                channel_id = row["prev_channel_id"]
            if row["prev_topic"] is not None:
                edit |= {"prev_topic": row["prev_topic"], "topic": topic}
                topic = row["prev_topic"]
            if row["prev_content"] is not None:
                edit |= {
                    "prev_content": self._text(row["prev_content"]),
                    "prev_rendered_content": self._text(row["prev_rendered_content"]),
                    "prev_rendered_content_version": 1,
                }
            history.append(edit)
        return orjson.dumps(history).decode()

    def _text(self, text: str) -> str:
        """Return a text with Zulip's addresses of files."""
        if "user_uploads/" not in text and "user_avatars/" not in text:
            return text
        return _ADDRESS.sub(self._address, text)

    def _address(self, match: re.Match[str]) -> str:
        if match["emoji"] is not None:
            path = self._emoji.get(match["emoji"])
            if path is None:
                return match[0]
            if match["still"]:
                path = path.replace("/images/", "/images/still/").replace(".webp", ".png")
            return f"user_avatars/{path}"
        path = self._paths.get(match["handle"])
        return match[0] if path is None else f"{match['folder']}{path}"

    # --- personal ---------------------------------------------------------------------------------

    def _snippets(self) -> Iterator[Row]:
        for row in self._archive.lines("saved_snippet"):
            yield {
                "id": row["id"], "realm": self.realm_id, "user_profile": row["user_id"],
                "title": row["title"], "content": row["content"],
                "date_created": _seconds(row["created_at"]),
            }  # fmt: skip

    def _services(self) -> Iterator[Row]:
        for number, row in enumerate(self._archive.lines("outgoing_webhook"), 1):
            yield {
                "id": number, "name": f"webhook{number}", "user_profile": row["user_id"],
                "base_url": row["payload_url"], "token": "", "interface": row["interface"],
            }  # fmt: skip

    def _views(self) -> Iterator[Row]:
        for row in self._archive.lines("navigation_view"):
            yield {
                "id": row["id"], "user": row["user_id"], "fragment": row["fragment"],
                "is_pinned": row["is_pinned"], "name": row["name"],
            }  # fmt: skip

    def _alert_words(self) -> Iterator[Row]:
        for row in self._archive.lines("alert_word"):
            yield {
                "id": row["id"], "realm": self.realm_id, "user_profile": row["user_id"],
                "word": row["word"],
            }  # fmt: skip

    def _muted_users(self) -> Iterator[Row]:
        for number, row in enumerate(self._archive.lines("muted_user"), 1):
            yield {
                "id": number, "user_profile": row["user_id"], "muted_user": row["muted_user_id"],
                "date_muted": _seconds(row["muted_at"]),
            }  # fmt: skip

    # --- rows with the same values under other names ----------------------------------------------

    def _same(self, file: str, *names: str) -> Callable[[], Iterator[Row]]:
        def rows() -> Iterator[Row]:
            for row in self._archive.lines(file):
                yield {"id": row["id"], "realm": self.realm_id} | {
                    name: row[name] for name in names
                }

        return rows

    def _numbered(self, file: str, **names: str) -> Callable[[], Iterator[Row]]:
        def rows() -> Iterator[Row]:
            for number, row in enumerate(self._archive.lines(file), 1):
                made: dict[str, Json] = {"id": number}
                made |= {name: row[column] for name, column in names.items()}
                if file == "default_channel":
                    made["realm"] = self.realm_id
                yield made

        return rows


def _exact(value: str) -> float:
    return datetime.fromisoformat(value).timestamp()
