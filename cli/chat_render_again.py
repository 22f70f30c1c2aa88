"""`specd chat render-again`: renders stored messages again with the current renderer."""

from functools import partial

import click

from models.chat.messages import rendering_again
from models.chat.organization import realms
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Database

BATCH = 200
"""The number of messages per transaction."""
_PROGRESS = 10_000
"""The number of messages between two progress lines."""


@click.command("render-again")
@click.option("--realm", help="Id or host of an organization.  [default: all]")
@click.option("--after", default=0, show_default=True, help="Resume after this message id.")
@json_option
def render_again(realm: str | None, after: int, as_json: bool) -> None:
    """Render stored messages again after an upgrade.

    Servers can keep running. Clients show the new HTML when they load the messages again.
    """
    with open_database("chat", Settings.from_env()) as database:
        realm_id = None
        if realm is not None:
            realm_id = database.run(
                lambda session: realms.access_realm_to_change(session, realm)
            ).id
        read = changed = 0
        while batch := _one_batch(database, realm_id, after):
            last, count, batch_changed = batch
            read, changed, after = read + count, changed + batch_changed, last
            if read // _PROGRESS != (read - count) // _PROGRESS:
                click.echo(f"{read} messages read, {changed} changed; --after {after}", err=True)
    answer(
        {"read": read, "changed": changed, "after": after},
        as_json=as_json,
        text=f"{read} messages read, {changed} changed.",
    )


def _one_batch(database: Database, realm_id: int | None, after: int) -> tuple[int, int, int] | None:
    """Render a batch. Return the last id and the numbers of messages read and changed, or None if
    there are no more messages.
    """
    with database.reading() as connection:
        messages = rendering_again.find_stored(
            connection, after=after, limit=BATCH, realm_id=realm_id
        )
        again = rendering_again.render_again(connection, messages)
    if not messages:
        return None
    changed = database.run(partial(rendering_again.store_again, changed=again)) if again else 0
    return messages[-1].id, len(messages), changed
