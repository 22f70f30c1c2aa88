"""Acme as an organization of a Zulip server, with data that accumulates over some years."""

from __future__ import annotations

from typing import Any

import orjson

from tests.support.chat.django_hashes import CHEAP_ARGON2, DJANGO_HASHES
from tests.support.chat.zulip_export import ZulipExport, columns_of
from tests.support.pictures import picture

HOST = "acme.zulip.example"
BEGIN = 1_700_000_000.0
REALM = 2
ADA, BORIS, CARLA, DMITRI, GONE, ROBOT, HOOK, MIRROR = range(10, 18)
NOTIFICATION, GATEWAY, WELCOME = 3, 4, 5
GENERAL, SECRET, OLD = 20, 21, 22
GROUP_OF_THREE = 30
GROUP_OF_TWO = 31
SYSTEM = {
    "role:nobody": 40, "role:owners": 41, "role:administrators": 42, "role:moderators": 43,
    "role:fullmembers": 44, "role:members": 45, "role:everyone": 46, "role:internet": 47,
}  # fmt: skip
WATCH, NAMELESS = 48, 49
YORICK, GHOST = 60, 61
NOTES = f"{REALM}/ab/XyZ_1/notes.txt"
SKULL = f"{REALM}/cd/XyZ_2/skull.png"
PERSONAL = {user: 100 + user for user in (ADA, BORIS, CARLA, DMITRI, GONE, ROBOT, HOOK, MIRROR)}
CHANNELS = {GENERAL: 200, SECRET: 201, OLD: 202}
TO_THREE, TO_TWO = 300, 301
EMAILS = {ADA: "ada@acme.example", BORIS: "boris@acme.example", CARLA: "carla@acme.example",
          DMITRI: "dmitri@acme.example"}  # fmt: skip
PASSWORDS = {ADA: CHEAP_ARGON2, CARLA: DJANGO_HASHES["pbkdf2"]}
READ, STARRED, MENTIONED, ALERTED, HISTORICAL, PRIVATE, PUSHED = 1, 2, 8, 512, 1024, 2048, 4096


def make_acme(release: int, *, passwords: bool = True) -> ZulipExport:
    """Create the export of a release. With `passwords`, it contains added hashes."""
    export = ZulipExport(release)
    _organization(export)
    _people(export, passwords)
    _groups(export)
    _channels(export)
    _messages(export)
    _files(export)
    _personal(export)
    _what_is_dropped(export)
    return export


def _groups_of(table: str, **others: int) -> dict[str, int]:
    """Return a group for each permission of a table."""
    names = [each.name for each in columns_of(table) if each.default is None]
    permissions = [name for name in names if name.endswith("_group") or name.startswith("can_")]
    return {**dict.fromkeys(permissions, SYSTEM["role:members"]), **others}


def _organization(export: ZulipExport) -> None:
    add = export.add
    permissions = _groups_of(
        "zerver_realm", can_delete_any_message_group=NAMELESS,
        can_access_all_users_group=SYSTEM["role:everyone"],
        can_create_web_public_channel_group=SYSTEM["role:owners"],
        can_invite_users_group=SYSTEM["role:administrators"],
    )  # fmt: skip
    add(
        "zerver_realm", id=REALM, name="Acme", string_id="acme", description="Of **stone**",
        date_created=BEGIN, new_stream_announcements_stream=GENERAL, invite_to_realm_policy=2,
        message_edit_history_visibility_policy=2, allow_edit_history=False, mandatory_topics=True,
        topics_policy=3, message_content_edit_limit_seconds=None, enable_read_receipts=False,
        **permissions,
    )  # fmt: skip
    add("zerver_realmuserdefault", id=1, realm=REALM, email_address_visibility=3, color_scheme=2,
        enter_sends=True, default_language="de")  # fmt: skip
    add("zerver_realmdomain", id=1, realm=REALM, domain="Acme.example", allow_subdomains=True)
    add("zerver_realmfilter", id=1, realm=REALM, pattern="#(?P<id>[0-9]+)",
        url_template="https://bugs.example/{id}")  # fmt: skip
    add("zerver_realmfilter", id=2, realm=REALM, pattern="(?P<id>", url_template="https://x/{id}")
    add("zerver_realmplayground", id=1, realm=REALM, name="Try", pygments_language="Python",
        url_template="https://try.example/{code}")  # fmt: skip
    add("zerver_customprofilefield", id=1, realm=REALM, name="Friends", field_type=6, order=1)
    add("zerver_customprofilefield", id=2, realm=REALM, name="Biography", field_type=2, order=2,
        hint="In short")  # fmt: skip
    for number, name in enumerate(("website", "ZulipMobile"), 1):
        add("zerver_client", id=number, name=name)


