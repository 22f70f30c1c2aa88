"""Creates webhook endpoints for tests."""

from typing import Any

import httpx

from tests.support.contract import ContractClient

PATH = "/v1/webhook-endpoints"
URL = "https://shop.example/webhooks"


def create(api: ContractClient, key: str = "create-it", **body: Any) -> httpx.Response:
    wanted = {"url": URL, "event_types": ["*"]} | body
    return api.post(PATH, json=wanted, headers={"Idempotency-Key": key})
