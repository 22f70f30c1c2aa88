"""Avatars that users upload, of the tag users, and their visibility to others."""

import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask.testing import FlaskClient
from PIL import Image

from adapters.file_store.store import StoreUnavailable
from models.chat.common import audit
from pages import avatars as avatar_pages
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.people import Cast, gravatar
from tests.support.chat.queues import Queues
from tests.support.chat.rows import audited, change_user, user_row
from tests.support.pictures import PIXEL, SCRIPT, black_png, endless_jpeg, picture
from tests.support.service_pages import build_pages

PATH = "/users/me/avatar"
DISABLED = bad("Avatar changes are disabled in this organization.")


def png(width: int = 1, height: int = 1) -> SentFile:
    return SentFile("me.png", picture("PNG", width, height), "image/png")


@pytest.fixture
def browser(chat_app: ChatApp) -> FlaskClient:
    install = partial(avatar_pages.install_for, service=chat_app.service)
    return build_pages(documents={}, own=[install]).test_client()


def shown(browser: FlaskClient, path: str) -> Image.Image:
    answer = browser.get(path, base_url="http://acme.example")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].endswith("sandbox")
    assert answer.headers["Cache-Control"] == "public, max-age=86400"
    return Image.open(io.BytesIO(answer.data))


def medium(url: str) -> str:
    return url.replace(".png", "-medium.png")


def status(browser: FlaskClient, path: str, host: str = "acme.example") -> int:
    return browser.get(path, base_url=f"http://{host}").status_code


def upload(client: ChatClient, file: SentFile | None = None) -> str:
    answer = client.post(PATH, file=file or png())
    assert answer == {**DONE, "avatar_url": answer["avatar_url"]}
    return str(answer["avatar_url"])


def files(app: ChatApp) -> set[str]:
    """Return the names of all files in the store, including those of other tests."""
    folder = app.settings.chat_upload_dir / "files"
    return {path.name for path in folder.rglob("*") if path.is_file()}


def event_payloads(events: list[dict[str, Any]], type_: str) -> list[dict[str, Any]]:
    key = {"realm_user": "person", "realm_bot": "bot"}[type_]
    return [event[key] for event in events if event["type"] == type_]


@pytest.fixture(autouse=True)
def _nothing_left(chat_app: ChatApp) -> Iterator[None]:
    """No test leaves a file pending."""
    yield
    arriving = chat_app.settings.chat_upload_dir / "arriving"
    assert not arriving.exists() or list(arriving.iterdir()) == []


