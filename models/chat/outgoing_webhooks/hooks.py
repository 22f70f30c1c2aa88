"""The URLs of outgoing webhooks: store, change and describe them."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.common.vault import Vault
from models.chat.common.webhook_secrets import open_secret, purpose_of, show_secrets
from models.chat.outgoing_webhooks.errors import NotAnOutgoingWebhook
from models.chat.tables import OutgoingWebhook
from models.webhooks import signing
from specd.db import Db


def create_hook(session: Session, vault: Vault, bot_id: int, *, url: str, interface: int) -> None:
    """Store the checked URL of a bot, with a new secret."""
    sealed = vault.seal(signing.new_secret(), purpose=purpose_of(bot_id))
    hook = OutgoingWebhook(
        user_id=bot_id, payload_url=url, interface=interface, sealed_secret=sealed
    )
    session.add(hook)
    session.flush()


def change_hook(
    session: Session, bot_id: int, *, url: str | None, interface: int | None
) -> OutgoingWebhook | None:
    """Change a bot's webhook and return it. Return None if the bot has no webhook and nothing
    changes. Raise `NotAnOutgoingWebhook` if the bot has no webhook to change.
    """
    hook = session.get(OutgoingWebhook, bot_id, with_for_update=True)
    if hook is None:
        if url is not None or interface is not None:
            raise NotAnOutgoingWebhook()
        return None
    hook.payload_url = hook.payload_url if url is None else url
    hook.interface = hook.interface if interface is None else interface
    session.flush()
    return hook


def find_own_services(
    db: Db, vault: Vault, bot_ids: Collection[int]
) -> Mapping[int, list[dict[str, Any]]]:
    """Return bot id -> its service with the secret, for the owner of the bot."""
    hook = OutgoingWebhook
    query = select(hook.user_id, hook.payload_url, hook.interface, hook.sealed_secret)
    return {
        row.user_id: [
            {
                "base_url": row.payload_url,
                "interface": row.interface,
                **show_secrets(open_secret(vault, row.user_id, row.sealed_secret)),
            }
        ]
        for row in db.execute(query.where(hook.user_id.in_(sorted(bot_ids))))
    }
