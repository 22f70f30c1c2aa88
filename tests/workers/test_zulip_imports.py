"""Exports of Zulip become organizations, from each release and on each database."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from PIL import Image
from sqlalchemy import func, select

from adapters.archive_reader import ArchiveRefused
from adapters.file_store.directory import DirectoryStore
from models.chat.accounts.avatars import keys_of
from models.chat.base import ChatBase
from models.chat.imports import runs
from models.chat.rendering.texts import CONTENT_MAX
from models.chat.tables import (
    AlertWord,
    AuditLog,
    BotStorage,
    Channel,
    ChannelFolder,
    Linkifier,
    Message,
    MutedUser,
    OutgoingWebhook,
    Realm,
    RealmDomain,
    ScheduledMessage,
    Subscription,
    User,
    UserGroup,
    UserTopic,
)
from models.chat.uploads import names
from specd.db import Database
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.django_hashes import CHEAP_ARGON2, DJANGO_HASHES, DJANGO_PASSWORD
from tests.support.chat.importing import Installation, person_at, store_of
from tests.support.chat.people import Cast
from tests.support.chat.prepared import Preparation, Stage
from tests.support.chat.zulip_acme import (
    ADA,
    BEGIN,
    CARLA,
    EMAILS,
    GENERAL,
    HOST,
    PERSONAL,
    REALM,
    SAID,
    make_acme,
)
from tests.support.chat.zulip_export import VERSIONS, ZulipExport
from tests.support.databases import count_rows
from tests.support.frozen_clock import FrozenClock
from tests.support.marks import in_all
from workers import imports
from workers.zulip_imports import ConversionTaken, Loss, converted

NEW_HOST = "moved.example"
RELEASES = sorted(VERSIONS)
KINDS = ("sqlite", "postgresql")

each_release_once = pytest.mark.parametrize(
    ("release", "chat_filled"),
    [
        pytest.param(
            release, kind, marks=[] if kind == KINDS[number % 2] else pytest.mark.exhaustive
        )
        for number, release in enumerate(RELEASES)
        for kind in KINDS
    ],
    indirect=["chat_filled"],
)
"""On one kind of database each; with `--all`, on both."""

on_sqlite = pytest.mark.parametrize(
    "chat_filled", ["sqlite", pytest.param("postgresql", marks=pytest.mark.exhaustive)],
    indirect=True,
)  # fmt: skip
"""Cases that the conversion decides before any statement; with `--all`, on both databases."""


@pytest.fixture
def here(
    chat_database: Database, clock: FrozenClock, tmp_path: Path, chat_app: ChatApp, cast: Cast
) -> Installation:
    return Installation(chat_database, clock, tmp_path / "here", store_of(chat_app))


def contents(installation: Installation) -> dict[str, int]:
    """Return the rows of each table, and all files."""
    with installation.database.reading() as reader:
        counts = count_rows(reader, ChatBase.metadata)
    store = installation.files
    assert isinstance(store, DirectoryStore)
    for name, folder in (("store", store._folder), ("here", installation.folder)):
        counts[name] = sum(1 for path in folder.rglob("*") if path.is_file())
    return counts


def _fill(release: int, stage: Stage) -> int:
    here = Installation(stage.database, stage.clock, stage.folder, store_of(stage.app))
    tarball = make_acme(release).write(stage.folder / "export.tar.gz")
    imported, _ = here.bring_zulip(tarball, NEW_HOST, zulip_host=HOST)
    return imported.run.realm_id


ACMES = {release: Preparation(f"acme {release}", partial(_fill, release)) for release in RELEASES}


@pytest.fixture
def preparation(request: pytest.FixtureRequest) -> Preparation | None:
    if "acme" not in request.fixturenames:
        return None
    release: int = request.getfixturevalue("release")
    return ACMES[release]


@pytest.fixture
def acme(prepared: int) -> int:
    """The realm of the organization, imported once from a release and shared as copies."""
    return prepared


@pytest.fixture
def bring(here: Installation, tmp_path: Path) -> Callable[..., tuple[int, list[Loss]]]:
    def bring(export: ZulipExport, **more: Any) -> tuple[int, list[Loss]]:
        tarball = export.write(tmp_path / "export.tar.gz")
        imported, losses = here.bring_zulip(tarball, NEW_HOST, zulip_host=HOST, **more)
        return imported.run.realm_id, losses

    return bring


@pytest.fixture
def as_person(here: Installation, as_nobody: ChatClient) -> Callable[[int], ChatClient]:
    return lambda user: as_nobody.acting_as(person_at(here.database, NEW_HOST, EMAILS[user]))


def read(client: ChatClient, *narrow: tuple[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the messages of a narrow, by their texts in the export."""
    terms = [{"operator": operator, "operand": operand} for operator, operand in narrow]
    answer = client.get(
        "/messages", anchor="newest", num_before=100, num_after=0, narrow=terms,
        allow_empty_topic_name=True,
    )  # fmt: skip
    assert answer["result"] == "success", answer
    found = {}
    for message in answer["messages"]:
        text = re.sub("<[^>]*>", "", message["content"]).strip()
        found[text.replace("@Carla", "@**Carla**")] = message
    return found


