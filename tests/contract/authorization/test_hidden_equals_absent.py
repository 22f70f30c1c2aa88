"""A hidden object gives the same response as an absent one.

For every text and number in a request that names an object (named-objects.yaml), and for every
actor, a request with a hidden object is compared with a request with an absent one. Responses,
writes and the number of statements must be equal, or the difference must be listed in the file.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import specs
from tests.contract.authorization.chat_stage import CLEAN, ChatStage
from tests.contract.authorization.contents import counting, rows
from tests.contract.authorization.hidden_stage import ALL_ACTORS, Hidden, HiddenStage
from tests.contract.authorization.naming import NOTHING, kinds_of, leaves_of, load_names
from tests.contract.authorization.policy import Case, load
from tests.support.contract import operations_of
from tests.support.served import served

CHAT = load("chat")
DOCUMENT = specs.load("chat")
OPERATIONS = operations_of(DOCUMENT)
NAMED = load_names()
NAMES, STAYS = NAMED["chat"]["names"], NAMED["chat"]["stays"]
ALL = bool(os.environ.get("HIDDEN_CELLS"))
"""Test every hidden object in every notation (scripts/hidden-cells), instead of a sample."""
UNNAMED = frozenset((NOTHING, "secret"))
NOT_LOGGED_IN = ("get_server_settings", "fetch_api_key", "dev_fetch_api_key", "jwt_fetch_api_key")
TEXTS: dict[str, tuple[str, ...]] = {
    "user id": ("a @**|{}** b", "@_**Zq Yorick Gone|{}**"),
    "user name": ("a @**{}** b", "@_**{}**"),
    "channel name": ("a #**{}** b", "#**{}>t**", "#**{}>t@1**"),
    "message": ("#**vault>t@{}**",),
    "group name": ("a @*{}* b", "@_*{}*"),
    "emoji name": (":{}:",),
}
"""The notations with which a text can name an object."""
NARROWS: dict[str, tuple[str, ...]] = {
    "channel id": ("channel", "stream"),
    "channel name": ("channel", "stream"),
    "user id": ("sender", "mentions", "dm", "dm-including", "group-pm-with"),
    "user email": ("sender", "mentions", "dm", "dm-including", "group-pm-with"),
    "message": ("id", "with", "near"),
}
MADE_UP = re.compile(
    r"\b(?:[0-9a-f]{24}|[0-9A-Za-z]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"
)
COMPANY: dict[tuple[str, str], dict[str, Any]] = {
    ("update_muted_topic", "stream"): {"stream_id": None},
    ("update_muted_topic", "topic"): {"stream_id": "$vault"},
    ("set_user_topic", "topic"): {"stream_id": "$vault"},
    ("mark_topic_as_read", "topic_name"): {"stream_id": "$vault"},
    ("delete_topic", "topic_name"): {"stream_id": "$vault"},
    ("send_message", "topic"): {"to": "$vault"},
    ("send_message", "subject"): {"to": "$vault", "topic": None},
    ("create_scheduled_message", "topic"): {"to": "$vault"},
    ("update_scheduled_message", "topic"): {"type": "channel", "to": "$vault"},
    ("update_scheduled_message", "to"): {"type": "channel", "topic": "t"},
    ("update_message", "stream_id"): {"message_id": "$own_message", "content": None},
    ("update_message", "topic"): {"message_id": "$own_message", "stream_id": "$vault"},
    ("update_message", "subject"): {"message_id": "$own_message", "stream_id": "$vault"},
    ("add_reaction", "emoji_code"): {"emoji_name": "zq_gone", "reaction_type": "realm_emoji"},
    ("remove_reaction", "emoji_code"): {"emoji_name": None, "reaction_type": "realm_emoji"},
    ("update_own_status", "emoji_code"): {"emoji_name": "zq_gone", "reaction_type": "realm_emoji"},
    ("update_user_status", "emoji_code"): {"emoji_name": "zq_gone", "reaction_type": "realm_emoji"},
    ("update_own_profile_data", "data/#/value/#"): {"data": [{"id": "$users_field"}]},
    ("update_own_profile_data", "data/#/value"): {"data": [{"id": "$profile_field"}]},
    ("update_own_profile_data", "data/#/id"): {"data": [{"value": "x"}]},
    ("update_user", "profile_data/#/value/#"): {"profile_data": [{"id": "$users_field"}]},
    ("update_user", "profile_data/#/value"): {"profile_data": [{"id": "$profile_field"}]},
    ("update_user", "profile_data/#/id"): {"profile_data": [{"value": "x"}]},
    ("list_messages", "anchor"): {"include_anchor": True},
    ("list_messages", "message_ids/#"): {"anchor": None, "num_before": None, "num_after": None},
}
"""Parameters required with a leaf that the first case of the policy lacks. None removes one."""


@dataclass(frozen=True)
class Cell:
    """Two requests of an actor that must have the same result."""

    operation: str
    leaf: str
    kind: str
    actor: str
    hidden: Hidden
    request: Mapping[str, Any]
    absent: Mapping[str, Any]


def further_settings(operation: str) -> set[str]:
    """Return the settings whose value is a group, without the first. All share one check."""
    leaves = leaves_of(DOCUMENT, operation)
    settings = sorted({leaf.split("/")[0] for leaf in leaves if leaf.endswith("direct_members/#")})
    return set(settings[1:])


def cells_of(operation: str, stage: HiddenStage) -> Iterator[Cell]:
    further = further_settings(operation)
    for leaf in sorted(leaves_of(DOCUMENT, operation)):
        for kind in kinds_of(NAMES, operation, leaf):
            wanted = TEXTS if kind == "text" else (kind,)
            cells = [
                cell
                for hidden in stage.hidden
                if hidden.kind in wanted
                for cell in _cells(operation, leaf, kind, hidden)
            ]
            if ALL:
                yield from cells
            else:
                yield from _slice(cells, 1 if leaf.split("/")[0] in further else 2)


def _slice(cells: list[Cell], actors: int) -> Iterator[Cell]:
    """Select one of the hidden objects and notations for each of these actors, depending on the
    leaf.
    """
    by_actor: dict[str, list[Cell]] = {}
    for cell in cells:
        by_actor.setdefault(cell.actor, []).append(cell)
    for actor in sorted(by_actor, key=lambda actor: _lot(cells[0], actor))[:actors]:
        own = by_actor[actor]
        yield own[_lot(own[0], actor) % len(own)]


def _lot(cell: Cell, actor: str) -> int:
    return crc32(f"{cell.operation} {cell.leaf} {cell.kind} {actor}".encode())


def _cells(operation: str, leaf: str, kind: str, hidden: Hidden) -> Iterator[Cell]:
    pairs = zip(
        requests_of(operation, leaf, kind, hidden, hidden.thing),
        requests_of(operation, leaf, kind, hidden, hidden.absent),
        strict=True,
    )
    for request, absent in pairs:
        for actor in hidden.unknown_to:
            if operation in NOT_LOGGED_IN and actor not in ("nobody", "elsewhere"):
                continue  # credentials are not checked, only the host of the organization
            if actor != "nobody" or operation in NOT_LOGGED_IN:
                yield Cell(operation, leaf, kind, actor, hidden, request, absent)


def requests_of(
    operation: str, leaf: str, kind: str, hidden: Hidden, thing: Any
) -> Iterator[dict[str, Any]]:
    """Yield valid requests in which the leaf names the object, in every possible way."""
    base = base_of(operation, leaf, hidden.kind)
    if leaf.startswith("narrow/"):
        for operator in NARROWS.get(hidden.kind, ()):
            operand = [thing] if leaf.endswith("operand/#") else thing
            if leaf == "narrow/#/#":
                yield base | {"narrow": [[operator, str(thing)]]}
            else:
                negated = operator in ("stream", "sender", "dm-including", "id")
                yield base | {
                    "narrow": [{"operator": operator, "operand": operand, "negated": negated}]
                }
        return
    if kind == "text":
        # All texts are rendered by the same code, so outside messages a single notation is enough.
        for pattern in TEXTS[hidden.kind][: None if leaf == "content" else 1]:
            yield with_leaf(base, leaf, pattern.format(thing))
        return
    yield with_leaf(base, leaf, str(thing) if leaf == "anchor" else thing)


def base_of(operation: str, leaf: str, kind: str) -> dict[str, Any]:
    """Return the policy's first request with the leaf's parameter, or its first request."""
    top = leaf.partition("/")[0]
    cases = [case for case in CHAT.cases if case.operation == operation]
    case = next((c for c in cases if top in c.request), cases[0])
    base = deepcopy(dict(case.request))
    if leaf.startswith("to") and kind.startswith("user"):
        base |= {"type": "direct", "content": "c"}
        base.pop("topic", None)
    elif leaf.startswith("to"):
        base |= {"type": "channel", "topic": "t", "content": "c"}
    if leaf.endswith("/to/#"):
        kind_of_draft = "private" if kind.startswith("user") else "stream"
        draft = {"type": kind_of_draft, "topic": "t", "content": "c"}
        base[top] = [draft] if leaf.startswith("drafts/") else draft
    base |= deepcopy(COMPANY.get((operation, leaf), {}))
    return {name: value for name, value in base.items() if value is not None}


def with_leaf(request: Mapping[str, Any], leaf: str, value: Any) -> dict[str, Any]:
    steps = leaf.split("/")
    held = request.get(steps[0]) if len(steps) > 1 else None
    return {**request, steps[0]: _put(held, steps[1:], value)}


def _put(held: Any, steps: list[str], value: Any) -> Any:
    """Set the value at the end of the steps inside an existing value."""
    if not steps:
        return value
    if steps[0] == "#":
        first = held[0] if isinstance(held, list) and held else None
        return [_put(first, steps[1:], value)]
    held = dict(held) if isinstance(held, Mapping) else {}
    if steps[0].startswith("direct_"):
        held = {"direct_members": [], "direct_subgroups": [], **held}
    return {**held, steps[0]: _put(held.get(steps[0]), steps[1:], value)}


# --- playing them -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """The result of a request that an actor can observe, and its effects."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str
    written: tuple[str, ...]
    statements: int


