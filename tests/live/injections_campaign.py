"""`scripts/injections`: every injection and many generated documents.

Exits with 1 if any succeeded.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.live.injections import catastrophe_ms, documents, judge, speaking
from tests.models.chat.injections import vectors
from tests.pages.browser import Browser


def main(argv: list[str]) -> int:
    count = int(argv[0]) if argv else 2000
    seed = int(argv[1]) if len(argv) > 1 else 1
    held = True
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        browser = Browser(profile=directory / "profile")
        try:
            with speaking(directory) as client:
                for what, texts in (
                    ("injections", sorted(set(vectors()))),
                    ("documents", documents(count, seed)),
                ):
                    verdict = judge(browser, client, texts, directory)
                    print(f"{what}: {verdict}", flush=True)
                    held = held and verdict.is_clean
        finally:
            browser.quit()
    cost = catastrophe_ms()
    print(f"a catastrophic linkifier: {cost:.2f} ms", flush=True)
    return 0 if held and cost < 10 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
