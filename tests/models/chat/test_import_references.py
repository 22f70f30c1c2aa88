"""Ids in an archive: in columns, texts and JSON."""

from __future__ import annotations

import orjson
import pytest
from sqlalchemy import BigInteger

from models.chat.exports.tables import PARTS
from models.chat.imports import references
from models.chat.imports.completing import COMPLETE
from models.chat.imports.ids import Ids
from models.chat.imports.rows import TABLES, WITH_IDS
from models.chat.imports.texts import Texts
from tests.contract.round_trips.comparing import NUMBERS

OLD = {"user": (4, 5, 9), "channel": (3, 8), "user_group": (2,), "message": (10, 20, 30)}
FIRST = {"user": 1001, "channel": 2001, "user_group": 3001, "message": 4001, "linkifier": 5001}
A, B = "a" * 32, "b" * 32


@pytest.fixture
def ids() -> Ids:
    made = Ids((*WITH_IDS,), "salt")
    for table, known in OLD.items():
        for each in known:
            made.add(table, each)
    made.number({**dict.fromkeys(WITH_IDS, 6001), **FIRST})
    return made


@pytest.fixture
def texts(ids: Ids) -> Texts:
    return Texts(ids, "old.example", "new.example", 7)


def test_each_large_number_is_a_known_reference_or_excluded() -> None:
    known = 0
    for part in PARTS:
        for name in part.columns:
            column = part.table.__table__.c[name]
            if not isinstance(column.type, BigInteger) or name in NUMBERS:
                continue
            known += 1
            referred = references.table_of_column(column)
            is_known = name == "id" or name in references.ONLY_ORDERED
            assert (referred is not None) is not is_known, (part.name, name)
            assert referred is None or referred in (*WITH_IDS, "realm"), (part.name, name)
    assert known > 100
    assert {each.table.__tablename__ for each in PARTS} == {table.name for table in TABLES}


def test_new_ids_keep_the_order(ids: Ids) -> None:
    assert [ids.find("user", each) for each in (4, 5, 9)] == [1001, 1002, 1003]
    assert [ids.find("user", each) for each in (0, 6, 10, -1, 1 << 70)] == [None] * 5
    assert [ids.nearest("message", each) for each in (9, 10, 15, 30, 99)] == [
        0, 4001, 4001, 4003, 4003,
    ]  # fmt: skip
    assert list(ids.new_ids("channel")) == [2001, 2002]
    for wrong in (9, 3, 0, 1 << 63):
        with pytest.raises(ValueError, match="id"):
            ids.add("user", wrong)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("plain text, 4 and 5", None),
        ("@**Othello|5**", "@**Othello|1002**"),
        ("@_**|5** and @**A|B|9**", "@_**|1002** and @**A|B|1003**"),
        ("@**Othello**", None),
        ("@**Gone|77**", "@**Gone|0**"),
        ("a|5 ** b", None),
        ("#**Elsinore>ghost@20**", "#**Elsinore>ghost@4002**"),
        ("#**Elsinore>at@home**", None),
        ("#narrow/channel/3-x/topic/a.20b/near/25", "#narrow/channel/2001-x/topic/a.20b/near/4002"),
        ("[a](/#narrow/stream/8-y)", "[a](/#narrow/stream/2002-y)"),
        ("/#narrow/dm/4,5-x/near/10", "/#narrow/dm/1001,1002-x/near/4001"),
        ("/#narrow/sender/9-z", "/#narrow/sender/1003-z"),
        ("/#narrow/channel/77-gone", "/#narrow/channel/0-gone"),
        ("/#narrow/topic/3-x", None),
        ("https://old.example/#narrow/id/30", "https://new.example/#narrow/id/4003"),
        ("https://old.example:9443/#narrow/id/30", "https://new.example:9443/#narrow/id/4003"),
        ("http://old.example/about", None),
        ("https://other.example/#narrow/channel/3-x", None),
        ("https://old.example.other/#narrow/channel/3-x", None),
        ("https://other.example/path/#narrow/channel/3-x", None),
        ("other.example/#narrow/channel/3-x", None),
        (f"https://other.example/user_uploads/1/{A}-a.png", None),
        ('data-user-id="5" data-user-id="*"', 'data-user-id="1002" data-user-id="*"'),
        ('data-user-group-id="2"', 'data-user-group-id="3001"'),
        ('<a data-stream-id="8" href="/#narrow/channel/8-x">',
         '<a data-stream-id="2002" href="/#narrow/channel/2002-x">'),
        ("@**" + "x|" * 2000, None),
        ("#**a>" * 2000, None),
        ("#narrow/near/" + "9" * 500, "#narrow/near/4003"),
    ],
)  # fmt: skip
def test_ids_in_texts_are_rewritten(texts: Texts, old: str, new: str | None) -> None:
    assert texts.rewrite(old) == (old if new is None else new)


