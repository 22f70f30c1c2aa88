"""The organization of Zulip's export, with its settings, domains, linkifiers and playgrounds."""

from collections.abc import Iterator, Mapping

import orjson

from models.chat.access.group_settings import REALM_GROUPS
from models.chat.identity.roles import SYSTEM_GROUPS
from models.chat.organization.linkifier_rules import LinkifierFacts, check_linkifier
from models.chat.organization.realms import NAME_MAX
from models.chat.people.defaults import CHANGEABLE
from models.chat.rendering.links import Linkifier
from models.chat.settings.languages import LANGUAGES
from models.chat.tables.setting_table import SETTINGS
from models.chat.zulip_form.channels import EMPTY_NAME, TOPICS_POLICY, Channels
from models.chat.zulip_form.fitting import Changes
from models.chat.zulip_form.groups import Groups
from models.chat.zulip_form.rows import BrokenRow, Source, ZulipRow, rows_of
from models.chat.zulip_form.settings import taken_settings
from models.json import Json

REALM = "zerver_realm"
EDIT_HISTORY: Mapping[int, str] = {1: "all", 2: "moves", 3: "none"}
"""`message_edit_history_visibility_policy` by Zulip's numbers."""
WELCOME_MAX = 8_000


class Organization:
    """The row of the organization, and the lists that belong to it."""

    def __init__(self, source: Source, changes: Changes) -> None:
        self._source, self._changes = source, changes
        rows = list(rows_of(source, REALM))
        if len(rows) != 1:
            raise BrokenRow(REALM, 1, "the export has not one organization")
        self._row: ZulipRow = rows[0]
        self.realm_id = self._row.integer("id")
        if not 0 < self.realm_id < 1 << 62:
            raise self._row.refuse("id is no id")
        self.founded = self._row.time("date_created")
        self.name = changes.line(REALM, self._row.text("name"), NAME_MAX).strip() or "Zulip"
        self._linkifiers = list(self._working_linkifiers())

    def realm(self, host: str, groups: Groups, channels: Channels) -> Mapping[str, Json]:
        """Return the row of `realm`."""
        row = self._row
        language = row.text("default_language", "en")
        if language not in LANGUAGES:
            self._changes.note(REALM, "the language is none here")
            language = "en"
        return {
            "id": self.realm_id,
            "host": host,
            "name": self.name,
            "description": self._changes.short(REALM, row.text("description", ""), 1000),
            "date_created": self.founded,
            "is_deactivated": row.flag("deactivated", False),
            "default_language": language,
            "email_address_visibility": self._email_visibility(),
            **{
                name: row.flag(name, default)
                for name, default in (
                    ("emails_restricted_to_domains", False),
                    ("disallow_disposable_email_addresses", True),
                    ("require_unique_names", False),
                    ("name_changes_disabled", False),
                    ("email_changes_disabled", False),
                    ("avatar_changes_disabled", False),
                    ("enable_spectator_access", False),
                    ("enable_read_receipts", True),
                    ("allow_message_editing", True),
                )
            },
            "owner_full_content_access": False,
            "user_defaults": self._user_defaults(),
            "topics_policy": self._topics_policy(),
            "empty_topic_display_name": EMPTY_NAME,
            "welcome_message_custom_text": self._changes.short(
                REALM, row.text("welcome_message_custom_text", ""), WELCOME_MAX
            ),
            "message_retention_days": row.small("message_retention_days", -1),
            "message_edit_history_visibility_policy": self._edit_history(),
            **{
                name: row.small_or_none(name)
                for name in (
                    "message_content_edit_limit_seconds",
                    "message_content_delete_limit_seconds",
                    "move_messages_within_stream_limit_seconds",
                    "move_messages_between_streams_limit_seconds",
                )
            },
            "moderation_request_channel_id": channels.find_or_none(
                row, "moderation_request_channel"
            ),
            "new_stream_announcements_stream_id": channels.find_or_none(
                row, "new_stream_announcements_stream"
            ),
            **{
                f"{name.removeprefix('role:')}_group_id": groups.system[name]
                for name in SYSTEM_GROUPS
            },
            **{name: groups.permission(row, setting) for name, setting in REALM_GROUPS.items()},
        }

    def domains(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_realmdomain"):
            yield {
                "id": row.integer("id"),
                "realm_id": self.realm_id,
                "domain": self._changes.line(row.table, row.text("domain").lower(), 255),
                "allow_subdomains": row.flag("allow_subdomains", False),
            }

    def linkifiers(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `linkifier`, except those that would not work here."""
        yield from self._linkifiers

    def links(self) -> list[Linkifier]:
        """Return the linkifiers in the order of their application."""
        rows = sorted(self._linkifiers, key=lambda row: (row["position"], row["id"]))
        return [Linkifier(row["pattern"], row["url_template"]) for row in rows]

    def playgrounds(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_realmplayground"):
            yield {
                "id": row.integer("id"),
                "realm_id": self.realm_id,
                "syntax_language": self._changes.line(row.table, row.text("pygments_language"), 40),
                "name": row.text("name"),
                "url_template": row.text("url_template"),
            }

    # --- values of the row ------------------------------------------------------------------------

    def _working_linkifiers(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_realmfilter"):
            others = row.get("alternative_url_templates") or []
            if not isinstance(others, list) or any(type(each) is not str for each in others):
                raise row.refuse("alternative_url_templates is no list of texts")
            facts = LinkifierFacts(
                pattern=row.text("pattern"),
                url_template=row.text("url_template"),
                example_input=row.text_or_none("example_input"),
                reverse_template=row.text_or_none("reverse_template"),
                alternative_url_templates=others,
            )
            if check_linkifier(facts).failure is not None:
                self._changes.note(row.table, "a linkifier does not work here")
                continue
            yield {
                "id": row.integer("id"),
                "realm_id": self.realm_id,
                "pattern": facts.pattern,
                "url_template": facts.url_template,
                "example_input": facts.example_input,
                "reverse_template": facts.reverse_template,
                "alternative_url_templates": orjson.dumps(others).decode(),
                "position": row.small("order", 0),
            }

    def _email_visibility(self) -> int:
        for row in rows_of(self._source, "zerver_realmuserdefault"):
            value = row.integer("email_address_visibility", 1)
            if value in range(1, 6):
                return value
        return 1

    def _user_defaults(self) -> str:
        """Return the settings of new users that differ from the service's defaults."""
        for row in rows_of(self._source, "zerver_realmuserdefault"):
            chosen = taken_settings(row, sorted(CHANGEABLE), self._changes)
            changed = {n: value for n, value in chosen.items() if value != SETTINGS[n].default}
            return orjson.dumps(changed).decode()
        return "{}"

    def _topics_policy(self) -> str:
        row = self._row
        if row.has("topics_policy"):
            policy = TOPICS_POLICY.get(row.integer("topics_policy"))
            if policy not in ("allow_empty_topic", "disable_empty_topic"):
                raise row.refuse("topics_policy is none that there is")
            return policy
        is_mandatory = row.flag("mandatory_topics", False)
        return "disable_empty_topic" if is_mandatory else "allow_empty_topic"

    def _edit_history(self) -> str:
        row = self._row
        if row.has("message_edit_history_visibility_policy"):
            policy = EDIT_HISTORY.get(row.integer("message_edit_history_visibility_policy"))
            if policy is None:
                raise row.refuse("message_edit_history_visibility_policy is none that there is")
            return policy
        return "all" if row.flag("allow_edit_history", True) else "none"
