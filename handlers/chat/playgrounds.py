"""Operations of the tag playgrounds."""

from handlers.chat import envelope
from models.chat import playgrounds
from models.chat.errors.parameters import ConfusingParameters, MissingParameter
from server.context import Context
from server.response import Response


def create_playground(
    ctx: Context,
    *,
    name: str,
    url_template: str,
    syntax_language: str | None = None,
    pygments_language: str | None = None,
) -> Response:
    """Add a code playground."""
    if syntax_language is not None and pygments_language is not None:
        raise ConfusingParameters(var_name1="syntax_language", var_name2="pygments_language")
    language = pygments_language if syntax_language is None else syntax_language
    if language is None:
        raise MissingParameter(var_name="syntax_language")
    playground_id = playgrounds.create_playground(
        ctx.session,
        ctx.actor,
        name=name,
        syntax_language=language,
        url_template=url_template,
        now=ctx.now,
    )
    return envelope.success(ctx, id=playground_id)


def delete_playground(ctx: Context, *, playground_id: int) -> Response:
    """Remove a code playground."""
    playgrounds.delete_playground(ctx.session, ctx.actor, playground_id, now=ctx.now)
    return envelope.success(ctx)
