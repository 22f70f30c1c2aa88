"""The units of systemd are valid and restart after failures."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from settings import Settings
from specd._cli import folders

DEPLOY = Path(__file__).parents[2] / "docs" / "deploy"
WRAPPER = DEPLOY / "specd"
UNITS = sorted(
    path for end in ("service", "timer") for path in DEPLOY.rglob(f"*.{end}")
)  # fmt: skip
OURS = [path for path in UNITS if path.parent == DEPLOY]
MOUNTED = "/srv/specd"


def read(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(path.read_text())
    return parser


def test_units_are_valid(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("NOT TESTED: systemd-analyze is not installed (Debian: systemd)")
    assert len(UNITS) >= 5
    for path in UNITS:
        text = path.read_text()
        for line in text.splitlines():
            if line.startswith("ExecStart="):
                text = text.replace(line, "ExecStart=/bin/true")
        (tmp_path / path.name.replace("@.", "@1.")).write_text(text)
    units = sorted(tmp_path.iterdir())
    done = subprocess.run(
        [program, "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    # The tool also reads the units of the machine, whose errors are not ours.
    warnings = [line for line in done.stderr.splitlines() if "specd-" in line]
    assert warnings == []


def test_each_unit_runs_its_own_project() -> None:
    units = [*OURS, DEPLOY / "backup" / "specd-backup.service"]
    for path in units:
        service = read(path)["Service"]
        assert service["Environment"] == "SPECD_PROJECT=/opt/specd", path.name
    programs = {read(path)["Service"]["ExecStart"].partition(" ")[0] for path in OURS}
    assert programs == {"/opt/specd/.venv/bin/specd"}
    wrapper = WRAPPER.read_text()
    assert "export SPECD_PROJECT=/opt/specd\n" in wrapper
    assert set(re.findall(r"\S+/bin/specd(?= )", wrapper)) == programs


def test_failed_service_is_always_restarted() -> None:
    assert len(OURS) == 3
    for path in OURS:
        unit = read(path)
        assert unit["Unit"]["StartLimitIntervalSec"] == "0", path.name
        assert unit["Service"]["Restart"] in ("always", "on-failure"), path.name
        assert 1 <= int(unit["Service"]["RestartSec"]) <= 10, path.name
        assert "Requires" not in unit["Unit"], "a failed dependency must not prevent restarts"
        assert unit["Service"]["LogRateLimitIntervalSec"] == "0", path.name


def test_start_timeout_covers_the_wait_for_the_database() -> None:
    from specd._cli.waiting import START_WAIT_S

    for path in OURS:
        service = read(path)["Service"]
        waits = float(service["ExecStart"].partition("--wait ")[2] or START_WAIT_S)
        assert int(service["TimeoutStartSec"]) >= waits + 30, path.name


def test_shared_folder_is_writable() -> None:
    for path in OURS:
        if "migrate" not in path.name:
            assert read(path)["Service"]["ReadWritePaths"] == f"-{MOUNTED}"
    environment = (DEPLOY / "specd.env").read_text()
    for name in ("SPECD_CHAT_EXPORT_DIR", "SPECD_CHAT_UPLOAD_DIR"):
        assert f"{name}={MOUNTED}/" in environment


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("command", ["serve", "worker"])
def test_unit_may_write_each_folder_of_its_command(
    command: str, several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings are from `specd.env`. `ProtectSystem=strict` makes other folders read-only."""
    service = read(next(path for path in OURS if command in path.name))["Service"]
    written = [Path(service.get("ReadWritePaths", "/srv/nothing").removeprefix("-"))]
    for key, above in (("StateDirectory", "/var/lib"), ("RuntimeDirectory", "/run")):
        if key in service:
            written.append(Path(above, service[key]))
    lines = re.findall(r"^#?(SPECD_[A-Z_]+)=(.*)$", (DEPLOY / "specd.env").read_text(), re.M)
    chosen = "DIR=" if several else "SPECD_DATA_DIR= SPECD_METRICS_DIR="
    env = {name: value for name, value in lines if f"{name}=".endswith(tuple(chosen.split()))}
    assert ("SPECD_CHAT_UPLOAD_DIR" in env) is several
    needed: list[Path] = []

    def find_problem(folder: Path) -> str:
        needed.append(folder)
        return ""

    monkeypatch.setattr(folders, "find_problem", find_problem)
    folders.require_folders(Settings.from_env(env), serves=command == "serve")
    assert len(needed) >= 4
    for folder in needed:
        assert any(folder.is_relative_to(each) for each in written), folder


def test_wrapper_creates_the_folders_of_the_units() -> None:
    made = re.search(r"^  install -d -o specd -g specd -m 700 (.+)$", WRAPPER.read_text(), re.M)
    assert made
    wanted = set()
    for service in (read(path)["Service"] for path in OURS):
        for key, above in (("StateDirectory", "/var/lib"), ("RuntimeDirectory", "/run")):
            if key in service:
                assert int(service[f"{key}Mode"], 8) == 0o700
                wanted.add(f"{above}/{service[key]}")
    assert set(made[1].split()) == wanted
