"""Authentication by the bearer key of a project."""

from handlers.payment.wire.context import Context
from models.payment import keys
from models.payment.keys import Actor


def authenticate(token: str, *, request: Context) -> Actor | None:
    """Return the actor of a bearer key, or None if the key is not active."""
    request.key_id = keys.id_of(token)
    # In a write unit, this locks the key's row.
    db = request.connection if request.is_read_only else request.session
    actor = keys.find_actor(db, token)
    if actor is not None:
        request.actor_id = actor.project_id
        request.adapters.key_uses.note(actor.key_id, request.now)
    return actor


def require_role(ctx: Context, role: str) -> None:
    """Raise unless the actor's key has the document's `x-required-role`, which is a scope."""
    keys.require_scope(ctx.actor, role)
