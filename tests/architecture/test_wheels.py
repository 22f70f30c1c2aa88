"""The results of `scripts/wheels` for a local folder of wheels."""

import zipfile
from pathlib import Path

import pytest

from tests.architecture import wheels

LINUX, ARM, MAC = wheels.PLATFORMS


def make_wheel(folder: Path, name: str, tag: str, *requires: str) -> None:
    with zipfile.ZipFile(folder / f"{name}-1.0-{tag}.whl", "w") as wheel:
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", "Provides-Extra: more"]
        lines += [f"Requires-Dist: {requirement}" for requirement in requires]
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", "\n".join(lines) + "\n")
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    return tmp_path


@pytest.mark.exhaustive
def test_missing_wheel_is_reported_by_python_and_platform(folder: Path) -> None:
    make_wheel(folder, "everywhere", "py3-none-any")
    make_wheel(folder, "old", "cp311-cp311-manylinux_2_17_x86_64")
    make_wheel(folder, "stable", "cp38-abi3-manylinux2014_x86_64")
    make_wheel(folder, "apple", "cp314-cp314-macosx_11_0_arm64")
    make_wheel(folder, "too_new", "cp314-cp314-manylinux_2_39_x86_64")
    pins = [f"{name}==1.0" for name in ("everywhere", "old", "stable", "apple", "too-new")]
    found = {
        (version, platform.name): wheels.find_without_wheel(version, platform, pins)
        for version, platform in (("3.11", LINUX), ("3.14", LINUX), ("3.14", ARM), ("3.14", MAC))
    }
    assert found == {
        ("3.11", "Linux x86-64"): ["apple==1.0", "too-new==1.0"],
        ("3.14", "Linux x86-64"): ["old==1.0", "apple==1.0", "too-new==1.0"],
        ("3.14", "Linux arm64"): ["old==1.0", "stable==1.0", "apple==1.0", "too-new==1.0"],
        ("3.14", "macOS arm64"): ["old==1.0", "stable==1.0", "too-new==1.0"],
    }


def test_condition_is_evaluated_for_the_platform(folder: Path) -> None:
    on_a_mac = "sys_platform == 'darwin'"
    make_wheel(folder, "first", "py3-none-any", f"second; {on_a_mac}", "third; extra == 'more'")
    make_wheel(folder, "third", "py3-none-any", f"fourth; {on_a_mac} and python_version < '3.13'")
    for wanted, version, platform, missing in (
        ("first", "3.14", LINUX, []),
        ("first", "3.14", MAC, ["second"]),
        ("first[more]", "3.14", MAC, ["second"]),
        ("first[more]", "3.12", MAC, ["fourth", "second"]),
    ):
        assert wheels.find_missing(version, platform, wanted) == missing, (wanted, version)