def _people(export: ZulipExport, passwords: bool) -> None:
    def person(user_id: int, name: str, table: str = "zerver_userprofile", **more: Any) -> None:
        if passwords and user_id in PASSWORDS:
            more["password"] = PASSWORDS[user_id]
        email = more.pop("delivery_email", EMAILS.get(user_id, f"user{user_id}@{HOST}"))
        export.add(
            table, id=user_id, realm=REALM, full_name=name, delivery_email=email,
            email=f"user{user_id}@{HOST}", date_joined=BEGIN + user_id,
            recipient=PERSONAL[user_id], **more,
        )  # fmt: skip

    person(
        ADA,
        "Ada",
        role=100,
        avatar_source="U",
        timezone="Europe/Berlin",
        is_staff=True,
        color_scheme=2,
        resolved_topic_notice_auto_read_policy=3,
        web_home_view="recent_topics",
    )
    person(BORIS, "Boris", role=100, is_active=False, long_term_idle=True)
    person(CARLA, "Carla", email_address_visibility=4, default_language="de", avatar_source="U",
           emojiset="twitter", notification_sound="unheard of")  # fmt: skip
    person(DMITRI, "Dmitri", role=600)
    person(ROBOT, "Robot", is_bot=True, bot_type=1, bot_owner=CARLA,
           delivery_email=f"robot-bot@{HOST}")  # fmt: skip
    person(HOOK, "Hook", is_bot=True, bot_type=3, bot_owner=BORIS,
           delivery_email=f"hook-bot@{HOST}")  # fmt: skip
    stubs = "zerver_userprofile_mirrordummy"
    person(GONE, f"Deleted User {GONE}", stubs, is_active=False, is_mirror_dummy=True,
           is_deleted=True)  # fmt: skip
    more = {"password": "!nobody has it"} if passwords else {}
    person(MIRROR, "Mirrored", stubs, is_active=False, is_mirror_dummy=True, **more)
    for user_id, email in (
        (NOTIFICATION, "notification-bot@zulip.com"),
        (GATEWAY, "emailgateway@zulip.com"),
        (WELCOME, "welcome-bot@zulip.com"),
    ):
        export.add("zerver_userprofile_crossrealm", id=user_id, email=email, recipient_id=user_id)
    for number, (user_id, recipient) in enumerate(PERSONAL.items(), 1):
        export.add("zerver_recipient", id=recipient, type=1, type_id=user_id)
        export.add("zerver_subscription", id=number, user_profile=user_id, recipient=recipient)
    export.add(
        "zerver_userstatus",
        id=1,
        user_profile=ADA,
        timestamp=BEGIN,
        status_text="Away",
        emoji_name="yorick",
        emoji_code=str(YORICK),
        reaction_type="realm_emoji",
    )
    export.add("zerver_customprofilefieldvalue", id=1, field=1, user_profile=ADA,
               value=f"[{CARLA}, {BORIS}]")  # fmt: skip
    export.add("zerver_customprofilefieldvalue", id=2, field=2, user_profile=ADA, value="**Long**",
               rendered_value="<p><strong>Long</strong></p>")  # fmt: skip


