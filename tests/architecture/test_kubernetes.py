"""The manifests for Kubernetes are valid and contain what specd needs."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from settings import Settings
from specd._engine.serving.health import PATHS
from tests.architecture.test_units import DEPLOY

FOLDER = DEPLOY / "kubernetes"
CUSTOM = {"PodMonitor", "ServiceMonitor", "PrometheusRule"}
Manifest = dict[str, Any]


def manifests() -> Iterator[Manifest]:
    for path in sorted(FOLDER.glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            yield from document["items"] if document["kind"] == "List" else [document]


def find(kind: str, name: str = "specd") -> Manifest:
    (found,) = (m for m in manifests() if (m["kind"], m["metadata"]["name"]) == (kind, name))
    return found


def pods() -> dict[str, Manifest]:
    """Return the templates of all pods, by the command that they run."""
    found = (m["spec"]["template"] for m in manifests() if m["kind"] in {"Job", "Deployment"})
    return {pod["spec"]["containers"][0]["args"][0]: pod for pod in found}


def test_each_manifest_matches_the_schema_of_its_kind() -> None:
    try:
        validator = importlib.import_module("kubernetes_validate")
    except ImportError:
        pytest.skip("NOT TESTED: kubernetes-validate is not installed (PyPI)")
    known = [manifest for manifest in manifests() if manifest["kind"] not in CUSTOM]
    assert len(known) >= 10
    for manifest in known:
        validator.validate(manifest, "1.30", strict=True)


def test_settings_and_secrets_exist_in_specd(tmp_path: Path) -> None:
    settings, secret = find("ConfigMap")["data"], find("Secret")["stringData"]
    used = set()
    for name, value in settings.items():
        if name.endswith("_FILE"):
            key = value.removeprefix("/etc/specd/")
            (tmp_path / key).write_text(secret[key])
            settings[name] = str(tmp_path / key)
            used.add(key)
    assert used == secret.keys()
    made = Settings.from_env(settings)
    assert all(url.startswith("postgresql") for url in made.database_urls.values())
    assert made.payment_secret
    assert made.chat_secret


def test_all_commands_have_the_same_environment() -> None:
    found = pods()
    assert found.keys() == {"migrate", "serve", "worker"}
    images = set()
    for pod in found.values():
        (container,) = pod["spec"]["containers"]
        images.add(container["image"])
        assert pod["spec"]["securityContext"]["runAsNonRoot"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert "memory" in container["resources"]["limits"]
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        assert container["envFrom"] == [{"configMapRef": {"name": "specd"}}]
    assert len(images) == 1


def test_each_folder_that_specd_writes_is_mounted() -> None:
    settings = find("ConfigMap")["data"]
    (container,) = pods()["serve"]["spec"]["containers"]
    mounted = [mount["mountPath"] for mount in container["volumeMounts"]]
    for name, value in settings.items():
        if name.endswith(("_DIR", "_FILE")):
            assert any(value == place or value.startswith(f"{place}/") for place in mounted), name


def test_probes_request_existing_paths() -> None:
    pod = pods()["serve"]["spec"]
    (container,) = pod["containers"]
    (port,) = container["ports"]
    settings = find("ConfigMap")["data"]
    assert settings["SPECD_BIND"] == f"0.0.0.0:{port['containerPort']}"
    probes = {
        kind: container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")
    }
    assert {probe["path"] for probe in probes.values()} <= PATHS
    assert probes["readiness"]["path"] == "/readyz"
    assert probes["liveness"]["path"] == "/healthz", (
        "an unavailable database must not cause restarts"
    )
    assert {probe["port"] for probe in probes.values()} == {port["name"]}
    grace = pod["terminationGracePeriodSeconds"]
    assert grace >= float(settings["SPECD_DRAIN_S"]) + 20


@pytest.mark.parametrize("part", ["serve", "worker"])
def test_disruption_budget_keeps_one_server(part: str) -> None:
    deployment = find("Deployment", f"specd-{part}")["spec"]
    budget = find("PodDisruptionBudget", f"specd-{part}")["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == labels == budget["selector"]["matchLabels"]
    assert deployment["replicas"] > budget["minAvailable"] >= 1


def test_ingress_has_the_paths_of_nginx() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    server = text.partition("server_name pay.example")[2]
    passed = r"^    location (?:= )?(/[\w/.]*) \{(?! return)"
    nginx = set(re.findall(passed, server, re.MULTILINE))
    rules = find("Ingress")["spec"]["rules"]
    assert len(rules) == 2
    for rule in rules:
        paths = {entry["path"] for entry in rule["http"]["paths"]}
        assert paths == nginx - {"/api/v1/user_uploads"}
        assert not any(path.startswith(inside) for path in paths for inside in PATHS)
