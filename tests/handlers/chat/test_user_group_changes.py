"""Operations of the tag user_groups that change groups or return members."""

from typing import Any

import orjson
import pytest
from sqlalchemy import func, select, update

from models.chat.tables import AuditLog, Channel, Message, UserGroup
from specd.db import Database
from tests.handlers.chat.groups import ids_of
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast, Member
from tests.support.chat.queues import Place, Queues

UNKNOWN, FORBIDDEN = bad("Invalid user group"), bad("Insufficient permission")
NO_GUESTS = bad("Not allowed for guest users")
NOBODY = {"direct_members": [], "direct_subgroups": []}


def only(*members: Member) -> dict[str, Any]:
    ids = sorted(member.id for member in members)
    return {"direct_members": ids, "direct_subgroups": []}


def make(client: ChatClient, name: str = "players", **form: Any) -> int:
    form = {"description": "", "members": [], **form}
    answer = client.post("/user_groups/create", name=name, **form)
    assert answer["result"] == "success", answer
    return int(answer["group_id"])


def group_of(client: ChatClient, group_id: int) -> dict[str, Any]:
    groups = client.get("/user_groups", include_deactivated_groups=True)["user_groups"]
    return next(group for group in groups if group["id"] == group_id)


def group_events(place: Place) -> list[dict[str, Any]]:
    """Return the events without their ids, and without messages."""
    events = [event for event in place.read() if event["type"] != "message"]
    return [{key: value for key, value in event.items() if key != "id"} for event in events]


def notices(database: Database, cast: Cast) -> list[str]:
    with database.reading() as reader:
        found = select(Message.content).where(Message.sender_id == cast.notification_bot_id)
        return list(reader.execute(found.order_by(Message.id)).scalars())


def audit_entries(database: Database, group_id: int) -> list[tuple[str, int, Any]]:
    """Return kind, actor and facts of each change of the group except its creation."""
    with database.reading() as reader:
        rows = reader.execute(
            select(AuditLog.__table__)
            .where(AuditLog.group_id == group_id, AuditLog.kind != "user_group_created")
            .order_by(AuditLog.id)
        )
        return [(row.kind, row.actor_id, orjson.loads(row.facts)) for row in rows]


@pytest.fixture
def group(chat: ChatClient, cast: Cast) -> int:
    """The players, a group of Hamlet and Othello that only Hamlet may change."""
    return make(chat, members=[cast.hamlet.id, cast.othello.id])


@pytest.fixture
def place(as_othello: ChatClient, queues: Queues) -> Place:
    """Othello's queue, of a client that supports deactivated groups."""
    return queues.open(as_othello, capabilities=frozenset(["include_deactivated_groups"]))


@pytest.fixture
def older(as_othello: ChatClient, queues: Queues) -> Place:
    """Othello's queue, of a client that does not."""
    return queues.open(as_othello)


def reject_all_others(
    group: int, method: str, tail: str, form: dict[str, Any], cast: Cast, client: ChatClient
) -> None:
    """Check that missing credentials, outsiders, guests and members without permission are
    rejected.
    """
    path = f"/user_groups/{group}{tail}"
    assert client.acting_as(None).request(method, path, form).status_code == 401
    assert client.acting_as(cast.hank).call(method, path, form) == UNKNOWN
    as_hamlet = client.acting_as(cast.hamlet)
    assert as_hamlet.call(method, f"/user_groups/999999{tail}", form) == UNKNOWN
    guest = FORBIDDEN if tail == "/deactivate" else NO_GUESTS
    assert client.acting_as(cast.polonius).call(method, path, form) == guest
    for member in (cast.othello, cast.iago, cast.reminder):
        assert client.acting_as(member).call(method, path, form) == FORBIDDEN
    system = ids_of(as_hamlet)["role:members"]
    as_owner = client.acting_as(cast.cordelia)
    assert as_owner.call(method, f"/user_groups/{system}{tail}", form) == FORBIDDEN


