"""Where outgoing webhooks live: stored, changed and described."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.common.vault import Vault
from models.chat.common.webhook_secrets import open_secret, purpose_of, show_secrets
from models.chat.outgoing_webhooks.errors import NotAnOutgoingWebhook
from models.chat.tables import OutgoingWebhook
from models.reader import Db
from models.webhooks import signing


def create_hook(session: Session, vault: Vault, bot_id: int, *, url: str, interface: int) -> None:
    """`url`: an address that was checked."""
    sealed = vault.seal(signing.new_secret(), purpose=purpose_of(bot_id))
    hook = OutgoingWebhook(
        user_id=bot_id, payload_url=url, interface=interface, sealed_secret=sealed
    )
    session.add(hook)
    session.flush()


def change_hook(
    session: Session, bot_id: int, *, url: str | None, interface: int | None
) -> OutgoingWebhook | None:
    """The bot's address after the change; what is None stays. Raises `NotAnOutgoingWebhook` where
    there is something to change and no address.
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
    """Bot's id -> where it lives, with what signs: for its owner alone."""
    hook = OutgoingWebhook
    wanted = select(hook.user_id, hook.payload_url, hook.interface, hook.sealed_secret)
    found = db.execute(wanted.where(hook.user_id.in_(sorted(bot_ids))))
    return {
        row.user_id: [
            {
                "base_url": row.payload_url,
                "interface": row.interface,
                **show_secrets(open_secret(vault, row.user_id, row.sealed_secret)),
            }
        ]
        for row in found
    }
