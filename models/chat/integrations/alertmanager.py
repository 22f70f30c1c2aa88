"""Prometheus Alertmanager: a topic for each instance, and in it a message for each state.

https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
"""

from collections.abc import Iterator

from models.chat.integrations.payloads import Asked, Payload, Post, web_link
from models.chat.rendering.quotes import inert_line

_TITLES = {"firing": ":alert: **FIRING**", "resolved": ":squared_ok: **Resolved**"}


def read(payload: Payload, asked: Asked) -> Iterator[Post]:
    """Yield the messages of one notification."""
    found: dict[tuple[str, str], list[str]] = {}
    for alert in payload.items("alerts"):
        values = {**dict(alert.members("annotations")), **dict(alert.members("labels"))}
        topic = values.get(asked.name_field, "(unknown)")
        text = values.get(asked.desc_field, f"missing field: {asked.desc_field}")
        graph = alert.find_text("generatorURL").replace("tab=1", "tab=0")
        status = "firing" if alert.text("status") == "firing" else "resolved"
        line = f"{inert_line(text)} ({web_link('graph', graph)})"
        found.setdefault((topic, status), []).append(line)
    for (topic, status), lines in found.items():
        text = f" {lines[0]}" if len(lines) == 1 else "".join(f"\n* {line}" for line in lines)
        yield Post(topic, f"{_TITLES[status]}{text}")