def one(here: Installation, column: Any, *conditions: Any) -> Any:
    with here.database.reading() as reader:
        return reader.execute(select(column).where(*conditions)).scalar_one()


def texts_of(*message_ids: int) -> set[str]:
    return {SAID[each] for each in message_ids}


@pytest.mark.parametrize("release", RELEASES)
def test_people_read_same_messages_after_import(
    release: int, acme: int, as_person: Callable[[int], ChatClient]
) -> None:
    ada, carla = as_person(ADA), as_person(CARLA)
    castle = read(ada, ("channel", "general"), ("topic", "castle"))
    assert castle.keys() == texts_of(1001, 1005, 1009) | {"notes s", "Back"}
    assert castle[SAID[1001]]["flags"] == ["read", "starred"]
    assert castle[SAID[1001]]["client"] == "ZulipMobile"
    assert {
        (each["reaction_type"], each["emoji_name"]) for each in castle[SAID[1001]]["reactions"]
    } == {("unicode_emoji", "unicorn"), ("realm_emoji", "yorick")}
    assert castle[SAID[1009]]["sender_full_name"] == "Robot"
    assert read(ada, ("channel", "general"), ("topic", "")).keys() == texts_of(1002)
    (liked,) = read(ada, ("channel", "general"), ("topic", ""))[SAID[1002]]["reactions"]
    assert (liked["reaction_type"], liked["emoji_code"]) == ("zulip_extra_emoji", "zulip")
    assert (
        carla.post(f"/messages/{castle[SAID[1001]]['id']}/reactions", emoji_name="zulip")["result"]
        == "success"
    )
    assert read(ada, ("is", "alerted")).keys() == texts_of(1002)
    assert read(carla, ("is", "mentioned")).keys() == texts_of(1001)
    assert read(carla, ("is", "mentioned"))[SAID[1001]]["flags"] == ["mentioned"]
    two = {1003} | ({1013} if release >= 11 else set())
    direct = {*two, 1000, 1004, 1012}
    assert read(ada, ("is", "dm")).keys() == texts_of(*direct)
    assert read(ada, ("dm", [carla.member.id])).keys() == texts_of(*two)
    assert read(carla, ("dm", [carla.member.id])).keys() == texts_of(1011)
    three = read(carla, ("dm", [ada.member.id, as_person(13).member.id]))
    assert three.keys() == texts_of(1004)
    assert len(three[SAID[1004]]["display_recipient"]) == 3
    assert read(ada, ("channel", "secret")).keys() == texts_of(1008)
    assert read(carla, ("search", "ago")).keys() == texts_of(1007)
    assert read(ada, ("is", "unread")).keys() >= texts_of(1003, 1004, 1008, 1009)


