"""No credential is forgotten: what the code makes, stores and takes is of a kind that is played in
test_credentials_end.py, or said to be none.

A new column that holds a digest or a secret, a new place where something is sealed or drawn at
random, a new operation for which no API key is asked, and a new page that takes a token: each fails
here until it has a line.
"""

import ast
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import MetaData

from models.chat.base import ChatBase
from models.payment.base import PaymentBase
from tests.contract.authorization.test_credentials_end import KINDS, SHOP_KINDS
from tests.support.contract import operations_of
from tests.support.served import served
from tests.support.service_pages import build_pages
from wsgi import project

ROOT = Path(__file__).parents[3]
PRODUCT = ("models", "handlers", "pages", "specd", "workers", "cli")
HOLDS_SECRETS = ("sha256", "nonce", "sealed", "hash", "token", "secret", "fingerprint")
MAKES_SECRETS = {"token_hex", "token_urlsafe", "token_bytes", "seal", "make_link"}
NONE = "no credential: "
AVATAR = NONE + "whoever knows the address of a user's picture sees it"
EMOJI = NONE + "whoever knows the address of a custom emoji sees it"

COLUMNS = {
    "user.api_key_nonce": "API key",
    "user.api_key_sha256": "API key",
    "user.password_hash": "password",
    "jwt_configuration.sealed_key": "signed token",
    "browser_session.token_sha256": "session cookie",
    "email_change.token_sha256": "email link",
    "invitation.token_sha256": "invitation",
    "invitation.sealed_token": "invitation link",
    "spent_link.key": "export link",
    "vendor_token.sealed_tokens": "vendor authorization",
    "client_device.sealed_push_key": "device",
    "client_device.pending_push_token_id": "device",
    "client_device.push_token_changed_at": "device",
    "client_device.push_token_id": "device",
    "client_device.push_token_kind": "device",
    "bot_storage.key": NONE + "the name of what a bot has stored",
    "idempotency_key.key": "Idempotency-Key",
    "idempotency_key.fingerprint": NONE + "tells whether two requests are the same",
    "row_change.key": NONE + "of a row that has changed",
    "outbox.key": NONE + "the name of a mail",
    "outbox.is_sealed": NONE + "whether a mail is sealed",
    "attempt_count.key": NONE + "what is counted",
    "known_place.key": NONE + "from where somebody has signed in; saves nobody a password",
    "data_export.archive_sha256": NONE + "the sum of a file",
    "api_key.secret_sha256": "API key",
    "checkout_session.token_sha256": "checkout token",
    "secret_check.sealed": NONE + "a word that everybody knows",
    "outgoing_webhook.sealed_secret": NONE
    + "signs what the service sends; nobody comes in with it",
    "webhook_secret.sealed": NONE + "signs what the service sends; nobody comes in with it",
    "chat_import.archive_sha256": NONE + "of a file that the operator has",
    "chain_block.hash": NONE + "public, of the chain",
    "chain_head.checkpoint_hash": NONE + "public, of the chain",
    "chain_head.head_hash": NONE + "public, of the chain",
    "invoice.creation_head_hash": NONE + "public, of the chain",
    "conversation.key": NONE + "the name of a group of people",
    "payment.block_hash": NONE + "public, of the chain",
    "payment.tx_hash": NONE + "public, of the chain",
    "invoice.refund_tx_hash": NONE + "public, of the chain",
    "invoice.token_address": NONE + "a contract on the chain",
    "invoice.token_symbol": NONE + "a contract on the chain",
    "payment_method.token_address": NONE + "a contract on the chain",
    "payment_method.token_symbol": NONE + "a contract on the chain",
}
"""Where something secret, or a digest of it, stands in a table: what it is of."""

PLACES = {
    "models.chat.identity.api_keys": "API key",
    "models.chat.identity.browser_sessions": "session cookie",
    "models.chat.identity.links": "export link",
    "models.chat.exports.requests": "export link",
    "models.chat.uploads.access": "upload link",
    "models.chat.uploads.names": NONE + "the address of a file, which needs a key",
    "handlers.chat.calls": "vendor link",
    "handlers.chat.invitations": "invitation link",
    "models.chat.calls": "vendor state",
    "models.chat.settings.email_changes": "email link",
    "models.chat.imports.completing": "invitation",
    "models.chat.imports.kept": NONE + "seals again what another installation sealed",
    "models.chat.imports.runs": NONE + "the addresses of files, which need a key",
    "models.chat.invitations.records": "invitation",
    "models.chat.invitations.sending": "invitation link",
    "models.chat.invitations.joining": NONE + "a digest, for a count",
    "models.chat.identity.jwt_sign_in": "signed token",
    "models.chat.devices": "device",
    "models.chat.common.outbox": "email link",
    "models.chat.outgoing_webhooks.hooks": NONE + "seals what the service signs with",
    "models.chat.accounts.resealing": NONE + "seals again what others sealed",
    "specd._auth.passwords": NONE + "a hash that no password has",
    "specd._db.sealing": NONE + "the nonce of a cipher",
    "specd._db.secret_checks": NONE + "seals a word that everybody knows",
    "models.secret_files": NONE + "the secret of a service",
    "models.payment.keys": "API key",
    "models.payment.checkout_sessions": "checkout token",
    "models.webhooks.signing": NONE + "signs what the service sends; nobody comes in with it",
    "models.payment.webhooks.signing_secrets": NONE + "seals what the service signs with",
    "handlers.payment.webhook_endpoints": NONE + "the name of a ping",
    "handlers.payment.sample_events": NONE + "the name of a sample",
    "workers.scenario_runs": NONE + "the name of a forged message",
    "handlers.payment.wire.webhooks": NONE + "the seal of a process without settings",
    "models.chat.identity.attempts": NONE + "a digest, for a count",
    "handlers.chat.users": NONE + "a digest, for the fingerprint of a request",
    "handlers.chat.wire.limits": NONE + "a digest, for a count",
    "workers.exports": NONE + "the name of a worker",
    "workers.leadership": NONE + "the name of a worker",
    "cli.demo": NONE + "what the demo's own services ask of each other",
}
"""Modules that draw secrets, seal texts or make links: for what."""