class Player:
    """Sends the requests of cells. The writes of a request are undone before the next."""

    def __init__(self, stage: HiddenStage) -> None:
        self.stage = stage
        self.before: dict[Path, Counter[str]] = {}

    def play(self, cell: Cell, request: Mapping[str, Any]) -> Outcome:
        stage, actor = self.stage.of(cell.actor)
        case = Case(cell.operation, "", request, {})
        with counting() as statements:
            answer = stage.try_out(case, actor, keep=True)
        written: tuple[str, ...] = ()
        if answer.is_success and answer.request.method != "GET":
            written = tuple(sorted(self._written(stage)))
            stage.forget()
        headers = tuple(
            (name, value)
            for name, value in answer.headers.items()
            if name not in ("request-id", "date")
        )
        body = MADE_UP.sub("...", answer.text)
        return Outcome(answer.status_code, headers, body, written, len(statements))

    def _written(self, stage: ChatStage) -> Iterator[str]:
        if stage.file not in self.before:
            self.before[stage.file] = _lines(stage.file)
        before = self.before[stage.file]
        after = _lines(stage.place(CLEAN))
        yield from (f"+ {line}" for line in (after - before).elements())
        yield from (f"- {line}" for line in (before - after).elements())


def _lines(file: Path) -> Counter[str]:
    """Return the contents of the database, a line for each row, without random ids."""
    return Counter(
        # The recipient and text of a mail are visible only to its reader.
        table if table == "outbox" else MADE_UP.sub("...", f"{table} {row}")
        for table, kept in rows(file).items()
        for row in kept
    )


