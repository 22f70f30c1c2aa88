"""Calls about the caller's own data: settings, devices, tokens."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

from models.chat.tables import MutedUser, VendorToken
from models.chat.tables.setting_table import SETTINGS, Setting
from tests.contract.continuity.operations.table import operation
from tests.contract.continuity.world import WORDS, Call, World, call
from tests.support.chat.app import SentFile
from tests.support.chat.people import VAULT, Member
from tests.support.pictures import PIXEL

LANGUAGES, TIMEZONES = ("en", "de"), ("Europe/Copenhagen", "America/New_York")
NUMBERS = (12, 14, 18)


def value_of(world: World, setting: Setting) -> Any:
    if setting.name == "default_language":
        return world.pick(*LANGUAGES)
    if setting.name == "timezone":
        return world.pick(*TIMEZONES)
    if setting.choices:
        return world.pick(*setting.choices)
    if isinstance(setting.default, bool):
        return world.flip()
    return world.pick(*NUMBERS)


@operation
def update_settings(world: World) -> Call:
    """Update settings of the user, the user's name, or settings of everyone."""
    if world.flip(0.15):
        member = world.person()
        return call(member, "PATCH", "/settings", full_name=f"{member.name} {world.number()}")
    if world.flip(0.2):
        setting = SETTINGS[world.pick(*(s.name for s in SETTINGS.values() if not s.own_only))]
        form = {setting.name: value_of(world, setting)}
        targets = {"user_ids": sorted({world.person().id, world.person().id})}
        return call(world.administrator(), "PATCH", "/settings", target_users=targets, **form)
    names = [world.pick(*SETTINGS), world.pick("email_address_visibility", "timezone", *SETTINGS)]
    form = {name: value_of(world, SETTINGS[name]) for name in names}
    return call(world.person(), "PATCH", "/settings", **form)


@operation
def update_notification_settings(world: World) -> Call:
    setting = SETTINGS[world.pick(*SETTINGS)]
    form = {setting.name: value_of(world, setting)}
    return call(world.person(), "PATCH", "/settings/notifications", **form)


@operation
def update_own_presence(world: World) -> Call:
    return call(world.person(), "POST", "/users/me/presence", status=world.pick("active", "idle"))


@operation
def register_client_device(world: World) -> Call:
    return call(world.person(), "POST", "/register_client_device")


@operation
def remove_client_device(world: World) -> Call:
    row = world.row("SELECT id, user_id FROM client_device ORDER BY id")
    return call(world.member(row.user_id), "POST", "/remove_client_device", device_id=row.id)


@operation
def add_alert_words(world: World) -> Call:
    words = [world.pick(*WORDS), world.pick(*WORDS).upper()]
    return call(world.person(), "POST", "/users/me/alert_words", alert_words=words)


@operation
def remove_alert_words(world: World) -> Call:
    row = world.row("SELECT user_id, word FROM alert_word ORDER BY id")
    member = world.member(row.user_id)
    return call(member, "DELETE", "/users/me/alert_words", alert_words=[row.word])


@operation
def create_saved_snippet(world: World) -> Call:
    snippet = {"title": world.words()[:60], "content": world.words()}
    return call(world.person(), "POST", "/saved_snippets", **snippet)


@operation
def upload_file(world: World) -> Call:
    """Upload a file. The owner's events about it are in no snapshot, and no other user must receive
    them.
    """
    return call(world.person(), "POST", "/user_uploads", file=SentFile(f"{world.number()}.txt"))


@operation
def upload_own_avatar(world: World) -> Call:
    """Upload an avatar of a user or a bot."""
    members = [*world.members.values()]
    file = SentFile(f"{world.number()}.png", PIXEL, "image/png")
    return call(world.pick(*members), "POST", "/users/me/avatar", file=file)


@operation
def delete_own_avatar(world: World) -> Call:
    row = world.row(
        'SELECT id FROM "user" WHERE avatar_handle IS NOT NULL AND is_active ORDER BY id'
    )
    return call(world.member(row.id), "DELETE", "/users/me/avatar")


@operation
def delete_attachment(world: World) -> Call:
    row = world.row("SELECT id, owner_id FROM attachment WHERE deleted_at IS NULL ORDER BY id")
    return call(world.member(row.owner_id), "DELETE", f"/attachments/{row.id}")