OPERATIONS = {
    "accept_invitation": "invitation",
    "begin_vendor_authorization": "vendor link",
    "complete_vendor_authorization": "vendor state",
    "confirm_new_email": "email link",
    "fetch_api_key": "password",
    "get_email_confirmation": "email link",
    "get_invitation": "invitation link",
    "jwt_fetch_api_key": "signed token",
    "receive_json": "API key",
    "receive_webhook": "API key",
    "receive_vendor_notice": "vendor's notice token",
    "session_fetch_api_key": "session cookie",
    "dev_fetch_api_key": NONE + "refused unless it is a development server",
    "get_server_settings": NONE + "for everybody",
}
"""Operations that do without an API key, or can: what they take instead."""

PAGES = {
    "/checkout/<token>": "checkout token",
    "/checkout/<token>/status": "checkout token",
    "/exports/<int:export_id>/<token>": "export link",
    "/exports/<int:export_id>": "API key",
    "/user_uploads/temporary/<sealed>/<filename>": "upload link",
    "/user_uploads/<realm>/<filename>": "API key",
    "/user_uploads/thumbnail/<realm>/<filename>/<form>": "API key",
    "/user_avatars/<int:realm_id>/emoji/images/<handle>.webp": EMOJI,
    "/user_avatars/<int:realm_id>/emoji/images/still/<handle>.webp": EMOJI,
    "/user_avatars/<int:realm_id>/<name>.png": AVATAR,
}
"""Pages of something that is not everybody's, and what they take."""

SCHEMES = {("chat", "basicAuth"): "API key", ("payment", "bearerAuth"): "API key"}
BY_HEADER = {"Idempotency-Key": "Idempotency-Key"}


def columns_with_secrets(metadata: MetaData) -> set[str]:
    return {
        f"{table.name}.{column.name}"
        for table in metadata.sorted_tables
        for column in table.columns
        if column.name == "key" or any(word in column.name for word in HOLDS_SECRETS)
    }


def modules_that_make_secrets() -> Iterator[str]:
    for path in sorted(path for top in PRODUCT for path in (ROOT / top).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called: Any = node.func
                if getattr(called, "attr", getattr(called, "id", "")) in MAKES_SECRETS:
                    yield ".".join(path.relative_to(ROOT).with_suffix("").parts)


def open_operations() -> set[str]:
    """Operations whose security names nothing, or nothing as one of several."""
    found = set()
    for service in ("payment", "chat"):
        document = served(service)
        for name, (method, path) in operations_of(document).items():
            security = document["paths"][path][method.lower()].get("security")
            asked = document.get("security", []) if security is None else security
            if not asked or {} in asked:
                found.add(name)
    return found


def test_columns() -> None:
    found = columns_with_secrets(ChatBase.metadata) | columns_with_secrets(PaymentBase.metadata)
    assert found == COLUMNS.keys()


def test_places() -> None:
    assert set(modules_that_make_secrets()) == PLACES.keys()


def test_operations() -> None:
    assert open_operations() == OPERATIONS.keys()


def test_schemes_and_headers() -> None:
    found = {
        (service, name)
        for service in ("payment", "chat")
        for name in served(service)["components"]["securitySchemes"]
    }
    assert found == SCHEMES.keys()
    headers = {
        parameter["name"]
        for service in ("payment", "chat")
        for parameter in served(service)["components"]["parameters"].values()
        if parameter["in"] in ("header", "cookie")
    }
    assert headers == BY_HEADER.keys()


def test_pages() -> None:
    own = [partial(import_module(entry.pages).install_for, service=SimpleNamespace(
        settings=SimpleNamespace(chat_export_dir=Path(), chat_page=True, dashboard_page=True,
            wallet_rpc_urls=()),
    )) for entry in project.services if entry.pages]  # fmt: skip
    app = build_pages(documents={"chat": "/api/v1/openapi"}, own=own)
    found = {rule.rule for rule in app.url_map.iter_rules() if rule.arguments - PUBLIC}
    assert found == PAGES.keys()


PUBLIC = {"name", "service", "path", "filename"}
"""What the rest of the pages take in their addresses: names of files and services."""


@pytest.mark.parametrize("lines", [COLUMNS, PLACES, OPERATIONS, PAGES, SCHEMES, BY_HEADER])
def test_every_line_leads_to_a_kind_that_is_played(lines: dict[Any, str]) -> None:
    for what, kind in lines.items():
        assert kind.startswith(NONE) or kind in KINDS | SHOP_KINDS, what


def test_every_kind_is_found_somewhere() -> None:
    """A kind that nothing leads to is no more, or these tests do not see it."""
    found = {kind for lines in (COLUMNS, PLACES, OPERATIONS, PAGES, SCHEMES, BY_HEADER)
             for kind in lines.values()}  # fmt: skip
    assert (KINDS | SHOP_KINDS).keys() - found == {"API key of a bot"}
