"""Exports in the form of Zulip's `manage.py export`, in the releases 9 to 12.

The tables and fields follow Zulip's models and its zerver/lib/export.py: Django's model_to_dict
names a field of another row without `_id`, times are seconds, lists are sorted by ids. A line is
`name=default`, with the first and the last release of a field that is not in all (`10-`, `-9`).
"""

from __future__ import annotations

import io
import re
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

VERSIONS = {9: "9.4", 10: "10.4", 11: "11.5", 12: "12.0"}
_LINE = re.compile(r"(\w+)(?:=(\S+))?(?: (\d+)?-(\d+)?)?")

_SETTINGS = """
allow_private_data_export=false 10-
automatically_follow_topics_policy=3
automatically_follow_topics_where_mentioned=true
automatically_unmute_topics_in_muted_streams_policy=2
color_scheme=1
default_language="en"
demote_inactive_streams=1
dense_mode=true -9
desktop_icon_count_display=1
display_emoji_reaction_users=true
email_address_visibility=1
email_notifications_batching_period_seconds=120
emojiset="google"
enable_desktop_notifications=true
enable_digest_emails=true
enable_drafts_synchronization=true
enable_followed_topic_audible_notifications=true
enable_followed_topic_desktop_notifications=true
enable_followed_topic_email_notifications=true
enable_followed_topic_push_notifications=true
enable_followed_topic_wildcard_mentions_notify=true
enable_login_emails=true
enable_marketing_emails=true
enable_offline_email_notifications=true
enable_offline_push_notifications=true
enable_online_push_notifications=true
enable_sounds=true
enable_stream_audible_notifications=false
enable_stream_desktop_notifications=false
enable_stream_email_notifications=false
enable_stream_push_notifications=false
enter_sends=false
fluid_layout_width=false
hide_ai_features=false 10-
high_contrast_mode=false
left_side_userlist=false
message_content_in_email_notifications=true
notification_sound="zulip"
pm_content_in_desktop_notifications=true
presence_enabled=true
realm_name_in_email_notifications_policy=1
receives_typing_notifications=true
resolved_topic_notice_auto_read_policy=2 11-
send_private_typing_notifications=true
send_read_receipts=true
send_stream_typing_notifications=true
starred_message_counts=true
translate_emoticons=false
twenty_four_hour_time=false
user_list_style=2
web_animate_image_previews="on_hover"
web_channel_default_view=1
web_escape_navigates_to_home_view=true
web_font_size_px=16
web_home_view="inbox"
web_inbox_show_channel_folders=true 11-
web_left_sidebar_show_channel_folders=true 11-
web_left_sidebar_unreads_count_summary=true 11-
web_line_height_percent=140
web_mark_read_on_scroll_policy=1
web_navigate_to_sent_message=true
web_stream_unreads_count_display_policy=2
web_suggest_update_timezone=true 10-
wildcard_mentions_notify=true
"""
_USER = f"""
id
{_SETTINGS}
avatar_hash=null
avatar_source="G"
avatar_version=1
bot_owner=null
bot_type=null
can_change_user_emails=false 10-
can_create_users=false
can_forge_sender=false
date_joined
default_all_public_streams=false
default_events_register_stream=null
default_sending_stream=null
delivery_email
email
full_name
groups=[]
is_active=true
is_billing_admin=false -9
is_bot=false
is_deleted=false 12-
is_imported_stub=false 12-
is_mirror_dummy=false
is_staff=false
is_superuser=false
last_active_message_id=null
last_login=null
last_reminder=null
long_term_idle=false
onboarding_steps="[]" -9
password
rate_limits=""
realm
recipient -11
role=400
third_party_api_state={{}} 12-
timezone=""
tos_version=null
tutorial_status="F" -10
user_permissions=[]
zoom_token=null -11
"""
_RECORD = """
content_type=null
last_modified=1700000000.5
path
realm_id
s3_path
size
user_profile_email
user_profile_id
"""
_COUNT = """
id
realm
property="messages_sent:is_bot:hour"
subgroup="false"
end_time=1700000000.0
value=1
"""
SCHEMAS: dict[str, str] = {
    "zerver_alertword": "id\nrealm\nuser_profile\nword",
    "zerver_attachment": """
        id
        content_type=null 10-
        create_time
        file_name
        is_realm_public=true
        is_web_public=false
        messages=[]
        owner
        path_id
        realm
        scheduled_messages=[]
        size
        """,
    "zerver_botconfigdata": "id\nbot_profile\nkey\nvalue",
    "zerver_botstoragedata": "id\nbot_profile\nkey\nvalue",
    "zerver_channelfolder": """
        id 11-
        creator=null 11-
        date_created 11-
        description="" 11-
        is_archived=false 11-
        name 11-
        order=0 11-
        realm 11-
        rendered_description="" 11-
        """,
    "zerver_client": "id\nname",
    "zerver_customprofilefield": """
        id
        display_in_profile_summary=false
        editable_by_user=true 10-
        field_data=""
        field_type=1
        hint=""
        name
        order=0
        realm
        required=false
        use_for_user_matching=false 12-
        """,
    "zerver_customprofilefieldvalue": "id\nfield\nrendered_value=null\nuser_profile\nvalue",
    "zerver_defaultstream": "id\nrealm\nstream",
    "zerver_externalauthid": """
        id 12-
        date_created 12-
        external_auth_id 12-
        external_auth_method_name="ldap" 12-
        realm 12-
        user 12-
        """,
    "zerver_groupgroupmembership": "id\nsubgroup\nsupergroup",
    "zerver_huddle": "id\ngroup_size\nhuddle_hash\nrecipient",
    "zerver_message": """
        id
        content
        date_sent
        edit_history=null
        has_attachment=false
        has_image=false
        has_link=false
        is_channel_message=true 11-
        last_edit_time=null
        realm
        recipient
        rendered_content
        rendered_content_version=1
        search_tsvector="'word':1"
        sender
        sending_client=1
        subject=""
        type=1 12-
        """,
    "zerver_muteduser": "id\ndate_muted\nmuted_user\nuser_profile",
    "zerver_namedusergroup": """
        id
        can_add_members_group 10-
        can_join_group 10-
        can_leave_group 10-
        can_manage_group 10-
        can_mention_group
        can_remove_members_group 10-
        creator=null 10-
        date_created=null 10-
        deactivated=false 10-
        description=""
        is_system_group=false
        name
        realm_for_sharding
        usergroup_ptr
        """,
    "zerver_navigationview": """
        id 11-
        fragment 11-
        is_pinned=true 11-
        name=null 11-
        user 11-
        """,
    "zerver_onboardingstep": 'id\nonboarding_step="intro"\ntimestamp=1700000000.0\nuser',
    "zerver_onboardingusermessage": "id 10-\nflags_mask=0 10-\nmessage 10-\nrealm 10-",
    "zerver_presencesequence": "id 10-\nlast_update_id=7 10-\nrealm 10-",
    "zerver_reaction": """
        id
        emoji_code
        emoji_name
        message
        reaction_type="unicode_emoji"
        user_profile
        """,
    "zerver_realm": """
        id
        _max_invites=null
        add_custom_emoji_policy=1 -9
        allow_edit_history=true -9
        allow_message_editing=true
        avatar_changes_disabled=false
        bot_creation_policy=1 -9
        can_access_all_users_group
        can_add_custom_emoji_group 10-
        can_add_subscribers_group 10-
        can_create_bots_group 10-
        can_create_groups 10-
        can_create_private_channel_group
        can_create_public_channel_group
        can_create_web_public_channel_group
        can_create_write_only_bots_group 10-
        can_delete_any_message_group
        can_delete_own_message_group 10-
        can_invite_users_group 10-
        can_manage_all_groups 10-
        can_manage_billing_group 10-
        can_mention_many_users_group 10-
        can_move_messages_between_channels_group 10-
        can_move_messages_between_topics_group 10-
        can_resolve_topics_group 10-
        can_set_delete_message_policy_group 11-
        can_set_topics_policy_group 11-
        can_summarize_topics_group 10-
        create_multiuse_invite_group
        custom_upload_quota_gb=null
        date_created
        deactivated=false
        deactivated_redirect=null
        default_avatar_source="G" 12-
        default_code_block_language=""
        default_language="en"
        delete_own_message_policy=5 -9
        demo_organization_scheduled_deletion_date=null
        description=""
        digest_emails_enabled=false
        digest_weekday=1
        direct_message_initiator_group
        direct_message_permission_group
        disallow_disposable_email_addresses=true
        edit_topic_policy=5 -9
        email_changes_disabled=false
        emails_restricted_to_domains=false
        enable_guest_user_dm_warning=true 10-
        enable_guest_user_indicator=true
        enable_read_receipts=true
        enable_spectator_access=false
        first_visible_message_id=0
        gif_rating_policy=2 12-
        giphy_rating=2 -11
        icon_source="G"
        icon_version=1
        inline_image_preview=true
        inline_url_embed_preview=false
        invite_required=true
        invite_to_realm_policy=1 -9
        invite_to_stream_policy=1 -9
        jitsi_server_url=null
        logo_source="D"
        logo_version=1
        mandatory_topics=false -10
        media_preview_size=100 12-
        message_content_allowed_in_email_notifications=true
        message_content_delete_limit_seconds=600
        message_content_edit_limit_seconds=600
        message_edit_history_visibility_policy=1 10-
        message_retention_days=-1
        message_visibility_limit=null
        moderation_request_channel=null 10-
        move_messages_between_streams_limit_seconds=604800
        move_messages_between_streams_policy=1 -9
        move_messages_within_stream_limit_seconds=604800
        name
        name_changes_disabled=false
        new_stream_announcements_stream=null
        night_logo_source="D"
        night_logo_version=1
        org_type=0
        owner_full_content_access=false 12-
        plan_type=1
        push_notifications_enabled=false
        push_notifications_enabled_end_timestamp=null
        rendered_description=null 12-
        rendered_description_version=null 12-
        require_e2ee_push_notifications=false 11-
        require_unique_names=false
        scheduled_deletion_date=null 10-
        send_channel_events_messages=true 11-
        send_welcome_emails=true
        signup_announcements_stream=null
        string_id
        topics_policy=2 11-
        user_group_edit_policy=1 -9
        uuid="6a8f0f4e-5ac9-4d3c-9f40-6a8b7e1fbb5e"
        uuid_owner_secret="zuliprealm_secret"
        video_chat_provider=1
        waiting_period_threshold=0
        want_advertise_in_communities_directory=false
        welcome_message_custom_text="" 11-
        wildcard_mention_policy=5 -9
        workplace_users_group 12-
        zulip_update_announcements_level=null
        zulip_update_announcements_stream=null
        """,
    "zerver_realmauditlog": """
        id
        acting_user=null
        backfilled=false
        event_last_message_id=null
        event_time
        event_type
        extra_data={}
        modified_channel_folder=null 11-
        modified_stream=null
        modified_user=null
        modified_user_group=null
        realm
        scrubbed=false 12-
        """,
    "zerver_realmauthenticationmethod": 'id\nname="Email"\nrealm',
    "zerver_realmdomain": "id\nallow_subdomains=false\ndomain\nrealm",
    "zerver_realmemoji": "id\nauthor\ndeactivated=false\nfile_name\nis_animated=false\nname\nrealm",
    "zerver_realmexport": """
        id 10-
        acting_user=null 10-
        date_deleted=null 10-
        date_failed=null 10-
        date_requested=1700000000.0 10-
        date_started=null 10-
        date_succeeded=null 10-
        export_path=null 10-
        realm 10-
        sha256sum_hex=null 10-
        stats=null 10-
        status=1 10-
        tarball_size_bytes=null 10-
        type=1 10-
        """,
    "zerver_realmfilter": """
        id
        alternative_url_templates=[] 12-
        example_input=null 12-
        order=0
        pattern
        realm
        reverse_template=null 12-
        url_template
        """,
    "zerver_realmplayground": "id\nname\npygments_language\nrealm\nurl_template",
    "zerver_realmuserdefault": f"id\nrealm\n{_SETTINGS}",
    "zerver_recipient": "id\ntype\ntype_id",
    "zerver_savedsnippet": """
        id 10-
        content 10-
        date_created 10-
        realm 10-
        title 10-
        user_profile 10-
        """,
    "zerver_scheduledmessage": """
        id
        content
        delivered=false
        delivered_message=null
        delivery_type=1
        failed=false
        failure_message=null
        has_attachment=false
        read_by_sender=true
        realm
        recipient
        reminder_note=null 11-
        reminder_target_message_id=null 11-
        rendered_content
        request_timestamp=1700000000.0 11-
        scheduled_timestamp
        sender
        sending_client=1
        stream=null
        subject=""
        """,
    "zerver_service": 'id\nbase_url\ninterface=1\nname\ntoken="secret"\nuser_profile',
    "zerver_stream": """
        id
        can_add_subscribers_group 10-
        can_administer_channel_group 10-
        can_create_topic_group 12-
        can_delete_any_message_group 11-
        can_delete_own_message_group 11-
        can_move_messages_out_of_channel_group 11-
        can_move_messages_within_channel_group 11-
        can_remove_subscribers_group
        can_resolve_topics_group 11-
        can_send_message_group 10-
        can_subscribe_group 10-
        creator=null
        date_created
        deactivated=false
        description=""
        first_message_id=null
        folder=null 11-
        history_public_to_subscribers=true
        invite_only=false
        is_in_zephyr_realm=false -9
        is_recently_active=true 10-
        is_web_public=false
        message_retention_days=null
        name
        realm
        recipient
        rendered_description=""
        stream_post_policy=1 -9
        subscriber_count=0 11-
        topics_policy=1 11-
        """,
    "zerver_subscription": """
        id
        active=true
        audible_notifications=null
        color="#76ce90"
        desktop_notifications=null
        email_notifications=null
        is_muted=false
        is_user_active=true
        pin_to_top=false
        push_notifications=null
        recipient
        user_profile
        wildcard_mentions_notify=null
        """,
    "zerver_useractivity": """
        id
        client=1
        count=3
        last_visit=1700000000.0
        query="get"
        user_profile
        """,
    "zerver_useractivityinterval": "id\nend=1700000900.0\nstart=1700000000.0\nuser_profile",
    "zerver_usergroup": "id\nrealm",
    "zerver_usergroupmembership": "id\nuser_group\nuser_profile",
    "zerver_usermessage": "id\nflags_mask\nmessage\nuser_profile",
    "zerver_userpresence": """
        id
        last_active_time=1700000000.0
        last_connected_time=1700000000.0
        last_update_id=7
        realm
        user_profile
        """,
    "zerver_userprofile": _USER,
    "zerver_userprofile_crossrealm": "email\nid\nrecipient_id",
    "zerver_userprofile_mirrordummy": _USER,
    "zerver_userstatus": """
        id
        client=1
        emoji_code=""
        emoji_name=""
        reaction_type="unicode_emoji"
        status_text=""
        timestamp
        user_profile
        """,
    "zerver_usertopic": """
        id
        last_updated
        recipient
        stream
        topic_name
        user_profile
        visibility_policy
        """,
    "analytics_realmcount": _COUNT,
    "analytics_streamcount": f"{_COUNT}\nstream",
    "analytics_usercount": f"{_COUNT}\nuser",
    "avatars/records.json": f"{_RECORD}\navatar_version=1 11-",
    "emoji/records.json": "author\ndeactivated=false\nfile_name\nname\npath\nrealm_id\ns3_path",
    "realm_icons/records.json": "path\nrealm_id\ns3_path",
    "uploads/records.json": _RECORD,
}
EXCLUDED = {"password"}
"""Fields that the export omits, and that users may have added."""
_REALM_TABLES = [name for name in SCHEMAS if name.startswith("zerver_")]
_IN_OTHER_FILES = {"zerver_message", "zerver_usermessage", "zerver_attachment"}
MESSAGES_IN_A_FILE = 5