def _own_snippet(world: World) -> tuple[Member, str]:
    row = world.row("SELECT id, user_id FROM saved_snippet ORDER BY id")
    return world.member(row.user_id), f"/saved_snippets/{row.id}"


@operation
def update_saved_snippet(world: World) -> Call:
    member, path = _own_snippet(world)
    form = world.pick({"title": world.words()[:60]}, {"content": world.words()})
    return call(member, "PATCH", path, **form)


@operation
def delete_saved_snippet(world: World) -> Call:
    member, path = _own_snippet(world)
    return call(member, "DELETE", path)


@operation
def add_navigation_view(world: World) -> Call:
    number = world.number()
    form = {"fragment": f"narrow/topic/{number}", "name": f"view {number}"}
    form = world.pick(form, form, {"fragment": world.pick("inbox", "recent", "feed")})
    return call(world.person(), "POST", "/navigation_views", is_pinned=world.flip(), **form)


def _own_view(world: World) -> tuple[Member, str, bool]:
    """Return the user, the path, and whether it can have a name."""
    row = world.row(
        "SELECT v.user_id, v.fragment, v.name FROM navigation_view v"
        ' JOIN "user" u ON u.id = v.user_id WHERE u.is_active ORDER BY v.id'
    )
    path = f"/navigation_views/{quote(row.fragment, safe='')}"
    return world.member(row.user_id), path, row.name is not None


@operation
def update_navigation_view(world: World) -> Call:
    member, path, is_custom = _own_view(world)
    form: dict[str, Any] = {"is_pinned": world.flip()}
    if is_custom and world.flip():
        form = {"name": f"view {world.number()}"}
    return call(member, "PATCH", path, **form)


@operation
def remove_navigation_view(world: World) -> Call:
    member, path, _ = _own_view(world)
    return call(member, "DELETE", path)


@operation
def mute_user(world: World) -> Call:
    member, muted = world.person(), world.person()
    return call(member, "POST", f"/users/me/muted_users/{muted.id}")


@operation
def unmute_user(world: World) -> Call:
    row = world.row(
        'SELECT m.user_id, m.muted_user_id FROM muted_user m JOIN "user" u ON u.id = m.user_id'
        " WHERE u.is_active ORDER BY m.user_id, m.muted_user_id"
    )
    return call(world.member(row.user_id), "DELETE", f"/users/me/muted_users/{row.muted_user_id}")


def _draft(world: World, member: Member) -> dict[str, Any]:
    kind, to = world.pick(("", []), ("private", [world.person().id]), ("private", [member.id]))
    return {"type": kind, "to": to, "topic": "", "content": world.words()}


@operation
def create_drafts(world: World) -> Call:
    member = world.person()
    drafts = [_draft(world, member) for _ in range(world.pick(1, 2))]
    return call(member, "POST", "/drafts", drafts=drafts)


def _own_draft(world: World) -> tuple[Member, str]:
    row = world.row("SELECT id, user_id FROM draft ORDER BY id")
    return world.member(row.user_id), f"/drafts/{row.id}"


@operation
def update_draft(world: World) -> Call:
    member, path = _own_draft(world)
    return call(member, "PATCH", path, draft=_draft(world, member))


@operation
def delete_draft(world: World) -> Call:
    member, path = _own_draft(world)
    return call(member, "DELETE", path)


@operation
def revoke_vendor_token(world: World) -> Call:
    row = world.row("SELECT user_id FROM vendor_token ORDER BY user_id")
    return call(world.member(row.user_id), "DELETE", "/calls/vendor/token")


def authorize_calls(world: World) -> None:
    """Store tokens for video calls of some users before the history begins."""
    now = world.clock.now()
    for name in ("hamlet", "cordelia"):
        token = VendorToken(
            user_id=world.members[name].id,
            vendor_user_id=name,
            sealed_tokens=VAULT.seal("{}", purpose=f"vendor:{name}"),
            expires_at=now + timedelta(hours=1),
        )
        world.database.run(lambda session, token=token: session.add(token))


def mute_some(world: World) -> None:
    """Mute a bot for some users before the history begins."""
    bot, now = world.members["reminder"].id, world.clock.now()
    for name in ("hamlet", "cordelia"):
        muted = MutedUser(user_id=world.members[name].id, muted_user_id=bot, muted_at=now)
        world.database.run(lambda session, muted=muted: session.add(muted))
