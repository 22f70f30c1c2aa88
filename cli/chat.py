"""`specd chat ...`: the operator's commands for organizations, their users and settings."""

import json
from typing import Any

import click
from sqlalchemy.orm import Session

from cli.chat_audit import audit
from cli.chat_check_archive import check_archive
from cli.chat_export import export
from cli.chat_import import import_archive
from cli.chat_keys import renew_key, reseal, revoke_keys
from cli.chat_mail import dead_mail, receive_mail
from cli.chat_move import move
from cli.chat_number_from import number_from
from cli.chat_render_again import render_again
from cli.restored import after_restore_of_chat
from cli.secret_files import read_secret, secret_option
from cli.shared_secrets import chat_vault, key_maker
from models.chat.accounts import administering
from models.chat.accounts.new_users import join_default_channels
from models.chat.identity import jwt_sign_in
from models.chat.identity.passwords import hash_password
from models.chat.identity.roles import BotType, Role
from models.chat.organization import realms
from models.chat.organization.settings import TEXT_SETTINGS, change_realm
from models.chat.people import users
from models.chat.tables import User
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Clock


@click.group()
def chat() -> None:
    """Administer the chat service."""


chat.add_command(audit)
chat.add_command(dead_mail)
chat.add_command(receive_mail)
chat.add_command(renew_key)
chat.add_command(reseal)
chat.add_command(revoke_keys)
chat.add_command(export)
chat.add_command(check_archive)
chat.add_command(import_archive)
chat.add_command(move)
chat.add_command(number_from)
chat.add_command(render_again)
chat.add_command(after_restore_of_chat)


@chat.command("create-realm")
@click.option("--name", required=True, help="Display name of the organization.")
@click.option("--host", required=True, help="Host name of the organization, without port.")
@click.option("--owner-email", required=True, help="Real email of the first owner.")
@click.option("--owner-name", required=True, help="Full name of the first owner.")
@secret_option("owner-password", "Lets the owner sign in with fetch_api_key.")
@json_option
def create_realm(
    name: str,
    host: str,
    owner_email: str,
    owner_name: str,
    owner_password: str | None,
    as_json: bool,
) -> None:
    """Create an organization with its first owner.

    Shows the API key of the owner.
    """
    settings = Settings.from_env()
    keys, now = key_maker(settings), Clock().now()
    password_hash = None if owner_password is None else hash_password(owner_password)
    with open_database("chat", settings, needs_secret=True) as database:
        realm, owner, api_key = database.run(
            lambda session: realms.create_realm(
                session,
                keys,
                name=name,
                host=host,
                owner_email=owner_email,
                owner_name=owner_name,
                owner_password_hash=password_hash,
                now=now,
            )
        )
    answer(
        {
            "realm_id": realm.id,
            "user_id": owner.id,
            "email": owner.delivery_email,
            "api_key": api_key,
        },
        as_json=as_json,
        text=f"Organization {realm.id} created at {realm.host}.\n"
        f"Its owner is user {owner.id}, {owner.delivery_email}, with the API key\n{api_key}",
    )


@chat.command("create-user")
@click.option("--realm", required=True, help="Id or host of the organization.")
@click.option("--email", required=True, help="Real email.")
@click.option("--name", required=True, help="Full name.")
@click.option(
    "--role",
    type=click.Choice([str(int(role)) for role in Role]),
    default=str(int(Role.MEMBER)),
    show_default=True,
    help="100 owner, 200 administrator, 300 moderator, 400 member, 600 guest.",
)
@click.option("--bot-owner", type=int, help="Creates a bot that this user owns.")
@click.option(
    "--bot-type",
    type=click.Choice([str(int(kind)) for kind in BotType]),
    help="1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded.",
)
@secret_option("password", "Password for fetch_api_key.")
@click.option("--can-create-users", is_flag=True, help="Allow POST /users.")
@click.option("--can-change-user-emails", is_flag=True, help="Allow changing other users' emails.")
@json_option
def create_user(
    realm: str,
    email: str,
    name: str,
    role: str,
    bot_owner: int | None,
    bot_type: str | None,
    password: str | None,
    can_create_users: bool,
    can_change_user_emails: bool,
    as_json: bool,
) -> None:
    """Create a user or a bot and show the API key."""
    settings = Settings.from_env()
    keys, now = key_maker(settings), Clock().now()
    kind = int(bot_type) if bot_type else BotType.GENERIC if bot_owner else None
    if kind is not None and password is not None:
        raise click.UsageError("A bot has no password, only an API key.")
    password_hash = None if password is None else hash_password(password)
    with open_database("chat", settings, needs_secret=True) as database:

        def work(session: Session) -> tuple[User, str]:
            user, api_key = users.create_user(
                session,
                keys,
                realm=realms.access_realm_to_change(session, realm),
                email=email,
                full_name=name,
                role=int(role),
                bot_type=kind,
                bot_owner_id=bot_owner,
                password_hash=password_hash,
                can_create_users=can_create_users,
                can_change_user_emails=can_change_user_emails,
                now=now,
            )
            join_default_channels(session, user, now=now)
            return user, api_key

        user, api_key = database.run(work)
    answer(
        {"user_id": user.id, "email": user.delivery_email, "api_key": api_key},
        as_json=as_json,
        text=f"User {user.id}, {user.delivery_email}, with the API key\n{api_key}",
    )


