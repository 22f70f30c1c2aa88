"""Requests that are expensive only if several places are filled together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from models.chat.reading.terms import OPERATORS
from tests.contract.cost.fillings import TEXTS, fitting
from tests.contract.cost.stage import Base, ChatStage

Parameters = Callable[[float], Mapping[str, Any]]
WORDS_OF = {
    "is": ("dm", "unread", "starred", "mentioned", "alerted", "resolved", "followed", "muted"),
    "has": ("link", "image", "attachment", "reaction"),
    "in": ("home", "all"),
    "channels": ("public", "web-public", "archived"),
}
MAX_LISTED = 5000


def compounds(stage: ChatStage) -> Iterator[tuple[Base, str, Parameters]]:
    """Yield a base, a label, and the parameters that replace those of the base."""
    bases = {base.operation: base for base in stage.bases()}
    yield from _narrows(bases, stage)
    yield from _lists(bases, stage)
    yield from _messages(bases, stage)
    yield from _people(bases, stage)


def _narrows(bases: Mapping[str, Base], stage: ChatStage) -> Iterator[tuple[Base, str, Parameters]]:
    """Yield every operator with every text, with every kind of id, and a hundred of each."""
    pools = stage.pools.numbers
    around: Mapping[str, Any] = {"anchor": "newest", "num_before": 100, "num_after": 0}
    for base in (bases["list_messages"], bases["update_message_flags_for_narrow"]):

        def narrow(terms: Callable[[float], Any], base: Base = base) -> Parameters:
            return lambda part: {**base.parameters, **around, "narrow": terms(part)}

        for operator in sorted(OPERATORS):
            term = {"operator": operator}
            for make in TEXTS.values():
                for size in (100_000, 2000):
                    yield (
                        base,
                        f"narrow {operator} ({size})",
                        narrow(
                            lambda part, term=term, make=make, size=size: [
                                {**term, "operand": fitting(make, int(size * part))}
                            ]
                        ),
                    )
                    if base.operation == "update_message_flags_for_narrow":
                        break
            for pool in pools.values():
                yield (
                    base,
                    f"narrow {operator} of ids",
                    narrow(
                        lambda part, term=term, pool=pool: [
                            {**term, "operand": list(pool[: int(1000 * part)])}
                        ]
                    ),
                )
                for negated in (False, True):
                    yield (
                        base,
                        f"narrow of {operator} (negated: {negated})",
                        narrow(
                            lambda part, term=term, pool=pool, negated=negated: [
                                {**term, "operand": pool[n % len(pool)], "negated": negated}
                                for n in range(int(100 * part))
                            ]
                        ),
                    )
            for word in (*WORDS_OF.get(operator, ()), "word", "channel 1", "topic 1"):
                yield (
                    base,
                    f"narrow of {operator} {word}",
                    narrow(
                        lambda part, term=term, word=word: (
                            [{**term, "operand": word}] * int(100 * part)
                        )
                    ),
                )
                yield (
                    base,
                    f"narrow of different {operator} {word}",
                    narrow(
                        lambda part, term=term, word=word: [
                            {**term, "operand": f"{word} {n}", "negated": n % 2 == 1}
                            for n in range(int(100 * part))
                        ]
                    ),
                )


def _lists(bases: Mapping[str, Base], stage: ChatStage) -> Iterator[tuple[Base, str, Parameters]]:
    """Yield requests for the maximum number of messages."""
    searches = {
        "all": [],
        "a search": [{"operator": "search", "operand": "word"}],
        "many words": [{"operator": "search", "operand": "word " * 1000}],
        "a topic": [
            {"operator": "channel", "operand": "square"},
            {"operator": "topic", "operand": "big"},
        ],
    }
    for name, terms in searches.items():
        for markdown in (True, False):
            yield (
                bases["list_messages"],
                f"all messages ({name}, {markdown})",
                lambda part, t=(terms), m=markdown: {
                    "anchor": "newest",
                    "num_before": int(MAX_LISTED * part),
                    "num_after": 0,
                    "narrow": t,
                    "apply_markdown": m,
                },
            )
        yield (
            bases["update_message_flags_for_narrow"],
            f"all messages ({name})",
            lambda part, t=(terms): {
                "anchor": "newest",
                "num_before": int(MAX_LISTED * part),
                "num_after": 0,
                "narrow": t,
                "op": "add",
                "flag": "read",
            },
        )
    for flag in ("read", "starred", "collapsed"):
        yield (
            bases["update_message_flags"],
            f"all messages ({flag})",
            lambda part, f=flag: {
                "messages": stage.pools.numbers["messages"][: int(MAX_LISTED * part)],
                "op": "add",
                "flag": f,
            },
        )
    for include in (
        {"include_subscribers": True},
        {"include_all": True},
        {"include_custom_profile_fields": True},
    ):
        name = next(iter(include))
        for operation in ("list_users", "list_channels", "list_subscriptions", "get_user"):
            known = {place.name for place in stage.document.places(operation)}
            if name in known:
                yield bases[operation], name, lambda part, b=bases[operation], i=include: {
                    **b.parameters, **i
                }  # fmt: skip


def _messages(
    bases: Mapping[str, Base], stage: ChatStage
) -> Iterator[tuple[Base, str, Parameters]]:
    """Yield messages to a thousand users, and moves of topics with thousands of messages."""
    people = stage.pools.numbers["people"]
    big = stage.pools.numbers["messages"][1]
    square, other = stage.things_of("owner")["square"], stage.pools.numbers["channels"][1]
    for operation in ("send_message", "create_scheduled_message"):
        for name, make in TEXTS.items():
            yield (
                bases[operation],
                f"to a thousand ({name})",
                lambda part, make=make, b=bases[operation]: {
                    **b.parameters,
                    "type": "direct",
                    "to": people[: int(999 * part)],
                    "content": fitting(make, int(10_000 * part)),
                },
            )
    for change in ({"topic": "moved"}, {"stream_id": other}, {"topic": "big!"}):
        for mode in ("change_one", "change_later", "change_all"):
            base = next(
                b for b in stage.bases()
                if b.operation == "update_message" and "topic" in b.parameters
            )  # fmt: skip
            owner = Base(base.case, "owner", base.parameters)
            yield (
                owner,
                f"moving ({', '.join(change)}, {mode})",
                lambda part, c=change, m=mode: {
                    "message_id": big,
                    "propagate_mode": m,
                    "send_notification_to_old_thread": True,
                    "send_notification_to_new_thread": True,
                    **c,
                },
            )
    for name, make in TEXTS.items():
        yield (
            bases["report_message"],
            f"about ({name})",
            lambda part, make=make, b=bases["report_message"]: {
                **b.parameters,
                "report_type": "other",
                "description": fitting(make, int(1000 * part)),
            },
        )
    deletion = bases["delete_message"]
    yield Base(deletion.case, "owner", {}), "of a big topic", lambda part: {"message_id": big}
    yield bases["list_topics"], "of many", lambda part: {"stream_id": square}


def _people(bases: Mapping[str, Base], stage: ChatStage) -> Iterator[tuple[Base, str, Parameters]]:
    """Yield requests with thousands of users, in channels and groups."""
    people = stage.pools.numbers["people"]
    groups = stage.pools.numbers["groups"]
    names = stage.pools.texts["channel names"]
    owner = Base(bases["subscribe"].case, "owner", {})
    for announce in (False, True):
        for fresh in (False, True):
            yield (
                owner,
                f"many channels for many people ({fresh}, {announce})",
                lambda part, f=(fresh), a=announce: {
                    "subscriptions": [
                        {
                            "name": f"fresh {n}" if f else names[n % len(names)],
                            "description": "d" * 500,
                        }
                        for n in range(int(1000 * part))
                    ],
                    "principals": people[: int(1000 * part)],
                    "announce": a,
                },
            )
            yield (
                owner,
                f"a channel for many people ({fresh}, {announce})",
                lambda part, f=(fresh), a=announce: {
                    "subscriptions": [{"name": "fresh" if f else names[0]}],
                    "principals": people[: int(1000 * part)],
                    "announce": a,
                },
            )
    leaving = Base(bases["unsubscribe"].case, "owner", {})
    yield (
        leaving,
        "many people from many channels",
        lambda part: {
            "subscriptions": ["square", *names][: int(1000 * part) or 1],
            "principals": people[: int(1000 * part)],
        },
    )
    yield (
        bases["create_user_group"],
        "of all users",
        lambda part: {
            "name": "all of them",
            "description": "",
            "members": people[: int(10_000 * part)],
            "subgroups": groups[: int(1000 * part)],
            "can_mention_group": {
                "direct_members": people[: int(10_000 * part)],
                "direct_subgroups": groups[: int(1000 * part)],
            },
        },
    )
    settings = bases["update_settings"]
    for base in stage.bases():
        if base.operation == "update_settings" and "target_users" in base.parameters:
            settings = base
    yield (
        settings,
        "of all users",
        lambda part: {
            **settings.parameters,
            "target_users": {
                "user_ids": people[: int(10_000 * part)],
                "group_ids": groups[: int(1000 * part)],
            },
        },
    )
    everything = {
        "delete_profile": True,
        "delete_public_channel_messages": True,
        "delete_private_channel_messages": True,
        "delete_direct_messages": True,
    }
    deactivation = bases["deactivate_user"]
    othello = stage.things_of("member")["own_id"]
    yield (
        deactivation,
        "with all they wrote",
        lambda part: {
            "user_id": othello,
            "actions": everything,
        },
    )