@pytest.mark.parametrize("release", RELEASES)
def test_texts_and_files_are_imported(
    release: int, here: Installation, acme: int, as_person: Callable[[int], ChatClient]
) -> None:
    realm_id = acme
    ada = as_person(ADA)
    castle = read(ada, ("channel", "general"), ("topic", "castle"))
    mention = castle[SAID[1001]]["content"]
    assert f'data-user-id="{as_person(CARLA).member.id}"' in mention
    channel_id, first = castle["Back"]["stream_id"], castle[SAID[1001]]["id"]
    assert channel_id != GENERAL
    assert first != 1001
    assert (
        f'href="https://{NEW_HOST}/#narrow/channel/{channel_id}-general/topic/castle/near/{first}"'
        in castle["Back"]["content"]
    )
    shown = castle["notes s"]["content"]
    addresses = re.findall('(?:href|src)="/(user_uploads/(?!thumbnail)[^"]*)"', shown)
    assert len(addresses) == 3
    store = here.files
    for address in addresses:
        assert ada.get(f"/{address}")["url"].startswith("/user_uploads/temporary/")
    stored = {
        address.rpartition("-")[2]: b"".join(
            store.read(names.key_of(realm_id, names.handle_of(address.rpartition("/")[2])))
        )
        for address in addresses
    }
    assert stored["notes.txt"] == b"Remember me"
    assert stored["skull.png"].startswith(b"\x89PNG")
    (thumbnail,) = re.findall('src="/user_uploads/thumbnail/[0-9]+/([0-9a-f]{32})', shown)
    assert b"WEBP" in b"".join(store.read(names.key_of(realm_id, thumbnail) + names.THUMBNAIL))
    (emoji,) = re.findall('src="/user_avatars/[0-9]+/emoji/images/([0-9a-f]{32}).webp"', shown)
    assert b"WEBP" in b"".join(store.read(names.key_of(realm_id, emoji)))
    custom = ada.get("/realm/emoji")["emoji"]
    assert {
        (each["name"], each["deactivated"], each["still_url"] is not None)
        for each in custom.values()
    } == {("yorick", False, False), ("ghost", True, True)}
    assert str(realm_id) in next(iter(custom.values()))["source_url"]
    avatar = ada.get("/users/me")["avatar_url"]
    handle = avatar.removeprefix(f"/user_avatars/{realm_id}/").partition(".png")[0]
    for key, side in zip(keys_of(realm_id, handle), (100, 500), strict=True):
        with Image.open(io.BytesIO(b"".join(store.read(key)))) as made:
            assert (made.format, made.size) == ("PNG", (side, side))
    assert as_person(CARLA).get("/users/me")["avatar_url"].startswith("https://")
    assert realm_id != REALM


@each_release_once
def test_edits_keep_their_order(
    release: int, bring: Callable[..., Any], as_person: Callable[[int], ChatClient]
) -> None:
    export = make_acme(release)
    export.tables["zerver_realm"][0].update(
        {"message_edit_history_visibility_policy": 1}
        if release > 9
        else {"allow_edit_history": True}
    )
    bring(export)
    ada = as_person(ADA)
    message = read(ada, ("channel", "general"), ("topic", "castle"))[SAID[1005]]
    assert message["last_moved_timestamp"] == int(BEGIN) + 3000
    history = ada.get(f"/messages/{message['id']}/history")["message_history"]
    assert [each.get("prev_topic") for each in history] == [None, "dungeon", None, "moat"]
    assert [each.get("prev_content") for each in history] == [None, None, "Once said", None]
    assert [each["user_id"] for each in history][1:] == [
        None, as_person(CARLA).member.id, ada.member.id,
    ]  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