@chat.command("grant")
@click.option("--realm", required=True, help="Id or host of the organization.")
@click.option("--email", required=True, help="Real email of the user.")
@click.option("--create-users/--no-create-users", default=None, help="Allow POST /users.")
@click.option(
    "--change-user-emails/--no-change-user-emails",
    default=None,
    help="Allow changing other users' emails.",
)
@json_option
def grant(
    realm: str,
    email: str,
    create_users: bool | None,
    change_user_emails: bool | None,
    as_json: bool,
) -> None:
    """Grant or revoke special rights of an administrator.

    Only the operator can grant these rights.
    The change takes effect with the server's next request.
    """
    sent = {"can_create_users": create_users, "can_change_user_emails": change_user_emails}
    rights = {name: value for name, value in sent.items() if value is not None}
    if not rights:
        raise click.UsageError("Choose a right: --create-users, --change-user-emails.")
    now = Clock().now()
    with open_database("chat", Settings.from_env()) as database:
        user_id = database.run(
            lambda session: administering.grant(
                session, realms.access_realm_to_change(session, realm), email, rights, now=now
            )
        )
    listed = ", ".join(f"{name}={str(value).lower()}" for name, value in rights.items())
    answer({"user_id": user_id, **rights}, as_json=as_json, text=f"User {user_id}: {listed}.")


@chat.command("set-realm")
@click.option("--realm", required=True, help="Id or host of the organization.")
@click.argument("assignments", nargs=-1, required=True, metavar="KEY=VALUE...")
@json_option
def set_realm(realm: str, assignments: tuple[str, ...], as_json: bool) -> None:
    """Change the settings of an organization.

    Settings have the names of PATCH /realm; values are JSON or text. The change takes effect with
    the server's next request. Group settings accept names:
    role:everyone, role:members, role:fullmembers, role:moderators, role:administrators,
    role:owners, role:nobody.

    Token sign-in is configured with jwt_algorithms=RS256 jwt_key=@FILE jwt_audience=TEXT
    (empty: tokens without an audience) jwt_max_age=SECONDS (default one day; 0: tokens need not
    expire). The key is read from FILE (@-: standard input), so that the process list does not
    show it: a PEM public key for RS, PS and ES algorithms, a shared secret for HS algorithms.
    jwt_key= disables token sign-in.
    """
    changes = dict(parse_assignment(assignment) for assignment in assignments)
    settings, now = Settings.from_env(), Clock().now()
    vault = chat_vault(settings)
    plain = {name: changes[name] for name in changes.keys() - jwt_sign_in.SETTINGS}
    token = {name: changes[name] for name in changes.keys() & jwt_sign_in.SETTINGS}
    with open_database("chat", settings, needs_secret=True) as database:

        def work(session: Session) -> int:
            realm_id = realms.access_realm_to_change(session, realm).id
            change_realm(session, realm_id, plain, actor=None, now=now)
            if token:
                jwt_sign_in.change_configuration(session, vault, realm_id, token, now=now)
            return realm_id

        realm_id = database.run(work)
    names = ", ".join(sorted(changes))
    answer(
        {"realm_id": realm_id, "set": sorted(changes)},
        as_json=as_json,
        text=f"Organization {realm_id}: {names} set.",
    )


def parse_assignment(text: str) -> tuple[str, Any]:
    """Return the name and value of `KEY=VALUE`. The value is parsed as JSON if possible. Raise
    UsageError for any other text.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"{text.partition('=')[0]!r} is not KEY=VALUE.")
    if name == "jwt_key" and value:
        if not value.startswith("@"):
            raise click.UsageError("jwt_key is a secret: write jwt_key=@FILE, or jwt_key=@-.")
        return name, read_secret(value[1:])
    if name in jwt_sign_in.SETTINGS:
        return name, value
    try:
        parsed: Any = json.loads(value)
    except ValueError:
        return name, value
    # The value of a text setting may look like a number.
    return name, value if name in TEXT_SETTINGS and not isinstance(parsed, str) else parsed