def _groups(export: ZulipExport) -> None:
    ids = [*SYSTEM.values(), WATCH, NAMELESS]
    for group_id in ids:
        export.add("zerver_usergroup", id=group_id, realm=REALM)
    for name, group_id in SYSTEM.items():
        export.add(
            "zerver_namedusergroup", id=group_id, usergroup_ptr=group_id, name=name,
            is_system_group=True, realm_for_sharding=REALM,
            **_groups_of("zerver_namedusergroup"),
        )  # fmt: skip
    export.add(
        "zerver_namedusergroup", id=WATCH, usergroup_ptr=WATCH, name="watch", creator=ADA,
        description="Who is awake", realm_for_sharding=REALM, date_created=BEGIN + 5,
        **_groups_of("zerver_namedusergroup", can_mention_group=NAMELESS),
    )  # fmt: skip
    members = [
        (SYSTEM["role:owners"], ADA), (SYSTEM["role:members"], CARLA),
        (SYSTEM["role:everyone"], DMITRI), (WATCH, CARLA), (WATCH, DMITRI), (NAMELESS, ADA),
    ]  # fmt: skip
    for number, (group_id, user_id) in enumerate(members, 1):
        export.add("zerver_usergroupmembership", id=number, user_group=group_id,
                   user_profile=user_id)  # fmt: skip
    subgroups = [
        (SYSTEM["role:members"], SYSTEM["role:fullmembers"]), (NAMELESS, SYSTEM["role:moderators"]),
    ]  # fmt: skip
    for number, (group_id, subgroup_id) in enumerate(subgroups, 1):
        export.add("zerver_groupgroupmembership", id=number, supergroup=group_id,
                   subgroup=subgroup_id)  # fmt: skip


def _channels(export: ZulipExport) -> None:
    add = export.add
    permissions = _groups_of("zerver_stream", can_administer_channel_group=NAMELESS)
    add("zerver_channelfolder", id=1, realm=REALM, name="Castles", date_created=BEGIN, creator=ADA)
    add("zerver_channelfolder", id=2, realm=REALM, name="castles", date_created=BEGIN,
        is_archived=True, order=1)  # fmt: skip
    channels: list[tuple[int, dict[str, Any]]] = [
        (GENERAL, {"name": "general", "description": "Of **stone**", "folder": 1,
                   "rendered_description": "<p>Of <strong>stone</strong></p>", "creator": ADA}),
        (SECRET, {"name": "secret", "invite_only": True, "history_public_to_subscribers": False,
                  "topics_policy": 4, "stream_post_policy": 2, "message_retention_days": 30}),
        (OLD, {"name": "old", "deactivated": True}),
    ]  # fmt: skip
    for channel_id, more in channels:
        add("zerver_stream", id=channel_id, realm=REALM, date_created=BEGIN + channel_id,
            recipient=CHANNELS[channel_id], **permissions, **more)  # fmt: skip
        add("zerver_recipient", id=CHANNELS[channel_id], type=2, type_id=channel_id)
    add("zerver_defaultstream", id=1, realm=REALM, stream=GENERAL)
    subscriptions: list[tuple[int, int, dict[str, Any]]] = [
        (ADA, GENERAL, {"is_muted": True, "color": "#FF0000"}),
        (CARLA, GENERAL, {"pin_to_top": True, "push_notifications": False}),
        (DMITRI, GENERAL, {"color": "red"}),
        (BORIS, GENERAL, {"is_user_active": False}),
        (ADA, SECRET, {}),
        (CARLA, SECRET, {"active": False}),
        (CARLA, OLD, {}),
    ]
    for number, (user_id, channel_id, more) in enumerate(subscriptions, 50):
        add("zerver_subscription", id=number, user_profile=user_id,
            recipient=CHANNELS[channel_id], **more)  # fmt: skip
        add("zerver_realmauditlog", id=number, realm=REALM, event_type=301, modified_user=user_id,
            modified_stream=channel_id, event_time=BEGIN + number, event_last_message_id=1000,
            acting_user=ADA)  # fmt: skip
    groups: dict[int, tuple[int, tuple[int, ...]]] = {
        GROUP_OF_THREE: (TO_THREE, (ADA, CARLA, DMITRI))
    }
    if export.release >= 11:
        groups[GROUP_OF_TWO] = (TO_TWO, (ADA, CARLA))
    number = 80
    for group_id, (recipient, members) in groups.items():
        add("zerver_huddle", id=group_id, recipient=recipient, huddle_hash="x" * 40,
            group_size=len(members))  # fmt: skip
        add("zerver_recipient", id=recipient, type=3, type_id=group_id)
        for user_id in members:
            add("zerver_subscription", id=number, user_profile=user_id, recipient=recipient)
            number += 1
    topics = [(ADA, "castle", 1), (CARLA, "castle", 3), (CARLA, "", 2), (DMITRI, "castle", 0)]
    for number, (user_id, topic, policy) in enumerate(topics, 1):
        add("zerver_usertopic", id=number, user_profile=user_id, stream=GENERAL, topic_name=topic,
            recipient=CHANNELS[GENERAL], visibility_policy=policy, last_updated=BEGIN)  # fmt: skip