class TestUpdateUserGroup:
    def test_changes_given_values(
        self, chat: ChatClient, as_cordelia: ChatClient, group: int, cast: Cast, place: Place,
        older: Place, chat_database: Database,
    ) -> None:  # fmt: skip
        before, system = group_of(chat, group), ids_of(chat)
        path = f"/user_groups/{group}"
        assert chat.patch(path, name=" Tragedians ", description="Of the city") == DONE
        told_all = {"name": "Tragedians", "description": "Of the city"}
        both = only(cast.othello, cast.hamlet)
        assert as_cordelia.patch(
            path,
            can_manage_group={"new": both, "old": only(cast.hamlet)},
            can_join_group={"new": system["role:members"], "old": system["role:nobody"]},
            can_mention_group={"new": system["role:everyone"]},
            group_id=group,
        ) == {**DONE, "ignored_parameters_unsupported": ["group_id"]}
        settings = {"can_join_group": system["role:members"], "can_manage_group": both}
        assert group_of(chat, group) == before | told_all | settings
        change = {"type": "user_group", "op": "update", "group_id": group}
        news = [{**change, "data": told_all}, {**change, "data": settings}]
        assert group_events(place) == group_events(older) == news
        changed = [
            ("name", "players", "Tragedians", cast.hamlet.id),
            ("description", "", "Of the city", cast.hamlet.id),
            ("can_join_group", system["role:nobody"], system["role:members"], cast.cordelia.id),
            ("can_manage_group", only(cast.hamlet), both, cast.cordelia.id),
        ]
        assert audit_entries(chat_database, group) == [
            ("user_group_changed", actor, {"property": name, "old": old, "new": new})
            for name, old, new, actor in changed
        ]
        assert chat.acting_as(cast.othello).patch(path, name="TRAGEDIANS") == DONE
        assert group_events(place) == [{**change, "data": {"name": "TRAGEDIANS"}}]
        same = {"name": "TRAGEDIANS", "deactivated": True, "description": "Of the city"}
        assert chat.patch(path, **same) == DONE
        assert group_events(place) == []

    def test_replaced_value_leaves_no_group(
        self, chat: ChatClient, group: int, cast: Cast, chat_database: Database
    ) -> None:
        def count() -> int:
            with chat_database.reading() as reader:
                anonymous = select(func.count()).where(UserGroup.kind == "anonymous")
                return int(reader.execute(anonymous).scalar_one())

        before = count()
        for value in (only(cast.othello), only(cast.iago), NOBODY, only(cast.hamlet)):
            answer = chat.patch(f"/user_groups/{group}", can_leave_group={"new": value})
            assert answer == DONE
        assert count() == before + 1

    @pytest.mark.reaches("EXPECTATION_MISMATCH")
    def test_rejects_invalid_requests(
        self, chat: ChatClient, group: int, cast: Cast, place: Place
    ) -> None:
        make(chat, "Crew")
        group_events(place)
        before, path = group_of(chat, group), f"/user_groups/{group}"
        everyone = ids_of(chat)["role:everyone"]
        for form, answer in (
            ({}, bad("No new data supplied")),
            ({"name": " "}, bad("User group name can't be empty!")),
            ({"name": "role:x"}, bad("User group name cannot start with 'role:'.")),
            ({"name": "x" * 101}, bad("User group name cannot exceed 100 characters.")),
            ({"name": "x\ny"}, bad("name must be one line, without control characters")),
            ({"name": "CREW"}, bad("User group 'CREW' already exists.")),
            ({"description": "x" * 1025}, bad("description is too long (limit: 1024 characters)")),
            (
                {"can_manage_group": {"new": everyone}},
                bad("'can_manage_group' setting cannot be set to 'role:everyone' group."),
            ),
            ({"name": "other", "can_join_group": {"new": 999999}}, UNKNOWN),
            ({"can_join_group": {"new": only(cast.hank)}}, bad(f"Invalid user ID: {cast.hank.id}")),
            (
                {"name": "other", "can_join_group": {"new": everyone, "old": only(cast.hamlet)}},
                {
                    **bad("'old' value does not match the expected value."),
                    "code": "EXPECTATION_MISMATCH",
                },
            ),
        ):
            assert chat.patch(path, **form) == answer
        assert group_of(chat, group) == before
        assert group_events(place) == []
        reject_all_others(group, "PATCH", "", {"name": "other"}, cast, chat)

    def test_reactivates_a_group(
        self, chat: ChatClient, as_polonius: ChatClient, group: int, cast: Cast, place: Place,
        older: Place, queues: Queues, chat_database: Database,
    ) -> None:  # fmt: skip
        """A deactivated group can be changed, without events for older clients."""
        path = f"/user_groups/{group}"
        assert chat.post(f"{path}/deactivate") == DONE
        group_events(place), group_events(older)
        change = {"type": "user_group", "op": "update", "group_id": group}
        assert chat.patch(path, name="choir") == DONE
        assert group_events(place) == [{**change, "data": {"name": "choir"}}]
        assert group_events(older) == []
        assert chat.patch(path, deactivated=False, description="Again") == DONE
        again = {"description": "Again", "deactivated": False}
        assert group_events(place) == [{**change, "data": again}]
        present = group_of(chat, group)
        assert (present["deactivated"], present["members"]) == (
            False, sorted([cast.hamlet.id, cast.othello.id]),
        )  # fmt: skip
        assert group_events(older) == [{"type": "user_group", "op": "add", "group": present}]
        kinds = [kind for kind, _, _ in audit_entries(chat_database, group)]
        assert kinds[-2:] == ["user_group_changed", "user_group_reactivated"]
        assert chat.patch(path, deactivated=False) == DONE
        assert group_events(place) == []


