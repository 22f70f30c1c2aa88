"""Convert Zulip's export to the rows of our archive, file by file, in the order of an archive."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from models.chat.common.name_keys import key_of
from models.chat.exports.tables import Part
from models.chat.rendering import Names
from models.chat.rendering.links import Linkifiers
from models.chat.zulip_form.channels import Channels
from models.chat.zulip_form.conversations import Recipients
from models.chat.zulip_form.files import EMOJI, Files, Uploads
from models.chat.zulip_form.fitting import Changes
from models.chat.zulip_form.groups import Groups
from models.chat.zulip_form.messages import Messages
from models.chat.zulip_form.organization import Organization
from models.chat.zulip_form.people import People
from models.chat.zulip_form.personal import Personal
from models.chat.zulip_form.rows import Source, rows_of
from models.json import Json

Rows = Iterator[Mapping[str, Json]]


class Conversion:
    """An export of Zulip's as one of our archives. All methods raise `BrokenRow`.

    `host` is the organization's host at Zulip's server, which links in texts contain.
    """

    def __init__(self, source: Source, files: Files, *, host: str) -> None:
        self.changes = changes = Changes()
        self._source, self.host = source, host
        self._organization = Organization(source, changes)
        realm_id = self._organization.realm_id
        self._people = People(source, changes, host)
        self._groups = Groups(source, changes, self._people)
        self._channels = Channels(source, changes, self._people, self._groups)
        recipients = Recipients(source, self._people, self._channels)
        self.uploads = Uploads(source, changes, self._people, files, realm_id)
        self._messages = Messages(
            source, changes, self._people, self._channels, recipients, self.uploads, self._names()
        )
        personal = Personal(source, changes, self._people, realm_id)
        founded = self._organization.founded
        self._parts: Mapping[str, Callable[[], Rows]] = {
            "realm": self._realm,
            "realm_domain": self._organization.domains,
            "realm_emoji": self.uploads.emoji,
            "linkifier": self._organization.linkifiers,
            "playground": self._organization.playgrounds,
            "user": partial(self._people.users, realm_id, founded, self.uploads.avatars),
            "user_settings": self._people.settings,
            "user_status": self._people.statuses,
            "profile_field": partial(self._people.profile_fields, realm_id),
            "profile_value": self._people.profile_values,
            "user_group": partial(self._groups.groups, realm_id, founded),
            "user_group_member": self._groups.members,
            "subgroup": self._groups.subgroups,
            "channel_folder": partial(self._channels.folders, realm_id),
            "channel": partial(self._channels.channels, realm_id, self._messages.first_of_channel),
            "default_channel": partial(self._channels.default_channels, realm_id),
            "subscription": self._channels.subscriptions,
            "subscription_settings": partial(
                self._channels.subscription_settings, founded, self._messages.ids.before
            ),
            "user_topic": self._channels.user_topics,
            "conversation": partial(recipients.conversations, realm_id),
            "conversation_member": recipients.members,
            "message": partial(self._messages.messages, realm_id),
            "message_edit": self._messages.edits,
            "reaction": self._messages.reactions,
            "user_message": self._messages.copies,
            "scheduled_message": partial(self._messages.scheduled, realm_id),
            "saved_snippet": personal.saved_snippets,
            "attachment": self.uploads.attachments,
            "attachment_message": self._messages.attachment_messages,
            "outgoing_webhook": personal.outgoing_webhooks,
            "bot_storage": personal.bot_storage,
            "navigation_view": personal.navigation_views,
            "alert_word": personal.alert_words,
            "muted_user": personal.muted_users,
        }

    @property
    def realm_id(self) -> int:
        return self._organization.realm_id

    @property
    def name(self) -> str:
        """The display name of the organization."""
        return self._organization.name

    @property
    def password_hashes(self) -> Mapping[int, str]:
        """Django password hashes, by the ids of users in the archive."""
        return self._people.password_hashes

    def add_passwords(self, by_email: Mapping[str, str]) -> int:
        """Add hashes from outside the export, by email addresses in lower case. Return the number
        of addresses that belong to users of the export.
        """
        return self._people.add_passwords(by_email)

    def rows(self, part: Part) -> Rows:
        """Yield the rows of one file of the archive, with its columns in order. Some files have no
        counterpart in Zulip's export and stay empty.
        """
        make = self._parts.get(part.name)
        for row in make() if make is not None else ():
            yield {name: row[name] for name in part.columns}

    def _realm(self) -> Rows:
        yield self._organization.realm(self.host, self._groups, self._channels)

    def _names(self) -> Names:
        """Return the names and ids that texts without HTML may refer to."""
        users = {user_id: person.name for user_id, person in self._people.by_id.items()}
        by_name: dict[str, list[int]] = defaultdict(list)
        for user_id, person in self._people.by_id.items():
            if person.is_active:
                by_name[key_of(person.name)].append(user_id)
        emoji = {
            row.text("name"): (
                row.integer("id"),
                self.uploads.pictures[row.integer("id")].address(self.realm_id),
            )
            for row in rows_of(self._source, EMOJI)
            if not row.flag("deactivated", False)
        }
        return Names(
            users=users,
            users_by_name=by_name,
            groups={
                key_of(name): (group_id, name, True)
                for group_id, name in self._groups.names().items()
            },
            channels={
                key_of(name): (channel_id, name)
                for channel_id, name in self._channels.names.items()
            },
            emoji=emoji,
            previews=self.uploads.previews(),
            linkifiers=Linkifiers(self._organization.links()),
        )
