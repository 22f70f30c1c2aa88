"""A chat server to drive: an organization of five users, a push relay, a vendor of video calls, and
values that come from outside: mailed tokens, a signed token, a consent given in a browser.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
from sqlalchemy import update
from sqlalchemy.orm import Session

from adapters.file_store.directory import DirectoryStore
from demo.local_server import LocalServer
from demo.phone import Phone
from demo.push_relay import LocalRelay
from demo.video_vendor import LocalVendor
from models.chat.identity.jwt_sign_in import change_configuration
from models.chat.tables import EmailChange, Invitation, Realm, User
from specd._db import migrate
from specd.db import Clock, Database
from tests.contract.sdk.stage import Stage, write_facts
from tests.live.running_server import RunningServer
from tests.support.chat.people import SECRET, VAULT, Cast, Member, make_cast
from tests.support.chat.queues import open_queue_of
from tests.support.chat.vendor_consent import consent
from tests.support.pictures import PIXEL
from workers.exports import Exports

HOST = "127.0.0.1"
JWT_SECRET = "what Acme signs its tokens with, 32 bytes and more"
RELAY_KEY, VENDOR_SECRET = "the relay's key", "the vendor's secret"
NOTICE_TOKEN = "the token of the vendor's notices"
NEW_EMAIL = "othello@venice.example"
FRIEND = "horatio@acme.example"
ANSWER_S = 30
"""A picture starts a process, which is slow on a busy machine."""
PEOPLE = ("cordelia", "iago", "hamlet", "othello", "polonius", "reminder")


@contextmanager
def chat_stage(directory: Path) -> Iterator[Stage]:
    """Yield the chat cast, in an organization at the address of the server.

    Facts: `base_url`; `people`, by first name: id, email, name, role, key; `jwt`, which signs
    Hamlet in; `email_change` of Othello: `token`, `new_email`; `push`, the registration data of a
    phone; `vendor`, Hamlet's consent: `code`, `state`; `finished_export_id`; `in_an_hour`, in Unix
    seconds; `queue`, Hamlet's; `invitation` from Cordelia: `token`, `email`; `callers`: two of the
    people, Othello with the new address, an unknown user, a caller without credentials, Hamlet's
    browser returning from the vendor, and the vendor.
    """
    database_url = f"sqlite:///{directory}/chat.db"
    migrate.upgrade(database_url, "chat")
    database = Database(database_url)
    cast = database.run(_furnish)
    queue = database.run(lambda s: open_queue_of(s, cast.hamlet, Clock().now()))
    token = database.run(lambda session: _ask_for_email(session, cast.othello.id))
    invitation = database.run(lambda session: _invite(session, cast))
    relay = LocalRelay(organization="specd", key=RELAY_KEY)
    vendor = LocalVendor(client_id="acme", client_secret=VENDOR_SECRET)
    with ExitStack() as stack:
        stack.callback(database.dispose)
        servers = [LocalServer(relay), LocalServer(vendor)]
        for server in servers:
            server.start()
            stack.callback(server.close)
        environment = {
            "SPECD_CHAT_SECRET": SECRET.decode(),
            "SPECD_CHAT_MAIL_DOMAIN": "mail.example",
            "SPECD_DEVELOPMENT": "true",
            "SPECD_WORKERS": "1",
            "SPECD_PUSH_RELAY_URL": servers[0].url,
            "SPECD_PUSH_RELAY_KEY": RELAY_KEY,
            "SPECD_VIDEO_VENDOR_URL": servers[1].url,
            "SPECD_VIDEO_VENDOR_CLIENT_ID": "acme",
            "SPECD_VIDEO_VENDOR_CLIENT_SECRET": VENDOR_SECRET,
            "SPECD_VIDEO_VENDOR_NOTICE_TOKEN": NOTICE_TOKEN,
        }
        running = stack.enter_context(RunningServer(directory, environment, application="chat"))
        phone = Phone()
        given = consent(running.url, servers[1].url, _basic(cast.hamlet))
        facts = {
            "base_url": f"{running.url}/api/v1",
            "people": {name: asdict(getattr(cast, name)) for name in PEOPLE},
            "jwt": jwt.encode(
                {"email": cast.hamlet.email, "iat": int(time.time())}, JWT_SECRET, algorithm="HS256"
            ),
            "email_change": {"token": token, "new_email": NEW_EMAIL},
            "invitation": {"token": invitation, "email": FRIEND},
            "push": phone.key_fields() | phone.token_fields(relay.public_key),
            "vendor": given,
            "finished_export_id": _export(running.url, cast.cordelia, database, directory),
            "upload": _upload(running.url, cast.hamlet),
            "in_an_hour": int(time.time()) + 3600,
            "queue": queue,
            "callers": {
                "cordelia": _signed_in(cast.cordelia),
                "hamlet": _signed_in(cast.hamlet),
                "othello_renamed": {**_signed_in(cast.othello), "username": NEW_EMAIL},
                "stranger": {"username": "nobody@acme.example", "password": "x" * 32},
                "anonymous": {},
                "browser": {"headers": {"Cookie": given["cookie"]}},
                "vendor": {"headers": {"Authorization": NOTICE_TOKEN}},
            },
        }
        yield Stage("chat", running, write_facts(directory, facts))


def _furnish(session: Session) -> Cast:
    now = Clock().now()
    cast = make_cast(session, now=now)
    session.execute(update(Realm).where(Realm.id == cast.realm_id).values(host=HOST))
    session.execute(
        update(User)
        .where(User.id == cast.cordelia.id)
        .values(can_create_users=True, can_change_user_emails=True)
    )
    change_configuration(
        session,
        VAULT,
        cast.realm_id,
        {"jwt_key": JWT_SECRET, "jwt_algorithms": "HS256", "jwt_audience": ""},
        now=now,
    )
    return cast


def _ask_for_email(session: Session, user_id: int) -> str:
    """Return the token in the mail about a new address."""
    token = secrets.token_urlsafe(32)
    now = Clock().now()
    session.add(
        EmailChange(
            user_id=user_id,
            new_email=NEW_EMAIL,
            token_sha256=hashlib.sha256(token.encode()).hexdigest(),
            created_at=now,
            expires_at=now + timedelta(days=1),
        )
    )
    return token


def _invite(session: Session, cast: Cast) -> str:
    """Return the token in the mail of an invitation."""
    token, now = secrets.token_urlsafe(32), Clock().now()
    session.add(
        Invitation(
            realm_id=cast.realm_id,
            inviter_id=cast.cordelia.id,
            email=FRIEND,
            email_key=FRIEND,
            role=400,
            channel_ids="[]",
            group_ids="[]",
            joins_default_channels=True,
            tells_inviter=True,
            token_sha256=hashlib.sha256(token.encode()).hexdigest(),
            created_at=now,
            expires_at=now + timedelta(days=1),
        )
    )
    return token


def _signed_in(member: Member) -> dict[str, str]:
    return {"username": member.email, "password": member.key}


def _basic(member: Member) -> dict[str, str]:
    credentials = base64.b64encode(f"{member.email}:{member.key}".encode()).decode()
    return {"Authorization": f"Basic {credentials}"}


def _upload(url: str, owner: Member) -> dict[str, Any]:
    """Upload a file of a user. Return its id, and the parts of its URL. The picture is an emoji."""
    api = httpx.Client(base_url=f"{url}/api/v1", headers=_basic(owner), timeout=ANSWER_S)
    picture = {"file": ("skull.png", PIXEL, "image/png")}
    api.post("/realm/emoji/yorick", files=picture).raise_for_status()
    sent = {"file": ("skull.txt", b"Alas.", "text/plain")}
    api.post("/user_uploads", files=sent).raise_for_status()
    listed = api.get("/attachments").json()
    [file] = listed["attachments"]
    realm, _, filename = file["path_id"].partition("/")
    return {"id": file["id"], "realm": realm, "filename": filename}


def _export(url: str, owner: Member, database: Database, directory: Path) -> int:
    """Create a finished export, which needs a worker."""
    asked = httpx.post(f"{url}/api/v1/export/realm", headers=_basic(owner))
    export_id: int = asked.json()["id"]
    worker = Exports(
        database,
        Clock(),
        directory / "exports",
        DirectoryStore(directory / "uploads" / "files"),
        public_url=url,
        retention=timedelta(days=1),
        stopping=threading.Event(),
    )
    assert worker.try_work_one()
    return export_id
