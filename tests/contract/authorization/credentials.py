"""Every kind of credential: creation, and the result of its use.

A maker creates a credential and returns a function that uses it and returns `GOOD` or the error.
`tests/contract/authorization/test_credentials_end.py` makes changes in between.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import httpx
import jwt
from flask import Flask
from sqlalchemy import select

from adapters.file_store.directory import DirectoryStore
from models.chat.accounts.key_renewal import renew_named_key, revoke_some_keys
from models.chat.identity.jwt_sign_in import change_configuration
from models.chat.moves import stopping
from models.chat.organization.realms import access_realm_by_id
from models.chat.tables import ClientDevice, VendorToken
from pages import chat as chat_pages
from specd.db import Database
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.calls import (
    NOTICE,
    NOTICE_TOKEN,
    Stage,
    authorize,
    begin,
    complete,
    link_of,
    open_link,
)
from tests.support.chat.mail import token_of
from tests.support.chat.people import KEYS, PASSWORD, VAULT, Cast, Member
from tests.support.chat.rows import change_user, user_row
from tests.support.chat.sign_in import deactivate_realm
from tests.support.frozen_clock import FrozenClock
from tests.support.service_pages import build_pages
from workers.exports import Exports

GOOD = "good"
NEW_PASSWORD = "the undiscovered country"
JWT_SECRET = "what Acme signs its tokens with, 32 bytes and more"
Use = Callable[[], str]


def told(response: httpx.Response) -> str:
    """Return `GOOD`, or the status and sentence of an error."""
    body = response.json()
    return GOOD if response.status_code < 400 else f"{response.status_code} {body['msg']}"


@dataclass
class Scene:
    """The organization Acme, a vendor of video calls, and the pages."""

    app: ChatApp
    database: Database
    cast: Cast
    clock: FrozenClock
    vendor: Stage
    folder: Path

    def by(self, name: str) -> ChatClient:
        """Return a client of a user of the cast."""
        member: Member = getattr(self.cast, name)
        return ChatClient(self.app, member.host, member)

    @property
    def anonymous(self) -> ChatClient:
        return ChatClient(self.app, "acme.example")

    def pages(self) -> Flask:
        """Return the pages on this scene's database, composed as in wsgi.py."""

        service = SimpleNamespace(
            database=self.database, clock=self.clock,
            settings=SimpleNamespace(chat_export_dir=self.folder, chat_page=False),
            adapters=SimpleNamespace(vault=VAULT, files=self.app.service.adapters.files),
        )  # fmt: skip
        return build_pages(documents={}, own=[partial(chat_pages.install_for, service=service)])

    def give_password(self, name: str) -> None:
        """Set a password. Only Hamlet has one in the cast."""
        hamlets = user_row(self.database, self.cast.hamlet.id).password_hash
        change_user(self.database, getattr(self.cast, name).id, password_hash=hamlets)

    def configure_jwt(self, **changes: Any) -> None:
        realm_id, now = self.cast.realm_id, self.clock.now()
        self.database.run(lambda s: change_configuration(s, VAULT, realm_id, changes, now=now))


# --- makers ------------------------------------------------------------------------------------


def api_key(scene: Scene, holder: str) -> Use:
    client = scene.by(holder)
    return lambda: told(client.request("GET", "/users/me"))


def password(scene: Scene, holder: str) -> Use:
    form = {"username": getattr(scene.cast, holder).email, "password": PASSWORD}
    return lambda: told(scene.anonymous.request("POST", "/fetch_api_key", form))


def signed_token(scene: Scene, holder: str) -> Use:
    scene.configure_jwt(jwt_key=JWT_SECRET, jwt_algorithms="HS256", jwt_audience="chat")
    email, issued = getattr(scene.cast, holder).email, int(scene.clock.now().timestamp())
    claims = {"email": email, "iat": issued, "aud": "chat"}
    form = {"token": jwt.encode(claims, JWT_SECRET, algorithm="HS256")}
    return lambda: told(scene.anonymous.request("POST", "/jwt/fetch_api_key", form))


