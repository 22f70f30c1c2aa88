"""Property-level authorization: the fields that each actor can read."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import specs
from specd.db import Database
from tests.contract.authorization.chat_stage import HOST, ChatStage, members
from tests.contract.authorization.policy import ALLOWED, PERMISSIONS, Case, load
from tests.support.chat.app import ChatClient
from tests.support.contract import operations_of
from tests.support.yaml_files import read_yaml

CHAT = load("chat")
OPERATIONS = operations_of(specs.load("chat"))

VISIBILITY = read_yaml(PERMISSIONS)["chat"]["email_address_visibility"]
READERS = ("guest", "member", "moderator", "administrator", "owner", "bot")


@pytest.mark.parametrize("visibility", VISIBILITY)
def test_roles_that_read_the_real_email_address(
    visibility: int, chat_stage: ChatStage, tmp_path: Path
) -> None:
    file = Path(shutil.copy(chat_stage.file, tmp_path / "chat.db"))
    hamlet = chat_stage.cast.hamlet
    with sqlite3.connect(file) as connection:
        change = "UPDATE user SET email_address_visibility = ? WHERE id = ?"
        connection.execute(change, (visibility, hamlet.id))
    connection.close()
    database = Database(f"sqlite:///{file}")
    chat_stage.app.play(database, chat_stage.clock)
    readers = {}
    for actor in READERS:
        client = ChatClient(chat_stage.app, HOST, members(chat_stage.cast)[actor])
        dummy = f"user{hamlet.id}@{HOST}"
        answers = [
            client.get(f"/users/{hamlet.id}")["user"],
            client.get(f"/users/{dummy}")["user"],
            *(m for m in client.get("/users")["members"] if m["user_id"] == hamlet.id),
        ]
        readers[actor] = {(user["delivery_email"], user["email"]) for user in answers}
        found = client.get(f"/users/{hamlet.email}")["result"] == "success"
        assert found == (actor in VISIBILITY[visibility])
    database.dispose()
    real, hidden = {(hamlet.email, hamlet.email)}, {(None, f"user{hamlet.id}@{HOST}")}
    assert readers == {
        actor: real if actor in VISIBILITY[visibility] else hidden for actor in READERS
    }


READABLE = read_yaml(PERMISSIONS)["chat"]["more_to_read"]


def is_read_by_several(case: Case) -> bool:
    """Return whether the case is a GET that several readers may send."""
    allowed = [actor for actor in READERS if case.cells[actor] == ALLOWED]
    return OPERATIONS[case.operation][0] == "GET" and len(allowed) > 1


def field_paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of all fields of a response.

    List items share one path, and names that are ids are written as `#`. `path.*` marks an empty
    value.
    """
    if value in ({}, []):
        yield f"{path}.*"
    if isinstance(value, Mapping):
        for name, item in value.items():
            here = f"{path}.{'#' if name.isdigit() else name}".lstrip(".")
            yield here
            yield from field_paths(item, here)
    elif isinstance(value, list):
        for item in value:
            yield from field_paths(item, path)


@pytest.mark.parametrize(
    "case",
    [case for case in CHAT.cases if is_read_by_several(case)],
    ids=lambda case: case.name,
)
def test_all_readers_get_the_same_fields(case: Case, chat_stage: ChatStage) -> None:
    chat_stage.forget()
    answers = {
        actor: chat_stage.try_out(case, actor) for actor in READERS if case.cells[actor] == ALLOWED
    }
    assert all(answer.is_success for answer in answers.values())
    seen = {actor: set(field_paths(answer.json())) for actor, answer in answers.items()}
    empty = tuple(path[:-1] for paths in seen.values() for path in paths if path.endswith(".*"))
    told = {actor: {p for p in paths if not p.startswith(empty)} for actor, paths in seen.items()}
    common = set.intersection(*told.values())
    more = {actor: sorted(paths - common) for actor, paths in told.items() if paths - common}
    assert more == READABLE.get(case.name, {})
