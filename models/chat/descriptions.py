"""Descriptions of channels and their folders, as HTML."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from models.chat.actors import Actor
from models.chat.rendering import find_names, render


def render_description(session: Session, actor: Actor, description: str) -> str:
    """The HTML of a description that `actor` wrote; empty for an empty one."""
    return render_descriptions(session, actor, [description])[0]


def render_descriptions(session: Session, actor: Actor, descriptions: Sequence[str]) -> list[str]:
    """The same of several, whose names are looked up together."""
    if not any(descriptions):
        return [""] * len(descriptions)
    names = find_names(session, actor, "\n".join(descriptions))
    empty_name = actor.realm.empty_topic_display_name
    return [
        render(text, names, empty_topic_name=empty_name).html if text else ""
        for text in descriptions
    ]