class TestUploadOwnAvatar:
    def test_upload_is_visible_to_all_users(
        self, chat: ChatClient, as_polonius: ChatClient, cast: Cast, queues: Queues,
        chat_database: Database,
    ) -> None:  # fmt: skip
        """Including clients that compute avatar URLs, and users who may not see the address."""
        change_user(chat_database, cast.hamlet.id, email_address_visibility=4)
        place, own_queue = queues.open(as_polonius), queues.open(chat, client_gravatar=True)
        url = upload(chat)
        realm, _, rest = url.removeprefix("/user_avatars/").partition("/")
        handle, _, version = rest.partition(".png?version=")
        assert (realm, len(handle), version) == (str(cast.realm_id), 32, "2")
        picture = {
            "user_id": cast.hamlet.id,
            "avatar_source": "U",
            "avatar_url": url,
            "avatar_url_medium": medium(url),
            "avatar_version": 2,
        }
        for queue in (place, own_queue):
            assert event_payloads(queue.read(), "realm_user") == [picture]
        assert audited(chat_database, "user_avatar_changed")
        own = chat.get("/users/me")
        assert (own["avatar_url"], own["avatar_version"]) == (url, 2)
        for form in ({}, {"client_gravatar": True}, {"client_gravatar": False}):
            user = as_polonius.get(f"/users/{cast.hamlet.id}", **form)["user"]
            assert (user["avatar_url"], user["avatar_version"]) == (url, 2)
            said = chat.post("/messages", type="direct", to=[cast.polonius.id], content="Hi")
            read = as_polonius.get(f"/messages/{said['id']}", **form)["message"]
            assert read["avatar_url"] == url
        heard = [
            e["message"] for queue in (place, own_queue) for e in queue.read() if "message" in e
        ]
        assert [message["avatar_url"] for message in heard] == [url] * 6

    def test_snapshot_has_the_avatar(self, chat: ChatClient, cast: Cast) -> None:
        def keys() -> tuple[str, str, str]:
            state = chat.post("/register", fetch_event_types=["realm_user", "realm"])
            assert state["max_avatar_file_size_mib"] == 5
            assert state["server_avatar_changes_disabled"] is False
            assert state["realm_avatar_changes_disabled"] is False
            users = {user["user_id"]: user for user in state["realm_users"]}
            assert users[cast.othello.id]["avatar_url"] is None
            is_own = state["avatar_source"] == "U"
            assert users[cast.hamlet.id]["avatar_url"] == (state["avatar_url"] if is_own else None)
            return state["avatar_source"], state["avatar_url"], state["avatar_url_medium"]

        external = gravatar("hamlet@acme.example")
        assert keys() == ("G", external, f"{external}&s=500")
        url = upload(chat)
        assert keys() == ("U", url, medium(url))

    def test_two_sizes_are_cropped_and_have_no_metadata(
        self, chat: ChatClient, browser: FlaskClient, cast: Cast
    ) -> None:
        image = Image.new("RGB", (900, 300), (0, 160, 0))
        image.paste((255, 0, 0), (300, 0, 450, 300))
        image.paste((0, 0, 255), (450, 0, 600, 300))
        exif = Image.Exif()
        exif[0x0112] = 6  # rotate, so that the left side is at the top
        exif[0x010E] = "where I live"
        out = io.BytesIO()
        image.save(out, "JPEG", exif=exif, quality=95, comment=b"where I live")
        url = upload(chat, SentFile("me.jpg", out.getvalue(), "image/jpeg"))
        for path, side in ((url, 100), (medium(url), 500)):
            made = shown(browser, path)
            assert (made.format, made.size, made.info) == ("PNG", (side, side), {})
            top, bottom = (made.convert("RGB").getpixel((side // 2, at)) for at in (5, side - 5))
            assert isinstance(top, tuple)
            assert isinstance(bottom, tuple)
            assert top[0] > 200 > top[2]
            assert bottom[2] > 200 > bottom[0]
        bare = url.partition("?")[0]
        assert status(browser, bare) == 200
        assert status(browser, url, "globex.example") == status(browser, url, "no.example") == 404
        for other in (
            url.replace(f"/{cast.realm_id}/", f"/{cast.globex_id}/"),
            f"/user_avatars/{cast.realm_id}/{'0' * 32}.png",
            bare.replace(".png", "-medium-medium.png"),
            bare.replace(".png", ".avatar.png"),
            f"/user_avatars/{cast.realm_id}/.png",
        ):
            assert status(browser, other) == 404

    def test_animation_becomes_its_first_frame(
        self, chat: ChatClient, browser: FlaskClient
    ) -> None:
        dance = SentFile("dance.gif", picture("GIF", 128, 128, frames=3), "image/gif")
        url = upload(chat, dance)
        for path, side in ((url, 100), (medium(url), 500)):
            made = shown(browser, path)
            assert (made.size, getattr(made, "n_frames", 1)) == ((side, side), 1)

    def test_previous_avatar_is_deleted(
        self, chat: ChatClient, chat_app: ChatApp, browser: FlaskClient
    ) -> None:
        others = files(chat_app)
        first = upload(chat)
        before = files(chat_app) - others
        second = upload(chat)
        after = files(chat_app) - others
        assert second.endswith("version=3")
        assert status(browser, first) == status(browser, medium(first)) == 404
        assert status(browser, second) == status(browser, medium(second)) == 200
        assert len(before) == len(after) == 2
        assert before.isdisjoint(after)

    def test_bot_has_an_avatar(
        self, chat: ChatClient, as_reminder: ChatClient, as_othello: ChatClient, cast: Cast,
        queues: Queues,
    ) -> None:  # fmt: skip
        place, other_queue = queues.open(chat), queues.open(as_othello)
        url = upload(as_reminder)
        events = place.read()
        assert event_payloads(events, "realm_bot") == [
            {"user_id": cast.reminder.id, "avatar_url": url}
        ]
        assert event_payloads(events, "realm_user")[0]["avatar_url_medium"] == medium(url)
        assert event_payloads(other_queue.read(), "realm_bot") == []
        assert [bot["avatar_url"] for bot in chat.get("/bots")["bots"]] == [url]
        changed = chat.patch(f"/bots/{cast.reminder.id}", full_name="Remembrance")
        assert changed["avatar_url"] == url
        state = chat.post("/register", fetch_event_types=["realm_bot"])
        assert [bot["avatar_url"] for bot in state["realm_bots"]] == [url]

    def test_change_of_email_keeps_the_avatar(
        self, chat: ChatClient, as_cordelia: ChatClient, cast: Cast, queues: Queues,
        chat_database: Database,
    ) -> None:  # fmt: skip
        url = upload(chat)
        change_user(chat_database, cast.cordelia.id, can_change_user_emails=True)
        place = queues.open(as_cordelia)
        answer = as_cordelia.patch(f"/users/{cast.hamlet.id}", new_email="prince@acme.example")
        assert answer == DONE
        assert all(
            "avatar_url" not in person for person in event_payloads(place.read(), "realm_user")
        )
        shown = as_cordelia.get(f"/users/{cast.hamlet.id}")["user"]
        assert (shown["email"], shown["avatar_url"]) == ("prince@acme.example", url)

    def test_requires_exactly_one_file(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        refused = bad("You must upload exactly one avatar.")
        assert chat.post(PATH) == refused
        assert chat.post(PATH, file="no file") == refused
        assert chat.post(PATH, a=png(), b=png()) == refused
        twice = httpx.Request(
            "POST", "http://nowhere", files=[("file", ("a", PIXEL)), ("file", ("b", PIXEL))]
        )
        kind = {"Content-Type": twice.headers["Content-Type"]}
        answer = chat.request("POST", PATH, content=twice.read(), headers=kind)
        assert (answer.status_code, answer.json()) == (400, refused)
        assert user_row(chat_database, cast.hamlet.id).avatar_handle is None
        assert "version=2" in str(chat.post(PATH, **{"/tmp/me.png": png()})["avatar_url"])

    @pytest.mark.reaches("BAD_IMAGE")
    def test_rejects_invalid_images(
        self, chat: ChatClient, chat_app: ChatApp, cast: Cast, chat_database: Database
    ) -> None:
        refused = bad("Could not decode image; did you upload an image file?", "BAD_IMAGE")
        before = files(chat_app)
        for content in (
            b"", b"GIF89a", SCRIPT, PIXEL[:40], b"<html><script>alert(1)</script>",
            black_png(10_000, 10_000), endless_jpeg(200),
        ):  # fmt: skip
            assert chat.post(PATH, file=SentFile("me.png", content, "image/png")) == refused
        large = SentFile("me.png", bytes((5 << 20) + 1), "image/png")
        assert chat.post(PATH, file=large) == bad(
            "Uploaded file is larger than the allowed limit of 5 MiB"
        )
        assert user_row(chat_database, cast.hamlet.id).avatar_handle is None
        assert files(chat_app) == before

    def test_allowed_roles(
        self, chat: ChatClient, as_iago: ChatClient, as_polonius: ChatClient,
        as_reminder: ChatClient, as_nobody: ChatClient, cast: Cast, chat_database: Database,
        chat_app: ChatApp,
    ) -> None:  # fmt: skip
        assert as_nobody.request("POST", PATH, {"file": png()}).status_code == 401
        upload(as_polonius)
        assert chat.patch("/realm", avatar_changes_disabled=True) == bad(
            "Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL"
        )
        assert as_iago.patch("/realm", avatar_changes_disabled=True) == DONE
        state = chat.post("/register", fetch_event_types=["realm"])
        assert state["realm_avatar_changes_disabled"] is True
        before = files(chat_app)
        for client in (chat, as_polonius, as_reminder):
            assert client.post(PATH, file=png()) == DISABLED
        assert files(chat_app) == before
        assert user_row(chat_database, cast.polonius.id).avatar_handle is not None
        upload(as_iago)

    @pytest.mark.reaches("UPLOAD_STORE_UNAVAILABLE")
    @pytest.mark.parametrize("stored", [0, 1])
    def test_unavailable_store_keeps_the_previous_avatar(
        self, chat: ChatClient, chat_app: ChatApp, monkeypatch: pytest.MonkeyPatch, stored: int,
        browser: FlaskClient,
    ) -> None:  # fmt: skip
        """If the store fails for the first or the second size."""
        first = upload(chat)
        store = type(chat_app.service.adapters.files)
        put, done = store.put, 0

        def fail(self: Any, key: str, path: Path) -> None:
            nonlocal done
            if done == stored:
                raise StoreUnavailable("down")
            done += 1
            put(self, key, path)

        with monkeypatch.context() as broken:
            broken.setattr(store, "put", fail)
            response = chat.request("POST", PATH, {"file": png()})
        assert response.status_code == 503
        assert response.json()["code"] == "UPLOAD_STORE_UNAVAILABLE"
        assert chat.get("/users/me")["avatar_url"] == first
        assert status(browser, first) == status(browser, medium(first)) == 200

    def test_failed_transaction_keeps_the_previous_avatar(
        self, chat: ChatClient, chat_app: ChatApp, monkeypatch: pytest.MonkeyPatch,
        browser: FlaskClient,
    ) -> None:  # fmt: skip
        """The worker deletes the new files from the store."""
        first = upload(chat)

        def fail(*_: Any, **__: Any) -> None:
            raise RuntimeError("broken")

        with monkeypatch.context() as broken:
            broken.setattr(audit, "record", fail)
            assert chat.request("POST", PATH, {"file": png()}).status_code == 500
        assert chat.get("/users/me")["avatar_url"] == first
        assert status(browser, first) == 200

    def test_store_that_cannot_delete(
        self, chat: ChatClient, chat_app: ChatApp, monkeypatch: pytest.MonkeyPatch,
        browser: FlaskClient,
    ) -> None:  # fmt: skip
        first = upload(chat)

        def fail(self: object, key: str) -> None:
            raise StoreUnavailable("down")

        monkeypatch.setattr(type(chat_app.service.adapters.files), "delete", fail)
        second = upload(chat)
        assert status(browser, first) == 404, "it is not served, and the worker deletes it"
        assert status(browser, second) == 200


class TestDeleteOwnAvatar:
    def test_gravatar_is_restored(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, queues: Queues,
        browser: FlaskClient, chat_app: ChatApp, chat_database: Database,
    ) -> None:  # fmt: skip
        external = gravatar("hamlet@acme.example")
        assert chat.delete(PATH) == {**DONE, "avatar_url": external}, "there was no avatar"
        assert audited(chat_database, "user_avatar_changed") == []
        before = files(chat_app)
        url = upload(chat)
        place = queues.open(as_othello)
        answer = chat.delete(PATH)
        external = external.replace("version=1", "version=3")
        assert answer == {**DONE, "avatar_url": external}
        assert event_payloads(place.read(), "realm_user") == [
            {
                "user_id": cast.hamlet.id,
                "avatar_source": "G",
                "avatar_url": external,
                "avatar_url_medium": f"{external}&s=500",
                "avatar_version": 3,
            }
        ]
        assert as_othello.get(f"/users/{cast.hamlet.id}")["user"]["avatar_url"] is None
        assert status(browser, url) == 404
        assert files(chat_app) == before
        assert chat.delete(PATH) == answer
        assert place.read() == []

    def test_email_address_stays_hidden(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, cast: Cast,
        queues: Queues, chat_database: Database,
    ) -> None:  # fmt: skip
        """Each client receives the Gravatar of the address that its user may see."""
        change_user(chat_database, cast.hamlet.id, email_address_visibility=3)
        upload(chat)
        ends = {}
        for name, client in (("othello", as_othello), ("iago", as_iago), ("hamlet", chat)):
            ends[name] = queues.open(client)
        chat.delete(PATH)
        dummy = f"user{cast.hamlet.id}@acme.example"
        seen = {"othello": dummy, "iago": cast.hamlet.email, "hamlet": cast.hamlet.email}
        for name, place in ends.items():
            people = event_payloads(place.read(), "realm_user")
            wanted = gravatar(seen[name]).replace("version=1", "version=3")
            assert people[-1]["avatar_url"] == wanted
            assert (len(people) == 1) == (name == "othello")

    def test_allowed_roles(
        self, chat: ChatClient, as_iago: ChatClient, as_nobody: ChatClient
    ) -> None:
        assert as_nobody.request("DELETE", PATH, {}).status_code == 401
        url = upload(chat)
        assert as_iago.patch("/realm", avatar_changes_disabled=True) == DONE
        assert chat.delete(PATH) == DISABLED
        assert chat.get("/users/me")["avatar_url"] == url
        assert as_iago.delete(PATH)["result"] == "success"

    def test_deleted_with_the_profile(
        self, chat: ChatClient, as_reminder: ChatClient, as_iago: ChatClient, cast: Cast,
        browser: FlaskClient, chat_database: Database,
    ) -> None:  # fmt: skip
        """For the deleted user and the user's bots. Deactivation alone keeps the avatar."""
        user_avatar, bot_avatar = upload(chat), upload(as_reminder)
        assert as_iago.delete(f"/users/{cast.hamlet.id}") == DONE
        assert status(browser, user_avatar) == status(browser, bot_avatar) == 200
        assert as_iago.post(f"/users/{cast.hamlet.id}/reactivate") == DONE
        deleted = as_iago.delete(f"/users/{cast.hamlet.id}", actions={"delete_profile": True})
        assert deleted == DONE
        assert status(browser, user_avatar) == status(browser, bot_avatar) == 404
        for member in (cast.hamlet, cast.reminder):
            assert user_row(chat_database, member.id).avatar_handle is None
            user = as_iago.get(f"/users/{member.id}")["user"]
            assert "gravatar.com" in user["avatar_url"]
