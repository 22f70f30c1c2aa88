"""Operations of the tag uploads, and files served by the pages."""

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from PIL import Image

from adapters.file_store.store import StoreUnavailable
from models.chat.common.vault import Vault
from pages import uploads
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.channels import make_channel, subscribe
from tests.support.chat.people import Cast
from tests.support.chat.queues import Place, Queues
from tests.support.frozen_clock import FrozenClock
from tests.support.pictures import SCRIPT, black_png, picture
from tests.support.service_pages import build_pages

PATH = "/user_uploads"
WORDS = SentFile()
PNG = SentFile("skull.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10, "image/png")


ABSENT = bad("This file does not exist or has been deleted.")
INVALID = bad("Invalid attachment")


@pytest.fixture
def place(chat: ChatClient, queues: Queues) -> Place:
    """Hamlet's queue of events about files."""
    return queues.open(chat, event_types=["attachment"])


@pytest.fixture
def browser(chat_app: ChatApp) -> FlaskClient:
    """A browser at Acme's pages."""
    install = partial(uploads.install_for, service=chat_app.service)
    return build_pages(documents={}, own=[install]).test_client()


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    """A private channel of Hamlet and Othello."""
    return chat_database.run(
        lambda s: make_channel(
            s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello], invite_only=True,
            history_public_to_subscribers=False,
        )
    )  # fmt: skip


def upload(client: ChatClient, file: SentFile = WORDS) -> str:
    """Upload a file and return its URL."""
    answer = client.post(PATH, file=file)
    assert answer["result"] == "success", answer
    return str(answer["url"])


def say(client: ChatClient, to: int, content: str) -> int:
    return int(client.post("/messages", type="channel", to=to, topic="t", content=content)["id"])


def listed(client: ChatClient) -> list[dict[str, Any]]:
    answer = client.get("/attachments")
    assert answer == {
        **DONE,
        "attachments": answer["attachments"],
        "upload_space_used": answer["upload_space_used"],
    }
    return list(answer["attachments"])


def fetch(browser: FlaskClient, path: str, client: ChatClient | None = None, **more: Any) -> Any:
    """Return the response of the pages, with the member's key if given."""
    member = client.member if client is not None else None
    auth = None if member is None else (member.email, member.key)
    base = "http://acme.example"
    return browser.get(path, base_url=base, auth=auth, buffered=True, **more)


