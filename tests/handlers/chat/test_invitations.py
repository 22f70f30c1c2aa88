"""Operations of the tag invitations."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, select, update

from models.chat.identity.passwords import is_password
from models.chat.invitations.sending import PER_USER
from models.chat.tables import AuditLog, Invitation, Message, Realm, User
from specd.db import Database
from tests.contract.events.kinds import DOCUMENT
from tests.handlers.chat.groups import ids_of
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.mail import mails, token_of
from tests.support.chat.people import Cast
from tests.support.chat.queues import Place, Queues
from tests.support.chat.rows import change_user
from tests.support.frozen_clock import FrozenClock

FRIEND = "rosencrantz@acme.example"
PASSWORD = "the rest is silence"
LINK = "http://acme.example/api/v1/accounts/join/"
DAY_S = 86_400
NOTHING_TO_JOIN = {
    "stream_ids": [], "group_ids": [], "include_realm_default_subscriptions": False,
}  # fmt: skip


def failure(
    msg: str, *errors: list[Any], sent: bool = False, limit: bool = False
) -> dict[str, Any]:
    return {
        **bad(msg), "code": "INVITATION_FAILED", "errors": list(errors), "sent_invitations": sent,
        "license_limit_reached": False, "daily_limit_reached": limit,
    }  # fmt: skip


FORBIDDEN, NO_GUESTS = bad("Insufficient permission"), bad("Not allowed for guest users")
NO_BOTS = bad("This endpoint does not accept bot requests.")
ABSENT, NO_TOKEN = (
    bad("No such invitation"),
    bad("The invitation is unknown, was used already or has expired."),
)
OWNER = {**bad("Must be an organization owner"), "code": "UNAUTHORIZED_PRINCIPAL"}
ADMINISTRATOR = {
    **bad("Must be an organization administrator"), "code": "UNAUTHORIZED_PRINCIPAL",
}  # fmt: skip


def invite(client: ChatClient, emails: str = FRIEND, **form: Any) -> dict[str, Any]:
    return client.post("/invites", invitee_emails=emails, **{"stream_ids": [], **form})


def invites(client: ChatClient) -> list[dict[str, Any]]:
    answer = client.get("/invites")
    assert answer == {**DONE, "invites": answer["invites"]}
    return list(answer["invites"])


def make_link(client: ChatClient, **form: Any) -> str:
    """Create an invitation link and return its token."""
    answer = client.post("/invites/multiuse", **form)
    assert answer == {**DONE, "invite_link": answer["invite_link"]}
    assert answer["invite_link"].startswith(LINK)
    return str(answer["invite_link"]).removeprefix(LINK)


def accept(client: ChatClient, token: str, name: str = "Rosencrantz", **form: Any) -> Any:
    form = {"full_name": name, "password": PASSWORD, **form}
    return client.acting_as(None).post(f"/accounts/join/{token}", **form)


def event_types(place: Place) -> list[str]:
    return [event["type"] for event in place.read()]


def audit_entries(database: Database) -> list[str]:
    with database.reading() as reader:
        kinds = select(AuditLog.kind).where(AuditLog.kind.like("invitation%"))
        return list(reader.execute(kinds.order_by(AuditLog.id)).scalars())


def reject_outsiders(client: ChatClient, cast: Cast, method: str, path: str, **form: Any) -> None:
    """Check that missing credentials, guests and bots are rejected."""
    assert client.acting_as(None).request(method, path, form).status_code == 401
    assert client.acting_as(cast.polonius).call(method, path, form) == NO_GUESTS
    assert client.acting_as(cast.reminder).call(method, path, form) == NO_BOTS


class TestSendInvitations:
    def test_mails_a_link(
        self, chat: ChatClient, as_cordelia: ChatClient, as_othello: ChatClient, cast: Cast,
        queues: Queues, clock: FrozenClock, chat_database: Database,
    ) -> None:  # fmt: skip
        own_queue, owner_queue, others = (queues.open(c) for c in (chat, as_cordelia, as_othello))
        emails = f" {FRIEND.upper()} ,Guil <guil@acme.example>\n\n"
        assert invite(chat, emails) == DONE
        now = int(clock.now().timestamp())
        about = {
            "invited_by_user_id": cast.hamlet.id, "invited": now, "expiry_date": now + 10 * DAY_S,
            "invited_as": 400, "is_multiuse": False, "notify_referrer_on_join": True,
            **NOTHING_TO_JOIN,
        }  # fmt: skip
        first, second = invites(chat)
        assert [first, second] == [
            {**about, "id": first["id"], "email": "ROSENCRANTZ@ACME.EXAMPLE"},
            {**about, "id": second["id"], "email": "guil@acme.example"},
        ]
        assert event_types(own_queue) == event_types(owner_queue) == ["invites_changed"]
        assert event_types(others) == []
        written = mails(chat_database)
        assert [to for to, _, _ in written] == ["ROSENCRANTZ@ACME.EXAMPLE", "guil@acme.example"]
        until = f"{clock.now() + timedelta(days=10):%Y-%m-%d %H:%M}"
        assert written[1][1:] == (
            "Hamlet has invited you to join Acme",
            "Hi there,\n\nHamlet has invited you to join Acme.\n\nTo create your account, open\n\n"
            f"{LINK}{token_of(chat_database)}\n\nThe link works until {until} UTC. "
            "If you do not know Hamlet, do nothing.\n",
        )
        with chat_database.reading() as reader:
            rows = reader.execute(select(Invitation.token_sha256, Invitation.sealed_token)).all()
        assert not [row for row in rows if token_of(chat_database) in str(row)]
        assert audit_entries(chat_database) == ["invitations_sent"]

    def test_new_invitation_replaces_pending_one(
        self, chat: ChatClient, as_othello: ChatClient, chat_database: Database
    ) -> None:
        invite(chat)
        token = token_of(chat_database)
        assert invite(as_othello) == DONE
        assert invite(chat, FRIEND.title(), invite_expires_in_minutes="null") == DONE
        assert [each["expiry_date"] for each in invites(chat)] == [None]
        assert "works until" not in mails(chat_database)[-1][2]
        assert accept(chat, token) == NO_TOKEN
        assert len(invites(as_othello)) == 1

    @pytest.mark.reaches("INVITATION_FAILED")
    def test_reports_addresses_that_are_not_invited(
        self, chat: ChatClient, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        has, gone = cast.othello.email, cast.ophelia.email
        skipped = [gone, "Account has been deactivated.", True]
        known = [has, "Already has an account.", False]
        some = (
            "Some of those addresses already have an account here, so we didn't send them an "
            "invitation. We did send invitations to everyone else!"
        )
        nobody = "We weren't able to invite anyone."
        assert invite(chat, f"{has.upper()},{gone}") == failure(
            nobody, skipped, [has.upper(), *known[1:]]
        )
        assert invites(chat) == []
        assert invite(chat, f"{has},{FRIEND}") == failure(some, known, sent=True)
        assert [each["email"] for each in invites(chat)] == [FRIEND]
        as_cordelia.patch("/realm", emails_restricted_to_domains=True)
        as_cordelia.post("/realm/domains", domain="acme.example", allow_subdomains=False)
        wrong = "Some emails did not validate, so we didn't send any invitations."
        assert invite(chat, "x, a@b.example, a+b@acme.example, c@acme.example") == failure(
            wrong, ["x", "Invalid address.", False], ["a@b.example", "Outside your domain.", False],
            ["a+b@acme.example",
             "Email addresses containing + are not allowed in this organization.", False],
        )  # fmt: skip
        as_cordelia.patch("/realm", emails_restricted_to_domains=False)
        assert invite(chat, "a@mailinator.com") == failure(
            wrong, ["a@mailinator.com", "Please use your real email address.", False]
        )
        assert invite(chat, " , \n") == bad("You must specify at least one email address.")
        assert len(invites(chat)) == 1

    def test_number_of_statements_does_not_grow_with_addresses(
        self, chat: ChatClient, as_cordelia: ChatClient, chat_database: Database
    ) -> None:
        as_cordelia.patch("/realm", emails_restricted_to_domains=True)
        as_cordelia.post("/realm/domains", domain="acme.example", allow_subdomains=True)
        as_cordelia.post("/realm/domains", domain="b.example", allow_subdomains=False)
        executed: list[str] = []

        def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
            executed.append(statement)

        writer = chat_database._engine("writing")
        event.listen(writer, "before_cursor_execute", note)
        try:
            assert invite(chat, "a@acme.example") == DONE
            of_one = len(executed)
            assert invite(chat, "b@acme.example,c@x.y.acme.example,d@b.example") == DONE
            assert len(executed) == 2 * of_one
        finally:
            event.remove(writer, "before_cursor_execute", note)
        outside = ["e@x.b.example", "Outside your domain.", False]
        assert invite(chat, f"{FRIEND},{outside[0]}")["errors"] == [outside]

    def test_hidden_address_is_not_revealed(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.othello.id, email_address_visibility=4)
        assert invite(chat, cast.othello.email) == DONE
        assert [each["email"] for each in invites(chat)] == [cast.othello.email]
        [(to, _, text)] = mails(chat_database)
        assert to == cast.othello.email
        assert "exists already" in text
        assert LINK not in text

    def test_allowed_roles(
        self, chat: ChatClient, as_iago: ChatClient, as_cordelia: ChatClient,
        as_othello: ChatClient, cast: Cast,
    ) -> None:  # fmt: skip
        reject_outsiders(chat, cast, "POST", "/invites", invitee_emails=FRIEND, stream_ids=[])
        for client, role, answer in (
            (chat, 300, ADMINISTRATOR), (chat, 200, ADMINISTRATOR), (chat, 100, OWNER),
            (as_iago, 100, OWNER), (chat, 600, DONE), (as_iago, 200, DONE), (as_iago, 300, DONE),
            (as_cordelia, 100, DONE),
        ):  # fmt: skip
            assert invite(client, invite_as=role) == answer
        only = {"direct_members": [cast.othello.id], "direct_subgroups": []}
        refused = as_iago.patch("/realm", can_invite_users_group=only)
        assert refused == OWNER
        assert as_cordelia.patch("/realm", can_invite_users_group=only) == DONE
        assert invite(chat) == invite(as_cordelia) == FORBIDDEN
        assert invite(as_othello) == DONE

    def test_invites_only_to_manageable_channels(
        self, chat: ChatClient, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        public, closed, cellar, old = chat_database.run(
            lambda s: [
                make_channel(s, cast, name, subscribers=[who], **over)
                for name, who, over in (
                    ("public", cast.hamlet, {}),
                    ("closed", cast.hamlet, {"invite_only": True}),
                    ("cellar", cast.othello, {"invite_only": True}),
                    ("old", cast.hamlet, {"is_archived": True}),
                )
            ]
        )  # fmt: skip
        form = {"name": "choir", "description": "", "members": []}
        owner_group = as_cordelia.post("/user_groups/create", **form)["group_id"]
        assert invite(chat, stream_ids=[public, closed]) == DONE
        for channel in (cellar, old, 999999):
            refusal = bad(f"Invalid channel ID {channel}. No invites were sent.")
            assert invite(chat, stream_ids=[public, channel]) == refusal
        assert invite(chat, group_ids=[owner_group]) == FORBIDDEN
        assert invite(chat, group_ids=[ids_of(chat)["role:members"]]) == FORBIDDEN
        assert invite(chat, group_ids=[999999]) == bad("Invalid user group")
        as_cordelia.post(f"/user_groups/{owner_group}/deactivate")
        assert invite(as_cordelia, group_ids=[owner_group]) == bad("User group is deactivated.")
        nobody = ids_of(chat)["role:nobody"]
        as_cordelia.patch("/realm", can_add_subscribers_group=nobody)
        refusal = bad("You do not have permission to subscribe other users to channels.")
        assert invite(chat, stream_ids=[public]) == refusal

    def test_number_per_day_is_limited(
        self, chat: ChatClient, as_othello: ChatClient, chat_app: ChatApp, clock: FrozenClock
    ) -> None:
        object.__setattr__(chat_app.settings, "rate_limits", True)
        try:
            many = ",".join(f"n{number}@acme.example" for number in range(PER_USER))
            assert invite(chat, many) == DONE
            limit = failure(
                "To protect users, the number of invitations a day is limited. The limit is "
                "reached, so no invitations were sent.",
                limit=True,
            )
            assert invite(chat) == limit
            assert invite(chat, f"{many},{FRIEND}") == limit
            assert chat.post(f"/invites/{invites(chat)[0]['id']}/resend") == limit
            assert invite(as_othello) == DONE
            clock.advance(seconds=DAY_S / PER_USER)
            assert invite(chat) == DONE
        finally:
            object.__setattr__(chat_app.settings, "rate_limits", False)


class TestListInvitations:
    def test_lists_own_invitations_or_all(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, as_hank: ChatClient,
        cast: Cast, clock: FrozenClock,
    ) -> None:  # fmt: skip
        invite(chat, invite_expires_in_minutes=1)
        invite(as_othello, notify_referrer_on_join=False)
        token = make_link(as_iago, invite_as=600, invite_expires_in_minutes="null")
        hamlets, othellos, link = invites(as_iago)
        assert invites(chat) == [hamlets]
        assert invites(as_othello) == [othellos]
        assert othellos["notify_referrer_on_join"] is False
        assert link == {
            "id": link["id"], "invited_by_user_id": cast.iago.id,
            "invited": int(clock.now().timestamp()), "expiry_date": None, "invited_as": 600,
            "is_multiuse": True, "link_url": LINK + token, **NOTHING_TO_JOIN,
        }  # fmt: skip
        assert invites(as_hank) == []
        clock.advance(seconds=60)
        assert invites(chat) == []
        assert invites(as_iago) == [othellos, link]
        reject_outsiders(chat, cast, "GET", "/invites")


class TestCreateInvitationLink:
    def test_requires_permission(
        self, chat: ChatClient, as_iago: ChatClient, as_cordelia: ChatClient, cast: Cast,
        queues: Queues, chat_database: Database,
    ) -> None:  # fmt: skip
        place = queues.open(as_cordelia)
        reject_outsiders(chat, cast, "POST", "/invites/multiuse")
        assert chat.post("/invites/multiuse") == FORBIDDEN
        token = make_link(as_iago)
        with chat_database.reading() as reader:
            assert token not in str(reader.execute(select(Invitation.__table__)).all())
        assert event_types(place) == ["invites_changed"]
        assert audit_entries(chat_database) == ["invitation_link_created"]
        assert as_iago.post("/invites/multiuse", invite_as=100) == OWNER
        members = ids_of(chat)["role:members"]
        assert as_cordelia.patch("/realm", create_multiuse_invite_group=members) == DONE
        make_link(chat)
        assert chat.post("/invites/multiuse", invite_as=300) == ADMINISTRATOR
        refusal = bad("Invalid channel ID 999999. No invites were sent.")
        assert chat.post("/invites/multiuse", stream_ids=[999999]) == refusal


class TestEditInvitationLink:
    def test_omitted_values_are_unchanged(
        self, chat: ChatClient, as_cordelia: ChatClient, cast: Cast, queues: Queues,
        chat_database: Database,
    ) -> None:  # fmt: skip
        channel = chat_database.run(lambda session: make_channel(session, cast, "Elsinore"))
        group = as_cordelia.post("/user_groups/create", name="guards", description="", members=[])
        token = make_link(as_cordelia, invite_as=600, stream_ids=[channel])
        [before] = invites(as_cordelia)
        path, place = f"/invites/multiuse/{before['id']}", queues.open(as_cordelia)
        changes: list[dict[str, Any]] = [
            {"invite_as": 400},
            {"include_realm_default_subscriptions": True},
            {"group_ids": [group["group_id"]]},
            {"stream_ids": []},
            {},
        ]
        for change in changes:
            assert as_cordelia.patch(path, **change) == DONE
            shown_as = {"invite_as": "invited_as"}
            wanted = {shown_as.get(name, name): value for name, value in change.items()}
            [after] = invites(as_cordelia)
            assert after == {**before, **wanted}
            assert event_types(place) == ["invites_changed"]
            before = after
        assert audit_entries(chat_database)[1:] == ["invitation_link_edited"] * len(changes)
        asked = chat.acting_as(None).post(f"/accounts/join/{token}", email=FRIEND)
        assert asked["result"] == "success"
        accept(chat, token_of(chat_database))
        with chat_database.reading() as reader:
            joined = select(User.role).where(User.delivery_email == FRIEND)
            assert reader.execute(joined).scalar_one() == 400

    def test_requires_permission_to_create_and_revoke(
        self, chat: ChatClient, as_iago: ChatClient, as_cordelia: ChatClient, as_hank: ChatClient,
        cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        make_link(as_iago)
        [link] = invites(as_iago)
        path = f"/invites/multiuse/{link['id']}"
        reject_outsiders(chat, cast, "PATCH", path)
        assert chat.patch(path) == FORBIDDEN
        members = ids_of(chat)["role:members"]
        assert as_cordelia.patch("/realm", create_multiuse_invite_group=members) == DONE
        assert chat.patch(path) == as_iago.patch("/invites/multiuse/999999") == ABSENT
        assert as_hank.patch(path) in (ABSENT, FORBIDDEN)
        assert as_iago.patch(path, invite_as=100) == OWNER
        # An administrator cannot invite owners, so the link would become invalid.
        assert as_cordelia.patch(path, invite_as=100) == FORBIDDEN
        refusal = bad("Invalid channel ID 999999. No invites were sent.")
        assert as_cordelia.patch(path, stream_ids=[999999], invite_as=600) == refusal
        assert invites(as_iago) == [link]
        assert as_cordelia.patch(path, invite_as=200) == DONE
        invite(as_cordelia)
        mailed = next(each for each in invites(as_cordelia) if not each["is_multiuse"])
        assert as_cordelia.patch(f"/invites/multiuse/{mailed['id']}") == ABSENT
        make_link(as_cordelia, invite_as=100)
        owners = next(each for each in invites(as_cordelia) if each["invited_as"] == 100)
        assert as_iago.patch(f"/invites/multiuse/{owners['id']}", invite_as=600) == OWNER
        assert audit_entries(chat_database).count("invitation_link_edited") == 1


class TestRevokeInvitation:
    def test_requires_author_or_administrator(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient,
        as_cordelia: ChatClient, as_hank: ChatClient, cast: Cast, queues: Queues,
        chat_database: Database,
    ) -> None:  # fmt: skip
        invite(chat)
        token = token_of(chat_database)
        path = f"/invites/{invites(chat)[0]['id']}"
        place = queues.open(chat)
        for client in (as_othello, as_hank):
            assert client.delete(path) == ABSENT
        assert as_cordelia.delete(path.replace("/invites", "/invites/multiuse")) == ABSENT
        reject_outsiders(chat, cast, "DELETE", path)
        assert chat.delete(path) == DONE
        assert event_types(place) == ["invites_changed"]
        assert chat.delete(path) == chat.delete("/invites/999999") == ABSENT
        assert accept(chat, token) == NO_TOKEN
        invite(chat)
        assert as_iago.delete(f"/invites/{invites(chat)[0]['id']}") == DONE
        assert event_types(place) == ["invites_changed"] * 2
        invite(as_cordelia, invite_as=100)
        path = f"/invites/{invites(as_cordelia)[0]['id']}"
        assert as_iago.delete(path) == OWNER
        assert as_cordelia.delete(path) == DONE


class TestRevokeInvitationLink:
    def test_revokes_invitations_from_the_link(
        self, chat: ChatClient, as_iago: ChatClient, as_cordelia: ChatClient, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        token = make_link(as_iago)
        path = f"/invites/multiuse/{invites(as_iago)[0]['id']}"
        asked = chat.acting_as(None).post(f"/accounts/join/{token}", email=FRIEND)
        assert asked["result"] == "success"
        own = token_of(chat_database)
        reject_outsiders(chat, cast, "DELETE", path)
        assert chat.delete(path) == ABSENT
        assert as_cordelia.delete(path.replace("/multiuse", "")) == ABSENT
        assert as_cordelia.delete(path) == DONE
        assert as_cordelia.delete(path) == ABSENT
        assert accept(chat, own) == NO_TOKEN
        assert chat.acting_as(None).get(f"/accounts/join/{token}") == NO_TOKEN
        assert audit_entries(chat_database)[-1] == "invitation_revoked"

    def test_rejects_addresses_outside_the_allowed_domains(
        self, chat: ChatClient, as_iago: ChatClient, as_cordelia: ChatClient,
        chat_database: Database,
    ) -> None:  # fmt: skip
        path = f"/accounts/join/{make_link(as_iago)}"
        as_cordelia.patch("/realm", emails_restricted_to_domains=True)
        refused = chat.acting_as(None).post(path, email=FRIEND)
        assert refused == bad(f"Email '{FRIEND}' not allowed in this organization")
        assert mails(chat_database) == []


class TestResendInvitation:
    def test_sends_a_new_link(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, cast: Cast,
        chat_database: Database, clock: FrozenClock,
    ) -> None:  # fmt: skip
        invite(chat)
        first, before = token_of(chat_database), invites(chat)
        path = f"/invites/{before[0]['id']}/resend"
        reject_outsiders(chat, cast, "POST", path)
        assert as_othello.post(path) == chat.post("/invites/999999/resend") == ABSENT
        clock.advance(seconds=60)
        for client in (chat, as_iago):
            assert client.post(path) == DONE
            assert invites(chat) == before
            assert accept(chat, first) == NO_TOKEN
            first = token_of(chat_database)
        assert [to for to, _, _ in mails(chat_database)] == [FRIEND] * 3
        assert accept(chat, first)["result"] == "success"
        assert chat.post(path) == ABSENT


class TestGetInvitation:
    def test_returns_the_invitation(
        self, chat: ChatClient, as_nobody: ChatClient, as_iago: ChatClient, as_hank: ChatClient,
        chat_database: Database, clock: FrozenClock,
    ) -> None:  # fmt: skip
        invite(chat)
        token, link = token_of(chat_database), make_link(as_iago)
        path = f"/accounts/join/{token}"
        shown = {**DONE, "realm_name": "Acme"}
        assert as_nobody.get(path) == {**shown, "email": FRIEND}
        assert as_nobody.get(f"/accounts/join/{link}") == {**shown, "email": None}
        likes_json = {"Accept": "application/json, text/html;q=0.9"}
        assert as_nobody.request("GET", path, headers=likes_json).json()["email"] == FRIEND
        page = as_nobody.request("GET", path, headers={"Accept": "text/html"})
        examples = DOCUMENT["paths"]["/accounts/join/{token}"]["get"]["responses"]["200"]["content"]
        form = examples["text/html"]["examples"]["page"]["value"]
        assert page.text == form.replace("Cordelia", "Hamlet")
        policy = page.headers["content-security-policy"]
        assert policy == "default-src 'none'; form-action 'self'; frame-ancestors 'none'"
        assert page.headers["referrer-policy"] == "no-referrer"
        page = as_nobody.request("GET", f"/accounts/join/{link}", headers={"Accept": "text/html"})
        assert "name=email type=email" in page.text
        for wrong in ("x", link.swapcase()):
            answer = as_nobody.request("GET", f"/accounts/join/{wrong}")
            assert (answer.status_code, answer.json()) == (404, NO_TOKEN)
        assert as_hank.get(path) == NO_TOKEN
        clock.advance(seconds=10 * DAY_S - 1)
        assert as_nobody.get(path)["result"] == "success"
        clock.advance(seconds=1)
        assert as_nobody.get(path) == as_nobody.get(f"/accounts/join/{link}") == NO_TOKEN

    def test_names_are_escaped(
        self, chat: ChatClient, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.hamlet.id, full_name="<b>Hamlet</b>")
        chat_database.run(lambda s: s.execute(update(Realm).values(name="<i>&")))
        invite(chat)
        path = f"/accounts/join/{token_of(chat_database)}"
        page = as_nobody.request("GET", path, headers={"Accept": "text/html"}).text
        assert "<h1>Join &lt;i&gt;&amp;</h1><p>&lt;b&gt;Hamlet&lt;/b&gt; has invited" in page


class TestAcceptInvitation:
    def test_creates_the_account(
        self, chat: ChatClient, as_cordelia: ChatClient, as_othello: ChatClient, cast: Cast,
        queues: Queues, chat_database: Database,
    ) -> None:  # fmt: skip
        """With the role, channels and groups of the invitation."""
        square, stage = chat_database.run(
            lambda s: [make_channel(s, cast, n, subscribers=[cast.hamlet]) for n in ("sq", "st")]
        )
        form = {"name": "choir", "description": "", "members": []}
        choir, gone = (
            chat.post("/user_groups/create", **{**form, "name": name})["group_id"]
            for name in ("choir", "gone")
        )
        promised = {"stream_ids": [square, stage], "group_ids": [choir, gone], "invite_as": 400}
        assert invite(chat, **promised) == DONE
        assert invite(as_othello) == DONE
        chat.post(f"/user_groups/{gone}/deactivate")
        own_queue, owner_queue = queues.open(chat), queues.open(as_cordelia)
        token = next(text.partition(LINK)[2].split()[0] for _, _, text in mails(chat_database))
        assert accept(chat, token) == {**DONE, "email": FRIEND, "is_joined": True}
        with chat_database.reading() as reader:
            user = reader.execute(select(User.__table__).where(User.delivery_email == FRIEND)).one()
            notices = (
                reader.execute(
                    select(Message.content)
                    .where(Message.sender_id == cast.notification_bot_id)
                    .order_by(Message.id)
                )
                .scalars()
                .all()
            )
        assert (user.full_name, user.role, user.is_active) == ("Rosencrantz", 400, True)
        assert is_password(PASSWORD, user.password_hash)
        assert user.id in chat.get(f"/streams/{square}/members")["subscribers"]
        assert user.id in chat.get(f"/streams/{stage}/members")["subscribers"]
        assert chat.get(f"/user_groups/{choir}/members")["members"] == [user.id]
        assert chat.get(f"/user_groups/{gone}/members")["members"] == []
        members = ids_of(chat)["role:members"]
        assert user.id in chat.get(f"/user_groups/{members}/members")["members"]
        assert "welcome" in notices[0]
        who = f"@_**Rosencrantz|{user.id}**"
        assert notices[1:] == [f"{who} has accepted your invitation to join the organization."]
        heard = own_queue.read()
        assert {"realm_user", "user_group", "subscription", "message", "invites_changed"} <= {
            event["type"] for event in heard
        }
        assert event_types(owner_queue).count("invites_changed") == 1
        assert invites(chat) == invites(as_othello) == []
        key = chat.acting_as(None).post("/fetch_api_key", username=FRIEND, password=PASSWORD)
        assert key["user_id"] == user.id
        assert accept(chat, token) == NO_TOKEN
        assert audit_entries(chat_database)[-1] == "invitation_accepted"

    def test_default_channels_and_guests(
        self, chat: ChatClient, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        made = as_cordelia.post(
            "/users/me/subscriptions", subscriptions=[{"name": "all"}], is_default_stream=True
        )
        assert made["result"] == "success"
        channel = chat.get("/get_stream_id", stream="all")["stream_id"]
        for name, form in (
            ("one", {}),
            ("two", {"include_realm_default_subscriptions": True}),
            ("three", {"invite_as": 600, "stream_ids": [channel]}),
        ):
            asked = {"notify_referrer_on_join": False, **form}
            assert invite(chat, f"{name}@acme.example", **asked) == DONE
            assert accept(chat, token_of(chat_database), f"{name} Player")["is_joined"] is True
        with chat_database.reading() as reader:
            ids = select(User.full_name, User.id).where(User.full_name.like("%Player"))
            new = {name: user_id for name, user_id in reader.execute(ids)}
            roles = select(User.role).where(User.id == new["three Player"])
            assert reader.execute(roles).scalar_one() == 600
            said = select(Message.content).where(Message.content.like("%accepted%"))
            assert reader.execute(said).first() is None
        subscribers = chat.get(f"/streams/{channel}/members")["subscribers"]
        joined = {name for name, user_id in new.items() if user_id in subscribers}
        assert joined == {"two Player", "three Player"}

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_cordelia: ChatClient, as_nobody: ChatClient, as_hank: ChatClient,
        cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        invite(chat)
        token = token_of(chat_database)
        path = f"/accounts/join/{token}"
        missing = {"code": "REQUEST_VARIABLE_MISSING"}
        for form, answer in (
            ({}, {**bad("Missing 'full_name' argument"), **missing, "var_name": "full_name"}),
            (
                {"full_name": "Ros", "email": FRIEND},
                {**bad("Missing 'password' argument"), **missing, "var_name": "password"},
            ),
            ({"full_name": "R", "password": PASSWORD}, bad("Name too short!")),
            (
                {"full_name": "Notification Bot", "password": PASSWORD},
                bad("This name is reserved."),
            ),
            ({"full_name": "Ros", "password": "password"}, bad("The password is too weak.")),
        ):
            assert as_nobody.post(path, **form) == answer
        page = as_nobody.request(
            "POST", path, {"full_name": "Ros", "password": "x"}, headers={"Accept": "text/html"}
        )
        assert page.status_code == 400
        assert "<p><strong>The password is too weak.</strong></p><form" in page.text
        assert as_hank.post(path, full_name="Ros", password=PASSWORD) == NO_TOKEN
        as_cordelia.patch("/realm", emails_restricted_to_domains=True)
        refusal = bad(f"Email '{FRIEND}' not allowed in this organization")
        assert accept(chat, token) == refusal
        as_cordelia.patch("/realm", emails_restricted_to_domains=False)
        change_user(chat_database, cast.othello.id, delivery_email=FRIEND, email_key=FRIEND)
        assert accept(chat, token) == bad(f"Email '{FRIEND}' already in use")
        change_user(chat_database, cast.othello.id, delivery_email="o@x", email_key="o@x")
        change_user(chat_database, cast.hamlet.id, role=600)
        assert accept(chat, token) == NO_TOKEN
        change_user(chat_database, cast.hamlet.id, role=400)
        done = as_nobody.request(
            "POST", path, {"full_name": "Rosencrantz", "password": PASSWORD},
            headers={"Accept": "text/html"},
        )  # fmt: skip
        answers = DOCUMENT["paths"]["/accounts/join/{token}"]["post"]["responses"]["200"]["content"]
        assert done.text == answers["text/html"]["examples"]["page"]["value"]

    def test_invitation_stays_valid_if_the_author_loses_permission(
        self,
        chat: ChatClient,
        as_iago: ChatClient,
        as_cordelia: ChatClient,
        as_nobody: ChatClient,
        chat_database: Database,
    ) -> None:
        invite(chat)
        token, link = token_of(chat_database), make_link(as_iago)
        nobody = ids_of(chat)["role:nobody"]
        for setting in ("can_invite_users_group", "create_multiuse_invite_group"):
            assert as_cordelia.patch("/realm", **{setting: nobody}) == DONE
        assert chat.post("/invites", invitee_emails="x@acme.example", stream_ids=[]) == FORBIDDEN
        assert as_iago.post("/invites/multiuse") == FORBIDDEN
        assert accept(chat, token)["is_joined"] is True
        asked = as_nobody.post(f"/accounts/join/{link}", email="second@acme.example")
        assert asked["result"] == "success"

    def test_link_sends_an_invitation(
        self, chat: ChatClient, as_iago: ChatClient, as_nobody: ChatClient, cast: Cast,
        chat_database: Database, clock: FrozenClock, chat_app: ChatApp,
    ) -> None:  # fmt: skip
        path = f"/accounts/join/{make_link(as_iago, invite_as=600)}"
        assert as_nobody.post(path, full_name="Ros", password=PASSWORD) == {
            **bad("Missing 'email' argument"), "code": "REQUEST_VARIABLE_MISSING",
            "var_name": "email",
        }  # fmt: skip
        assert as_nobody.post(path, email="x") == bad("Enter a valid email address.")
        assert mails(chat_database) == []
        asked = {**DONE, "email": FRIEND, "is_joined": False}
        tokens = []
        for _ in range(2):
            assert as_nobody.post(path, email=FRIEND) == asked
            tokens.append(token_of(chat_database))
        assert len(invites(as_iago)) == 1, "the invitation from the link is not listed"
        assert accept(chat, tokens[0]) == NO_TOKEN
        page = as_nobody.request(
            "POST", path, {"email": "second@acme.example"}, headers={"Accept": "text/html"}
        )
        assert "An invitation is on its way to second@acme.example." in page.text
        assert accept(chat, tokens[1])["is_joined"] is True
        with chat_database.reading() as reader:
            roles = select(User.role).where(User.delivery_email == FRIEND)
            assert reader.execute(roles).scalar_one() == 600
        assert as_nobody.post(path, email=FRIEND) == asked
        assert "exists already" in mails(chat_database)[-1][2]
        assert as_nobody.post(path, email="third@acme.example")["result"] == "success"
        last = token_of(chat_database)
        clock.advance(seconds=DAY_S)
        assert accept(chat, last) == NO_TOKEN
        object.__setattr__(chat_app.settings, "rate_limits", True)
        try:
            for _ in range(3):
                assert as_nobody.post(path, email=FRIEND) == asked
            refused = as_nobody.request("POST", path, {"email": FRIEND})
            assert refused.status_code == 429
            assert re.fullmatch("[0-9]+", refused.headers["Retry-After"])
        finally:
            object.__setattr__(chat_app.settings, "rate_limits", False)
