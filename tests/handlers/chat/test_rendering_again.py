"""`specd chat render-again`: stored messages are rendered by the current renderer."""

import json

import pytest
from click.testing import CliRunner
from sqlalchemy import select, update

from cli.chat import chat as chat_commands
from models.chat.tables import Channel, Message, RealmEmoji, User
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.messages import say
from tests.support.chat.people import Cast


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


def run(url: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> dict[str, int]:
    monkeypatch.setenv("SPECD_CHAT_DATABASE_URL", url)
    result = CliRunner().invoke(chat_commands, ["render-again", "--json", *words])
    assert result.exit_code == 0, result.output
    done: dict[str, int] = json.loads(result.stdout)
    return done


def stored(database: Database, message_id: int) -> Message:
    return database.run(lambda s: s.scalars(select(Message).where(Message.id == message_id)).one())


def spoil(database: Database, *ids: int) -> None:
    """Replace the HTML of messages by that of an older renderer, with current references."""
    html = "<p>old</p>"
    database.run(
        lambda s: s.execute(
            update(Message)
            .where(Message.id.in_(ids))
            .values(rendered_content=html + Message.rendered_content, has_link=False)
        )
    )


class TestRenderAgain:
    def test_message_has_the_current_html(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast,
        chat_filled: tuple[str, Cast],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        texts = [
            "pkg/__init__.py and https://a.example/b_c_d",
            f"@**Othello** @_**Othello|{cast.othello.id}** #**Denmark>a b** @**all**",
            "$$x^2$$ :smile: <time:1496701800>",
        ]
        ids = [int(say(chat, content=text)["id"]) for text in texts]
        before = [stored(chat_database, each) for each in ids]
        spoil(chat_database, *ids)
        done = run(chat_filled[0], monkeypatch)
        assert done["changed"] == len(texts)
        after = [stored(chat_database, each) for each in ids]
        assert [each.rendered_content for each in after] == [
            each.rendered_content for each in before
        ]
        assert [each.has_link for each in after] == [each.has_link for each in before]
        assert run(chat_filled[0], monkeypatch) == {**done, "changed": 0}

    def test_renamed_references_stay_and_no_new_ones_appear(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast,
        chat_filled: tuple[str, Cast],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        message = int(say(chat, content="@**Othello** #**Denmark** @**Newcomer**")["id"])
        chat_database.run(
            lambda s: s.execute(
                update(Channel)
                .where(Channel.id == denmark)
                .values(name="Norway", name_key="norway")
            )
        )
        chat_database.run(
            lambda s: s.execute(
                update(User).where(User.id == cast.iago.id).values(full_name="Newcomer")
            )
        )
        spoil(chat_database, message)
        run(chat_filled[0], monkeypatch)
        markup = stored(chat_database, message).rendered_content
        assert f'data-user-id="{cast.othello.id}"' in markup
        assert f'data-stream-id="{denmark}"' in markup
        assert f'data-user-id="{cast.iago.id}"' not in markup

    def test_words_of_the_new_html_are_found(
        self, chat: ChatClient, denmark: int, chat_database: Database,
        chat_filled: tuple[str, Cast], monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        message = int(say(chat, content="wolpertinger")["id"])
        chat_database.run(
            lambda s: s.execute(
                update(Message).where(Message.id == message).values(content="yeti found")
            )
        )
        run(chat_filled[0], monkeypatch)
        narrow = json.dumps([{"operator": "search", "operand": "yeti"}])
        found = chat.get("/messages", narrow=narrow, anchor="newest", num_before="9", num_after="0")
        assert [each["id"] for each in found["messages"]] == [message]

    def test_run_resumes_after_an_id_in_one_organization(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast,
        chat_filled: tuple[str, Cast],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        first, second = (int(say(chat, content="x")["id"]) for _ in range(2))
        spoil(chat_database, first, second)
        assert run(chat_filled[0], monkeypatch, "--after", str(first))["changed"] == 1
        assert "old" in stored(chat_database, first).rendered_content
        assert "old" not in stored(chat_database, second).rendered_content
        realm = str(cast.realm_id)
        assert run(chat_filled[0], monkeypatch, "--realm", realm)["changed"] == 1

    def test_current_custom_emoji_is_used(
        self, chat: ChatClient, denmark: int, chat_database: Database, cast: Cast,
        chat_filled: tuple[str, Cast],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        message = int(say(chat, content=":heart:")["id"])
        chat_database.run(
            lambda s: s.add(
                RealmEmoji(
                    realm_id=cast.realm_id,
                    name="heart",
                    source_url="/user_avatars/1/emoji/1.png",
                    author_id=cast.hamlet.id,
                )
            )
        )
        run(chat_filled[0], monkeypatch)
        assert "/user_avatars/1/emoji/1.png" in stored(chat_database, message).rendered_content
