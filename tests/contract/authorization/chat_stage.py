"""The chat half of the authorization tests: an organization with objects of every actor.

It is prepared once on SQLite, because permissions do not depend on the database. Each case of the
policy works on a copy of the file. A copy replaces the previous one of its name, so that its
compiled statements are reused.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import jwt
from sqlalchemy.orm import Session

from models.chat.identity.jwt_sign_in import change_configuration
from models.chat.tables import DataExport, RealmEmoji, User
from specd.db import Database
from tests.contract.authorization.policy import Case, filled
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.channels import make_channel
from tests.support.chat.people import VAULT, Cast, Member
from tests.support.chat.queues import open_queue_of
from tests.support.frozen_clock import FrozenClock
from tests.support.pictures import PIXEL

HOST = "acme.example"
JWT_KEY = "a secret that the organization and its portal share"
WEEK_S = 7 * 24 * 3600
CLEAN = "clean"


@dataclass(frozen=True)
class ChatStage:
    """The prepared organization. `things` are objects named in requests. `own` maps an actor to
    their objects. Copies are in `directory`.
    """

    file: Path
    cast: Cast
    app: ChatApp
    clock: FrozenClock
    things: Mapping[str, Any]
    own: Mapping[str, Mapping[str, Any]]
    directory: Path
    _databases: dict[str, Database] = field(default_factory=dict)
    _clean: set[str] = field(default_factory=set)
    """The copies on which `try_out` can work without replacing them."""

    def things_of(self, actor: str) -> dict[str, Any]:
        return {**self.things, **self.own["owner"], **self.own.get(actor, {})}

    def try_out(
        self,
        case: Case,
        actor: str,
        *,
        headers: Mapping[str, str] | None = None,
        keep: bool = False,
    ) -> httpx.Response:
        """Return the response to the actor. The changes of a request are undone before the next
        one, unless `keep` is set, and then until `forget`.
        """
        if not self._clean:
            self.copy(CLEAN)
            self._clean.add(CLEAN)
        response = self._ask(self._databases[CLEAN], case, actor, headers)
        if response.is_success and response.request.method != "GET" and not keep:
            self.forget()
        return response

    def answer(self, case: Case, actor: str, name: str = "cell") -> httpx.Response:
        """Return the response to the actor, on a copy that stays at `place(name)`."""
        database = self.copy(name)
        try:
            return self._ask(database, case, actor)
        finally:
            database.dispose()

    def forget(self) -> None:
        """Start the next `try_out` with a new copy."""
        for name in self._clean:
            self._databases[name].dispose()
        self._clean.clear()

    def place(self, name: str) -> Path:
        """Return the file of a copy."""
        return self.directory / f"{self.file.stem}-{name}.db"

    def copy(self, name: str) -> Database:
        """Return a new copy of the prepared database. It replaces the previous one of that name."""
        file = self.place(name)
        if name not in self._databases:
            self._databases[name] = Database(f"sqlite:///{file}")
        self._databases[name].dispose()
        for left in file.parent.glob(f"{file.name}-*"):
            left.unlink()
        shutil.copy(self.file, file)
        return self._databases[name]

    def _ask(
        self,
        database: Database,
        case: Case,
        actor: str,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        self.app.play(database, self.clock)
        method, path, parameters = call_of(self.app, case, self.things_of(actor))
        client, host = self._client(actor)
        sent = dict(headers or {})
        if "Idempotency-Key" in parameters:
            sent["Idempotency-Key"] = parameters.pop("Idempotency-Key")
        response = client.request(method, path, parameters, headers=sent, host=host)
        response.request = httpx.Request(method, path)
        return response

    def _client(self, actor: str) -> tuple[ChatClient, str]:
        member = members(self.cast).get(actor)
        if actor == "wrong key":
            member = replace(self.cast.hamlet, key="x" * 32)
        elif actor in ("elsewhere", "wrong host"):
            member = self.cast.hank
        host = self.cast.hank.host if actor == "elsewhere" else HOST
        return ChatClient(self.app, host, member), host


def call_of(app: ChatApp, case: Case, things: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Return method, path and parameters of a case's request."""
    method, path = app.operations[case.operation]
    parameters = dict(filled(case.request, things))
    for name in list(parameters):
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", quote(str(parameters.pop(name)), safe="@"))
    return method, path, parameters


def members(cast: Cast) -> dict[str, Member]:
    """Return the actors that are users or bots of the organization."""
    return {
        "deactivated": cast.ophelia,
        "guest": cast.polonius,
        "member": cast.othello,
        "moderator": cast.prospero,
        "administrator": cast.iago,
        "owner": cast.cordelia,
        "bot": cast.reminder,
    }


def empower(session: Session, cast: Cast, clock: FrozenClock) -> None:
    """Grant the permissions that only the operator can grant: two of an owner, and sign-in with
    tokens.
    """
    owner = session.get_one(User, cast.cordelia.id)
    owner.can_create_users = owner.can_change_user_emails = True
    tokens = {"jwt_key": JWT_KEY, "jwt_algorithms": ["HS256"], "jwt_audience": ""}
    change_configuration(session, VAULT, cast.realm_id, tokens, now=clock.now())


