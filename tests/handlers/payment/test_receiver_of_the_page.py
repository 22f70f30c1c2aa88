"""The receiver at the beginning of docs/test-your-shop.md works unchanged."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from models.webhooks import signing

PAGE = Path(__file__).parents[3] / "docs/test-your-shop.md"


def test_receiver_fulfills_once_and_rejects_forged_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    secret, now = signing.new_secret(), datetime.now(UTC)
    monkeypatch.setenv("WEBHOOK_SECRET", secret)
    shop: dict[str, Any] = {}
    exec(block, shop)
    client = shop["app"].test_client()

    def post(type_: str, by: str = secret, **data: Any) -> int:
        data = {"invoice": {"external_order_id": "order-1"}} | data
        body = signing.write_message("evt_1", type_, now, data)
        headers = signing.sign("evt_1", body, [by], now=now)
        return int(client.post("/webhooks", data=body, headers=headers).status_code)

    assert post("invoice.paid", by=signing.new_secret()) == 500
    assert [post("invoice.created"), post("invoice.paid", sample=True)] == [204, 204]
    assert shop["fulfilled"] == set()
    assert [post("invoice.paid"), post("invoice.paid")] == [204, 204]
    assert shop["fulfilled"] == {"order-1"}