class TestDeactivateUserGroup:
    def test_deactivates_a_group(
        self, chat: ChatClient, group: int, cast: Cast, place: Place, older: Place,
        chat_database: Database,
    ) -> None:  # fmt: skip
        before = group_of(chat, group)
        path = f"/user_groups/{group}/deactivate"
        reject_all_others(group, "POST", "/deactivate", {}, cast, chat)
        assert chat.post(path) == DONE
        event = {"type": "user_group", "op": "update", "group_id": group}
        assert group_events(place) == [{**event, "data": {"deactivated": True}}]
        assert group_events(older) == [{"type": "user_group", "op": "remove", "group_id": group}]
        assert group_of(chat, group) == before | {"deactivated": True}
        assert "players" not in ids_of(chat)
        assert audit_entries(chat_database, group) == [
            ("user_group_deactivated", cast.hamlet.id, {}),
        ]  # fmt: skip
        gone = bad("User group is deactivated.")
        assert chat.post(path) == gone
        assert chat.post(
            "/user_groups/create", name="x", description="", members=[], can_join_group=group
        ) == gone  # fmt: skip
        assert group_events(place) == []

    @pytest.mark.reaches("CANNOT_DEACTIVATE_GROUP_IN_USE")
    def test_group_in_use_is_rejected(
        self, chat: ChatClient, as_cordelia: ChatClient, group: int, cast: Cast, place: Place,
        chat_database: Database,
    ) -> None:  # fmt: skip
        outer = make(chat, "outer", subgroups=[group])
        mixed = {"direct_members": [cast.hamlet.id], "direct_subgroups": [group]}
        user = make(chat, "user", can_join_group=group, can_leave_group=mixed)
        hidden, known, _ = chat_database.run(
            lambda s: [
                make_channel(
                    s, cast, name, subscribers=[cast.iago], can_send_message_group=group, **over
                )
                for name, over in (
                    ("hidden", {"invite_only": True}), ("known", {}), ("old", {"is_archived": True})
                )
            ]
        )  # fmt: skip
        as_cordelia.patch("/realm", can_create_groups=mixed)
        group_events(place)
        objections = [
            {"type": "subgroup", "supergroup_ids": [outer]},
            {"type": "channel", "settings": ["can_send_message_group"]},
            {"type": "channel", "settings": ["can_send_message_group"], "channel_id": known},
            {
                "type": "user_group", "group_id": user,
                "settings": ["can_join_group", "can_leave_group"],
            },
            {"type": "realm", "settings": ["can_create_groups"]},
        ]  # fmt: skip
        refusal = {
            **bad("Cannot deactivate user group in use."),
            "code": "CANNOT_DEACTIVATE_GROUP_IN_USE",
        }
        path = f"/user_groups/{group}/deactivate"
        assert chat.post(path) == {**refusal, "objections": objections}
        objections[1]["channel_id"] = hidden
        assert as_cordelia.post(path) == {**refusal, "objections": objections}
        assert group_events(place) == []
        for other in (outer, user):
            assert chat.post(f"/user_groups/{other}/deactivate") == DONE
        as_cordelia.patch("/realm", can_create_groups=ids_of(chat)["role:members"])
        chat_database.run(lambda s: s.execute(update(Channel).values(is_archived=True)))
        assert chat.post(path) == DONE
        assert group_of(chat, group)["deactivated"] is True


