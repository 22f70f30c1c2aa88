"""Periods of retention: a policy names its default, and the variable follows from it."""

import sys
from types import ModuleType
from typing import Any

import pytest

from specd import Project, Service, Settings
from specd._db.retention import Rule
from specd.errors import SettingsError


def make_rule(table: str, period: str | None, **more: Any) -> Rule:
    return Rule(table, period, lambda session, before, limit: False, **more)


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> list[Rule]:
    """The rules of the only service of the present project, a list that tests fill."""
    rules: list[Rule] = []
    module = ModuleType("shop_retention")
    module.retention = rules  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shop_retention", module)
    project = Project(Service("shop", retention="shop_retention:retention"))
    monkeypatch.setattr("specd._settings.current", lambda: project)
    return rules


def test_variable_is_derived_from_the_rule(policy: list[Rule]) -> None:
    policy.append(make_rule("event", "events", days=30, help="Retention of events."))
    (line,) = (it for it in Settings().describe({}) if it.variable == "SPECD_EVENTS_RETENTION_S")
    assert (line.default, line.value, line.help) == ("2592000", "2592000", "Retention of events.")
    settings = Settings.from_env({"SPECD_EVENTS_RETENTION_S": "60"})
    assert policy[0].retention(settings).total_seconds() == 60
    assert policy[0].retention(Settings()).days == 30


def test_rules_without_help_name_their_tables(policy: list[Rule]) -> None:
    policy += [make_rule("cart", "old", days=1), make_rule("visit", "old", days=1)]
    policy.append(make_rule("block", None))
    (line,) = (it for it in Settings().describe({}) if "RETENTION" in it.variable)
    assert line.help == "Retention of rows of cart, visit."


def test_two_defaults_of_a_period_are_rejected(policy: list[Rule]) -> None:
    policy += [make_rule("cart", "old", days=1), make_rule("visit", "old", days=2)]
    with pytest.raises(ValueError, match=r"give old several defaults: \[1, 2\]"):
        Settings.variables()


def test_unknown_period_is_not_a_setting(policy: list[Rule]) -> None:
    policy.append(make_rule("event", "events", days=30))
    with pytest.raises(SettingsError, match="did you mean SPECD_EVENTS_RETENTION_S"):
        Settings.from_env({"SPECD_EVENT_RETENTION_S": "60"})


def test_settings_of_an_environment_without_periods_import_no_policy(
    policy: list[Rule], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "shop_retention")
    Settings.from_env({"SPECD_WORKERS": "3"})
    with pytest.raises(ModuleNotFoundError):
        Settings.from_env({"SPECD_EVENTS_RETENTION_S": "60"})
