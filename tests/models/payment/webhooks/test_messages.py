"""Posted messages and their signatures, verified by the unmodified Standard Webhooks library."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from models.webhooks import signing

ID = "evt_0000000000000042"
AT = datetime(2026, 11, 22, 12, 30, 15, 123_000, UTC)
DATA = '{"invoice":{"amount":"12500000","note":"käse \\u0000"}}'


def test_body_follows_the_standard() -> None:
    body = signing.write_message(ID, "invoice.paid", AT, orjson.Fragment(DATA))
    assert orjson.loads(body) == {
        "id": ID,
        "type": "invoice.paid",
        "timestamp": "2026-11-22T12:30:15.123Z",
        "created_at": 1795350615123,
        "data": orjson.loads(DATA),
    }


def test_secret_is_32_random_bytes() -> None:
    made = {signing.new_secret() for _ in range(100)}
    assert len(made) == 100
    assert all(len(signing._key(secret)) == 32 for secret in made)
    assert all(secret.startswith("whsec_") and len(secret) == 50 for secret in made)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_library_accepts_each_signing_secret(count: int) -> None:
    secrets = [signing.new_secret() for _ in range(count)]
    now = datetime.now(UTC)
    body = signing.write_message(ID, "invoice.paid", now, orjson.Fragment(DATA))
    headers = signing.sign("evt_0000000000000042", body, secrets, now=now)
    for secret in secrets:
        assert Webhook(secret).verify(body, dict(headers))["type"] == "invoice.paid"
    with pytest.raises(WebhookVerificationError):
        Webhook(signing.new_secret()).verify(body, dict(headers))


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature", "body"])
def test_library_rejects_altered_messages(name: str) -> None:
    secret, now = signing.new_secret(), datetime.now(UTC)
    body = signing.write_message(ID, "invoice.paid", now, orjson.Fragment(DATA))
    sent = dict(signing.sign("evt_42", body, [secret], now=now))
    if name == "body":
        body = body.replace(b"12500000", b"12500001")
    elif name == "webhook-timestamp":
        sent[name] = str(int(sent[name]) + 1)
    else:
        sent[name] = sent[name][:-3] + "AA="
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, sent)


def test_library_rejects_an_old_message() -> None:
    secret, then = signing.new_secret(), datetime.now(UTC) - timedelta(minutes=10)
    body = signing.write_message(ID, "ping", then, orjson.Fragment("{}"))
    sent = signing.sign("m", body, [secret], now=then)
    with pytest.raises(WebhookVerificationError, match="old"):
        Webhook(secret).verify(body, dict(sent))