def keep_export(session: Session, cast: Cast, clock: FrozenClock) -> int:
    """Add a finished export of the organization's data. Return its id."""
    made = DataExport(
        realm_id=cast.realm_id, acting_user_id=cast.cordelia.id, export_type="public",
        state="succeeded", requested_at=clock.now(), ended_at=clock.now(),
        next_try_at=clock.now(), archive="1-made.zip", archive_sha256="0" * 64,
    )  # fmt: skip
    session.add(made)
    session.flush()
    return made.id


def prepare(
    template: tuple[str, Cast],
    directory: Path,
    memory: Path,
    clock: FrozenClock,
    app_over: Callable[[Database], ChatApp],
) -> ChatStage:
    """Return a furnished stage on a copy of the template. Its copies are in `memory`."""
    source, cast = template
    file = Path(shutil.copy(source, directory / "stage.db"))
    database = Database(f"sqlite:///{file}")
    app = app_over(database)
    things, own = furnish(database, app, cast, clock)
    database.dispose()
    return ChatStage(file, cast, app, clock, things, own, memory)


def _upload(ask: Callable[..., dict[str, Any]], who: Member, name: str) -> dict[str, Any]:
    """Upload a file of a user. Return its id, the last part of its URL, and a link to it."""
    url: str = ask(who, "POST", "/user_uploads", file=SentFile(name))["url"]
    newest = ask(who, "GET", "/attachments")["attachments"][-1]
    filename = url.rpartition("/")[2]
    return {"attachment": newest["id"], "filename": filename, "link": f"[{name}]({url})"}