def session_cookie(scene: Scene, holder: str) -> Use:
    begun = scene.by(holder).request("POST", "/users/me/sessions")
    cookie = {"Cookie": begun.headers["Set-Cookie"].partition(";")[0]}

    def use() -> str:
        response = scene.anonymous.request("POST", "/session/fetch_api_key", headers=cookie)
        return (
            told(response)
            if response.status_code >= 400 or "api_key" in response.json()
            else "gone"
        )

    return use


def email_link(scene: Scene, holder: str) -> Use:
    assert scene.by(holder).patch("/settings", email="new@acme.example")["result"] == "success"
    path = f"/accounts/confirm_new_email/{token_of(scene.database)}"
    return lambda: told(scene.anonymous.request("POST", path))


def invitation(scene: Scene, holder: str) -> Use:
    form = {"invitee_emails": "rosencrantz@acme.example", "stream_ids": []}
    assert scene.by(holder).post("/invites", **form)["result"] == "success"
    path = f"/accounts/join/{token_of(scene.database)}"
    form = {"full_name": "Rosencrantz", "password": NEW_PASSWORD}
    return lambda: told(scene.anonymous.request("POST", path, form))


def invitation_link(scene: Scene, holder: str) -> Use:
    link = scene.by(holder).post("/invites/multiuse")["invite_link"]
    path = f"/accounts/join/{link.rpartition('/')[2]}"
    form = {"email": "rosencrantz@acme.example"}
    return lambda: told(scene.anonymous.request("POST", path, form))


def export_link(scene: Scene, holder: str) -> Use:
    client = scene.by(holder)
    assert client.post("/export/realm") == {"result": "success", "msg": "", "id": 1}
    worker = Exports(
        scene.database, scene.clock, scene.folder, DirectoryStore(scene.folder), public_url="http://acme.example",
        retention=timedelta(days=30), stopping=Event(),
    )  # fmt: skip
    assert worker.try_work_one()
    (record,) = client.get("/export/realm")["exports"]
    browser = scene.pages().test_client()
    path = str(record["export_url"]).removeprefix("http://acme.example")

    def use() -> str:
        with browser.get(path, base_url="http://acme.example", buffered=True) as answer:
            return GOOD if answer.status_code == 200 else str(answer.status_code)

    return use


def upload_link(scene: Scene, holder: str) -> Use:
    client = scene.by(holder)
    path = client.get(client.post("/user_uploads", file=SentFile())["url"])["url"]
    browser = scene.pages().test_client()

    def use() -> str:
        with browser.get(path, base_url="http://acme.example", buffered=True) as answer:
            return GOOD if answer.status_code == 200 else str(answer.status_code)

    return use


def vendor_link(scene: Scene, holder: str) -> Use:
    """Only a completed authorization uses the link up, not opening it."""
    link = link_of(scene.by(holder))

    def use() -> str:
        opened = open_link(scene.anonymous, link)
        if opened.status_code >= 400:
            return told(opened)
        cookie = opened.headers["Set-Cookie"].partition(";")[0]
        return told(complete(scene.anonymous, scene.vendor.consent(opened.json()["url"]), cookie))

    return use


def vendor_state(scene: Scene, holder: str) -> Use:
    url, cookie = begin(scene.by(holder))
    return lambda: told(complete(scene.anonymous, scene.vendor.consent(url), cookie))


def vendor_authorization(scene: Scene, holder: str) -> Use:
    """The vendor's tokens, which this server uses for the holder."""
    authorize(scene.by(holder), scene.vendor)
    return lambda: _is_there(scene, VendorToken, holder)


def device(scene: Scene, holder: str) -> Use:
    """A device, whose push key decrypts messages to it."""
    scene.by(holder).post("/register_client_device")
    return lambda: _is_there(scene, ClientDevice, holder)


def idempotency_key(scene: Scene, holder: str) -> Use:
    """The stored response for the key of a sent message."""
    client, headers = scene.by(holder), {"Idempotency-Key": "7e0c5d1a"}
    form = {"type": "direct", "to": [scene.cast.othello.id], "content": "hello"}
    first = client.request("POST", "/messages", form, headers=headers)
    assert told(first) == GOOD

    def use() -> str:
        again = client.request("POST", "/messages", form, headers=headers)
        return told(again) if again.status_code >= 400 or again.content == first.content else "new"

    return use


