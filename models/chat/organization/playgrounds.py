"""Code playgrounds: sites that run a code block of some language."""

import re
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session
from uritemplate import URITemplate

from models.chat.common.one_line import require_one_line
from models.chat.common.url_templates import is_url_template
from models.chat.events.organization import RealmPlaygroundsEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.organization.errors import InvalidLanguage, InvalidPlayground, ValidationFailure
from models.chat.tables import Playground
from specd.db import Db

CODE = "code"
LANGUAGE = re.compile(r"[ a-zA-Z0-9_+-./#]*")
BLANK = "This field cannot be blank."
TAKEN = "Realm playground with this Realm, Pygments language and Name already exists."
NO_TEMPLATE = "Invalid URL template."
NO_CODE = 'Missing the required variable "code" in the URL template'
MORE_THAN_CODE = '"code" should be the only variable present in the URL template'

_ALL = (
    select(
        Playground.id,
        Playground.name,
        Playground.syntax_language.label("pygments_language"),
        Playground.url_template,
    )
    .where(Playground.realm_id == bindparam("realm_id"))
    .order_by(Playground.id)
)


def find_playgrounds(db: Db, realm_id: int) -> list[dict[str, Any]]:
    """Return the realm's playgrounds in the API's form."""
    return [{**row} for row in db.execute(_ALL, {"realm_id": realm_id}).mappings()]


def create_playground(
    session: Session,
    actor: Actor,
    *,
    name: str,
    syntax_language: str,
    url_template: str,
    now: datetime,
) -> int:
    """Create a playground and return its id.

    Raise `NotOneLine`, `InvalidLanguage`, `ValidationFailure`.
    """
    name, syntax_language = require_one_line("name", name.strip()), syntax_language.strip()
    if LANGUAGE.fullmatch(syntax_language) is None:
        raise InvalidLanguage()
    lock_realm(session, actor.realm_id)
    errors = find_problems(name, syntax_language, url_template)
    if not errors:
        taken = session.execute(
            select(Playground.id).where(
                Playground.realm_id == actor.realm_id,
                Playground.syntax_language == syntax_language,
                Playground.name == name,
            )
        )
        if taken.first() is not None:
            errors = {"__all__": [TAKEN]}
    if errors:
        raise ValidationFailure(problem=next(iter(errors.values()))[0], errors=errors)
    playground = Playground(
        realm_id=actor.realm_id,
        name=name,
        syntax_language=syntax_language,
        url_template=url_template,
    )
    session.add(playground)
    session.flush()
    facts = {"playground_id": playground.id, "name": name, "syntax_language": syntax_language}
    append_change(session, actor, "playground_created", facts, RealmPlaygroundsEvent(), now=now)
    return playground.id


def delete_playground(session: Session, actor: Actor, playground_id: int, *, now: datetime) -> None:
    """Delete a playground. Raise `InvalidPlayground` if the realm does not have it."""
    playground = session.scalars(
        select(Playground)
        .where(Playground.id == playground_id, Playground.realm_id == actor.realm_id)
        .with_for_update()
    ).first()
    if playground is None:
        raise InvalidPlayground()
    session.delete(playground)
    session.flush()
    facts = {"playground_id": playground_id}
    append_change(session, actor, "playground_deleted", facts, RealmPlaygroundsEvent(), now=now)


def find_problems(name: str, syntax_language: str, url_template: str) -> dict[str, list[str]]:
    """Return the problems by field."""
    problems = {
        field: [BLANK]
        for field, text in (("name", name), ("pygments_language", syntax_language))
        if not text
    }
    problem = _template_problem(url_template)
    if problem is not None:
        problems["url_template"] = [problem]
    return problems


def _template_problem(url_template: str) -> str | None:
    if not url_template:
        return BLANK
    if not is_url_template(url_template):
        return NO_TEMPLATE
    variables = set(URITemplate(url_template).variable_names)
    if CODE not in variables:
        return NO_CODE
    return None if variables == {CODE} else MORE_THAN_CODE