def test_urls_of_files_are_rewritten(texts: Texts, ids: Ids) -> None:
    new = ids.handle(A)
    assert new not in (A, ids.handle(B))
    assert len(new) == 32
    for old, wanted in (
        (f"[a](/user_uploads/1/{A}-a.png)", f"[a](/user_uploads/7/{new}-a.png)"),
        (f"user_uploads/1/{A}-a", f"user_uploads/7/{new}-a"),
        (f'"/user_uploads/thumbnail/1/{A}-a/x"', f'"/user_uploads/thumbnail/7/{new}-a/x"'),
        (f"/user_avatars/1/emoji/images/{A}.webp", f"/user_avatars/7/emoji/images/{new}.webp"),
        (f"/user_avatars/1/emoji/images/still/{A}.webp",
         f"/user_avatars/7/emoji/images/still/{new}.webp"),
        (f"https://old.example/user_uploads/1/{A}-a", f"https://new.example/user_uploads/7/{new}-a"),
        ("/user_uploads/temporary/sealed/a", "/user_uploads/temporary/sealed/a"),
    ):  # fmt: skip
        assert texts.rewrite(old) == wanted


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("user_group_members_added", {"user_ids": [4, 9]}, {"user_ids": [1001, 1003]}),
        ("subgroups", {"subgroup_ids": [2, 77]}, {"subgroup_ids": [3001, 0]}),
        ("message_reported", {"message_id": 20, "report_type": "x"},
         {"message_id": 4002, "report_type": "x"}),
        ("bot_owner_changed", {"old": 4, "new": None}, {"old": 1001, "new": None}),
        ("user_role_changed", {"old": 4, "new": 5}, {"old": 4, "new": 5}),
        ("user_group_changed", {"property": "can_join_group", "old": 2,
                                "new": {"direct_members": [5], "direct_subgroups": [2]}},
         {"property": "can_join_group", "old": 3001,
          "new": {"direct_members": [1002], "direct_subgroups": [3001]}}),
        ("realm_setting_changed",
         {"property": "moderation_request_channel_id", "old": -1, "new": 3},
         {"property": "moderation_request_channel_id", "old": -1, "new": 2001}),
        ("realm_setting_changed", {"property": "message_retention_days", "old": 3, "new": 8},
         {"property": "message_retention_days", "old": 3, "new": 8}),
        ("channel_changed", {"old": {"can_send_message_group": 2, "name": "3"},
                             "new": {"can_send_message_group": 2, "name": "4"}},
         {"old": {"can_send_message_group": 3001, "name": "3"},
          "new": {"can_send_message_group": 3001, "name": "4"}}),
        ("export_requested", {"export_id": 4}, {"export_id": 4}),
    ],
)  # fmt: skip
def test_ids_in_audit_entries_are_rewritten(ids: Ids, kind: str, old: object, new: object) -> None:
    made = references.new_facts(ids, kind, orjson.dumps(old).decode())
    assert orjson.loads(made) == new


def test_poll_options_keep_their_authors(ids: Ids) -> None:
    vote = {"key": "5,1", "type": "vote", "vote": 1}
    for old, new in (("5,1", "1002,1"), ("canned,0", "canned,0"), ("77,2", "0,2"), ("5", "5")):
        text = orjson.dumps({**vote, "key": old}, option=orjson.OPT_SORT_KEYS).decode()
        assert orjson.loads(references.new_widget(ids, text)) == {**vote, "key": new}


def test_size_of_a_bot_value_includes_its_key() -> None:
    """The size is computed in the same way when a bot stores the value."""
    row = {"key": "visits", "value": "22"}
    assert COMPLETE["bot_storage"](row, {}, None, ()) == {"size": 8}  # type: ignore[arg-type]
