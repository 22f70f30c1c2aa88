"""What is posted and how it is signed, as the library of Standard Webhooks reads it, unmodified."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from models.payment.webhooks import signatures

AT = datetime(2026, 11, 22, 12, 30, 15, 123_000, UTC)
DATA = '{"invoice":{"amount":"12500000","note":"käse \\u0000"}}'


def test_the_body_is_the_standards() -> None:
    body = signatures.write_body("invoice.paid", AT, DATA)
    assert orjson.loads(body) == {
        "type": "invoice.paid",
        "timestamp": "2026-11-22T12:30:15.123Z",
        "data": orjson.loads(DATA),
    }


def test_a_secret_is_32_random_bytes() -> None:
    made = {signatures.make_secret() for _ in range(100)}
    assert len(made) == 100
    assert all(len(signatures._key(secret)) == 32 for secret in made)
    assert all(secret.startswith("whsec_") and len(secret) == 50 for secret in made)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_library_accepts_each_secret_that_signs(count: int) -> None:
    secrets = [signatures.make_secret() for _ in range(count)]
    now = datetime.now(UTC)
    body = signatures.write_body("invoice.paid", now, DATA)
    headers = signatures.sign(body, message_id="evt_0000000000000042", at=now, signing=secrets)
    for secret in secrets:
        assert Webhook(secret).verify(body, dict(headers))["type"] == "invoice.paid"
    with pytest.raises(WebhookVerificationError):
        Webhook(signatures.make_secret()).verify(body, dict(headers))


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature", "body"])
def test_the_library_refuses_what_was_altered(name: str) -> None:
    secret, now = signatures.make_secret(), datetime.now(UTC)
    body = signatures.write_body("invoice.paid", now, DATA)
    sent = dict(signatures.sign(body, message_id="evt_42", at=now, signing=[secret]))
    if name == "body":
        body = body.replace(b"12500000", b"12500001")
    elif name == "webhook-timestamp":
        sent[name] = str(int(sent[name]) + 1)
    else:
        sent[name] = sent[name][:-3] + "AA="
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, sent)


def test_an_old_message_is_refused() -> None:
    secret, then = signatures.make_secret(), datetime.now(UTC) - timedelta(minutes=10)
    body = signatures.write_body("ping", then, "{}")
    sent = signatures.sign(body, message_id="m", at=then, signing=[secret])
    with pytest.raises(WebhookVerificationError, match="old"):
        Webhook(secret).verify(body, dict(sent))
