"""Every credential that the code creates, stores and accepts has a kind in test_credentials_end.py,
or a reason.

Each of these fails here until it has a line: a new column with a digest or a secret, new code that
seals or draws random values, a new operation without an API key, and a new page with a token.
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
AVATAR = NONE + "pictures of users are visible to everyone with the URL"
EMOJI = NONE + "custom emoji are visible to everyone with the URL"

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
    "bot_storage.key": NONE + "the name of a value that a bot has stored",
    "idempotency_key.key": "Idempotency-Key",
    "idempotency_key.fingerprint": NONE + "compares requests",
    "row_change.key": NONE + "of a row that has changed",
    "outbox.key": NONE + "the name of a mail",
    "outbox.is_sealed": NONE + "a flag",
    "attempt_count.key": NONE + "the counted client",
    "known_place.key": NONE + "the origin of a sign-in, which replaces no password",
    "data_export.archive_sha256": NONE + "the checksum of a file",
    "api_key.secret_sha256": "API key",
    "checkout_session.token_sha256": "checkout token",
    "secret_check.sealed": NONE + "a public word",
    "outgoing_webhook.sealed_secret": NONE + "signs outgoing messages and grants no access",
    "webhook_secret.sealed": NONE + "signs outgoing messages and grants no access",
    "chat_import.archive_sha256": NONE + "the checksum of a file of the operator",
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
"""Columns with a secret or its digest -> the kind of credential."""

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
    "models.chat.imports.kept": NONE + "reseals values of another installation",
    "models.chat.imports.runs": NONE + "the addresses of files, which need a key",
    "models.chat.invitations.records": "invitation",
    "models.chat.invitations.sending": "invitation link",
    "models.chat.invitations.joining": NONE + "a digest, for a count",
    "models.chat.identity.jwt_sign_in": "signed token",
    "models.chat.devices": "device",
    "models.chat.common.outbox": "email link",
    "models.chat.outgoing_webhooks.hooks": NONE + "seals signing secrets",
    "models.chat.accounts.resealing": NONE + "reseals values of other modules",
    "specd._auth.passwords": NONE + "a hash without a password",
    "specd._db.sealing": NONE + "the nonce of a cipher",
    "specd._db.secret_checks": NONE + "seals a public word",
    "models.secret_files": NONE + "the secret of a service",
    "models.payment.keys": "API key",
    "models.payment.checkout_sessions": "checkout token",
    "models.webhooks.signing": NONE + "signs outgoing messages and grants no access",
    "models.payment.webhooks.signing_secrets": NONE + "seals signing secrets",
    "handlers.payment.webhook_endpoints": NONE + "the name of a ping",
    "handlers.payment.sample_events": NONE + "the name of a sample",
    "workers.scenario_runs": NONE + "the name of a forged message",
    "handlers.payment.wire.webhooks": NONE + "the seal of a process without settings",
    "models.chat.identity.attempts": NONE + "a digest, for a count",
    "handlers.chat.users": NONE + "a digest, for the fingerprint of a request",
    "handlers.chat.wire.limits": NONE + "a digest, for a count",
    "workers.exports": NONE + "the name of a worker",
    "workers.leadership": NONE + "the name of a worker",
    "cli.demo": NONE + "secrets between the services of the demo",
}
"""Modules that draw secrets, seal texts or create links -> the purpose."""

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
    "dev_fetch_api_key": NONE + "rejected except on a development server",
    "get_server_settings": NONE + "public",
}
"""Operations for which an API key is missing or optional -> the credential that they accept."""

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
"""Pages of private objects -> the credential that they accept."""

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
    """Return the operations whose security is empty, or optional."""
    found = set()
    for service in ("payment", "chat"):
        document = served(service)
        for name, (method, path) in operations_of(document).items():
            security = document["paths"][path][method.lower()].get("security")
            asked = document.get("security", []) if security is None else security
            if not asked or {} in asked:
                found.add(name)
    return found


def test_columns_with_secrets_are_listed() -> None:
    found = columns_with_secrets(ChatBase.metadata) | columns_with_secrets(PaymentBase.metadata)
    assert found == COLUMNS.keys()


def test_modules_that_create_secrets_are_listed() -> None:
    assert set(modules_that_make_secrets()) == PLACES.keys()


def test_open_operations_are_listed() -> None:
    assert open_operations() == OPERATIONS.keys()


def test_schemes_and_headers_are_listed() -> None:
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


def test_pages_are_listed() -> None:
    own = [partial(import_module(entry.pages).install_for, service=SimpleNamespace(
        settings=SimpleNamespace(chat_export_dir=Path(), chat_page=True, dashboard_page=True,
            wallet_rpc_urls=()),
    )) for entry in project.services if entry.pages]  # fmt: skip
    app = build_pages(documents={"chat": "/api/v1/openapi"}, own=own)
    found = {rule.rule for rule in app.url_map.iter_rules() if rule.arguments - PUBLIC}
    assert found == PAGES.keys()


PUBLIC = {"name", "service", "path", "filename"}
"""The public arguments in paths of the other pages: names of files and services."""


@pytest.mark.parametrize("lines", [COLUMNS, PLACES, OPERATIONS, PAGES, SCHEMES, BY_HEADER])
def test_every_line_refers_to_a_tested_kind(lines: dict[Any, str]) -> None:
    for what, kind in lines.items():
        assert kind.startswith(NONE) or kind in KINDS | SHOP_KINDS, what


def test_every_kind_is_used_in_a_line() -> None:
    """A kind without a line no longer exists, or these tests miss it."""
    found = {kind for lines in (COLUMNS, PLACES, OPERATIONS, PAGES, SCHEMES, BY_HEADER)
             for kind in lines.values()}  # fmt: skip
    assert (KINDS | SHOP_KINDS).keys() - found == {"API key of a bot"}
