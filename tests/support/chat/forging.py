"""Forged archives: valid ones with a change and matching hashes."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from adapters.archives import MANIFEST

Rows = list[dict[str, Any]]
Change = Callable[[Rows], Any]


def forge(archive: Path, target: Path, part: str, change: Change) -> Path:
    """Copy an archive with other rows in one file and a matching manifest."""
    with zipfile.ZipFile(archive) as honest:
        entries = {name: honest.read(name) for name in honest.namelist()}
    manifest = orjson.loads(entries[MANIFEST])
    name = f"{part}.jsonl"
    rows: Rows = [orjson.loads(line) for line in entries[name].splitlines()]
    change(rows)
    entries[name] = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    (facts,) = [each for each in manifest["files"] if each["name"] == name]
    digest = hashlib.sha256(entries[name]).hexdigest()
    facts.update(rows=len(rows), bytes=len(entries[name]), sha256=digest)
    return write(target, entries, manifest)


def forge_manifest(
    archive: Path, target: Path, change: Callable[[dict[str, Any], dict[str, bytes]], Any]
) -> Path:
    """Copy an archive with another manifest or other files."""
    with zipfile.ZipFile(archive) as honest:
        entries = {name: honest.read(name) for name in honest.namelist()}
    manifest = orjson.loads(entries[MANIFEST])
    change(manifest, entries)
    return write(target, entries, manifest)


def forge_file(archive: Path, target: Path, folder: str, content: bytes | None) -> Path:
    """Copy an archive with other content of a folder's only file, or without it if None."""

    def change(manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
        (facts,) = [each for each in manifest["uploads"] if each["name"].startswith(f"{folder}/")]
        if content is None:
            del entries[facts["name"]]
            facts["missing"] = True
            return
        entries[facts["name"]] = content
        facts.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())

    return forge_manifest(archive, target, change)


def write(target: Path, entries: dict[str, bytes], manifest: dict[str, Any]) -> Path:
    entries[MANIFEST] = orjson.dumps(manifest)
    with zipfile.ZipFile(target, "w") as forged:
        for name, content in entries.items():
            forged.writestr(name, content)
    return target
