"""Channel permissions by role and group: see, read, send, administer and add subscribers."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.channels import (
    ChannelView,
    access_channel,
    access_channel_by_name,
    can_send_to_channel,
    find_channel,
    has_content_access,
    has_metadata_access,
    readable_channel_ids,
)
from models.chat.access.errors import InvalidChannelId, InvalidChannelName
from models.chat.access.group_settings import CHANNEL_GROUPS, store_group_value
from models.chat.channels.channels import can_administer_channel
from models.chat.channels.subscribing import can_add_subscribers, can_subscribe
from models.chat.channels.unsubscribing import can_remove_subscribers
from models.chat.identity.actors import Actor, find_actor
from models.chat.tables import Channel, Realm, Subscription, UserGroup
from specd.db import Database
from tests.support.chat.people import CAST_MADE_AT, Cast

PEOPLE = ("cordelia", "iago", "prospero", "hamlet", "othello", "polonius")


@dataclass(frozen=True)
class Setup:
    """A channel: its kind, its subscribers, and the group settings that differ from the default."""

    invite_only: bool = False
    is_web_public: bool = False
    history_public: bool = True
    is_archived: bool = False
    subscribers: tuple[str, ...] = ()
    groups: dict[str, Any] = field(default_factory=dict)


PUBLIC = Setup()
SUBSCRIBED_GUEST = Setup(subscribers=("polonius",))
WEB_PUBLIC = Setup(is_web_public=True)
SHARED = Setup(invite_only=True, subscribers=("hamlet",))
PROTECTED = Setup(invite_only=True, history_public=False, subscribers=("hamlet", "polonius"))
OPEN_TO_OTHELLO = Setup(invite_only=True, groups={"can_subscribe_group": ["othello", "polonius"]})
FILLED_BY_OTHELLO = Setup(invite_only=True, groups={"can_add_subscribers_group": ["othello"]})
RUN_BY_OTHELLO = Setup(invite_only=True, groups={"can_administer_channel_group": ["othello"]})
ANNOUNCEMENTS = Setup(groups={"can_send_message_group": "role:administrators"})
SILENT_PRIVATE = Setup(
    invite_only=True,
    subscribers=("hamlet", "iago"),
    groups={"can_send_message_group": "role:administrators"},
)
ARCHIVED = Setup(is_archived=True, subscribers=("hamlet",))
REMOVED_BY_MODERATORS = Setup(groups={"can_remove_subscribers_group": "role:moderators"})

EVERYBODY = set(PEOPLE)
MEMBERS = EVERYBODY - {"polonius"}
ADMINISTRATORS = {"cordelia", "iago"}


def make(database: Database, cast: Cast, setup: Setup) -> int:
    """Create the channel and return its id."""

    def work(session: Session) -> int:
        def group(name: str) -> int:
            chosen = setup.groups.get(name, CHANNEL_GROUPS[name].default)
            if chosen == "creator":
                chosen = []
            value: Any = chosen
            if isinstance(chosen, list):
                ids = [getattr(cast, person).id for person in chosen]
                value = {"direct_members": ids, "direct_subgroups": []}
            setting = CHANNEL_GROUPS[name]
            return store_group_value(session, cast.realm_id, setting, value, now=CAST_MADE_AT)

        channel = Channel(
            realm_id=cast.realm_id,
            name="Stage",
            name_key="stage",
            date_created=CAST_MADE_AT,
            invite_only=setup.invite_only,
            is_web_public=setup.is_web_public,
            history_public_to_subscribers=setup.history_public,
            is_archived=setup.is_archived,
            **{name: group(name) for name in CHANNEL_GROUPS},
        )
        session.add(channel)
        session.flush()
        for person in setup.subscribers:
            session.add(
                Subscription(
                    channel_id=channel.id,
                    user_id=getattr(cast, person).id,
                    color="#c2c2c2",
                    subscribed_at=CAST_MADE_AT,
                )
            )
        return channel.id

    return database.run(work)


def allowed_people(database: Database, cast: Cast, channel_id: int, question: Any) -> set[str]:
    """Return the people for whom `question(reader, actor, channel)` is true."""
    found = set()
    with database.reading() as reader:
        for person in PEOPLE:
            actor = find_actor(reader, getattr(cast, person).id)
            assert actor is not None
            channel = find_channel(reader, actor, channel_id=channel_id)
            assert channel is not None
            if question(reader, actor, channel):
                found.add(person)
    return found


@pytest.mark.parametrize(
    ("setup", "readers", "knowers"),
    [
        pytest.param(PUBLIC, MEMBERS, MEMBERS, id="public"),
        pytest.param(SUBSCRIBED_GUEST, EVERYBODY, EVERYBODY, id="public with a guest"),
        pytest.param(WEB_PUBLIC, EVERYBODY, EVERYBODY, id="web-public"),
        pytest.param(SHARED, {"hamlet"}, {"hamlet", *ADMINISTRATORS}, id="private"),
        pytest.param(
            PROTECTED,
            {"hamlet", "polonius"},
            {"hamlet", "polonius", *ADMINISTRATORS},
            id="protected",
        ),
        pytest.param(
            OPEN_TO_OTHELLO, {"othello"}, {"othello", *ADMINISTRATORS}, id="may subscribe"
        ),
        pytest.param(
            FILLED_BY_OTHELLO, {"othello"}, {"othello", *ADMINISTRATORS}, id="may add others"
        ),
        pytest.param(RUN_BY_OTHELLO, set(), {"othello", *ADMINISTRATORS}, id="may administer"),
    ],
)
class TestAccess:
    def test_content_and_metadata_access(
        self,
        chat_database: Database,
        cast: Cast,
        setup: Setup,
        readers: set[str],
        knowers: set[str],
    ) -> None:
        channel_id = make(chat_database, cast, setup)
        assert allowed_people(chat_database, cast, channel_id, has_content_access) == readers
        assert allowed_people(chat_database, cast, channel_id, has_metadata_access) == knowers

    def test_list_of_readable_channels_agrees(
        self,
        chat_database: Database,
        cast: Cast,
        setup: Setup,
        readers: set[str],
        knowers: set[str],
    ) -> None:
        channel_id = make(chat_database, cast, setup)

        def listed(reader: Any, actor: Actor, channel: ChannelView) -> bool:
            ids = reader.execute(readable_channel_ids(reader, actor)).scalars().all()
            assert ids in ([], [channel_id])
            return bool(ids)

        assert allowed_people(chat_database, cast, channel_id, listed) == readers

    def test_access_raises_without_permission(
        self,
        chat_database: Database,
        cast: Cast,
        setup: Setup,
        readers: set[str],
        knowers: set[str],
    ) -> None:
        channel_id = make(chat_database, cast, setup)

        def by_id(content: bool) -> Any:
            def ask(reader: Any, actor: Actor, channel: ChannelView) -> bool:
                try:
                    found = access_channel(reader, actor, channel.id, content=content)
                except InvalidChannelId:
                    return False
                return found == channel

            return ask

        def by_name(reader: Any, actor: Actor, channel: ChannelView) -> bool:
            try:
                return access_channel_by_name(reader, actor, " STAGE ") == channel
            except InvalidChannelName:
                return False

        assert allowed_people(chat_database, cast, channel_id, by_id(True)) == readers
        assert allowed_people(chat_database, cast, channel_id, by_id(False)) == knowers
        assert allowed_people(chat_database, cast, channel_id, by_name) == readers


@pytest.mark.parametrize(
    ("setup", "senders"),
    [
        pytest.param(PUBLIC, MEMBERS, id="public, without subscribing"),
        pytest.param(SUBSCRIBED_GUEST, EVERYBODY, id="a subscribed guest"),
        pytest.param(SHARED, {"hamlet"}, id="private"),
        pytest.param(ANNOUNCEMENTS, ADMINISTRATORS, id="announcements"),
        pytest.param(SILENT_PRIVATE, {"iago"}, id="private announcements"),
        pytest.param(FILLED_BY_OTHELLO, {"othello"}, id="may add others"),
        pytest.param(ARCHIVED, set(), id="archived"),
    ],
)
def test_allowed_senders(
    chat_database: Database, cast: Cast, setup: Setup, senders: set[str]
) -> None:
    channel_id = make(chat_database, cast, setup)
    assert allowed_people(chat_database, cast, channel_id, can_send_to_channel) == senders


@pytest.mark.parametrize(("setup", "allowed"), [(SHARED, True), (PROTECTED, True), (
    OPEN_TO_OTHELLO, False), (SILENT_PRIVATE, False), (ANNOUNCEMENTS, False)])  # fmt: skip
def test_bot_may_send_where_its_owner_may(
    chat_database: Database, cast: Cast, setup: Setup, allowed: bool
) -> None:
    channel_id = make(chat_database, cast, setup)
    with chat_database.reading() as reader:
        bot = find_actor(reader, cast.reminder.id)
        assert bot is not None
        channel = find_channel(reader, bot, channel_id=channel_id)
        assert channel is not None
        assert can_send_to_channel(reader, bot, channel) is allowed


@pytest.mark.parametrize(
    ("setup", "joiners", "adders", "removers", "rulers"),
    [
        pytest.param(PUBLIC, MEMBERS, MEMBERS, ADMINISTRATORS, ADMINISTRATORS, id="public"),
        pytest.param(
            WEB_PUBLIC, EVERYBODY, MEMBERS, ADMINISTRATORS, ADMINISTRATORS, id="web-public"
        ),
        pytest.param(SHARED, {"hamlet"}, {"hamlet"}, ADMINISTRATORS, ADMINISTRATORS, id="private"),
        pytest.param(
            OPEN_TO_OTHELLO,
            {"othello"},
            {"othello"},
            ADMINISTRATORS,
            ADMINISTRATORS,
            id="may subscribe",
        ),
        pytest.param(
            RUN_BY_OTHELLO,
            set(),
            set(),
            {"othello", *ADMINISTRATORS},
            {"othello", *ADMINISTRATORS},
            id="may administer",
        ),
        pytest.param(
            REMOVED_BY_MODERATORS,
            MEMBERS,
            MEMBERS,
            {"prospero", *ADMINISTRATORS},
            ADMINISTRATORS,
            id="may remove",
        ),
    ],
)
def test_allowed_subscribers_adders_removers_and_administrators(
    chat_database: Database,
    cast: Cast,
    setup: Setup,
    joiners: set[str],
    adders: set[str],
    removers: set[str],
    rulers: set[str],
) -> None:
    channel_id = make(chat_database, cast, setup)
    assert allowed_people(chat_database, cast, channel_id, can_subscribe) == joiners
    assert allowed_people(chat_database, cast, channel_id, can_add_subscribers) == adders
    assert allowed_people(chat_database, cast, channel_id, can_remove_subscribers) == removers
    assert allowed_people(chat_database, cast, channel_id, can_administer_channel) == rulers


def test_realm_setting_limits_who_may_add_subscribers(chat_database: Database, cast: Cast) -> None:
    channel_id = make(chat_database, cast, PUBLIC)

    def only_moderators(session: Session) -> None:
        realm = session.get_one(Realm, cast.realm_id)
        realm.can_add_subscribers_group = realm.moderators_group_id

    chat_database.run(only_moderators)
    allowed = {"prospero", *ADMINISTRATORS}
    assert allowed_people(chat_database, cast, channel_id, can_add_subscribers) == allowed


def test_channel_of_another_organization_is_not_found(chat_database: Database, cast: Cast) -> None:
    channel_id = make(chat_database, cast, WEB_PUBLIC)
    with chat_database.reading() as reader:
        hank = find_actor(reader, cast.hank.id)
        assert hank is not None
        assert find_channel(reader, hank, channel_id=channel_id) is None
        assert find_channel(reader, hank, name="stage") is None
        assert reader.execute(readable_channel_ids(reader, hank)).all() == []
        groups = reader.execute(select(UserGroup.realm_id).distinct()).scalars().all()
        assert sorted(groups) == [cast.realm_id, cast.globex_id]