SAID: dict[int, str] = {
    1000: "Welcome to Acme", 1001: "Who is there, @**Carla**?", 1002: "Nobody", 1003: "Between us",
    1004: "All three", 1005: "Twice said", 1006: "Look", 1007: "Long ago", 1008: "My secret",
    1009: "Beep", 1010: "Back to it", 1011: "To myself", 1012: "Thank you, bot", 1013: "As two",
}  # fmt: skip


def _messages(export: ZulipExport) -> None:
    channel, two_topic = CHANNELS[GENERAL], "" if export.release < 11 else "\x07"

    def say(
        message_id: int, sender: int, recipient: int, copies: dict[int, int], **more: Any
    ) -> None:
        is_channel = recipient in CHANNELS.values()
        if not is_channel:
            more.setdefault("subject", two_topic)
        text = SAID[message_id]
        export.add(
            "zerver_message", id=message_id, realm=REALM, sender=sender, recipient=recipient,
            date_sent=BEGIN + message_id + 0.25, is_channel_message=is_channel,
            **{"content": text, "rendered_content": f"<p>{text}</p>", **more},
        )  # fmt: skip
        for user_id, flags in copies.items():
            number = len(export.tables["zerver_usermessage"]) + 1
            export.add("zerver_usermessage", id=number, user_profile=user_id, message=message_id,
                       flags_mask=flags)  # fmt: skip

    say(1000, NOTIFICATION, PERSONAL[ADA], {ADA: READ | PRIVATE})
    carla = f'<span class="user-mention" data-user-id="{CARLA}">@Carla</span>'
    say(1001, ADA, channel, {ADA: READ | STARRED, CARLA: MENTIONED | PUSHED, DMITRI: 0},
        rendered_content=f"<p>Who is there, {carla}?</p>", subject="castle",
        sending_client=2)  # fmt: skip
    say(1002, CARLA, channel, {CARLA: READ, ADA: ALERTED}, subject="")
    say(1003, CARLA, PERSONAL[ADA], {CARLA: READ | PRIVATE, ADA: PRIVATE})
    say(1004, DMITRI, TO_THREE, {DMITRI: READ | PRIVATE, ADA: PRIVATE, CARLA: PRIVATE})
    history = [
        {"user_id": ADA, "timestamp": int(BEGIN) + 3000, "prev_topic": "moat", "topic": "castle",
         "prev_stream": OLD, "stream": GENERAL},
        {"user_id": CARLA, "timestamp": int(BEGIN) + 2000, "prev_content": "Once said",
         "prev_rendered_content": "<p>Once said</p>", "prev_rendered_content_version": 1},
        {"user_id": None, "timestamp": int(BEGIN) + 1500, "prev_topic": "dungeon", "topic": "moat"},
    ]  # fmt: skip
    say(
        1005,
        CARLA,
        channel,
        {CARLA: READ, ADA: READ | HISTORICAL},
        subject="castle",
        edit_history=orjson.dumps(history).decode(),
        last_edit_time=BEGIN + 3000.5,
    )
    shown = (
        f'<p><a href="/user_uploads/{NOTES}">notes</a> <a href="/user_uploads/{SKULL}">s</a> '
        f'<img alt=":yorick:" class="emoji" src="/user_avatars/{REALM}/emoji/images/{YORICK}.png"'
        ' title="yorick"></p>\n<div class="message_inline_image">'
        f'<a href="/user_uploads/{SKULL}" title="s"><img data-original-dimensions="7x5"'
        f' src="/user_uploads/thumbnail/{SKULL}/840x560.webp"></a></div>'
    )
    say(1006, CARLA, channel, {CARLA: READ, ADA: 0}, subject="castle", rendered_content=shown,
        content=f"[notes](/user_uploads/{NOTES}) [s](/user_uploads/{SKULL}) :yorick:",
        has_attachment=True, has_image=True, has_link=True)  # fmt: skip
    say(1007, CARLA, CHANNELS[OLD], {CARLA: READ}, subject="ruins")
    say(1008, BORIS, CHANNELS[SECRET], {ADA: 0}, subject="vault")
    say(1009, ROBOT, channel, {ADA: 0, CARLA: 0}, subject="CASTLE")
    link = f"https://{HOST}/#narrow/channel/{GENERAL}-general/topic/castle/near/1001"
    say(1010, GONE, channel, {ADA: 0}, subject="castle", has_link=True, content=f"[Back]({link})",
        rendered_content=f'<p><a href="{link}">Back</a></p>')  # fmt: skip
    say(1011, CARLA, PERSONAL[CARLA], {CARLA: READ | PRIVATE})
    say(1012, ADA, NOTIFICATION, {ADA: READ | PRIVATE})
    if export.release >= 11:
        say(1013, ADA, TO_TWO, {ADA: READ | PRIVATE, CARLA: PRIVATE})
    reactions = [
        (1001, CARLA, "unicode_emoji", "1f984", "unicorn"),
        (1001, DMITRI, "realm_emoji", str(YORICK), "yorick"),
        (1002, ADA, "zulip_extra_emoji", "zulip", "zulip"),
    ]
    for number, (message, user, kind, code, name) in enumerate(reactions, 1):
        export.add("zerver_reaction", id=number, message=message, user_profile=user,
                   reaction_type=kind, emoji_code=code, emoji_name=name)  # fmt: skip
    scheduled = [
        {"recipient": channel, "stream": GENERAL, "subject": "later", "content": "Later"},
        {"recipient": PERSONAL[CARLA], "content": "Soon", "failed": True,
         "failure_message": "The recipient is gone"},
        {"recipient": channel, "stream": GENERAL, "subject": "castle", "content": "Sent",
         "delivered": True, "delivered_message": 1001},
        {"recipient": PERSONAL[ADA], "content": "Remember", "delivery_type": 2,
         "reminder_target_message_id": 1002, "reminder_note": "Why?"},
        {"recipient": channel, "stream": GENERAL, "subject": "castle", "content": "Deleted since",
         "delivered": True, "delivered_message": 999},
    ]  # fmt: skip
    for number, values in enumerate(scheduled, 1):
        export.add("zerver_scheduledmessage", id=number, realm=REALM, sender=ADA,
                   rendered_content=f"<p>{values['content']}</p>",
                   scheduled_timestamp=BEGIN + 400_000_000.0, **values)  # fmt: skip