def difference(cell: Cell, hidden: Outcome, absent: Outcome) -> str | None:
    """Return the difference that an actor can observe, or None."""
    as_absent = cell.hidden.as_absent
    # The recipients of an event may be hidden users, whose events are not compared.
    written = Counter(w if w[2:].startswith("event ") else as_absent(w) for w in hidden.written)
    expected = Counter(absent.written)
    pairs: dict[str, tuple[Any, Any]] = {
        "status": (hidden.status, absent.status),
        "body": (as_absent(hidden.body), absent.body),
        "headers": (hidden.headers, absent.headers),
        "written": ([*(written - expected).elements()], [*(expected - written).elements()]),
        "statements": (hidden.statements, absent.statements),
    }
    for what, (one, other) in pairs.items():
        if one != other:
            return f"{what}: {one!r} != {other!r}"
    return None


def is_kept(cell: Cell) -> bool:
    return any(
        (kept["operation"], kept["leaf"], kept["kind"]) == (cell.operation, cell.leaf, cell.kind)
        and cell.actor in kept["actors"]
        for kept in STAYS
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_hidden_object_equals_absent_object(operation: str, hidden_stage: HiddenStage) -> None:
    hidden_stage.forget()
    player = Player(hidden_stage)
    differences = []
    kept = set()
    for cell in cells_of(operation, hidden_stage):
        found = difference(cell, player.play(cell, cell.request), player.play(cell, cell.absent))
        if found is not None and is_kept(cell):
            kept.add((cell.leaf, cell.kind, cell.actor))
        elif found is not None:
            differences.append(
                f"{cell.actor}, {cell.leaf} = {cell.hidden.label or cell.kind}: {found}"
            )
    assert not differences, "\n".join(differences)
    listed = {
        (entry["leaf"], entry["kind"], actor)
        for entry in STAYS
        if entry["operation"] == operation
        for actor in entry["actors"]
    }
    assert kept == listed or not ALL, "remove the listed difference, which no longer exists"


def test_number_of_cells(hidden_stage: HiddenStage) -> None:
    """Records the number of cases. Every kind that can be hidden is tested."""
    cells = [cell for operation in OPERATIONS for cell in cells_of(operation, hidden_stage)]
    leaves = {(cell.operation, cell.leaf) for cell in cells}
    print(f"{len(cells)} cells of {len(leaves)} parameters, {len(STAYS)} differences kept")
    kinds = set(NAMES) - UNNAMED
    assert {cell.kind for cell in cells} == kinds
    assert {cell.actor for cell in cells} == set(ALL_ACTORS)
    wanted = {
        (operation, leaf)
        for operation in OPERATIONS
        for leaf in leaves_of(DOCUMENT, operation)
        if not UNNAMED.issuperset(kinds_of(NAMES, operation, leaf))
    }
    assert leaves == wanted


# --- the file ---------------------------------------------------------------------------------


@pytest.mark.parametrize("service", ["payment", "chat"])
def test_every_leaf_has_a_line(service: str) -> None:
    document, names = served(service), NAMED[service]["names"]
    leaves = {
        (operation, leaf)
        for operation in operations_of(document)
        for leaf in leaves_of(document, operation)
    }
    unnamed = sorted(pair for pair in leaves if not kinds_of(names, *pair))
    assert unnamed == [], "add the kinds of these leaves to named-objects.yaml"
    both = {pair: kinds_of(names, *pair) for pair in leaves}
    assert {pair: kinds for pair, kinds in both.items() if NOTHING in kinds and kinds[1:]} == {}


@pytest.mark.parametrize("service", ["payment", "chat"])
def test_every_line_matches_a_leaf(service: str) -> None:
    document, names = served(service), NAMED[service]["names"]
    leaves = [
        (operation, leaf)
        for operation in operations_of(document)
        for leaf in leaves_of(document, operation)
    ]
    idle = [
        (kind, pattern)
        for kind, patterns in names.items()
        for pattern in patterns
        if not any(kinds_of({kind: [pattern]}, *pair) for pair in leaves)
    ]
    assert idle == []
