"""Descriptions of channels and their folders, as HTML."""

from sqlalchemy.orm import Session

from models.chat.actors import Actor
from models.chat.rendering import find_names, render


def render_description(session: Session, actor: Actor, description: str) -> str:
    """The HTML of a description that `actor` wrote; empty for an empty one."""
    if not description:
        return ""
    names = find_names(session, actor, description)
    return render(description, names, empty_topic_name=actor.realm.empty_topic_display_name).html
