"""The units of systemd: they are valid, and nothing that fails stays down."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "docs" / "deploy"
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
    # The tool also reads the machine's own units, whose faults are not ours.
    told = [line for line in done.stderr.splitlines() if "specd-" in line]
    assert told == []


def test_what_fails_is_started_again_for_ever() -> None:
    assert len(OURS) == 3
    for path in OURS:
        unit = read(path)
        assert unit["Unit"]["StartLimitIntervalSec"] == "0", path.name
        assert unit["Service"]["Restart"] in ("always", "on-failure"), path.name
        assert 1 <= int(unit["Service"]["RestartSec"]) <= 10, path.name
        assert "Requires" not in unit["Unit"], "a dependency that fails is not tried again"
        assert unit["Service"]["LogRateLimitIntervalSec"] == "0", path.name


def test_a_start_may_last_as_long_as_it_waits_for_the_database() -> None:
    from cli.waiting import START_WAIT_S

    for path in OURS:
        service = read(path)["Service"]
        waits = float(service["ExecStart"].partition("--wait ")[2] or START_WAIT_S)
        assert int(service["TimeoutStartSec"]) >= waits + 30, path.name


def test_the_shared_folder_may_be_written() -> None:
    for path in OURS:
        if "migrate" not in path.name:
            assert read(path)["Service"]["ReadWritePaths"] == f"-{MOUNTED}"
    environment = (DEPLOY / "specd.env").read_text()
    for name in ("SPECD_CHAT_EXPORT_DIR", "SPECD_CHAT_UPLOAD_DIR"):
        assert f"{name}={MOUNTED}/" in environment
