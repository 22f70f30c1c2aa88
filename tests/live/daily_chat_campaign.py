"""Days on /chat at two widths, light and dark: python -m tests.live.daily_chat_campaign [AXE].

AXE is the file axe.min.js of axe-core, without which accessibility is not checked.
"""

import sys
import tempfile
from pathlib import Path

from tests.live import daily_chat
from tests.pages.browser import Browser

WIDTHS = (1280, 390)


def main(arguments: list[str]) -> int:
    if names := daily_chat.missing():
        print(f"not installed: {', '.join(names)}")
        return 1
    axe = Path(arguments[0]).read_text() if arguments else ""
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        browsers = Browser(profile=Path(name) / "one"), Browser(profile=Path(name) / "other")
        try:
            for width in WIDTHS:
                for dark in (False, True):
                    folder = Path(name) / f"{width}-{dark}"
                    folder.mkdir()
                    day = daily_chat.live(folder, browsers, width=width, dark=dark, axe=axe)
                    print(
                        f"{width} px, {'dark' if dark else 'light'}: {day.describe()}", flush=True
                    )
                    for line in (*day.console, *sorted(set(day.violations))):
                        print(f"  {line}")
                    failures += len(day.console) + len(day.violations)
        finally:
            for browser in browsers:
                browser.quit()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
