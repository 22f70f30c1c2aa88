"""Operations of the tag custom_emoji."""

import io
from functools import partial
from typing import Any

import pytest
from flask.testing import FlaskClient
from PIL import Image
from sqlalchemy import update
from sqlalchemy.orm import Session

from models.chat.tables import Realm, RealmEmoji
from pages import emoji as emoji_pages
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.people import Cast
from tests.support.chat.queues import Queues
from tests.support.chat.rows import audited
from tests.support.pictures import PIXEL, SCRIPT, black_png, picture
from tests.support.service_pages import build_pages

PICTURE = SentFile("skull.png", PIXEL, "image/png")
PATH = "/realm/emoji/yorick"


def keep(database: Database, **columns: Any) -> str:
    """Create an emoji and return its id."""

    def add(session: Session) -> int:
        emoji = RealmEmoji(**columns)
        session.add(emoji)
        session.flush()
        return emoji.id

    return str(database.run(add))


class TestListCustomEmoji:
    def test_lists_emoji_of_the_organization(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        assert chat.get("/realm/emoji") == {**DONE, "emoji": {}}
        own = {"realm_id": cast.realm_id, "author_id": cast.othello.id}
        used = keep(chat_database, name="yorick", source_url="/yorick.png", **own)
        old = keep(chat_database, name="ghost", source_url="/g.png", is_deactivated=True, **own)
        keep(chat_database, name="doughnut", source_url="/d.png", realm_id=cast.globex_id)
        assert chat.get("/realm/emoji") == {
            **DONE,
            "emoji": {
                used: {
                    "id": used,
                    "name": "yorick",
                    "source_url": "/yorick.png",
                    "still_url": None,
                    "deactivated": False,
                    "author_id": cast.othello.id,
                },
                old: {
                    "id": old,
                    "name": "ghost",
                    "source_url": "/g.png",
                    "still_url": None,
                    "deactivated": True,
                    "author_id": cast.othello.id,
                },
            },
        }

    def test_hides_authors_that_a_guest_may_not_see(
        self, as_polonius: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        code = keep(
            chat_database, name="yorick", source_url="/y.png", realm_id=cast.realm_id,
            author_id=cast.othello.id,
        )  # fmt: skip
        assert as_polonius.get("/realm/emoji")["emoji"][code]["author_id"] == cast.othello.id
        members = update(Realm).values(can_access_all_users_group=Realm.members_group_id)
        chat_database.run(lambda s: s.execute(members))
        assert as_polonius.get("/realm/emoji")["emoji"][code]["author_id"] is None

    def test_reports_unknown_parameters(self, chat: ChatClient) -> None:
        ignored = {"ignored_parameters_unsupported": ["colour"]}
        assert chat.get("/realm/emoji", colour="red") == {**DONE, "emoji": {}, **ignored}

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        response = as_nobody.request("GET", "/realm/emoji")
        assert response.status_code == 401
        assert response.json()["code"] == "UNAUTHORIZED"


@pytest.fixture
def browser(chat_app: ChatApp) -> FlaskClient:
    install = partial(emoji_pages.install_for, service=chat_app.service)
    return build_pages(documents={}, own=[install]).test_client()


def shown(browser: FlaskClient, path: str, host: str = "acme.example") -> Image.Image:
    answer = browser.get(path, base_url=f"http://{host}")
    assert answer.headers["Content-Type"] == "image/webp"
    assert answer.headers["Content-Security-Policy"].endswith("sandbox")
    return Image.open(io.BytesIO(answer.data))


class TestCreateCustomEmoji:
    def test_creates_an_emoji(
        self, chat: ChatClient, as_polonius: ChatClient, queues: Queues, cast: Cast,
        browser: FlaskClient, chat_database: Database,
    ) -> None:  # fmt: skip
        place = queues.open(as_polonius)
        file = SentFile("skull.png", picture("PNG", 300, 100), "image/png")
        assert chat.post(PATH, file=file) == DONE
        listed = chat.get("/realm/emoji")["emoji"]
        [(code, record)] = listed.items()
        assert record == {
            "id": code,
            "name": "yorick",
            "source_url": record["source_url"],
            "still_url": None,
            "deactivated": False,
            "author_id": cast.hamlet.id,
        }
        [event] = place.read()
        assert event == {
            "id": event["id"], "type": "realm_emoji", "op": "update", "realm_emoji": listed,
        }  # fmt: skip
        url = record["source_url"]
        assert shown(browser, url).size == (64, 21)
        for path, host in ((url, "globex.example"), (url.replace("1", "9"), "acme.example")):
            assert browser.get(path, base_url=f"http://{host}").status_code == 404
        assert audited(chat_database, "custom_emoji_added")
        said = chat.post("/messages", type="direct", to=[cast.polonius.id], content=":yorick:")
        content = as_polonius.get(f"/messages/{said['id']}")["message"]["content"]
        assert f'src="{url}"' in content

    def test_keeps_an_animation(self, chat: ChatClient, browser: FlaskClient) -> None:
        file = SentFile("dance.gif", picture("GIF", 128, 128, frames=3), "image/gif")
        assert chat.post("/realm/emoji/party parrot", file=file) == DONE
        [record] = chat.get("/realm/emoji")["emoji"].values()
        assert record["name"] == "party_parrot"
        moving, still = shown(browser, record["source_url"]), shown(browser, record["still_url"])
        assert (moving.size, getattr(moving, "n_frames", 1)) == ((64, 64), 3)
        assert (still.size, getattr(still, "n_frames", 1)) == ((64, 64), 1)

    @pytest.mark.reaches("BAD_IMAGE")
    def test_rejects_invalid_images(self, chat: ChatClient, chat_app: ChatApp) -> None:
        """Decoding never uses more memory or time than allowed."""
        refused = bad("Could not decode image; did you upload an image file?", "BAD_IMAGE")
        for content in (b"", b"GIF89a", SCRIPT, PIXEL[:40], black_png(10_000, 10_000)):
            assert chat.post(PATH, file=SentFile("a.png", content, "image/png")) == refused
        large = SentFile("a.png", bytes((5 << 20) + 1), "image/png")
        assert chat.post(PATH, file=large) == bad(
            "Uploaded file is larger than the allowed limit of 5 MiB"
        )
        assert chat.get("/realm/emoji")["emoji"] == {}
        assert list((chat_app.settings.chat_upload_dir / "arriving").iterdir()) == []

    def test_names(self, chat: ChatClient, as_iago: ChatClient) -> None:
        wrong = bad(
            "Emoji names must contain only lowercase English letters, digits, spaces, dashes,"
            " underscores, and periods."
        )
        ends = bad("Emoji names must end with either a letter or digit.")
        for name, answer in (
            ("Yorick", wrong),
            ("ödön", wrong),
            ("a:b", wrong),
            (" ", wrong),
            ("yorick-", ends),
            ("y" * 61, bad("Emoji names can have at most 60 characters.")),
            ("octopus", bad("Only administrators can override default emoji.")),
        ):
            assert chat.post(f"/realm/emoji/{name}", file=PICTURE) == answer
        assert as_iago.post("/realm/emoji/octopus", file=PICTURE) == DONE
        assert chat.post(PATH, file=PICTURE) == DONE
        taken = bad("A custom emoji with this name already exists.")
        assert as_iago.post(PATH, file=PICTURE) == taken
        assert chat.post("/realm/emoji/skull") == bad("You must specify a file to upload")

    def test_allowed_roles(
        self, chat: ChatClient, as_cordelia: ChatClient, as_polonius: ChatClient,
        as_nobody: ChatClient, cast: Cast,
    ) -> None:  # fmt: skip
        refused = bad("Insufficient permission")
        assert as_polonius.post(PATH, file=PICTURE) == refused
        only = {"direct_members": [cast.polonius.id], "direct_subgroups": []}
        changed = as_cordelia.patch("/realm", can_add_custom_emoji_group={"new": only})
        assert changed["result"] == "success"
        assert chat.post(PATH, file=PICTURE) == refused
        assert as_polonius.post(PATH, file=PICTURE) == DONE
        assert as_nobody.request("POST", PATH, {"file": PICTURE}).status_code == 401


class TestDeleteCustomEmoji:
    def test_requires_author_or_administrator(
        self, chat: ChatClient, as_othello: ChatClient, as_iago: ChatClient, queues: Queues,
        as_nobody: ChatClient, chat_database: Database, browser: FlaskClient,
    ) -> None:  # fmt: skip
        absent = bad("Emoji 'yorick' does not exist")
        response = chat.request("DELETE", PATH, {})
        assert (response.status_code, response.json()) == (404, absent)
        for client in (chat, as_iago):
            assert chat.post(PATH, file=PICTURE) == DONE
            other = bad("Must be an organization administrator or emoji author")
            assert as_othello.delete(PATH) == other
            place = queues.open(as_othello)
            assert client.delete(PATH) == DONE
            assert client.delete(PATH) == absent
            [event] = place.read()
            assert event["realm_emoji"] == chat.get("/realm/emoji")["emoji"]
        records = list(chat.get("/realm/emoji")["emoji"].values())
        assert [record["deactivated"] for record in records] == [True, True]
        assert shown(browser, records[0]["source_url"]).size == (1, 1), "old messages contain it"
        assert audited(chat_database, "custom_emoji_deactivated")
        assert as_nobody.request("DELETE", PATH, {}).status_code == 401
