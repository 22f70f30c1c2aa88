"""Text that users read of payloads that products send to a Slack incoming webhook."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from models.chat.integrations import slack_incoming
from models.chat.integrations.catalogue import INTEGRATIONS, find_posts
from models.chat.integrations.errors import MalformedPayload
from models.chat.integrations.mrkdwn import to_markdown
from models.chat.integrations.payloads import Asked, Payload
from models.json import Json

CORPUS: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "payloads" / "slack.yaml").read_text(encoding="utf-8")
)
ASKED = Asked(
    event=None,
    has_topic=False,
    branches=None,
    ignores_private=False,
    name_field="instance",
    desc_field="alertname",
)


@pytest.mark.parametrize("product", CORPUS)
def test_payload_text_is_rendered(product: str) -> None:
    case = CORPUS[product]
    slack = INTEGRATIONS["slack_incoming"]
    (post,) = find_posts(slack, case["payload"], ASKED, only=None, exclude=None)
    assert post.content == case["shown"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("*<https://a.example|b>*", "**[b](https://a.example)**"),
        ("_a <https://a.example|b> c_", "*a [b](https://a.example) c*"),
        ("*`x`* ~_a_~", "**`x`** ~~*a*~~"),
        ("*a* - b", "**a** - b"),
        ("<https://a.example|b>    c", "[b](https://a.example)    c"),
        ("`a`&gt; b", "`a`> b"),
        ("*a*\n- b\n# c", "**a**\n&#45; b\n&#35; c"),
        ("*1. a* 2. b", "**1. a** 2. b"),
        ("```x```\n- y", "\n```\nx\n```\n\n&#45; y"),
    ],
)
def test_signs_are_markup_only_where_slack_treats_them_so(written: str, shown: str) -> None:
    assert to_markdown(written) == shown


def test_deeply_nested_payload_is_rejected() -> None:
    payload: dict[str, Json] = {"type": "unknown", "text": {"type": "mrkdwn", "text": "deep"}}
    for _ in range(900):
        payload = {"type": "unknown", "inner": [payload]}
    with pytest.raises(MalformedPayload, match="deeper than 64 levels"):
        list(slack_incoming.read(Payload({"blocks": [payload]}), Asked()))
