"""Creates bots for tests, and posts to webhooks."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from tests.support.chat.app import ChatClient

PATH = "/bots"
NONE: Mapping[str, str] = MappingProxyType({})


def make(client: ChatClient, name: str = "Yorick", **more: Any) -> dict[str, Any]:
    answer = client.post(PATH, full_name=name, short_name=name.lower(), **more)
    assert answer["result"] == "success", answer
    return answer


def post_webhook(
    client: ChatClient,
    integration: str,
    payload: Any,
    headers: Mapping[str, str] = NONE,
    **query: Any,
) -> Any:
    """Post to an incoming webhook as a product does, with only the key in the URL as credentials.
    A payload of bytes is sent unchanged.
    """
    content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    headers = {"Content-Type": "application/json", **headers}
    path = f"/external/{integration}?{urlencode(query)}"
    return client.request("POST", path, content=content, headers=headers).json()