class TestUploadFile:
    def test_stores_a_file(
        self, chat: ChatClient, chat_app: ChatApp, place: Place, queues: Queues,
        as_othello: ChatClient, clock: FrozenClock, cast: Cast,
    ) -> None:  # fmt: skip
        other_queue = queues.open(as_othello)
        answer = chat.post(PATH, file=PNG)
        url = str(answer["url"])
        assert answer == {**DONE, "uri": url, "url": url, "filename": "skull.png"}
        realm, filename = url.removeprefix("/user_uploads/").split("/")
        assert realm == str(cast.realm_id)
        handle, _, name = filename.partition("-")
        assert (len(handle), name) == (32, "skull.png")
        record = {
            "id": listed(chat)[0]["id"],
            "name": "skull.png",
            "path_id": f"{realm}/{filename}",
            "size": len(PNG.content),
            "create_time": int(clock.now().timestamp() * 1000),
            "messages": [],
        }
        assert listed(chat) == [record]
        [event] = place.read()
        assert event == {
            "id": event["id"], "type": "attachment", "op": "add", "attachment": record,
            "upload_space_used": len(PNG.content),
        }  # fmt: skip
        assert other_queue.read() == listed(as_othello) == []
        stored = chat_app.settings.chat_upload_dir / "files" / realm / handle[:2] / handle
        assert stored.read_bytes() == PNG.content
        assert list((chat_app.settings.chat_upload_dir / "arriving").iterdir()) == []

    def test_names_are_sanitized(self, chat: ChatClient) -> None:
        for sent, name, ending in (
            ("a b (1).txt", "a b (1).txt", "a-b-1-.txt"),
            ("../../etc/passwd", "passwd", "passwd"),
            ("C:\\Temp\\x.doc", "x.doc", "x.doc"),
            ("Ödön.png", "Ödön.png", "Ödön.png"),
            ("..", "..", "file"),
            ("", "file", "file"),
            ("x" * 300 + ".html", "x" * 195 + ".html", "x" * 95 + ".html"),
        ):
            answer = chat.post(PATH, file=SentFile(sent, b"x", ""))
            assert answer["filename"] == name
            assert answer["url"].rpartition("/")[2][33:] == ending, sent
        assert len(listed(chat)) == 7

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_nobody: ChatClient, chat_app: ChatApp
    ) -> None:
        none = bad("You must specify a file to upload")
        assert chat.post(PATH) == chat.post(PATH, file="text") == none
        assert chat.post(PATH, a=WORDS, b=WORDS) == bad("You may only upload one file at a time")
        intake = chat_app.service.files
        assert intake is not None
        large = SentFile("large", bytes(intake.limit + 1))
        too_large = bad(
            "File is larger than this server's configured maximum upload size (25 MiB)."
        )
        assert chat.post(PATH, file=large) == too_large
        assert listed(chat) == []
        assert list(intake.folder.iterdir()) == []
        assert as_nobody.request("POST", PATH, {"file": WORDS}).status_code == 401

    @pytest.mark.reaches("REALM_UPLOAD_QUOTA")
    def test_organization_has_a_quota(
        self, chat: ChatClient, as_othello: ChatClient, chat_app: ChatApp
    ) -> None:
        own = chat_app.settings.chat_upload_quota_mib
        object.__setattr__(chat_app.settings, "chat_upload_quota_mib", 1)
        try:
            upload(chat, SentFile("a", bytes((1 << 20) - 1)))
            upload(as_othello, SentFile("b", b"x"))
            refused = bad(
                "Upload would exceed your organization's upload quota.", "REALM_UPLOAD_QUOTA"
            )
            assert chat.post(PATH, file=SentFile("c", b"x")) == refused
        finally:
            object.__setattr__(chat_app.settings, "chat_upload_quota_mib", own)
        assert chat.get("/attachments")["upload_space_used"] == 1 << 20

    @pytest.mark.reaches("UPLOAD_STORE_UNAVAILABLE")
    def test_unavailable_store_is_reported(
        self, chat: ChatClient, chat_app: ChatApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def put(self: object, key: str, path: Path) -> None:
            raise StoreUnavailable("down")

        monkeypatch.setattr(type(chat_app.service.adapters.files), "put", put)
        response = chat.request("POST", PATH, {"file": WORDS})
        assert response.status_code == 503
        assert response.json() == bad(
            "The file could not be stored; try again in a moment", "UPLOAD_STORE_UNAVAILABLE"
        )
        assert listed(chat) == []

    def test_field_may_have_any_name(self, chat: ChatClient) -> None:
        """Zulip's Python client names the field after the file."""
        answer = chat.post(PATH, **{"/tmp/words.txt": WORDS})
        assert answer["filename"] == "words.txt"


class TestGetTemporaryUrl:
    def test_slow_downloads_of_one_user_leave_slots_for_others(
        self, chat: ChatClient, as_othello: ChatClient, browser: FlaskClient, denmark: int
    ) -> None:
        url = upload(chat)
        say(chat, denmark, f"[file]({url})")
        path = chat.get(url)["url"]
        base = "http://acme.example"
        slow = [browser.get(path, base_url=base) for _ in range(uploads.OF_ONE_USER)]
        assert [answer.status_code for answer in slow] == [200] * uploads.OF_ONE_USER
        refused = fetch(browser, path)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert fetch(browser, url, as_othello).status_code == 200
        slow.pop().close()
        assert fetch(browser, path).status_code == 200
        for answer in slow:
            answer.close()
        assert fetch(browser, path).status_code == 200

    def test_redirects_the_browser_to_the_file(
        self, chat: ChatClient, as_nobody: ChatClient, browser: FlaskClient, clock: FrozenClock
    ) -> None:
        url = upload(chat, PNG)
        answer = chat.get(url)
        assert answer == {**DONE, "url": answer["url"]}
        assert answer["url"].startswith("/user_uploads/temporary/")
        for _ in range(2):
            got = fetch(browser, answer["url"])
            assert (got.status_code, got.data) == (200, PNG.content)
        assert fetch(browser, answer["url"] + "x").status_code == 404
        assert fetch(browser, url).status_code == 403
        clock.advance(seconds=600)
        assert fetch(browser, answer["url"]).status_code == 404
        assert as_nobody.request("GET", url).status_code == 401

    def test_message_grants_access_to_its_readers(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient,
        as_polonius: ChatClient, chat_database: Database, cast: Cast, denmark: int,
        browser: FlaskClient, place: Place,
    ) -> None:  # fmt: skip
        """From its sending to its deletion, and to no other user, whatever their role."""
        url = upload(chat)
        hidden = as_othello.request("GET", url)
        assert (hidden.status_code, hidden.json()) == (404, ABSENT)
        shown = say(chat, denmark, f"[f]({url})")
        link = as_othello.get(url)["url"]
        assert fetch(browser, link).data == WORDS.content
        assert fetch(browser, url, as_othello).data == WORDS.content
        for stranger in (as_iago, as_polonius):
            assert stranger.get(url) == ABSENT
            assert fetch(browser, url, stranger).status_code == 404
        # A later subscriber does not read earlier messages.
        chat_database.run(lambda s: subscribe(s, denmark, cast.iago))
        assert as_iago.get(url) == ABSENT
        assert [event["op"] for event in place.read()] == ["add", "update"]
        [record] = listed(chat)
        assert [message["id"] for message in record["messages"]] == [shown]
        # Naming a file of another user grants no access. A user with access can share it.
        said = as_iago.post("/messages", type="direct", to=[cast.polonius.id], content=url)
        assert said["result"] == "success"
        assert as_polonius.get(url) == as_iago.get(url) == ABSENT
        as_othello.post("/messages", type="direct", to=[cast.polonius.id], content=f"[f]({url})")
        assert as_polonius.get(url)["result"] == "success"
        assert chat.delete(f"/messages/{shown}") == DONE
        assert fetch(browser, link).status_code == 200, "the direct message still contains it"

    def test_access_ends(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, browser: FlaskClient
    ) -> None:
        """With the message, with its link, or with the channel."""
        url = upload(chat)
        for end in ("delete", "edit", "leave"):
            shown = say(chat, denmark, f"[f]({url})")
            link = as_othello.get(url)["url"]
            if end == "delete":
                assert chat.delete(f"/messages/{shown}")["result"] == "success"
            elif end == "edit":
                answer = chat.patch(f"/messages/{shown}", content="Nothing")
                [record] = listed(chat)
                assert answer == {**DONE, "detached_uploads": [record]}
                assert record["messages"] == []
            else:
                as_othello.delete("/users/me/subscriptions", subscriptions=["Denmark"])
            assert as_othello.get(url) == ABSENT
            assert fetch(browser, link).status_code == 404
            assert chat.get(url)["result"] == "success", "its owner always has access"

    def test_hidden_equals_absent(
        self, chat: ChatClient, as_othello: ChatClient, as_hank: ChatClient
    ) -> None:
        url = upload(chat)
        handle = url.rpartition("/")[2][:32]
        for path in (
            url,
            url.replace(handle, "0" * 32),
            url.replace("words", "other"),
            "/user_uploads/9/" + url.rpartition("/")[2],
            "/user_uploads/1/x",
        ):
            response = as_othello.request("GET", path)
            assert (response.status_code, response.json()) == (404, ABSENT)
        assert as_hank.get(url) == ABSENT
        assert chat.get(url.replace("words", "other")) == ABSENT


class TestListAttachments:
    def test_lists_only_own_items(
        self, chat: ChatClient, as_polonius: ChatClient, as_reminder: ChatClient,
        as_nobody: ChatClient, cast: Cast,
    ) -> None:  # fmt: skip
        """Guests and bots have files, too. Messages that the owner cannot read are omitted."""
        for client in (chat, as_polonius, as_reminder):
            url = upload(client)
            assert [f"/user_uploads/{each['path_id']}" for each in listed(client)] == [url]
        sent = chat.post("/messages", type="direct", to=[cast.polonius.id], content=upload(chat))
        newest = listed(chat)[-1]
        assert newest["messages"] == [], "a bare path is not a link"
        assert sent["result"] == "success"
        url = f"/user_uploads/{newest['path_id']}"
        content = f"[f]({url}) and [again]({url})"
        both = {"type": "direct", "to": [cast.polonius.id], "content": content}
        first = chat.post("/messages", **both)["id"]
        to_iago = {**both, "to": [cast.iago.id]}
        assert as_polonius.post("/messages", **to_iago)["result"] == "success"
        assert [each["id"] for each in listed(chat)[-1]["messages"]] == [first]
        assert chat.get("/attachments")["upload_space_used"] == 4 * len(WORDS.content)
        assert as_nobody.request("GET", "/attachments").status_code == 401


class TestDeleteAttachment:
    def test_deletes_only_own_files(
        self, chat: ChatClient, as_othello: ChatClient, as_nobody: ChatClient, place: Place,
        denmark: int, browser: FlaskClient,
    ) -> None:  # fmt: skip
        url = upload(chat)
        say(chat, denmark, f"[f]({url})")
        [record] = listed(chat)
        path = f"/attachments/{record['id']}"
        place.read()
        assert as_othello.delete(path) == chat.delete("/attachments/999999") == INVALID
        assert chat.delete(path) == DONE
        assert chat.delete(path) == INVALID
        [event] = place.read()
        assert event == {
            "id": event["id"], "type": "attachment", "op": "remove",
            "attachment": {"id": record["id"]}, "upload_space_used": len(WORDS.content),
        }  # fmt: skip
        assert listed(chat) == []
        assert chat.get(url) == as_othello.get(url) == ABSENT
        assert fetch(browser, url, chat).status_code == 404
        assert as_nobody.request("DELETE", path, {}).status_code == 401


class TestServing:
    @pytest.mark.parametrize(
        ("name", "sent_type", "shown_type"),
        [
            ("a.png", "image/png", "image/png"),
            ("a.mp4", "", "video/mp4"),
            ("a.svg", "image/svg+xml", None),
            ("a.html", "text/html", None),
            ("a.xhtml", "application/xhtml+xml; charset=utf-8", None),
            ("a.pdf", "application/pdf", None),
            ("a.js", "", None),
            ("a", "image/png, text/html", None),
        ],
    )
    def test_content_of_a_file_never_runs(
        self, chat: ChatClient, browser: FlaskClient, name: str, sent_type: str,
        shown_type: str | None,
    ) -> None:  # fmt: skip
        url = upload(chat, SentFile(name, b"<script>alert(1)</script>", sent_type))
        answer = fetch(browser, chat.get(url)["url"])
        kind = "attachment" if shown_type is None else "inline"
        assert answer.headers["Content-Type"] == (shown_type or "application/octet-stream")
        assert answer.headers["Content-Disposition"].startswith(f'{kind}; filename="{name}"')
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none';")
        assert policy.endswith("sandbox")
        assert answer.headers["Cache-Control"] == "private, no-cache"

    def test_ranges(self, chat: ChatClient, browser: FlaskClient) -> None:
        url, size = upload(chat, PNG), len(PNG.content)
        get: Callable[..., Any] = partial(fetch, browser, url, chat)
        part = get(headers={"Range": "bytes=8-15"})
        assert (part.status_code, part.data) == (206, PNG.content[8:16])
        assert part.headers["Content-Range"] == f"bytes 8-15/{size}"
        end = get(headers={"Range": "bytes=-5"})
        assert (end.status_code, end.data) == (206, PNG.content[-5:])
        for beyond in (f"bytes={size}-", f"bytes={size + 9}-{size + 20}"):
            none = get(headers={"Range": beyond})
            assert (none.status_code, none.data) == (416, b"")
            assert none.headers["Content-Range"] == f"bytes */{size}"
        cut = get(headers={"Range": f"bytes=8-{size + 9}"})
        assert (cut.status_code, cut.data) == (206, PNG.content[8:])
        for ignored in ("bytes=2-1", "bytes=0-1,4-5", "pages=1-2", "bytes=a-b"):
            whole = get(headers={"Range": ignored})
            assert (whole.status_code, whole.data) == (200, PNG.content)
        tag = whole.headers["ETag"]
        assert get(headers={"If-None-Match": tag}).status_code == 304
        other = get(headers={"Range": "bytes=8-15", "If-Range": '"other"'})
        assert (other.status_code, other.data) == (200, PNG.content)
        member = chat.member
        assert member is not None
        head = browser.head(
            url,
            base_url="http://acme.example",
            auth=(member.email, member.key),
            headers={"Range": "bytes=8-15"},  # for GET only (RFC 9110, section 14.2)
        )
        assert (head.status_code, head.headers["Content-Length"]) == (200, str(size))

    def test_link_of_another_secret_is_rejected(
        self, chat: ChatClient, browser: FlaskClient, chat_app: ChatApp
    ) -> None:
        url = upload(chat)
        name = url.rpartition("/")[2]
        facts = '["k",1,99999999999999,"m"]'
        sealed = Vault(b"x" * 32).seal(facts, purpose=f"upload:{name[:32]}")
        assert fetch(browser, f"/user_uploads/temporary/{sealed}/{name}").status_code == 404


class TestThumbnails:
    def test_message_shows_a_preview(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, denmark: int,
        browser: FlaskClient,
    ) -> None:  # fmt: skip
        url = upload(chat, SentFile("skull.png", picture("PNG", 1680, 560), "image/png"))
        shown = say(chat, denmark, f"[a]({url}) and [b]({url})\n\n> [c]({url})\n\nEnd")
        thumbnail = url.replace("/user_uploads/", "/user_uploads/thumbnail/") + "/840x560.webp"
        preview = (
            f'<div class="message_inline_image"><a href="{url}" title="skull.png"><img'
            ' data-original-content-type="image/png" data-original-dimensions="1680x560"'
            f' src="{thumbnail}"></a></div>'
        )
        content = chat.get(f"/messages/{shown}")["message"]["content"]
        first = f'<p><a href="{url}">a</a> and <a href="{url}">b</a></p>'
        assert content.startswith(f"{first}\n{preview}\n<blockquote>")
        assert content.count("<img") == 1
        answer = fetch(browser, thumbnail, as_othello)
        assert answer.headers["Content-Type"] == "image/webp"
        assert answer.headers["Content-Security-Policy"].endswith("sandbox")
        with Image.open(io.BytesIO(answer.data)) as small:
            assert small.size == (840, 280)
        assert fetch(browser, thumbnail, as_iago).status_code == 404
        assert fetch(browser, thumbnail).status_code == 403
        assert fetch(browser, thumbnail.replace("840x", "841x"), as_othello).status_code == 404

    def test_files_without_thumbnail(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, browser: FlaskClient,
        chat_app: ChatApp,
    ) -> None:  # fmt: skip
        """The file is stored and linked anyway, without using more memory for it."""
        for name, content in (
            ("bomb.png", black_png(10_000, 10_000)),
            ("drawing.svg", SCRIPT),
            ("page.png", b"<html><script>alert(1)</script>"),
        ):
            url = upload(chat, SentFile(name, content, ""))
            shown = say(chat, denmark, f"[f]({url})")
            assert chat.get(f"/messages/{shown}")["message"]["content"] == (
                f'<p><a href="{url}">f</a></p>'
            )
            assert fetch(browser, url, as_othello).data == content
        assert list((chat_app.settings.chat_upload_dir / "arriving").iterdir()) == []
