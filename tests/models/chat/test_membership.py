"""Membership in groups: roles, named groups, nested groups and anonymous groups."""

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.group_settings import CHANNEL_GROUPS, store_group_value
from models.chat.access.membership import (
    add_to_group,
    belongs,
    find_member_ids,
    group_ids_of,
    sync_system_groups,
)
from models.chat.identity.actors import Actor, find_actor
from models.chat.identity.roles import SYSTEM_GROUPS, Role
from models.chat.tables import User, UserGroup
from specd.db import Database
from tests.support.chat.people import CAST_MADE_AT, Cast

SENDERS = CHANNEL_GROUPS["can_send_message_group"]
PEOPLE = ("cordelia", "iago", "prospero", "hamlet", "polonius")
# The widest group without each user begins after this many groups.
IN = {"cordelia": 7, "iago": 6, "prospero": 5, "hamlet": 4, "polonius": 2}


def actor_of(session: Any, user_id: int) -> Actor:
    actor = find_actor(session, user_id)
    assert actor is not None
    return actor


def system_id(session: Any, cast: Cast, name: str) -> int:
    found = select(UserGroup.id).where(UserGroup.realm_id == cast.realm_id, UserGroup.name == name)
    return int(session.execute(found).scalar_one())


def named(session: Session, cast: Cast, name: str, **more: list[int]) -> int:
    group = UserGroup(
        realm_id=cast.realm_id, kind="named", name=name, name_key=name, date_created=CAST_MADE_AT
    )
    session.add(group)
    session.flush()
    add_to_group(session, group.id, **more)
    return group.id


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("position", range(8))
def test_system_groups_follow_the_roles(
    chat_database: Database, cast: Cast, person: str, position: int
) -> None:
    """The role, the recursive statement and the groups' members give the same result."""
    with chat_database.reading() as reader:
        member = getattr(cast, person)
        actor = actor_of(reader, member.id)
        group_id = system_id(reader, cast, list(SYSTEM_GROUPS)[position])
        expected = position < IN[person]
        assert belongs(reader, actor, group_id) is expected
        assert (group_id in group_ids_of(reader, actor)) is expected
        assert (member.id in find_member_ids(reader, group_id)) is expected


@pytest.mark.parametrize("role", list(Role))
def test_change_of_role_moves_a_user_to_other_groups(
    chat_database: Database, cast: Cast, role: Role
) -> None:
    def promote(session: Session) -> None:
        user = session.get_one(User, cast.hamlet.id)
        user.role = role
        session.flush()
        sync_system_groups(session, user)

    chat_database.run(promote)
    with chat_database.reading() as reader:
        actor = actor_of(reader, cast.hamlet.id)
        assert group_ids_of(reader, actor) == actor.realm.system_groups_of(role)


def test_members_of_a_subgroup_are_members_at_any_depth(
    chat_database: Database, cast: Cast
) -> None:
    def nest(session: Session) -> list[int]:
        inner = named(session, cast, "inner", members=[cast.othello.id])
        chain = [inner]
        for depth in range(20):
            chain.append(named(session, cast, f"outer {depth}", subgroups=[chain[-1]]))
        return chain

    chain = chat_database.run(nest)
    with chat_database.reading() as reader:
        othello, hamlet = (actor_of(reader, m.id) for m in (cast.othello, cast.hamlet))
        for group_id in chain:
            assert belongs(reader, othello, group_id)
            assert not belongs(reader, hamlet, group_id)
            assert find_member_ids(reader, group_id) == {cast.othello.id}


def test_circular_groups_are_resolved(chat_database: Database, cast: Cast) -> None:
    def circle(session: Session) -> tuple[int, int]:
        one = named(session, cast, "one", members=[cast.othello.id])
        two = named(session, cast, "two", subgroups=[one])
        add_to_group(session, one, subgroups=[two])
        return one, two

    for group_id in chat_database.run(circle):
        with chat_database.reading() as reader:
            assert belongs(reader, actor_of(reader, cast.othello.id), group_id)
            assert find_member_ids(reader, group_id) == {cast.othello.id}


@pytest.mark.parametrize(
    ("members", "subgroups", "allowed"),
    [
        (["othello"], [], {"othello"}),
        (["othello", "polonius"], [], {"othello", "polonius"}),
        ([], ["role:administrators"], {"cordelia", "iago"}),
        (["hamlet"], ["role:owners"], {"cordelia", "hamlet"}),
        ([], ["role:owners", "players"], {"cordelia", "hamlet", "othello"}),
        ([], ["role:everyone"], {*PEOPLE, "othello"}),
        ([], [], set()),
    ],
)
def test_anonymous_group_contains_its_members_and_subgroups(
    chat_database: Database,
    cast: Cast,
    members: list[str],
    subgroups: list[str],
    allowed: set[str],
) -> None:
    def store(session: Session) -> int:
        players = named(session, cast, "players", members=[cast.hamlet.id, cast.othello.id])
        ids = [players if s == "players" else system_id(session, cast, s) for s in subgroups]
        value = {
            "direct_members": [getattr(cast, name).id for name in members],
            "direct_subgroups": ids,
        }
        return store_group_value(session, cast.realm_id, SENDERS, value, now=CAST_MADE_AT)

    group_id = chat_database.run(store)
    with chat_database.reading() as reader:
        found = {
            name
            for name in (*PEOPLE, "othello")
            if belongs(reader, actor_of(reader, getattr(cast, name).id), group_id)
        }
    assert found == allowed


def test_deactivated_users_are_not_members(chat_database: Database, cast: Cast) -> None:
    with chat_database.reading() as reader:
        members = find_member_ids(reader, system_id(reader, cast, "role:members"))
    assert cast.ophelia.id not in members


def test_membership_costs_one_statement_per_request(chat_database: Database, cast: Cast) -> None:
    group_id = chat_database.run(
        lambda session: named(session, cast, "players", members=[cast.hamlet.id])
    )
    with chat_database.reading() as reader:
        actor = actor_of(reader, cast.hamlet.id)
        assert belongs(reader, actor, group_id)
    # The connection is closed, so these calls are answered from loaded values.
    assert belongs(reader, actor, group_id)
    assert belongs(reader, actor, actor.realm.members_group_id)
    assert not belongs(reader, actor, 999)