def test_organization_keeps_its_settings(
    release: int, here: Installation, acme: int, as_person: Callable[[int], ChatClient]
) -> None:
    realm_id = acme
    ada, carla = as_person(ADA), as_person(CARLA)
    own = Realm.id == realm_id
    assert one(here, Realm.name, own) == "Acme"
    assert one(here, Realm.topics_policy, own) == "disable_empty_topic"
    kept = "moves" if release > 9 else "none"
    assert one(here, Realm.message_edit_history_visibility_policy, own) == kept
    assert one(here, Realm.message_content_edit_limit_seconds, own) is None
    assert one(here, Realm.email_address_visibility, own) == 3
    assert one(here, Realm.user_defaults, own) == '{"color_scheme":2,"enter_sends":true}'
    assert one(here, RealmDomain.domain, RealmDomain.realm_id == realm_id) == "acme.example"
    assert one(here, Linkifier.pattern, Linkifier.realm_id == realm_id) == "#(?P<id>[0-9]+)"
    groups = dict[int, str]()
    with here.database.reading() as reader:
        for group_id, kind, name in reader.execute(
            select(UserGroup.id, UserGroup.kind, UserGroup.name).where(
                UserGroup.realm_id == realm_id
            )
        ):
            groups[group_id] = name or kind
    assert groups[one(here, Realm.can_invite_users_group, own)] == "role:administrators"
    assert groups[one(here, Realm.can_delete_any_message_group, own)] == "anonymous"
    assert groups[one(here, Realm.owners_group_id, own)] == "role:owners"
    everybody = ada.get("/users")["members"]
    by_name = {each["full_name"]: each for each in everybody}
    assert by_name["Ada"]["is_owner"]
    assert not by_name["Boris"]["is_active"]
    assert by_name["Dmitri"]["is_guest"]
    assert by_name["Robot"]["bot_owner_id"] == carla.member.id
    assert by_name["Robot"]["email"] == f"robot-bot@{NEW_HOST}"
    assert not by_name["Deleted User 14"]["is_active"]
    listed = ada.get("/user_groups")["user_groups"]
    (watch,) = [each for each in listed if each["name"] == "watch"]
    assert set(watch["members"]) == {carla.member.id, as_person(13).member.id}
    assert watch["can_mention_group"] == {
        "direct_members": [ada.member.id],
        "direct_subgroups": [one(here, Realm.moderators_group_id, own)],
    }
    channels = {
        each["name"]: each
        for each in ada.get("/streams", include_all=True, exclude_archived=False)["streams"]
    }
    assert channels.keys() == {"general", "secret", "old"}
    assert channels["old"]["is_archived"]
    assert channels["secret"]["invite_only"]
    assert not channels["secret"]["history_public_to_subscribers"]
    assert channels["secret"]["message_retention_days"] == 30
    assert channels["general"]["first_message_id"] == one(
        here, Message.id, Message.realm_id == realm_id, Message.content == SAID[1001]
    )
    sent = channels["secret"]["can_send_message_group"]
    assert groups[sent] == ("role:members" if release > 9 else "role:administrators")
    subscribed = {
        each["name"]: each for each in carla.get("/users/me/subscriptions")["subscriptions"]
    }
    assert subscribed.keys() == {"general"}
    assert subscribed["general"]["pin_to_top"]
    assert subscribed["general"]["push_notifications"] is False
    mine = {each["name"]: each for each in ada.get("/users/me/subscriptions")["subscriptions"]}
    assert mine["general"]["is_muted"]
    assert mine["general"]["color"].lower() == "#ff0000"
    with here.database.reading() as reader:
        joined = reader.execute(
            select(Subscription.joined_after_id).where(
                Subscription.user_id == ada.member.id,
                Subscription.channel_id == channels["secret"]["stream_id"],
            )
        ).scalar_one()
    greeting = one(here, Message.id, Message.content == SAID[1000])
    assert joined == greeting
    folders = {ChannelFolder.name: release >= 11, Channel.folder_id: release >= 11}
    assert all(
        (one(here, func.count(column), column.is_not(None)) > 0) is there
        for column, there in folders.items()
    )


@pytest.mark.parametrize("release", RELEASES)
def test_people_keep_their_settings(
    release: int, here: Installation, acme: int, as_person: Callable[[int], ChatClient]
) -> None:
    realm_id = acme
    ada, carla = as_person(ADA), as_person(CARLA)
    state = ada.post("/register", fetch_event_types=["user_settings", "user_topic"])
    settings = state["user_settings"]
    assert settings["timezone"] == "Europe/Berlin"
    assert settings["color_scheme"] == 2
    assert settings["web_home_view"] == "recent"
    policy = "never" if release >= 11 else "except_followed"
    assert settings["resolved_topic_notice_auto_read_policy"] == policy
    theirs = one(here, User.default_language, User.id == carla.member.id)
    assert theirs == "de"
    assert one(here, User.emojiset, User.id == carla.member.id) == "set_b"
    assert one(here, User.email_address_visibility, User.id == carla.member.id) == 4
    with here.database.reading() as reader:
        chosen = select(UserTopic.user_id, UserTopic.topic, UserTopic.visibility_policy)
        topics = {tuple(row) for row in reader.execute(chosen)}
        scheduled = {
            row.content: row
            for row in reader.execute(
                select(ScheduledMessage.__table__).where(ScheduledMessage.realm_id == realm_id)
            )
        }
    assert topics == {
        (ada.member.id, "castle", 1), (carla.member.id, "castle", 3), (carla.member.id, "", 2),
    }  # fmt: skip
    assert {content: row.state for content, row in scheduled.items()} == {
        "Later": "pending", "Soon": "failed", "Sent": "sent", "Remember": "pending",
    }  # fmt: skip
    assert scheduled["Soon"].recipient_ids == f"[{carla.member.id}]"
    assert (scheduled["Remember"].note == "Why?") is (release >= 11)
    first = one(here, Message.id, Message.content == SAID[1001])
    assert scheduled["Sent"].message_id == first
    assert set(ada.get("/users/me/alert_words")["alert_words"]) == {"castle", "moat"}
    status = ada.get(f"/users/{ada.member.id}/status")["status"]
    assert (status["status_text"], status["emoji_name"]) == ("Away", "yorick")
    assert status["emoji_code"] in ada.get("/realm/emoji")["emoji"]
    profile = ada.get(f"/users/{ada.member.id}", include_custom_profile_fields=True)["user"]
    values = [each["value"] for each in profile["profile_data"].values()]
    boris = one(here, User.id, User.full_name == "Boris")
    assert f"[{carla.member.id},{boris}]" in [str(each).replace(" ", "") for each in values]
    snippets = ada.get("/saved_snippets")["saved_snippets"]
    assert [each["title"] for each in snippets] == (["Greeting"] if release >= 10 else [])
    assert one(here, MutedUser.muted_user_id, MutedUser.user_id == ada.member.id) == boris
    assert one(here, OutgoingWebhook.payload_url) == "https://hook.example/"
    assert one(here, BotStorage.value) == "1"
    assert one(here, func.count(AlertWord.id), AlertWord.realm_id == realm_id) == 2
    kinds = select(AuditLog.kind).where(AuditLog.realm_id == realm_id)
    with here.database.reading() as reader:
        assert set(reader.execute(kinds).scalars()) == {"realm_imported"}