def notice_token(scene: Scene, holder: str) -> Use:
    """The token that authenticates the vendor's notices. It is a setting and belongs to no user."""
    body = b'{"event": "app_deauthorized", "payload": {"user_id": "nobody-here"}}'
    headers = {"Content-Type": "application/json", "Authorization": NOTICE_TOKEN}
    set_notice_token(scene, NOTICE_TOKEN)
    return lambda: told(scene.anonymous.request("POST", NOTICE, content=body, headers=headers))


def set_notice_token(scene: Scene, token: str) -> None:
    object.__setattr__(scene.app.settings, "video_vendor_notice_token", token)


def _is_there(scene: Scene, table: Any, holder: str) -> str:
    user_id = getattr(scene.cast, holder).id
    with scene.database.reading() as reader:
        row = reader.execute(select(table.user_id).where(table.user_id == user_id)).first()
    return "gone" if row is None else GOOD


# --- what may happen ---------------------------------------------------------------------------


def renew(scene: Scene, holder: str) -> None:
    """Replace the API key. Users do it themselves, and the operator does it for bots."""
    member = getattr(scene.cast, holder)
    if user_row(scene.database, member.id).bot_type is None:
        answer = scene.by(holder).post("/users/me/api_key/regenerate")
        assert answer["result"] == "success"
        return
    realm_id, now = scene.cast.realm_id, scene.clock.now()
    scene.database.run(
        lambda s: renew_named_key(s, KEYS, access_realm_by_id(s, realm_id), member.email, now=now)
    )


def revoke_all(scene: Scene, holder: str) -> None:
    """Replace the API keys of all users, as the operator does after a leak."""
    realm_id, now = scene.cast.realm_id, scene.clock.now()
    scene.database.run(
        lambda s: revoke_some_keys(
            s, keys=KEYS, realm=access_realm_by_id(s, realm_id), after_id=0, now=now
        )
    )


def person_of(holder: str) -> str:
    """Return the user, or the owner of a bot."""
    return "hamlet" if holder == "reminder" else holder


def change_password(scene: Scene, holder: str) -> None:
    person = person_of(holder)
    scene.give_password(person)
    change = {"old_password": PASSWORD, "new_password": NEW_PASSWORD}
    assert scene.by(person).patch("/settings", **change)["result"] == "success"


def leave(scene: Scene, holder: str) -> None:
    user_id = getattr(scene.cast, person_of(holder)).id
    assert scene.by("cordelia").delete(f"/users/{user_id}")["result"] == "success"


def leave_and_come_back(scene: Scene, holder: str) -> None:
    leave(scene, holder)
    for name in {person_of(holder), holder}:
        user_id = getattr(scene.cast, name).id
        answer = scene.by("cordelia").post(f"/users/{user_id}/reactivate")
        assert answer["result"] == "success"


def close(scene: Scene, holder: str) -> None:
    deactivate_realm(scene.database, scene.cast.realm_id)


def stop(scene: Scene, holder: str) -> None:
    """Move the organization to another installation."""
    realm_id, now = scene.cast.realm_id, scene.clock.now()
    scene.database.run(lambda session: stopping.stop(session, realm_id, now=now))


def demote(scene: Scene, holder: str) -> None:
    user_id = getattr(scene.cast, person_of(holder)).id
    assert scene.by("cordelia").patch(f"/users/{user_id}", role=600)["result"] == "success"


@contextmanager
def vendor_of(app: ChatApp, shared: Stage) -> Iterator[Stage]:
    """Yield the vendor, as the application's vendor for one test."""
    before, app.vendor.target = app.vendor.target, None
    stage = Stage(shared.vendor, shared.server, app)
    stage.connect()
    yield stage
    app.vendor.target = before
    object.__setattr__(app.settings, "video_vendor_notice_token", "")
