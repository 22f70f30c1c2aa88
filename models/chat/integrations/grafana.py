"""Grafana: a message for each alert. The alerting before version 8 is also supported.

https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
"""

from collections.abc import Iterator

from models.chat.integrations.payloads import Asked, Payload, Post, moment, web_link
from models.chat.rendering.quotes import inert_block, inert_line

_SIGNS = {
    **{"firing": ":alert:", "resolved": ":checkbox:"},
    **{"alerting": ":alert:", "ok": ":squared_ok:"},
}
NOT_ENDED = "0001-01-01T00:00:00Z"
_LINKS = {"generatorURL": "Generator", "silenceURL": "Silence", "imageURL": "Image"}


def read(payload: Payload, asked: Asked) -> Iterator[Post]:
    """Yield the messages of one notification."""
    if payload.find("alerts") is None:
        yield _older(payload)
        return
    for alert in payload.items("alerts"):
        yield _alert(alert)


def _alert(alert: Payload) -> Post:
    status = alert.text("status")
    labels = dict(alert.members("labels"))
    name = labels.get("alertname") or alert.find_text("fingerprint")
    parts = [_heading(status)]
    if labels.get("alertname"):
        parts.append(f"**{inert_line(name)}**")
    parts.append(f"This alert was fired at {moment(alert.text('startsAt'))}.")
    ended = alert.find_text("endsAt")
    if ended and ended != NOT_ENDED:
        parts.append(f"This alert was resolved at {moment(ended)}.")
    values = dict(alert.members("values"))
    parts += _list("Labels", labels)
    if values:
        parts += _list("Values", values)
    elif alert.find_text("valueString"):
        parts.append(f"Values:\n{inert_block(alert.text('valueString'))}")
    parts += _list("Annotations", dict(alert.members("annotations")))
    links = [(label, alert.find_text(key)) for key, label in _LINKS.items()]
    parts.append("\n".join(web_link(label, address) for label, address in links if address))
    return Post(f"[{name}]", "\n\n".join(filter(None, parts)), status)


def _older(payload: Payload) -> Post:
    """Return the message of an alert before version 8."""
    state = payload.text("state")
    parts = [_heading(state), web_link(payload.text("ruleName"), payload.find_text("ruleUrl"))]
    if payload.find_text("message"):
        parts.append(inert_block(payload.text("message")))
    matches = []
    for match in payload.items("evalMatches"):
        value = match.find("value")
        shown = "None" if value is None else str(value.value)
        matches.append(f"**{inert_line(match.text('metric'))}:** {inert_line(shown)}")
    if matches:
        parts.append("\n".join(matches))
    if payload.find_text("imageUrl"):
        parts.append(web_link("Click to view visualization", payload.text("imageUrl")))
    return Post(payload.text("title"), "\n\n".join(parts), state)


def _heading(state: str) -> str:
    return f"{_SIGNS.get(state, ':info:')} **{inert_line(state.upper())}**"


def _list(title: str, values: dict[str, str]) -> list[str]:
    if not values:
        return []
    lines = (f"- {inert_line(key)}: {inert_line(value)}" for key, value in values.items())
    return ["\n".join([f"{title}:", *lines])]