@dataclass(frozen=True, slots=True)
class Column:
    """A field with its default as JSON, if it has one, and its releases."""

    name: str
    default: str | None
    first: int
    last: int


def columns_of(table: str) -> list[Column]:
    found = []
    for line in SCHEMAS[table].split("\n"):
        if line.strip():
            match = _LINE.fullmatch(line.strip())
            assert match is not None, line
            name, default, first, last = match.groups()
            found.append(Column(name, default, int(first or 9), int(last or 12)))
    return found


@dataclass
class ZulipExport:
    """An export of one release, to which tests add rows and files."""

    release: int
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for table in SCHEMAS:
            if any(self._has(column) for column in columns_of(table)):
                self.tables[table] = []

    def _has(self, column: Column) -> bool:
        return column.first <= self.release <= column.last

    def fields(self, table: str) -> list[str]:
        """Return the fields that this release writes."""
        return [column.name for column in columns_of(table) if self._has(column)]

    def add(self, table: str, **values: Any) -> dict[str, Any] | None:
        """Add a row. Values that this release does not have are omitted, and so is a row of an
        unknown table.
        """
        if table not in self.tables:
            return None
        columns = columns_of(table)
        assert values.keys() <= {column.name for column in columns}, (table, values.keys())
        row = {}
        for column in columns:
            if not self._has(column) or (column.name in EXCLUDED and column.name not in values):
                continue
            if column.name in values:
                row[column.name] = values[column.name]
            else:
                assert column.default is not None, (table, column.name)
                row[column.name] = orjson.loads(column.default)
        self.tables[table].append(row)
        return row

    def contents(self) -> dict[str, bytes]:
        """Return the files of the tarball, by their names in the export's folder."""
        files = dict(self.files)

        def write(name: str, content: Any) -> None:
            files[name] = orjson.dumps(content, option=orjson.OPT_INDENT_2)

        realm = {
            name: rows
            for name, rows in self.tables.items()
            if name in _REALM_TABLES and name not in _IN_OTHER_FILES
        }
        facts = {"import_source": "zulip"} if self.release >= 10 else {}
        write("realm.json", {**realm, **facts, **self.facts})
        write("attachment.json", {"zerver_attachment": self.tables["zerver_attachment"]})
        write(
            "analytics.json",
            {name: rows for name, rows in self.tables.items() if name.startswith("analytics_")},
        )
        messages = self.tables["zerver_message"]
        known = {row["id"] for row in messages}
        for number, start in enumerate(range(0, len(messages), MESSAGES_IN_A_FILE), 1):
            some = messages[start : start + MESSAGES_IN_A_FILE]
            ids = {row["id"] for row in some}
            copies = [
                row
                for row in self.tables["zerver_usermessage"]
                if row["message"] in ids or (number == 1 and row["message"] not in known)
            ]
            write(
                f"messages-{number:06}.json",
                {"zerver_message": some, "zerver_usermessage": copies},
            )
        for name in ("avatars", "emoji", "realm_icons", "uploads"):
            write(f"{name}/records.json", self.tables[f"{name}/records.json"])
        if self.release >= 10:
            write("stats.json", {"realm": {name: len(rows) for name, rows in realm.items()}})
            write(
                "migration_status.json",
                {"migrations_by_app": {}, "zulip_version": VERSIONS[self.release]},
            )
        else:
            files["stats.txt"] = b"realm.json\n"
        return files

    def write(self, path: Path, *, folder: str = "zulip-export-acme") -> Path:
        """Write the tarball. The files are not sorted, because a file system does not sort them."""
        return write_tarball(path, {f"{folder}/{name}": content for name, content in
                                    sorted(self.contents().items(), reverse=True)})  # fmt: skip


def write_tarball(path: Path, files: dict[str, bytes]) -> Path:
    """Write a tarball like GNU tar."""
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted({name.rpartition("/")[0] for name in files} - {""}):
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE
            archive.addfile(info)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path