class TestUpdateUserGroupMembers:
    def test_adds_and_removes_together(
        self, chat: ChatClient, group: int, cast: Cast, place: Place, chat_database: Database
    ) -> None:
        system, path = ids_of(chat), f"/user_groups/{group}/members"
        new = sorted([cast.iago.id, cast.reminder.id, cast.prospero.id])
        form = {
            "add": [*new, new[0]], "delete": [cast.hamlet.id, cast.othello.id],
            "add_subgroups": [system["role:owners"]],
        }  # fmt: skip
        assert chat.post(path, **form) == DONE
        old = sorted([cast.hamlet.id, cast.othello.id])
        about = {"type": "user_group", "group_id": group}
        assert group_events(place) == [
            {**about, "op": "add_members", "user_ids": new},
            {**about, "op": "remove_members", "user_ids": old},
            {**about, "op": "add_subgroups", "direct_subgroup_ids": [system["role:owners"]]},
        ]
        present = group_of(chat, group)
        assert present["members"] == new
        assert present["direct_subgroup_ids"] == [system["role:owners"]]
        assert chat.post(path, delete_subgroups=[system["role:owners"]]) == DONE
        gone = {**about, "op": "remove_subgroups", "direct_subgroup_ids": [system["role:owners"]]}
        assert group_events(place) == [gone]
        by = cast.hamlet.id
        assert audit_entries(chat_database, group) == [
            ("user_group_members_added", by, {"user_ids": new}),
            ("user_group_members_removed", by, {"user_ids": old}),
            ("user_group_subgroups_added", by, {"subgroup_ids": [system["role:owners"]]}),
            ("user_group_subgroups_removed", by, {"subgroup_ids": [system["role:owners"]]}),
        ]
        who = f"@_**Hamlet|{cast.hamlet.id}**"
        assert notices(chat_database, cast) == [
            f"{who} added you to the group @_*players*.",
            f"{who} added you to the group @_*players*.",
            f"{who} removed you from the group @_*players*.",
        ], "the bot and Hamlet receive no message"

    def test_joining_and_leaving(
        self, chat: ChatClient, as_othello: ChatClient, as_cordelia: ChatClient, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        members = ids_of(chat)["role:members"]
        group = make(chat, can_join_group=members, can_leave_group=NOBODY)
        path = f"/user_groups/{group}/members"
        assert as_othello.post(path, add=[cast.iago.id]) == FORBIDDEN
        assert as_othello.post(path, add=[cast.othello.id, cast.iago.id]) == FORBIDDEN
        assert as_othello.post(path, add=[cast.othello.id]) == DONE
        assert as_othello.post(path, delete=[cast.othello.id]) == FORBIDDEN
        change = {"can_leave_group": {"new": members}}
        assert chat.patch(f"/user_groups/{group}", **change) == DONE
        assert as_othello.post(path, delete=[cast.othello.id]) == DONE
        for setting, form in (
            ("can_add_members_group", {"add": [cast.iago.id]}),
            ("can_remove_members_group", {"delete": [cast.iago.id]}),
        ):
            assert as_othello.post(path, **form) == FORBIDDEN
            change = {setting: {"new": only(cast.othello)}}
            assert chat.patch(f"/user_groups/{group}", **change) == DONE
            assert as_othello.post(path, **form) == DONE
        assert as_cordelia.post(path, add=[cast.iago.id, cast.cordelia.id]) == DONE
        only_iago = {"can_manage_all_groups": only(cast.iago)}
        assert as_cordelia.patch("/realm", **only_iago)["result"] == "success"
        assert as_cordelia.post(path, delete=[cast.iago.id]) == FORBIDDEN
        assert chat.acting_as(cast.iago).post(path, delete=[cast.cordelia.id]) == DONE
        assert group_of(chat, group)["members"] == [cast.iago.id]

    def test_rejects_invalid_requests(
        self, chat: ChatClient, group: int, cast: Cast, place: Place
    ) -> None:
        before, path = group_of(chat, group), f"/user_groups/{group}/members"
        nothing = 'Nothing to do. Specify at least one of "add", "delete", "add_subgroups" or'
        for form, msg in (
            ({}, f'{nothing} "delete_subgroups".'),
            ({"add": [], "delete": []}, f'{nothing} "delete_subgroups".'),
            ({"add": [cast.hamlet.id]}, f"User {cast.hamlet.id} is already a member of this group"),
            ({"add": [cast.ophelia.id]}, f"Invalid user ID: {cast.ophelia.id}"),
            ({"add": [cast.hank.id]}, f"Invalid user ID: {cast.hank.id}"),
            ({"add": [cast.notification_bot_id]}, f"Invalid user ID: {cast.notification_bot_id}"),
            ({"delete": [999999]}, "Invalid user ID: 999999"),
            (
                {"add": [cast.prospero.id], "delete": [cast.iago.id]},
                f"There is no member '{cast.iago.id}' in this user group",
            ),
        ):
            assert chat.post(path, **form) == bad(msg)
        assert group_of(chat, group) == before
        assert group_events(place) == []
        reject_all_others(group, "POST", "/members", {"add": [cast.iago.id]}, cast, chat)

    def test_deactivated_group_is_rejected(
        self, chat: ChatClient, group: int, cast: Cast, place: Place
    ) -> None:
        path = f"/user_groups/{group}"
        inner = make(chat, "inner")
        assert chat.post(f"{path}/deactivate") == DONE
        before = group_of(chat, group)
        group_events(place)
        for form in (
            {"add": [cast.iago.id]},
            {"delete": [cast.hamlet.id]},
            {"add_subgroups": [inner]},
            {"delete_subgroups": [inner]},
        ):
            assert chat.post(f"{path}/members", **form) == bad("User group is deactivated.")
        assert chat.post(f"{path}/subgroups", add=[inner]) == bad("User group is deactivated.")
        assert group_of(chat, group) == before
        assert group_events(place) == []


class TestUpdateUserGroupSubgroups:
    def test_adds_and_removes_subgroups(
        self, chat: ChatClient, group: int, cast: Cast, place: Place
    ) -> None:
        inner, other = make(chat, "inner"), make(chat, "other")
        group_events(place)
        path = f"/user_groups/{group}/subgroups"
        assert chat.post(path, add=[other, inner, inner]) == DONE
        assert chat.post(path, delete=[inner]) == DONE
        about = {"type": "user_group", "group_id": group}
        assert group_events(place) == [
            {**about, "op": "add_subgroups", "direct_subgroup_ids": [inner, other]},
            {**about, "op": "remove_subgroups", "direct_subgroup_ids": [inner]},
        ]
        assert group_of(chat, group)["direct_subgroup_ids"] == [other]

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_othello: ChatClient, as_hank: ChatClient, group: int,
        cast: Cast, place: Place,
    ) -> None:  # fmt: skip
        inner, gone = make(chat, "inner"), make(chat, "gone")
        deep = make(chat, "deep", subgroups=[inner])
        chat.post(f"/user_groups/{gone}/deactivate")
        foreign_group = ids_of(as_hank)["role:members"]
        path = f"/user_groups/{inner}/subgroups"
        assert chat.post(f"/user_groups/{group}/subgroups", add=[deep]) == DONE
        group_events(place)
        circle = f"User group {inner} is already a subgroup of one of the passed subgroups."
        for form, msg in (
            ({}, 'Nothing to do. Specify at least one of "add" or "delete".'),
            ({"add": [999999]}, "Invalid user group ID: 999999"),
            ({"add": [foreign_group]}, f"Invalid user group ID: {foreign_group}"),
            ({"add": [gone]}, "User group is deactivated."),
            ({"add": [inner]}, circle),
            ({"add": [deep]}, circle),
            ({"add": [group]}, circle),
            ({"delete": [deep]}, f"User group {deep} is not a subgroup of this group."),
        ):
            assert chat.post(path, **form) == bad(msg)
        again = chat.post(f"/user_groups/{group}/subgroups", add=[deep])
        assert again == bad(f"User group {deep} is already a subgroup of this group.")
        assert group_events(place) == []
        change = {"can_add_members_group": {"new": only(cast.othello)}}
        assert chat.patch(f"/user_groups/{inner}", **change) == DONE
        system = ids_of(chat)["role:owners"]
        assert as_othello.post(path, add=[system]) == DONE
        assert as_othello.post(path, delete=[system]) == FORBIDDEN
        reject_all_others(group, "POST", "/subgroups", {"add": [inner]}, cast, chat)


