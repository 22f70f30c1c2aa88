"""Work of a merchant and a shopper: python -m tests.pages.days_campaign [AXE] [merchant|shopper].

At two widths, light and dark, and with the keyboard alone. AXE is the file axe.min.js of axe-core.
"""

import sys
import tempfile
from pathlib import Path

from tests.pages import days
from tests.pages.browser import Browser

RUNS = (
    *((width, dark, False) for width in (1280, 390) for dark in (False, True)),
    *((width, False, True) for width in (1280, 390)),
)


def main(arguments: list[str]) -> int:
    subjects = [name for name in arguments if name in ("merchant", "shopper")]
    files = [name for name in arguments if name not in subjects]
    axe = Path(files[0]).read_text() if files else ""
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        browser = Browser(profile=Path(name) / "profile")
        try:
            for width, dark, by_keyboard in RUNS:
                for subject in subjects or ("merchant", "shopper"):
                    browser.reset()
                    browser.show(width=width, dark=dark)
                    if subject == "merchant":
                        folder = Path(name) / f"{width}-{dark}-{by_keyboard}"
                        folder.mkdir()
                        day = days.live_as_merchant(
                            browser, folder, by_keyboard=by_keyboard, axe=axe
                        )
                    else:
                        day = days.live_as_shopper(browser, by_keyboard=by_keyboard, axe=axe)
                    colors = "dark" if dark else "light"
                    hand = "keyboard" if by_keyboard else "mouse"
                    print(f"{subject}, {width} px, {colors}, {hand}: {day.describe()}", flush=True)
                    for line in (*day.console, *sorted(set(day.violations))):
                        print(f"  {line}")
                    failures += len(day.console) + len(day.violations)
        finally:
            browser.quit()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
