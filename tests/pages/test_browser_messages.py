"""A sample of the injections of `scripts/injections`."""

from __future__ import annotations

from pathlib import Path

from tests.live.injections import catastrophe_ms, documents, judge, speaking
from tests.models.chat.injections import vectors
from tests.pages.browser import Browser


def test_message_runs_no_script_and_requests_nothing(browser: Browser, tmp_path: Path) -> None:
    texts = [*sorted(set(vectors()))[::12], *documents(50, seed=7)]
    with speaking(tmp_path) as client:
        verdict = judge(browser, client, texts, tmp_path)
    assert (verdict.ran, verdict.faults, verdict.requests) == ([], [], [])
    assert verdict.fragments > 2 * len(texts)


def test_successful_injection_is_detected(browser: Browser, tmp_path: Path) -> None:
    """Without this, the test above could never fail."""

    class Careless:
        """Shows texts without escaping."""

        def post(self, path: str, **_: object) -> dict[str, object]:
            return {"result": "success", "id": 1}

        def patch(self, path: str, **_: object) -> dict[str, object]:
            return {"result": "success"}

        def get(self, path: str) -> dict[str, object]:
            return {"message_history": [{"rendered_content": "<img src=x onerror=alert(1)>"}]}

    verdict = judge(browser, Careless(), ["x"], tmp_path)  # type: ignore[arg-type]
    assert verdict.ran
    assert verdict.faults
    assert verdict.requests


def test_linkifier_with_catastrophic_backtracking_is_fast() -> None:
    assert catastrophe_ms() < 10