@pytest.mark.parametrize("release", RELEASES)
def test_people_write_after_import(
    release: int, acme: int, as_person: Callable[[int], ChatClient]
) -> None:
    ada, carla = as_person(ADA), as_person(CARLA)
    said = ada.post("/messages", type="channel", to="general", topic="castle", content="More")
    assert said["result"] == "success", said
    assert said["id"] == max(each["id"] for each in read(carla, ("channel", "general")).values())
    direct = carla.post("/messages", type="direct", to=[ada.member.id], content="To you")
    assert direct["result"] == "success"
    assert "To you" in read(ada, ("dm", [carla.member.id]))
    reacted = ada.post(f"/messages/{said['id']}/reactions", emoji_name="yorick")
    assert reacted["result"] == "success"
    archived = carla.post("/messages", type="channel", to="old", topic="ruins", content="No")
    assert archived["result"] == "error"


@pytest.mark.parametrize(
    ("release", "chat_filled"),
    [(9, "sqlite"), (12, "postgresql"), in_all(10, "postgresql"), in_all(11, "sqlite")],
    indirect=["chat_filled"],
)
def test_people_sign_in_with_old_passwords(
    release: int, here: Installation, bring: Callable[..., Any], as_nobody: ChatClient
) -> None:
    export = make_acme(release, passwords=False)
    older = DJANGO_HASHES["pbkdf2 of an older release"]
    export.tables["zerver_userprofile"][0]["password"] = older
    export.tables["zerver_userprofile"][3]["password"] = "!unusable"
    bring(export, passwords={EMAILS[CARLA]: CHEAP_ARGON2, "nobody@else": "x"})
    nobody = ChatClient(as_nobody._app, NEW_HOST)
    for user in (ADA, CARLA):
        ask = {"username": EMAILS[user]}
        wrong = nobody.post("/fetch_api_key", **ask, password="wrong")
        assert wrong["result"] == "error"
        answer = nobody.post("/fetch_api_key", **ask, password=DJANGO_PASSWORD)
        assert answer["result"] == "success", answer
        kept = one(here, User.password_hash, User.delivery_email == EMAILS[user])
        assert kept.startswith("$argon2id$")
    assert one(here, User.password_hash, User.delivery_email == EMAILS[13]) is None


@on_sqlite
def test_losses_are_listed(bring: Callable[..., Any]) -> None:
    export = make_acme(12)
    export.tables["zerver_realm"][0]["a_new_setting"] = True
    export.tables["zerver_pigeon"] = []
    _, losses = bring(export)
    found = {(each.table, each.what): each.count for each in losses}
    assert found["zerver_useractivity", "request counts of clients"] == 1
    assert found["avatars/records.json", "a picture is missing in the export"] == 1
    assert found["zerver_realm", "a_new_setting is not known here"] == 1
    assert found["zerver_realmfilter", "a linkifier does not work here"] == 1
    assert found["zerver_subscription", "a color is none"] == 1
    assert found["zerver_scheduledmessage", "the message that was sent is gone"] == 1
    assert not any("organization" in each.what for each in losses if each.table == "zerver_stream")


