"""GitHub: a topic for each branch, issue, pull request and discussion.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

import hmac
import re
from collections.abc import Iterator

from models.chat.integrations.errors import MissingEventHeader
from models.chat.integrations.github_texts import BRANCH, WRITE, kind_of
from models.chat.integrations.payloads import Asked, Payload, Post

EVENT_HEADER = "X-GitHub-Event"
_MERGE_QUEUE = f"{BRANCH}gh-readonly-queue/"


def read(payload: Payload, asked: Asked) -> Iterator[Post]:
    """Yield the message of an event, or nothing if the event is ignored."""
    if asked.event is None:
        raise MissingEventHeader(header=EVENT_HEADER)
    repository = payload.find("repository")
    if asked.ignores_private and repository is not None and repository.flag("private"):
        return
    event = _event(asked.event, payload, asked.branches)
    if event is not None:
        yield Post(_topic(event, payload), WRITE[event](payload, asked.has_topic), event)


def is_signed(body: bytes, signature: str, secret: str) -> bool:
    """Return whether `X-Hub-Signature-256` matches the body and the secret."""
    wanted = hmac.new(secret.encode(), body, "sha256").hexdigest()
    return hmac.compare_digest(f"sha256={wanted}".encode(), signature.encode())


_PULL_REQUEST = {
    **dict.fromkeys(("opened", "reopened"), "opened_pull_request"),
    **dict.fromkeys(("synchronize", "edited"), "updated_pull_request"),
    **dict.fromkeys(("assigned", "unassigned"), "assigned_or_unassigned_pull_request"),
    "closed": "closed_pull_request",
    "review_requested": "pull_request_review_requested",
    "ready_for_review": "pull_request_ready_for_review",
    **dict.fromkeys(("locked", "unlocked"), "locked_or_unlocked_pull_request"),
    **dict.fromkeys(("auto_merge_enabled", "auto_merge_disabled"), "pull_request_auto_merge"),
}
_ISSUES = {
    **dict.fromkeys(("labeled", "unlabeled"), "issue_labeled_or_unlabeled"),
    **dict.fromkeys(("milestoned", "demilestoned"), "issue_milestoned_or_demilestoned"),
    "transferred": "issues_transferred",
}


def _event(name: str, payload: Payload, branches: str | None) -> str | None:
    """Return the event name that addresses select, or None if the event is ignored."""
    action = payload.find_text("action")
    if name == "pull_request":
        return _PULL_REQUEST.get(action)
    if name == "push":
        return _push_event(payload, branches)
    if name == "issues":
        return _ISSUES.get(action, name)
    if name == "check_run" and payload["check_run"].text("status") != "completed":
        return None
    if name == "team" and action != "edited":
        return None
    if action == "edited" and name != "discussion" and _is_unchanged(name, payload):
        return None
    return name if name in WRITE else None


def _push_event(payload: Payload, branches: str | None) -> str | None:
    ref = payload.text("ref")
    if ref.startswith(_MERGE_QUEUE):
        return None
    if not ref.startswith(BRANCH):
        return "push_tags"
    wanted = re.split(r"[\s,]+", branches.strip()) if branches else []
    return "push_commits" if not wanted or ref.removeprefix(BRANCH) in wanted else None


def _is_unchanged(name: str, payload: Payload) -> bool:
    """Return whether the edit of a comment or review left its text unchanged."""
    changes = payload.find("changes")
    if name == "pull_request_review":
        return changes is None or not changes.value
    body = None if changes is None else changes.find("body")
    comment = payload.find("comment")
    if body is None or comment is None:
        return False
    return body.find_text("from") == comment.find_text("body")


def _topic(event: str, payload: Payload) -> str:
    repository = payload.find("repository")
    name = "" if repository is None else repository.text("name")
    if "pull_request" in event:
        return _topic_of(f"{name} / PR", payload["pull_request"])
    if event.startswith("issue"):
        issue = payload["issue"]
        return _topic_of(f"{name} / {kind_of(issue)}", issue)
    if event.startswith("discussion"):
        found = payload["discussion"]
        return f"{name} discussion #{found.number('number')}: {found.text('title')}"
    if event.startswith("deployment"):
        return f"{name} / Deployment on {payload['deployment'].text('environment')}"
    match event:
        case "push_commits":
            return f"{name} / {payload.text('ref').removeprefix(BRANCH)}"
        case "gollum":
            return f"{name} / wiki pages"
        case "check_run":
            return f"{name} / checks"
        case "membership":
            return f"{payload['organization'].text('login')} organization"
        case "team":
            return f"team {payload['team'].text('name')}"
    return name or payload["organization"].text("login")


def _topic_of(kind: str, thing: Payload) -> str:
    return f"{kind} #{thing.number('number')} {thing.text('title')}"
