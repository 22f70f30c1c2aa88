"""compose.yaml: containers are limited, stop cleanly, and expose no secrets."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from settings import Settings
from specd._engine.serving.health import PATHS
from specd._settings import variables
from tests.architecture.test_units import DEPLOY, read

COMPOSED: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OURS = {name: its for name, its in COMPOSED["services"].items() if its.get("image") == "specd"}


def seconds(text: str) -> int:
    assert text.endswith("s")
    return int(text[:-1])


def test_compose_file_has_our_containers() -> None:
    assert len(OURS) == 6


@pytest.mark.parametrize("name", COMPOSED["services"])
def test_logs_are_limited(name: str) -> None:
    options = COMPOSED["services"][name]["logging"]["options"]
    assert options["max-size"]
    assert int(options["max-file"]) > 1


@pytest.mark.parametrize("name", OURS)
def test_containers_are_limited_and_unprivileged(name: str) -> None:
    container = OURS[name]
    assert container["mem_limit"]
    assert container["pids_limit"]
    assert container["read_only"]
    assert container["cap_drop"] == ["ALL"]


@pytest.mark.parametrize("name", OURS)
def test_containers_may_stop_as_slowly_as_units(name: str) -> None:
    part = name.partition("-")[0]
    unit = {"serve": "specd-serve.service", "worker": "specd-worker@.service"}.get(part)
    if unit is None:
        assert OURS[name]["command"][:2] == ["migrate", "--wait"]
        return
    wanted = int(read(DEPLOY / unit)["Service"]["TimeoutStopSec"])
    assert seconds(OURS[name]["stop_grace_period"]) >= wanted


@pytest.mark.parametrize("name", [name for name in OURS if name.startswith("serve")])
def test_health_checks_use_liveness(name: str) -> None:
    """Readiness would be wrong: an unavailable database is not a reason to restart a container."""
    command = " ".join(OURS[name]["healthcheck"]["test"])
    port = OURS[name]["environment"]["SPECD_BIND"].rpartition(":")[2]
    assert f"http://127.0.0.1:{port}/healthz" in command
    assert "/healthz" in PATHS


@pytest.mark.parametrize("name", [name for name in OURS if name.endswith("postgres")])
def test_secrets_are_files(name: str) -> None:
    environment = OURS[name]["environment"]
    for service in Settings().database_urls:
        secret = environment[f"SPECD_{service.upper()}_SECRET_FILE"]
        assert Path(secret).name in OURS[name]["secrets"]
        assert f"SPECD_{service.upper()}_SECRET" not in environment
    known = variables().keys()
    assert {variable.removesuffix("_FILE") for variable in environment} <= known
