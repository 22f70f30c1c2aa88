"""The documentation site has every page in its navigation and builds without broken links."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.imports import ROOT

IN_NAVIGATION = re.findall(r"^ +- .*?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)


def test_navigation_has_every_page_once() -> None:
    pages = {
        str(page.relative_to(ROOT / "docs"))
        for page in ROOT.glob("docs/**/*.md")
        if not re.match(r"(\d|template)", page.name)
    }
    assert len(IN_NAVIGATION) == len(set(IN_NAVIGATION))
    assert pages <= set(IN_NAVIGATION)


def test_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="scripts/docs installs mkdocs")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "-q", "-d", tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for page in IN_NAVIGATION:
        assert (tmp_path / re.sub(r"(README)?\.md$", "", page)).with_suffix(".html").is_file() or (
            tmp_path / Path(page).parent / "index.html"
        ).is_file()
    for name in ("payment", "payment-events", "payment-test", "chat"):
        assert "<h2" in (tmp_path / f"api/{name}.html").read_text()
