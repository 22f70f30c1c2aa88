"""Operations of the tag profile_fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.quotas import PROFILE_FIELDS, require_within
from models.chat.profiles import fields as profile_fields
from models.chat.profiles.fields import FieldChanges

if TYPE_CHECKING:
    from handlers.chat import types


def list_profile_fields(ctx: Context) -> envelope.Answer[types.ProfileFieldList]:
    """List the custom profile fields."""
    fields = profile_fields.find_profile_fields(ctx.connection, ctx.actor.realm_id)
    return envelope.success(
        ctx, {**envelope.OK, "custom_fields": cast("list[types.ProfileField]", fields)}
    )


def create_profile_field(
    ctx: Context,
    *,
    field_type: int,
    name: str = "",
    hint: str = "",
    field_data: types.ProfileFieldData | None = None,
    display_in_profile_summary: bool = False,
    required: bool = False,
    editable_by_user: bool = True,
    use_for_user_matching: bool = False,
) -> envelope.Answer[types.ProfileFieldCreated]:
    """Define a custom profile field."""
    field_id = profile_fields.create_profile_field(
        ctx.session,
        ctx.actor,
        name=name,
        hint=hint,
        field_type=field_type,
        field_data=field_data or {},
        display_in_profile_summary=display_in_profile_summary,
        required=required,
        editable_by_user=editable_by_user,
        use_for_user_matching=use_for_user_matching,
        now=ctx.now,
    )
    require_within(ctx.session, ctx.settings, PROFILE_FIELDS, ctx.actor.realm_id)
    return envelope.success(ctx, {**envelope.OK, "id": field_id})


def update_profile_field(
    ctx: Context, *, field_id: int, **changes: Any
) -> envelope.Answer[types.Success]:
    """Change a custom profile field.

    `changes`: the fields of `FieldChanges` that were sent.
    """
    profile_fields.update_profile_field(
        ctx.session, ctx.actor, field_id, FieldChanges(**changes), now=ctx.now
    )
    return envelope.success(ctx)


def delete_profile_field(ctx: Context, *, field_id: int) -> envelope.Answer[types.Success]:
    """Remove a custom profile field."""
    profile_fields.delete_profile_field(ctx.session, ctx.actor, field_id, now=ctx.now)
    return envelope.success(ctx)


def reorder_profile_fields(ctx: Context, *, order: list[int]) -> envelope.Answer[types.Success]:
    """Reorder the custom profile fields."""
    profile_fields.reorder_profile_fields(ctx.session, ctx.actor, order, now=ctx.now)
    return envelope.success(ctx)
