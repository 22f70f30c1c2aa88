"""`specd chat renew-key`, `revoke-keys`, `reseal`: replace and revoke keys and secrets."""

from functools import partial

import click

from cli.secret_files import secret_option
from cli.shared_secrets import CHAT, chat_vault, key_maker, without_previous
from models.chat.accounts import key_renewal, resealing
from models.chat.identity.passwords import hash_password
from models.chat.organization import realms
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Clock


@click.command("renew-key")
@click.option("--realm", required=True, help="Id or host of the organization.")
@click.option("--email", required=True, help="Real email of the person or bot.")
@secret_option("password", "Password of a person for fetch_api_key, instead of their old one.")
@json_option
def renew_key(realm: str, email: str, password: str | None, as_json: bool) -> None:
    """Replace the API key of a user or a bot and show it.

    The server rejects the old key from its next request on.
    """
    settings, now = Settings.from_env(), Clock().now()
    keys = key_maker(settings)
    password_hash = None if password is None else hash_password(password)
    with open_database("chat", settings, needs_secret=True) as database:
        user_id, api_key = database.run(
            lambda session: key_renewal.renew_named_key(
                session,
                keys,
                realms.access_realm_to_change(session, realm),
                email,
                password_hash=password_hash,
                now=now,
            )
        )
    answer(
        {"user_id": user_id, "email": email, "api_key": api_key},
        as_json=as_json,
        text=f"User {user_id}, {email}, now has the API key\n{api_key}",
    )


@click.command("revoke-keys")
@click.argument("realm")
@json_option
def revoke_keys(realm: str, as_json: bool) -> None:
    """Revoke all API keys of an organization.

    Use this after a leak. Users get a new key when they sign in again; `specd chat renew-key`
    creates new keys for bots. If the server's secret (`SPECD_CHAT_SECRET`) may have leaked too,
    replace the secret first.
    """
    settings, now = Settings.from_env(), Clock().now()
    keys = key_maker(settings)
    revoked = after_id = 0
    with open_database("chat", settings, needs_secret=True) as database:
        of = database.run(lambda session: realms.access_realm_to_change(session, realm))
        while True:
            work = partial(key_renewal.revoke_some_keys, keys=keys, realm=of, now=now)
            count, after_id = database.run(partial(work, after_id=after_id))
            if count == 0:
                break
            revoked += count
        database.run(lambda session: key_renewal.note_revocation(session, of, revoked, now=now))
    answer(
        {"realm_id": of.id, "revoked": revoked},
        as_json=as_json,
        text=f"Organization {of.id}: {revoked} API keys revoked.",
    )


@click.command("reseal")
@without_previous
@json_option
def reseal(without_previous: bool, as_json: bool) -> None:
    """Encrypt stored secrets again with SPECD_CHAT_SECRET.

    SPECD_CHAT_SECRET_PREVIOUS decrypts them, and can be removed afterwards. No machine starts
    without the current secret then. Values that neither secret decrypts are lost; the command
    counts them.
    """
    settings = Settings.from_env()
    vault = chat_vault(settings)
    resealed = lost = 0
    with open_database("chat", settings, needs_secret=not without_previous) as database:
        for at in range(len(resealing.SEALED)):
            after = -1
            while True:
                work = partial(resealing.reseal_some, vault=vault, at=at, after=after)
                done, gone, last = database.run(work)
                resealed, lost = resealed + done, lost + gone
                if last == after:
                    break
                after = last
        database.run(partial(CHAT.renew, settings=settings))
    answer(
        {"resealed": resealed, "lost": lost},
        as_json=as_json,
        text=f"{resealed} values encrypted again, {lost} lost.",
    )