def test_an_interrupted_one_goes_on(here: Installation, tmp_path: Path) -> None:
    tarball = make_acme(12).write(tmp_path / "export.tar.gz")
    advance = runs.advance
    made = interruptions = 0

    def advance_or_not(*values: Any, **more: Any) -> None:
        nonlocal made
        advance(*values, **more)
        made += 1
        if made % 20 == 0:
            raise KeyboardInterrupt

    while True:
        try:
            with (
                patch.object(runs, "advance", advance_or_not),
                patch.object(imports, "BATCH_ROWS", 3),
            ):
                imported, _ = here.bring_zulip(tarball, NEW_HOST)
            break
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions > 3
    count = select(func.count()).where(Message.realm_id == imported.run.realm_id)
    with here.database.reading() as reader:
        assert reader.execute(count).scalar_one() == len(SAID)
    assert not any(here.folder.joinpath("conversions").iterdir())


def test_one_conversion_at_a_time(tmp_path: Path) -> None:
    tarball = make_acme(12).write(tmp_path / "export.tar.gz")
    with (
        converted(tarball, tmp_path / "work", host=NEW_HOST),
        pytest.raises(ConversionTaken),
        converted(tarball, tmp_path / "work", host="other.example"),
    ):
        pass


def test_a_killed_conversion_leaves_nothing_for_long(tmp_path: Path) -> None:
    tarball = make_acme(12).write(tmp_path / "export.tar.gz")
    left = tmp_path / "work" / f"zulip-{NEW_HOST}" / "table-0"
    left.parent.mkdir(parents=True)
    left.write_text("of a killed process")
    with converted(tarball, tmp_path / "work", host=NEW_HOST) as made:
        assert made.messages == len(SAID)
    assert not any((tmp_path / "work").iterdir())


# --- other products, by Zulip's converters --------------------------------------------------------


def make_converted(release: int = 12) -> ZulipExport:
    """Write an export as Zulip's converters do: without groups, without HTML, with unordered
    ids.
    """
    export = make_acme(release, passwords=False)
    for table in (
        "zerver_usergroup", "zerver_namedusergroup", "zerver_usergroupmembership",
        "zerver_groupgroupmembership", "zerver_realmauditlog", "zerver_scheduledmessage",
    ):  # fmt: skip
        del export.tables[table]
    export.facts = {"sort_by_date": True, "import_source": "slack"}
    for row in export.tables["zerver_realm"] + export.tables["zerver_stream"]:
        for name in [each for each in row if each.endswith("_group") or each.startswith("can_")]:
            del row[name]
    for row in export.tables["zerver_message"]:
        row["rendered_content"] = None
        row["edit_history"] = None
    # The first one was sent last.
    export.tables["zerver_message"][0]["date_sent"] = BEGIN + 9000
    return export


@on_sqlite
def test_exports_of_zulips_converters_are_imported(
    here: Installation, bring: Callable[..., Any], as_person: Callable[[int], ChatClient]
) -> None:
    realm_id, losses = bring(make_converted())
    ada, carla = as_person(ADA), as_person(CARLA)
    castle = read(ada, ("channel", "general"), ("topic", "castle"))
    assert castle.keys() >= texts_of(1001, 1005, 1009)
    mention = castle[SAID[1001]]["content"]
    assert f'data-user-id="{carla.member.id}"' in mention
    shown = castle["notes s :yorick:".replace(" :yorick:", "")]["content"]
    assert "/user_uploads/thumbnail/" in shown
    assert f'src="/user_avatars/{realm_id}/emoji/images/' in shown
    everything = read(ada)
    assert list(everything)[-1] == SAID[1000]
    reactions = castle[SAID[1001]]["reactions"]
    assert {each["emoji_name"] for each in reactions} == {"unicorn", "yorick"}
    own = Realm.id == realm_id
    members = one(here, Realm.members_group_id, own)
    assert one(here, Realm.can_create_public_channel_group, own) == members
    (general,) = [each for each in ada.get("/streams")["streams"] if each["name"] == "general"]
    assert general["can_send_message_group"] == one(here, Realm.everyone_group_id, own)
    said = carla.post("/messages", type="channel", to="general", topic="castle", content="More")
    assert said["result"] == "success"
    assert losses != []


