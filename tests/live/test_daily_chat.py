"""Some steps of a day on /chat; scripts/daily-chat runs all of them, at two widths, light and
dark.
"""

from pathlib import Path

import pytest

from tests.live import daily_chat
from tests.pages.browser import Browser


def test_a_day(tmp_path: Path) -> None:
    if names := daily_chat.missing():
        pytest.skip(f"not installed: {', '.join(names)} (Debian: chromium, chromium-driver)")
    browsers = Browser(profile=tmp_path / "one"), Browser(profile=tmp_path / "other")
    try:
        day = daily_chat.live(tmp_path, browsers, width=1280, dark=False, tasks=daily_chat.SOME)
    finally:
        for browser in browsers:
            browser.quit()
    assert len(day.done) == len(daily_chat.SOME)
    assert day.console == []
    assert day.expected > 0, "it hears what the browser says of a key that has ended"
    assert len(daily_chat.TASKS) >= 20