def furnish(
    database: Database, app: ChatApp, cast: Cast, clock: FrozenClock
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Create objects for requests, and each actor's own.

    The square is public, and the cellar is private with Hamlet as its only subscriber. Hamlet and
    every actor have an object of each kind.
    """
    actors = {name: m for name, m in members(cast).items() if name != "deactivated"}
    users = [cast.hamlet, *actors.values()]
    database.run(lambda s: empower(s, cast, clock))
    square, cellar = database.run(
        lambda s: (
            make_channel(s, cast, "square", subscribers=users),
            make_channel(s, cast, "cellar", subscribers=[cast.hamlet], invite_only=True,
                         history_public_to_subscribers=False),
        )
    )  # fmt: skip

    def ask(who: Member, method: str, path: str, **parameters: Any) -> dict[str, Any]:
        answer = ChatClient(app, HOST, who).call(method, path, parameters)
        assert answer["result"] == "success", answer
        return answer

    def things_of(who: Member) -> dict[str, Any]:
        tomorrow = int(clock.now().timestamp()) + 86400
        message = ask(who, "POST", "/messages", type="channel", to="square", topic=who.name,
                      content="Words")["id"]  # fmt: skip
        ask(who, "POST", f"/messages/{message}/reactions", emoji_name="octopus")
        later = {"type": "channel", "to": square, "topic": "later", "content": "Later",
                 "scheduled_delivery_timestamp": tomorrow}  # fmt: skip
        scheduled = ask(who, "POST", "/scheduled_messages", **later)["scheduled_message_id"]
        remind = {"message_id": message, "scheduled_delivery_timestamp": tomorrow}
        reminder = ask(who, "POST", "/reminders", **remind)["reminder_id"]
        unsent = {"type": "", "to": [], "topic": "", "content": "To whom"}
        if who is not cast.ophelia:
            ask(who, "POST", f"/users/me/muted_users/{cast.ophelia.id}")
        [draft] = ask(who, "POST", "/drafts", drafts=[unsent])["ids"]
        greeting = {"title": "Greeting", "content": "Words"}
        ask(who, "PUT", "/bot_storage", storage={"visits": "1"})
        snippet = ask(who, "POST", "/saved_snippets", **greeting)["saved_snippet_id"]
        uploaded = _upload(ask, who, "own.txt")
        view = f"narrow/sender/{who.id}"
        ask(who, "POST", "/navigation_views", fragment=view, is_pinned=True, name="Mine")
        things = {
            "message": message, "scheduled_message": scheduled, "id": who.id, "draft": draft,
            "saved_snippet": snippet, "navigation_view": view, "reminder": reminder, **uploaded,
        }  # fmt: skip
        if who is not cast.polonius:
            name = f"friends of {who.name}"
            group: dict[str, Any] = {"name": name, "description": "", "members": [who.id]}
            group["can_join_group"] = members_group
            things["group"] = ask(who, "POST", "/user_groups/create", **group)["group_id"]
        if who not in (cast.polonius, cast.reminder):
            friend = {"invitee_emails": f"friend{who.id}@acme.example", "stream_ids": []}
            ask(who, "POST", "/invites", **friend)
            [things["invitation"]] = [
                each["id"]
                for each in ask(who, "GET", "/invites")["invites"]
                if each["invited_by_user_id"] == who.id and not each["is_multiuse"]
            ]
        if who is not cast.reminder:
            things["device"] = ask(who, "POST", "/register_client_device")["device_id"]
            things["session"] = ask(who, "POST", "/users/me/sessions")["session"]["id"]
        return things

    groups = ask(cast.cordelia, "GET", "/user_groups")["user_groups"]
    [members_group] = [each["id"] for each in groups if each["name"] == "role:members"]
    ask(cast.cordelia, "PATCH", "/realm", moderation_request_channel_id=square)
    as_owner = partial(ask, cast.cordelia)
    folder = as_owner("POST", "/channel_folders/create", name="Plays", description="")
    template = "https://play.example/{code}"
    playground = as_owner(
        "POST", "/realm/playgrounds", name="Play", syntax_language="C", url_template=template
    )
    as_owner("POST", "/realm/domains", domain="acme.example", allow_subdomains=False)
    motto = as_owner("POST", "/realm/profile_fields", name="Creed", field_type=1)
    linked = {"pattern": "#(?P<id>[0-9]+)", "url_template": "https://cases.example/{id}"}
    linkifier = as_owner("POST", "/realm/filters", **linked)
    emoji = {"realm_id": cast.realm_id, "name": "castle", "source_url": "/castle.png"}
    emoji["author_id"] = cast.hamlet.id
    database.run(lambda s: s.add(RealmEmoji(**emoji)))
    hamlets = things_of(cast.hamlet)
    ask(cast.hamlet, "POST", "/users/me/presence", status="active")
    ask(cast.hamlet, "PUT", "/bot_storage", storage={"skull": "Alas"})
    crier = ask(cast.othello, "POST", "/bots", full_name="Crier", short_name="crier")
    as_owner("POST", "/invites/multiuse")
    link = max(each["id"] for each in as_owner("GET", "/invites")["invites"])
    secret = ask(cast.hamlet, "POST", "/messages", type="channel", to="cellar", topic="cask",
                 content="Secret")["id"]  # fmt: skip
    poll = ask(cast.hamlet, "POST", "/messages", type="channel", to="square", topic="t",
               content="/poll To be?\nYes\nNo")["id"]  # fmt: skip
    letter = ask(cast.hamlet, "POST", "/messages", type="direct", to=[cast.hamlet.id],
                 content="Note")["id"]  # fmt: skip
    shown = _upload(ask, cast.hamlet, "shown.txt")
    ask(cast.hamlet, "POST", "/messages", type="channel", to="square", topic="files",
        content=shown["link"])  # fmt: skip
    own = {
        actor: {"own_id": who.id} | {f"own_{n}": thing for n, thing in things_of(who).items()}
        for actor, who in actors.items()
    }

    def queue_of(who: Member) -> str:
        return database.run(lambda s: open_queue_of(s, who, clock.now(), idle_timeout_s=WEEK_S))

    # All queues are created before the same message, so that they contain the same events.
    hamlets_queue = queue_of(cast.hamlet)
    for actor, who in actors.items():
        own[actor]["own_queue"] = queue_of(who)
    heard = ask(cast.hamlet, "POST", "/messages", type="channel", to="square", topic="news",
                content="Hear")["id"]  # fmt: skip
    ask(cast.hamlet, "POST", f"/messages/{heard}/reactions", emoji_name="octopus")
    things = {
        "square": square,
        "cellar": cellar,
        "hamlet": cast.hamlet.id,
        "hamlets_message": hamlets["message"],
        "hamlets_scheduled_message": hamlets["scheduled_message"],
        "hamlets_reminder": hamlets["reminder"],
        "hamlets_draft": hamlets["draft"],
        "hamlets_saved_snippet": hamlets["saved_snippet"],
        "hamlets_attachment": hamlets["attachment"],
        "hidden_filename": hamlets["filename"],
        "shown_filename": shown["filename"],
        "file": SentFile(),
        "picture": SentFile("skull.png", PIXEL, "image/png"),
        "realm_id": str(cast.realm_id),
        "hamlets_navigation_view": hamlets["navigation_view"],
        "hamlets_queue": hamlets_queue,
        "hamlets_group": hamlets["group"],
        "hamlets_invitation": hamlets["invitation"],
        "invitation_link": link,
        "members_group": members_group,
        "secret_message": secret,
        "direct_message": letter,
        "poll": poll,
        "hamlets_device": hamlets["device"],
        "hamlets_session": hamlets["session"],
        "hamlets_token": jwt.encode(
            {"email": cast.hamlet.email, "exp": clock.now().timestamp() + 3600},
            JWT_KEY,
            algorithm="HS256",
        ),
        "cordelia": cast.cordelia.id,
        "reminder": cast.reminder.id,
        "othellos_bot": crier["user_id"],
        "ophelia": cast.ophelia.id,
        "channel_folder": folder["channel_folder_id"],
        "playground": playground["id"],
        "profile_field": motto["id"],
        "linkifier": linkifier["id"],
        "export": database.run(lambda s: keep_export(s, cast, clock)),
        "tomorrow": int(clock.now().timestamp()) + 86400,
    }
    return things, own