def _files(export: ZulipExport) -> None:
    def record(folder: str, path: str, content: bytes, **more: Any) -> None:
        export.files[f"{folder}/{path}"] = content
        export.add(f"{folder}/records.json", realm_id=REALM, path=path, s3_path=path, **more)

    notes, skull = b"Remember me", picture("PNG", 7, 5)
    for number, (path, content, kind) in enumerate(
        ((NOTES, notes, "text/plain"), (SKULL, skull, "image/png")), 1
    ):
        export.add("zerver_attachment", id=number, realm=REALM, owner=CARLA, path_id=path,
                   file_name=path.rpartition("/")[2], size=len(content), messages=[1006],
                   create_time=BEGIN, content_type=kind)  # fmt: skip
        record("uploads", path, content, size=len(content), user_profile_id=CARLA,
               user_profile_email=EMAILS[CARLA])  # fmt: skip
    for emoji_id, name, deactivated in ((YORICK, "yorick", False), (GHOST, "ghost", True)):
        moves = emoji_id == GHOST
        file_name = f"{emoji_id}.{'gif' if moves else 'png'}"
        export.add("zerver_realmemoji", id=emoji_id, realm=REALM, author=ADA, name=name,
                   file_name=file_name, is_animated=moves, deactivated=deactivated)  # fmt: skip
        content = picture("GIF", 9, 9, frames=3) if moves else picture("PNG", 9, 9)
        more = {"author": ADA, "file_name": file_name, "name": name, "deactivated": deactivated}
        path = f"{REALM}/emoji/images/{file_name}"
        for ending in ("", ".original") if export.release >= 10 else ("",):
            record("emoji", path + ending, content, **more)
    for user_id, ending, content in (
        (ADA, ".png", picture("PNG", 100, 100)),
        (ADA, ".original", picture("JPEG", 300, 600)),
        (CARLA, ".png", b"no picture"),
        (WELCOME, ".original", skull),
    ):
        record("avatars", f"{REALM}/{user_id:040x}{ending}", content, size=len(content),
               user_profile_id=user_id, user_profile_email=EMAILS.get(user_id, ""))  # fmt: skip
    record("realm_icons", f"{REALM}/icon.png", skull)


