"""Checks whether every requirement has a wheel for each Python and platform. Run by
`scripts/wheels`.

pip resolves all extras together, within constraints.txt, as on the given platform. It evaluates
conditions on platforms for the current machine, so those requirements are checked separately.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
FORECAST = ("3.15",)
"""Versions that are not supported yet. Missing wheels for them are not errors."""
Report = list[dict[str, Any]]
_NONE_FITS = re.compile(r"No matching distribution found for (\S+)")


@dataclass(frozen=True)
class Platform:
    """A platform: `tags` are accepted by pip there, and `markers` are its values in conditions of
    requirements.
    """

    name: str
    tags: tuple[str, ...]
    markers: Mapping[str, str]


def _linux(name: str, machine: str) -> Platform:
    """Return a Linux platform with glibc 2.28. manylinux2014, 2010 and 1 are older names of 2.17,
    2.12 and 2.5.
    """
    names = [f"_2_{minor}" for minor in range(28, 4, -1)] + ["2014", "2010", "1"]
    seen = {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": machine}
    return Platform(name, tuple(f"manylinux{each}_{machine}" for each in names), seen)


PLATFORMS = (
    _linux("Linux x86-64", "x86_64"),
    _linux("Linux arm64", "aarch64"),
    Platform(
        "macOS arm64",
        ("macosx_14_0_arm64",),
        {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"},
    ),
)


def main() -> int:
    """Print the table. Return 1 if a wheel is missing for a supported Python."""
    extras = _extras()
    print(f"Extras: {', '.join(extras)}. Linux with glibc 2.28, macOS 14, or newer.\n")
    print(f"| Python | {' | '.join(platform.name for platform in PLATFORMS)} |")
    print("|---|" + "---|" * len(PLATFORMS))
    is_missing = False
    for version in (*SUPPORTED, *FORECAST):
        cells = []
        for platform in PLATFORMS:
            missing = find_missing(version, platform, f"{ROOT}[{','.join(extras)}]")
            cells.append(f"no wheel: {', '.join(missing)}" if missing else "all wheels")
            is_missing |= bool(missing) and version in SUPPORTED
        forecast = "" if version in SUPPORTED else " (forecast)"
        print(f"| {version}{forecast} | {' | '.join(cells)} |", flush=True)
    return int(is_missing)


def find_missing(version: str, platform: Platform, wanted: str) -> list[str]:
    """Return the requirements, direct and indirect, that have no wheel for this Python and
    platform.
    """
    constraints = ROOT / "constraints.txt"
    report, output = _resolved(version, platform, [wanted, "--constraint", str(constraints)])
    if report is not None:
        there_alone = sorted(_required_there_alone(report, version, platform))
        return find_without_wheel(version, platform, there_alone)
    pins = [line for line in constraints.read_text().splitlines() if "==" in line]
    return find_without_wheel(version, platform, pins) or [output.strip().rpartition("\n")[2]]


def find_without_wheel(
    version: str, platform: Platform, wanted: Sequence[str], *options: str
) -> list[str]:
    """Return the given requirements that have no wheel, without looking at their dependencies."""
    left, missing = list(wanted), []
    while left:
        _, output = _resolved(version, platform, ["--no-deps", *options, *left])
        found = _NONE_FITS.search(output)
        if found is None:
            break
        missing.append(found[1])
        left.remove(found[1])
    return missing


def _resolved(version: str, platform: Platform, wanted: Sequence[str]) -> tuple[Report | None, str]:
    """Return what pip would install on the platform, or None if it fails, and its output."""
    tags = [part for tag in platform.tags for part in ("--platform", tag)]
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.json"
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
             "--disable-pip-version-check", "--only-binary=:all:", "--implementation", "cp",
             "--python-version", version, *tags, "--target", directory, "--report", str(report),
             *wanted],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            return None, done.stderr
        return json.loads(report.read_text())["install"], done.stderr


def _required_there_alone(report: Report, version: str, platform: Platform) -> set[str]:
    """Return the requirements that apply on that platform but not on this machine."""
    known = {canonicalize_name(item["metadata"]["name"]): item["metadata"] for item in report}
    seen = {**platform.markers, "python_version": version, "python_full_version": f"{version}.0"}
    asked = [(canonicalize_name(item["metadata"]["name"]), tuple(item.get("requested_extras", [])))
             for item in report if item["requested"]]  # fmt: skip
    done, unknown = set(asked), set()
    while asked:
        name, extras = asked.pop()
        for text in known[name].get("requires_dist", []):
            requirement = Requirement(text)
            marker = requirement.marker
            if marker and not any(marker.evaluate({**seen, "extra": e}) for e in ("", *extras)):
                continue
            found = (canonicalize_name(requirement.name), tuple(sorted(requirement.extras)))
            if found[0] not in known:
                unknown.add(f"{requirement.name}{requirement.specifier}")
            elif found not in done:
                done.add(found)
                asked.append(found)
    return unknown


def _extras() -> list[str]:
    parser = ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return list(parser["options.extras_require"])


if __name__ == "__main__":
    sys.exit(main())
