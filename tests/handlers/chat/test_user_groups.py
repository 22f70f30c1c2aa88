"""Operations of the tag user_groups."""

import pytest
from sqlalchemy import select, update

from models.chat.tables import AuditLog, Event, Realm, User, UserGroup
from specd.db import Database
from tests.handlers.chat.groups import ids_of
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient, Repeated
from tests.support.chat.people import Cast

SYSTEM = [
    "role:internet",
    "role:everyone",
    "role:members",
    "role:fullmembers",
    "role:moderators",
    "role:administrators",
    "role:owners",
    "role:nobody",
]


class TestListUserGroups:
    def test_restricted_guest_sees_known_users_only(
        self, chat: ChatClient, as_polonius: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        members = [cast.othello.id, cast.polonius.id, cast.reminder.id]
        own = {"direct_members": members, "direct_subgroups": []}
        form = {"name": "choir", "description": "", "members": members, "can_join_group": own}
        assert chat.post("/user_groups/create", **form)["result"] == "success"
        chat_database.run(
            lambda s: s.execute(
                update(Realm).values(can_access_all_users_group=Realm.members_group_id)
            )
        )
        groups = as_polonius.get("/user_groups")["user_groups"]
        known = {cast.polonius.id, cast.reminder.id}
        assert {one for group in groups for one in group["members"]} == known
        assert groups[-1]["can_join_group"]["direct_members"] == sorted(known)
        assert groups[-1]["can_manage_group"]["direct_members"] == []

    def test_lists_the_system_groups_with_direct_members(
        self, as_polonius: ChatClient, cast: Cast
    ) -> None:
        groups = as_polonius.get("/user_groups")["user_groups"]
        assert [group["name"] for group in groups] == SYSTEM
        first = groups[0]["id"]
        members = [cast.hamlet.id, cast.othello.id, cast.reminder.id]
        assert [group["members"] for group in groups] == [
            [],
            [cast.polonius.id],
            members,
            members,
            [cast.prospero.id],
            [cast.iago.id],
            [cast.cordelia.id],
            [],
        ]
        assert [group["direct_subgroup_ids"] for group in groups] == [
            *([first + n] for n in range(1, 7)),
            [],
            [],
        ]
        nobody, everyone = first + 7, first + 1
        assert groups[2] == {
            "id": first + 2,
            "name": "role:members",
            "description": "Members of this organization, not including guests",
            "members": members,
            "direct_subgroup_ids": [first + 3],
            "is_system_group": True,
            "creator_id": None,
            "date_created": 1795167000,
            "deactivated": False,
            "can_add_members_group": nobody,
            "can_join_group": nobody,
            "can_leave_group": nobody,
            "can_manage_group": nobody,
            "can_mention_group": everyone,
            "can_remove_members_group": nobody,
        }

    def test_omits_deactivated_groups_unless_requested(
        self, chat: ChatClient, chat_database: Database
    ) -> None:
        made = chat.post("/user_groups/create", name="players", description="", members=[])
        chat_database.run(
            lambda s: s.execute(
                update(UserGroup)
                .where(UserGroup.id == made["group_id"])
                .values(is_deactivated=True)
            )
        )
        assert "players" not in ids_of(chat)
        groups = chat.get("/user_groups", include_deactivated_groups=True)["user_groups"]
        assert groups[-1]["deactivated"] is True

    def test_hides_other_organizations(self, chat: ChatClient, as_hank: ChatClient) -> None:
        chat.post("/user_groups/create", name="players", description="", members=[])
        assert list(ids_of(as_hank)) == SYSTEM
        assert not set(ids_of(as_hank).values()) & set(ids_of(chat).values())

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", "/user_groups").status_code == 401


class TestCreateUserGroup:
    def test_creates_a_group_that_its_creator_manages(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        system = ids_of(chat)
        made = chat.post(
            "/user_groups/create",
            name=" Players ",
            description="Who is on stage",
            members=[cast.othello.id, cast.hamlet.id, cast.hamlet.id],
            subgroups=[system["role:moderators"]],
        )
        assert made == {"result": "success", "msg": "", "group_id": made["group_id"]}
        his = {"direct_members": [cast.hamlet.id], "direct_subgroups": []}
        group = {
            "id": made["group_id"],
            "name": "Players",
            "description": "Who is on stage",
            "members": [cast.hamlet.id, cast.othello.id],
            "direct_subgroup_ids": [system["role:moderators"]],
            "is_system_group": False,
            "creator_id": cast.hamlet.id,
            "date_created": 1795262400,
            "deactivated": False,
            "can_add_members_group": his,
            "can_join_group": system["role:nobody"],
            "can_leave_group": system["role:everyone"],
            "can_manage_group": his,
            "can_mention_group": system["role:everyone"],
            "can_remove_members_group": system["role:nobody"],
        }
        assert chat.get("/user_groups")["user_groups"][-1] == group
        with chat_database.reading() as reader:
            event = reader.execute(select(Event.__table__)).one()
            audit = reader.execute(
                select(AuditLog.__table__).where(AuditLog.kind == "user_group_created")
            ).one()
        assert (event.type, event.audience, event.user_ids) == ("user_group", "realm", None)
        assert (audit.actor_id, audit.group_id) == (cast.hamlet.id, made["group_id"])

    def test_accepts_group_setting_values_of_every_kind(self, chat: ChatClient, cast: Cast) -> None:
        system = ids_of(chat)
        nested = {
            "direct_members": [cast.othello.id, cast.hamlet.id],
            "direct_subgroups": [system["role:owners"]],
        }
        chat.post(
            "/user_groups/create",
            name="players",
            description="",
            members=[],
            can_manage_group=nested,
            can_join_group=system["role:members"],
            can_mention_group={"direct_members": [], "direct_subgroups": [system["role:owners"]]},
            can_leave_group={"direct_members": [], "direct_subgroups": []},
        )
        group = chat.get("/user_groups")["user_groups"][-1]
        assert group["can_manage_group"] == {
            "direct_members": [cast.hamlet.id, cast.othello.id],
            "direct_subgroups": [system["role:owners"]],
        }
        assert group["can_join_group"] == system["role:members"]
        assert group["can_mention_group"] == system["role:owners"]
        assert group["can_leave_group"] == system["role:nobody"]

    def test_accepts_repeated_keys(self, chat: ChatClient, cast: Cast) -> None:
        members = Repeated((str(cast.hamlet.id), str(cast.othello.id)))
        chat.post("/user_groups/create", name="players", description="", members=members)
        group = chat.get("/user_groups")["user_groups"][-1]
        assert group["members"] == [cast.hamlet.id, cast.othello.id]

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("", "User group name can't be empty!"),
            ("  ", "User group name can't be empty!"),
            ("x" * 101, "User group name cannot exceed 100 characters."),
            ("role:kings", "User group name cannot start with 'role:'."),
            ("@kings", "User group name cannot start with '@'."),
            ("user:kings", "User group name cannot start with 'user:'."),
            ("stream:kings", "User group name cannot start with 'stream:'."),
            ("channel:kings", "User group name cannot start with 'channel:'."),
        ],
    )
    def test_rejects_invalid_names(self, chat: ChatClient, name: str, problem: str) -> None:
        form = {"name": name, "description": "", "members": []}
        assert chat.post("/user_groups/create", **form) == bad(problem)

    def test_rejects_a_duplicate_name_of_100_characters(self, chat: ChatClient) -> None:
        form = {"description": "", "members": []}
        assert chat.post("/user_groups/create", name="ß" * 100, **form)["result"] == "success"
        again = chat.post("/user_groups/create", name="ß" * 100, **form)
        assert again == bad(f"User group '{'ß' * 100}' already exists.")
        chat.post("/user_groups/create", name="Players", **form)
        again = chat.post("/user_groups/create", name="PLAYERS", **form)
        assert again == bad("User group 'PLAYERS' already exists.")

    def test_description_length_is_limited(self, chat: ChatClient) -> None:
        form = {"name": "players", "members": []}
        assert chat.post("/user_groups/create", description="x" * 1025, **form) == bad(
            "description is too long (limit: 1024 characters)"
        )
        answer = chat.post("/user_groups/create", description="x" * 1024, **form)
        assert answer["result"] == "success"

    def test_rejects_unknown_members_and_groups(
        self, chat: ChatClient, as_hank: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        foreign_group = ids_of(as_hank)["role:members"]
        form = {"name": "players", "description": ""}
        with chat_database.reading() as connection:
            system_bots = select(User.id).where(User.is_system_bot)
            notifier = connection.execute(system_bots).scalars().first()
        for user_id in (cast.hank.id, cast.ophelia.id, notifier, 999):
            answer = chat.post("/user_groups/create", members=[cast.hamlet.id, user_id], **form)
            assert answer == bad(f"Invalid user ID: {user_id}")
            answer = chat.post(
                "/user_groups/create",
                members=[],
                can_manage_group={"direct_members": [user_id], "direct_subgroups": []},
                **form,
            )
            assert answer == bad(f"Invalid user ID: {user_id}")
        for group_id in (foreign_group, 999):
            answer = chat.post("/user_groups/create", members=[], subgroups=[group_id], **form)
            assert answer == bad("Invalid user group")
            answer = chat.post("/user_groups/create", members=[], can_manage_group=group_id, **form)
            assert answer == bad("Invalid user group")

    def test_rejects_system_groups_that_a_setting_does_not_accept(self, chat: ChatClient) -> None:
        answer = chat.post(
            "/user_groups/create",
            name="players",
            description="",
            members=[],
            can_manage_group=ids_of(chat)["role:everyone"],
        )
        assert answer == bad("'can_manage_group' setting cannot be set to 'role:everyone' group.")

    def test_requires_permission(
        self, chat: ChatClient, as_polonius: ChatClient, as_cordelia: ChatClient, cast: Cast
    ) -> None:
        form = {"name": "players", "description": "", "members": []}
        assert as_polonius.post("/user_groups/create", **form) == bad("Insufficient permission")
        only_othello = {"direct_members": [cast.othello.id], "direct_subgroups": []}
        as_cordelia.patch("/realm", can_create_groups=only_othello)
        assert chat.post("/user_groups/create", **form) == bad("Insufficient permission")
        assert as_cordelia.post("/user_groups/create", **form) == bad("Insufficient permission")
        othello = chat.acting_as(cast.othello)
        assert othello.post("/user_groups/create", **form)["result"] == "success"

    def test_missing_parameters_are_reported_in_alphabetical_order(self, chat: ChatClient) -> None:
        for name, form in (
            ("description", {}),
            ("members", {"description": ""}),
            ("name", {"description": "", "members": []}),
        ):
            assert chat.post("/user_groups/create", **form) == bad(
                f"Missing '{name}' argument", "REQUEST_VARIABLE_MISSING", var_name=name
            )

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("POST", "/user_groups/create").status_code == 401
