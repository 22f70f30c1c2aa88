"""The products that post to `POST /external/{integration}`, and the selection of their events."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice

from models.chat.integrations import alertmanager, github, grafana, slack_incoming
from models.chat.integrations.errors import SignatureMismatch
from models.chat.integrations.payloads import MAX_POSTS, Asked, Payload, Post
from models.chat.rendering.quotes import one_line
from models.json import Json


@dataclass(frozen=True, slots=True)
class Integration:
    """A product. `client` is the client name of its messages. `is_signed` verifies the product's
    signature of a body, or is None if the product has no known signature.
    """

    client: str
    read: Callable[[Payload, Asked], Iterator[Post]]
    is_signed: Callable[[bytes, str, str], bool] | None = None


INTEGRATIONS = {
    "alertmanager": Integration("ZulipAlertmanagerWebhook", alertmanager.read),
    "github": Integration("ZulipGitHubWebhook", github.read, github.is_signed),
    "grafana": Integration("ZulipGrafanaWebhook", grafana.read),
    "slack_incoming": Integration("ZulipSlackIncomingWebhook", slack_incoming.read),
}


def require_signature(
    integration: Integration, body: bytes, signature: str | None, secret: str | None
) -> None:
    """Raise `SignatureMismatch` if the address has a secret and the body is not signed with it."""
    if secret is None:
        return
    is_signed = integration.is_signed
    if is_signed is None or signature is None or not is_signed(body, signature, secret):
        raise SignatureMismatch()


def find_posts(
    integration: Integration,
    payload: Json,
    asked: Asked,
    *,
    only: Sequence[str] | None,
    exclude: Sequence[str] | None,
) -> list[Post]:
    """Return the messages of a payload whose events are selected. `only` and `exclude` contain
    shell patterns. Raise `MalformedPayload`, `MissingEventHeader`.
    """
    posts = integration.read(Payload(payload), asked)
    wanted = (post for post in posts if _is_wanted(post.event, only, exclude))
    return [_clean(post) for post in islice(wanted, MAX_POSTS)]


def _is_wanted(event: str, only: Sequence[str] | None, exclude: Sequence[str] | None) -> bool:
    if not event:
        return True
    if only is not None and not any(fnmatchcase(event, pattern) for pattern in only):
        return False
    return not any(fnmatchcase(event, pattern) for pattern in exclude or ())


def _clean(post: Post) -> Post:
    """Return the post with a single-line topic and without characters that a message may not
    contain. A leading slash is escaped, because it would start a command such as `/poll`.
    """
    printable = "".join(sign if sign.isprintable() else " " for sign in post.topic)
    topic = one_line(printable) or "(no topic)"
    content = post.content.replace("\0", "").strip()
    return Post(topic, f"&#47;{content[1:]}" if content.startswith("/") else content, post.event)
