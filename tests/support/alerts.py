"""The published alert rules and dashboard, and the metrics that they use."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
RULES = ROOT / "docs" / "deploy" / "alerts.yml"
DASHBOARD = ROOT / "docs" / "deploy" / "grafana-dashboard.json"
_METRIC = re.compile(r"\bspecd_[a-z0-9_]+")


def read_rules() -> list[dict[str, Any]]:
    """Return all alert rules."""
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def read_panels() -> list[dict[str, Any]]:
    """Return the panels of the dashboard, without the headings between them."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [panel for panel in panels if panel["type"] != "row"]


def expressions() -> dict[str, str]:
    """Return the Prometheus query of each rule and panel, by its place."""
    found = {f"rule {rule['alert']}": rule["expr"] for rule in read_rules()}
    for panel in read_panels():
        for target in panel["targets"]:
            found[f"panel {panel['title']} {target['refId']}"] = target["expr"]
    return found


def metrics_of(expression: str) -> set[str]:
    """Return the names of our metrics in a query."""
    return set(_METRIC.findall(expression))