# --- refused --------------------------------------------------------------------------------------


def broken(table: str, row: int = 0, **values: Any) -> Callable[[ZulipExport], None]:
    def change(export: ZulipExport) -> None:
        export.tables[table][row].update(values)

    return change


def doubled(table: str) -> Callable[[ZulipExport], None]:
    return lambda export: export.tables[table].append(dict(export.tables[table][0]))


def without(table: str) -> Callable[[ZulipExport], None]:
    return lambda export: export.tables[table].clear()


REFUSED: dict[str, tuple[Callable[[ZulipExport], None], str]] = {
    "no organization": (without("zerver_realm"), "zerver_realm.*not one organization"),
    "two organizations": (doubled("zerver_realm"), "zerver_realm.*is there twice"),
    "a user twice": (doubled("zerver_userprofile"), "zerver_userprofile.*is there twice"),
    "a message twice": (doubled("zerver_message"), "zerver_message.*1000 is there twice"),
    "a user without a name": (
        broken("zerver_userprofile", full_name=None), "zerver_userprofile.*full_name is no text",
    ),
    "a role that is none": (broken("zerver_userprofile", role=50), "role is none that there is"),
    "a bot of nobody": (
        broken("zerver_userprofile", 4, bot_owner=99), "'zerver_userprofile', line 5.*user 99",
    ),
    "a sender who is nobody": (
        broken("zerver_message", 2, sender=99), "'zerver_message'.*sender refers to user 99",
    ),
    "a recipient that is nobody": (
        broken("zerver_message", 2, recipient=999), "'zerver_message'.*recipient 999 is neither",
    ),
    "a recipient of a third type": (
        broken("zerver_recipient", type=4), "'zerver_recipient'.*type is none",
    ),
    "a time that is none": (
        broken("zerver_message", date_sent=1e300), "'zerver_message'.*date_sent is no time",
    ),
    "a time of a text": (
        broken("zerver_stream", date_created="now"), "'zerver_stream'.*date_created is no time",
    ),
    "a text of a number": (broken("zerver_message", content=7), "content is no text"),
    "an id that is huge": (broken("zerver_stream", id=1 << 63), "'zerver_stream'.*id is no id"),
    "an id that is negative": (broken("zerver_stream", id=-1), "'zerver_stream'.*id is no id"),
    "a history that is none": (
        broken("zerver_message", edit_history="[1]"), "edit_history is no list of edits",
    ),
    "a history that is not JSON": (
        broken("zerver_message", edit_history="["), "edit_history is not JSON",
    ),
    "a reaction to nothing": (
        broken("zerver_reaction", message=9), "'zerver_reaction', line 1.*message 9, which",
    ),
    "an emoji that is none": (
        broken("zerver_reaction", 1, emoji_code="../x"), "'zerver_reaction'.*no custom emoji",
    ),
    "a copy of nothing": (
        broken("zerver_usermessage", message=1), "'zerver_usermessage'.*message 1, which",
    ),
    "a file of nothing": (
        broken("zerver_attachment", messages=[1]), "'zerver_attachment'.*messages has 1",
    ),
    "a path twice": (
        broken("zerver_attachment", 1, path_id="2/ab/XyZ_1/notes.txt"), "another file's",
    ),
    "a permission of no group": (
        broken("zerver_stream", can_remove_subscribers_group=7), "'zerver_stream'.*group 7",
    ),
    "a group in itself": (
        broken("zerver_groupgroupmembership", 1, subgroup=49), "the group is in itself",
    ),
    "a folder that is none": (broken("zerver_stream", folder=77), "folder refers to no folder"),
    "a channel for all and some": (
        broken("zerver_stream", 1, is_web_public=True), "channel.jsonl.*breaks a rule",
    ),
    "two with one address": (
        broken("zerver_userprofile", 1, delivery_email="ADA@acme.example"),
        "user.jsonl.*breaks a rule",
    ),
}  # fmt: skip


def by_the_database(problem: str) -> bool:
    return "breaks a rule" in problem


