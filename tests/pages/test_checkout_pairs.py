"""All reachable pairs of status and exception: text, amount and QR code of the page.

The pairs come from the life cycle. Every short sequence of events that reaches a pair gives the
amounts paid.
"""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from models.payment import lifecycle
from pages import wording
from pages.checkout import TEXTS, amount_due, uri_for_rest
from pages.wording import describe, is_payable
from tests.pages.stage import PAGE, START, URI, Stage, make_view
from tests.support.payment import stories
from tests.support.payment.states import STATES
from tests.support.payment.stories import EXPIRY, State, Story, find_stories, tell

STORIES = [tell(steps) for steps in stories.all_steps(3)]


def facts_of(story: Story) -> dict[str, object]:
    """Return the facts of the invoice for the page at the end of a story."""
    status = lifecycle.status_at(story, story.now)
    left = EXPIRY - story.now
    received = story.received
    return {
        "status": status,
        "exception": story.exception,
        "amount": story.amount,
        "amount_pending": received,
        "amount_remaining": max(0, story.amount - received),
        "amount_overpaid": max(0, received - story.amount),
        "payment_uri": URI.replace("12500000", str(story.amount)),
        "expires_at": START + left,
        "session_expires_at": START + left,
        "now": START,
    }


def test_each_reachable_pair_has_a_text() -> None:
    assert wording._OPEN.keys() == STATES
    assert wording._CLOSED.keys() == {what for status, what in STATES if status == "unpaid"}


def test_page_requests_exactly_the_missing_amount_or_nothing() -> None:
    asked = set()
    for story in STORIES:
        view = make_view(**facts_of(story))
        assert describe(view, TEXTS.languages["en"]).title
        in_time = sum(
            story.payments[at].amount
            for at in story.living
            if story.payments[at].block_timestamp <= story.expires_at
        )
        if is_payable(view):
            asked.add(story.state)
            assert amount_due(view) == story.amount - in_time > 0, story
            assert uri_for_rest(view).endswith(f"uint256={story.amount - in_time}")
            assert in_time == story.received, "late money must not be requested again"
        else:
            assert amount_due(view) == story.amount
    assert asked == {("unpaid", what) for what in ("none", "partial", "reorged")}


@pytest.mark.parametrize("state", sorted(STATES), ids=" ".join)
@pytest.mark.parametrize("is_over", [False, True], ids=["session", "session-over"])
def test_each_pair_has_a_page(
    client: FlaskClient, stage: Stage, state: State, is_over: bool
) -> None:
    facts = facts_of(tell(find_stories()[state]))
    if is_over:
        facts["session_expires_at"] = START - timedelta(seconds=1)
    stage.set(**facts)
    answer = client.get(PAGE)
    view = make_view(**facts)
    assert answer.status_code == (410 if view.now >= view.session_expires_at else 200)
    assert "{" not in wording.describe(view, TEXTS.languages["en"]).text
    codes = re.findall(r'<svg role="img" aria-label="([^"]*)"[^>]*class="qr"', answer.text)
    due = f"{amount_due(view) / 10**6:.6f}".rstrip("0").rstrip(".")
    label = f"QR code of a request to pay {due} TUSD on Local test chain"
    assert codes == ([label] if is_payable(view) else [])
    assert "uint256=0" not in answer.text
    if state[1] == "late":
        assert "Do not send anything" in answer.text
        assert "Waiting" not in answer.text