def _personal(export: ZulipExport) -> None:
    add = export.add
    for number, word in enumerate(("castle", "Castle", "moat"), 1):
        add("zerver_alertword", id=number, realm=REALM, user_profile=ADA, word=word)
    add("zerver_muteduser", id=1, user_profile=ADA, muted_user=BORIS, date_muted=BEGIN)
    add("zerver_navigationview", id=1, user=ADA, fragment="narrow/is/starred", name="Stars")
    add("zerver_savedsnippet", id=1, realm=REALM, user_profile=ADA, title="Greeting",
        content="Good day", date_created=BEGIN)  # fmt: skip
    add("zerver_service", id=1, user_profile=HOOK, name="hook", base_url="https://hook.example/")
    add("zerver_botstoragedata", id=1, bot_profile=ROBOT, key="visits", value="1")


def _what_is_dropped(export: ZulipExport) -> None:
    add = export.add
    add("zerver_botconfigdata", id=1, bot_profile=ROBOT, key="k", value="v")
    add("zerver_externalauthid", id=1, user=ADA, realm=REALM, date_created=BEGIN,
        external_auth_id="ada")  # fmt: skip
    add("zerver_onboardingstep", id=1, user=ADA)
    add("zerver_onboardingusermessage", id=1, realm=REALM, message=1001)
    add("zerver_presencesequence", id=1, realm=REALM)
    add("zerver_realmauthenticationmethod", id=1, realm=REALM)
    add("zerver_realmexport", id=1, realm=REALM)
    add("zerver_useractivity", id=1, user_profile=ADA)
    add("zerver_useractivityinterval", id=1, user_profile=ADA)
    add("zerver_userpresence", id=1, user_profile=ADA, realm=REALM)
    for kind, more in (("realm", {}), ("stream", {"stream": GENERAL}), ("user", {"user": ADA})):
        add(f"analytics_{kind}count", id=1, realm=REALM, **more)
