"""Messages have the form and the signatures of Standard Webhooks."""

import base64
from datetime import UTC, datetime

import pytest

from models.webhooks import signing

AT = datetime(2021, 2, 25, 15, 42, 10, 250_000, tzinfo=UTC)
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_example_of_the_specification_verifies() -> None:
    now = datetime.fromtimestamp(1614265330, UTC)
    signed = signing.sign(
        "msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}', [SECRET], now=now
    )
    assert signed == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_message_is_signed_with_each_secret() -> None:
    old, new = signing.new_secret(), signing.new_secret()
    alone = [signing.sign("evt_1", b"{}", [one], now=AT)["webhook-signature"] for one in (old, new)]
    both = signing.sign("evt_1", b"{}", [old, new], now=AT)["webhook-signature"]
    assert both.split(" ") == alone
    assert alone[0] != alone[1]


def test_message_contains_event_and_time() -> None:
    body = signing.write_message(
        "evt_1", "invoice.paid", AT, {"invoice": {"external_order_id": "Ä"}}
    )
    assert body.decode() == (
        '{"id":"evt_1","type":"invoice.paid","timestamp":"2021-02-25T15:42:10.250Z",'
        '"created_at":1614267730250,"data":{"invoice":{"external_order_id":"Ä"}}}'
    )


def test_new_secret_has_32_bytes() -> None:
    secret = signing.new_secret()
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert signing.is_secret(secret)
    assert signing.is_secret(SECRET)


@pytest.mark.parametrize(
    "text", ["", "whsec_", SECRET[6:], "whsec_AAAA", "whsec_" + "A" * 88, "whsec_!!!!", "whsec_äöü"]
)
def test_invalid_secret_is_rejected(text: str) -> None:
    assert not signing.is_secret(text)
