"""One committer: whoever ends a transaction, it is the unit of work in models/database.py."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("server", "handlers", "models", "adapters", "workers", "pages", "cli", "specs")
COMMITTER = "models/database.py"


def test_the_word_commit_appears_in_one_module_only() -> None:
    files = [ROOT / "services.py", ROOT / "settings.py", ROOT / "wsgi.py"]
    for package in PACKAGES:
        files += sorted((ROOT / package).rglob("*.py"))
    found = {
        f"{name}:{number}"
        for path in files
        if "migrations" not in path.parts and (name := path.relative_to(ROOT).as_posix())
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(r"\bcommit", line)  # AUTOCOMMIT is the name of a mode
    }
    elsewhere = {place for place in found if not place.startswith(f"{COMMITTER}:")}
    assert found, f"{COMMITTER} does not commit any more: this test looks at the wrong place"
    assert not elsewhere
