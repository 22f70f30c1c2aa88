"""The alert rules and the dashboard: they parse, fire when they should, and link to the manual.

`tests/live/test_observability.py` looks for each metric on a running server.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.alerts import ROOT, RULES, expressions, metrics_of, read_panels, read_rules

PLAYED = Path(__file__).parent / "alerts.test.yml"


@pytest.fixture
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("NOT TESTED: promtool is not installed (Debian: prometheus)")
    return found


def run(*words: str) -> tuple[int, str]:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", line.lower()).replace(" ", "-") for line in headings}


def test_each_rule_names_an_action_and_a_runbook() -> None:
    rules = read_rules()
    assert len(rules) >= 20
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["labels"]["severity"] in ("page", "ticket"), rule["alert"]
        annotations = rule["annotations"]
        assert annotations["summary"].endswith("."), rule["alert"]
        assert annotations["action"].endswith("."), rule["alert"]
        page, _, anchor = annotations["runbook"].partition("#")
        assert anchor in anchors(ROOT / page), annotations["runbook"]


def test_rules_parse(promtool: str) -> None:
    status, output = run(promtool, "check", "rules", str(RULES))
    assert status == 0, output
    assert f"{len(read_rules())} rules found" in output


def test_rules_fire_when_expected(promtool: str) -> None:
    status, output = run(promtool, "test", "rules", str(PLAYED))
    assert (status, "SUCCESS" in output) == (0, True), output


def test_each_rule_has_a_test_case() -> None:
    played = PLAYED.read_text()
    assert [rule["alert"] for rule in read_rules() if rule["alert"] not in played] == []


def test_rule_that_does_not_fire_is_detected(promtool: str, tmp_path: Path) -> None:
    rules = yaml.safe_load(RULES.read_text())
    for rule in rules["groups"][0]["rules"]:
        rule["expr"] = f"({rule['expr']}) and vector(0) > 1"
    (tmp_path / "alerts.yml").write_text(yaml.safe_dump(rules))
    played = yaml.safe_load(PLAYED.read_text())
    (tmp_path / "played.yml").write_text(
        yaml.safe_dump({**played, "rule_files": [str(tmp_path / "alerts.yml")]})
    )
    status, output = run(promtool, "test", "rules", str(tmp_path / "played.yml"))
    assert (status, "FAILED" in output) == (1, True), output


def test_panels_contain_valid_queries(promtool: str, tmp_path: Path) -> None:
    assert len(read_panels()) >= 20
    asked = [
        {"record": f"asked:{number}", "expr": expression}
        for number, expression in enumerate(expressions().values())
    ]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": asked}]}))
    status, output = run(promtool, "check", "rules", str(file))
    assert status == 0, output
    assert f"{len(asked)} rules found" in output


def test_panels_and_rules_use_our_metrics() -> None:
    others = {where for where, asked in expressions().items() if not metrics_of(asked)}
    assert others == {"rule SpecdDown", "rule SpecdNotScraped"}, "Prometheus's own `up`"