@pytest.mark.parametrize(
    ("chat_filled", "concerned"),
    [
        ("sqlite", lambda problem: True),
        ("postgresql", by_the_database),
        pytest.param(
            "postgresql", lambda problem: not by_the_database(problem), marks=pytest.mark.exhaustive
        ),
    ],
    indirect=["chat_filled"],
    ids=["sqlite", "postgresql-by the database", "postgresql-by the conversion"],
)
def test_wrong_export_is_refused(
    here: Installation, tmp_path: Path, concerned: Callable[[str], bool]
) -> None:
    """Each leaves no data, so that the next starts equally.

    Errors of the conversion are found before the first statement.
    """
    before, tarball = contents(here), tmp_path / "export.tar.gz"
    cases = {case: each for case, each in REFUSED.items() if concerned(each[1])}
    assert len(cases) >= 2
    for case, (change, problem) in cases.items():
        export = make_acme(12)
        change(export)
        with pytest.raises(ArchiveRefused) as refused:
            here.bring_zulip(export.write(tarball), NEW_HOST)
        assert re.search(problem, str(refused.value)), case
        assert contents(here) == before, case
    here.bring_zulip(make_acme(12).write(tarball), NEW_HOST)


@on_sqlite
def test_scripts_are_removed(
    bring: Callable[..., Any], as_person: Callable[[int], ChatClient]
) -> None:
    export = make_acme(12)
    hostile = '<p onclick="x()">Nobody<script>steal()</script><img src=x onerror=y()></p>'
    export.tables["zerver_message"][2]["rendered_content"] = hostile
    bring(export)
    content = read(as_person(ADA), ("channel", "general"), ("topic", ""))["Nobody"]["content"]
    assert "script" not in content
    assert "onclick" not in content
    assert "onerror" not in content


@on_sqlite
def test_previews_of_other_hosts_are_removed(
    bring: Callable[..., Any], as_person: Callable[[int], ChatClient]
) -> None:
    export = make_acme(12)
    link = '<a href="https://other.example/a.png">a</a>'
    export.tables["zerver_message"][2]["rendered_content"] = (
        f"<p>Nobody {link}</p>\n"
        '<div class="message_inline_image"><a href="https://other.example/a.png" title="a">'
        '<img data-original-dimensions="7x5" src="/external_content/ab/cd"></a></div>'
    )
    bring(export)
    found = read(as_person(ADA), ("channel", "general"), ("topic", ""))
    assert found["Nobody a"]["content"] == f"<p>Nobody {link}</p>"


@on_sqlite
def test_unfit_topics_are_changed(
    bring: Callable[..., Any], as_person: Callable[[int], ChatClient]
) -> None:
    export = make_acme(12)
    export.tables["zerver_message"][2]["subject"] = "a\u2028b"
    export.tables["zerver_message"][9]["subject"] = "(no topic)"
    _, losses = bring(export)
    found = read(as_person(ADA), ("channel", "general"))
    assert found[SAID[1002]]["subject"] == "a b"
    assert found[SAID[1009]]["subject"] == ""
    assert any(each.table == "zerver_message" and "lines" in each.what for each in losses)


@on_sqlite
def test_texts_that_are_too_long_are_cut_and_counted(
    bring: Callable[..., Any], here: Installation
) -> None:
    export = make_acme(12)
    message = export.tables["zerver_message"][2]
    message["content"] = "x" * 15_000_000
    message["rendered_content"] = "<p>another text</p>"
    _, losses = bring(export)
    with here.database.reading() as reader:
        longest = select(Message.content, Message.rendered_content)
        content, html = max(reader.execute(longest), key=lambda row: len(row.content))
    assert content == "x" * CONTENT_MAX
    assert html == f"<p>{content}</p>"
    found = {(each.table, each.what): each.count for each in losses}
    assert found["zerver_message", "a text was cut"] == 1


@on_sqlite
def test_system_bots_become_one(here: Installation, bring: Callable[..., Any]) -> None:
    """The three global bots of Zulip become the one of this organization."""
    realm_id, _ = bring(make_acme(12))
    with here.database.reading() as reader:
        bots = reader.execute(
            select(User.full_name, User.delivery_email).where(
                User.realm_id == realm_id, User.is_system_bot
            )
        ).all()
    assert bots == [("Notification Bot", f"notification-bot@{NEW_HOST}")]
    assert PERSONAL.keys().isdisjoint({3, 4, 5})