class TestListUserGroupMembers:
    def test_lists_direct_and_all_members(
        self, chat: ChatClient, as_polonius: ChatClient, as_hank: ChatClient,
        as_nobody: ChatClient, group: int, cast: Cast,
    ) -> None:  # fmt: skip
        system = ids_of(chat)
        chat.post(f"/user_groups/{group}/members", add_subgroups=[system["role:administrators"]])
        path = f"/user_groups/{group}/members"
        direct = sorted([cast.hamlet.id, cast.othello.id])
        both = sorted([*direct, cast.iago.id, cast.cordelia.id])
        assert chat.get(path) == {**DONE, "members": both}
        assert chat.get(path, direct_member_only=True) == {**DONE, "members": direct}
        members = chat.get(f"/user_groups/{system['role:members']}/members")["members"]
        assert cast.notification_bot_id not in members
        assert set(both) < set(members)
        assert chat.post(f"{path[:-8]}/deactivate") == DONE
        assert chat.get(path)["members"] == both
        assert as_polonius.get(path) == NO_GUESTS
        assert as_hank.get(path) == chat.get("/user_groups/999999/members") == UNKNOWN
        assert as_nobody.request("GET", path).status_code == 401


class TestGetUserGroupMembership:
    def test_returns_membership_of_users(
        self, chat: ChatClient, as_polonius: ChatClient, as_hank: ChatClient,
        as_nobody: ChatClient, group: int, cast: Cast,
    ) -> None:  # fmt: skip
        system = ids_of(chat)["role:administrators"]
        chat.post(f"/user_groups/{group}/members", add_subgroups=[system])
        path = f"/user_groups/{group}/members"
        for member, direct, somehow in (
            (cast.hamlet, True, True),
            (cast.cordelia, False, True),
            (cast.prospero, False, False),
            (cast.ophelia, False, False),
        ):
            asked = f"{path}/{member.id}"
            assert chat.get(asked) == {**DONE, "is_user_group_member": somehow}
            answer = chat.get(asked, direct_member_only=True)
            assert answer == {**DONE, "is_user_group_member": direct}
        for user_id in (cast.hank.id, 999999):
            assert chat.get(f"{path}/{user_id}") == bad("No such user")
        assert as_polonius.get(f"{path}/{cast.hamlet.id}") == NO_GUESTS
        assert as_hank.get(f"{path}/{cast.hank.id}") == UNKNOWN
        assert as_nobody.request("GET", f"{path}/{cast.hamlet.id}").status_code == 401


class TestListUserGroupSubgroups:
    def test_lists_direct_and_all_subgroups(
        self, chat: ChatClient, as_polonius: ChatClient, as_hank: ChatClient,
        as_nobody: ChatClient, group: int,
    ) -> None:  # fmt: skip
        inner = make(chat, "inner")
        deep = make(chat, "deep", subgroups=[inner])
        path = f"/user_groups/{group}/subgroups"
        chat.post(path, add=[deep])
        assert chat.get(path) == {**DONE, "subgroups": [inner, deep]}
        assert chat.get(path, direct_subgroup_only=True) == {**DONE, "subgroups": [deep]}
        assert as_polonius.get(path) == NO_GUESTS
        assert as_hank.get(path) == chat.get("/user_groups/999999/subgroups") == UNKNOWN
        assert as_nobody.request("GET", path).status_code == 401
