"""Reads an OpenAPI document from its YAML or JSON files into one document without external
references.

References may point into other files (`common.yaml#/components/schemas/Error`, `pet.json`). Their
targets become components of the document, so that it can be published as one file. References to
examples are replaced by the examples, and `x-shared` at the root, a place for YAML anchors, is
removed, because many tools support neither.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import cache_from_source
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import yaml

from specd._engine.errors import DocumentError, SourceLocation
from specd._engine.openapi.structure import SECTIONS, Steps, children, steps_of, walk
from specd._engine.openapi.wording import NOTHING, did_you_mean, points_nowhere, reach

SHARED = "x-shared"
REPLACES = "x-replaces"
"""A key in a component: the reference that the component replaces, also in parts from
other files.
"""
_ANCHOR = re.compile(rb"(?<![^\s\[{,:])&[^\s\[\]{},]")
"""An anchor, which every alias needs. The search takes a hundredth of the time of YAML's
scanner.
"""
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
MAX_FILE = 64 * 1024 * 1024
"""The maximum size of one file of a document in bytes."""
MAX_NODES = 1_000_000
"""The maximum number of values in a file, including those that aliases repeat."""
MAX_TEXT = 2 * MAX_FILE
"""The maximum number of characters of its texts, including those that aliases repeat."""
MAX_FLOW = 10_000
"""The maximum number of open brackets, checked before YAML's parser."""
MAX_DIGITS = 4000
MAX_REPEATED = 1000
"""The maximum number of repeated keys that are reported."""
MAX_DEPTH = 200
"""The maximum number of nested objects and lists."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A complete document: its content, the text that is published, and its source files."""

    content: dict[str, Any]
    text: bytes
    files: tuple[Path, ...]


_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_DEEPEST_JSON = 900
"""The maximum number of levels that are parsed. The report of a document shows those over
`MAX_DEPTH`.
"""


def load(path: Path) -> Loaded:
    """Return a document with everything it refers to. Raise `DocumentError` for the first mistake.
    `checking.read` reports all mistakes.

    The text is that of the file if it has no external references or aliases, and otherwise YAML
    that is generated from the content.
    """
    bundle = Bundle(path)
    if bundle.faults:
        raise bundle.faults[0]
    content = bundle.content
    text = path.read_bytes()
    if bundle.source(path) != content or _has_aliases(text):
        text = dump(content)
    return Loaded(content, text, tuple(bundle.files))


def load_cached(path: Path) -> Loaded:
    """Return the same as `load`, from a cache if possible, because YAML takes 20 times as long.

    The cache is a file next to Python's compiled modules of the same folder and follows the same
    rules: `PYTHONDONTWRITEBYTECODE` and `PYTHONPYCACHEPREFIX` apply, and a read-only folder is not
    an error. It begins with a digest of all its sources.
    """
    place = cache_of(path)
    with suppress(OSError, ValueError, KeyError, TypeError):
        head, rest = place.read_bytes().split(b"\n", 1)
        facts = json.loads(head)
        folder = path.resolve().parent
        files = tuple(Path(os.path.normpath(folder / name)) for name in facts["files"])
        if facts["digest"] == _digest(files):
            size = facts["size"]
            return Loaded(json.loads(rest[size:]), rest[:size], files)
    loaded = load(path)
    if not sys.dont_write_bytecode:
        _write_cache(place, path, loaded)
    return loaded


def cache_of(path: Path) -> Path:
    """Return the path of a document's cache."""
    return Path(cache_from_source(str(path.with_suffix(".py")))).with_suffix(".document")


def _write_cache(place: Path, path: Path, loaded: Loaded) -> None:
    """Write the file atomically, because several processes may start simultaneously. The cache has
    the read permissions of the document.
    """
    # The paths are relative, so that the cache in a copy of the folder refers to the copied files.
    files = [os.path.relpath(file, path.resolve().parent) for file in loaded.files]
    head = {"digest": _digest(loaded.files), "files": files, "size": len(loaded.text)}
    unfinished = place.with_name(f"{place.name}.{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        mode = path.stat().st_mode & 0o666
        descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(b"%b\n%b" % (json.dumps(head).encode(), loaded.text))
                file.write(json.dumps(loaded.content).encode())
            unfinished.replace(place)
        except OSError:
            unfinished.unlink()


def _digest(files: tuple[Path, ...]) -> str:
    whole = sha256(yaml.__version__.encode() + _own_digest())
    for file in files:
        whole.update(sha256(file.read_bytes()).digest())
    return whole.hexdigest()


@cache
def _own_digest() -> bytes:
    return sha256(Path(__file__).read_bytes()).digest()


class Bundle:
    """One document from several files, with the origin of each part.

    `content` is the document. `origins` maps the steps to each part from another file to that file
    and the steps there. `faults` are errors for duplicate keys and for references without a target,
    which are not changed in the content. Raise `DocumentError` if the file does not contain an
    object.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.faults: list[DocumentError] = []
        self._sources: dict[Path, Any] = {}
        self.origins: dict[Steps, tuple[Path, Steps]] = {}
        self._root = self.path.as_uri()
        self.content = self._plain(self.source(path), "")
        if not isinstance(self.content, dict):
            raise _error_at(path, None, "a document is an object")
        self._names: dict[str, str] = {}
        """The absolute reference of a part of another file -> the reference in this document."""
        self._waiting: list[tuple[str, str, str, Any]] = []
        self._inlined: list[str] = []
        self._ids = {
            urljoin(self._root, str(node["$id"]))
            for _, node, kind in walk(self.content)
            if kind == "schema" and isinstance(node, dict) and "$id" in node
        }
        self._misplaced: dict[str, list[Steps]] = {}
        """The kind of an object -> the places of references that are not allowed for it."""
        self._has_media_types = str(self.content.get("openapi", "")).startswith("3.2")
        self._adopt()
        self._point_here(self.content, "document", self._root, ())
        self._add_components()
        for places in self._misplaced.values():
            more = f" (and at {len(places) - 1} more places)" if len(places) > 1 else ""
            message = f'a "$ref" cannot stand here: write it out{more}'
            self.faults.append(DocumentError(message, at=(*places[0], "$ref")))

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(self._sources)

    def source(self, path: Path) -> Any:
        """Return the content of a file. Raise `DocumentError`."""
        path = path.resolve()
        if path not in self._sources:
            self._sources[path], repeated = parse(path)
            self.faults += repeated
        return self._sources[path]

    def _lookup(self, absolute: str, at: Steps) -> Any:
        """Return a copy of the target of a reference. `at` is the place of the reference. Raise
        `DocumentError`.
        """
        uri, fragment = urldefrag(absolute)
        place = (*at, "$ref")
        if urlsplit(uri).scheme != "file":
            raise DocumentError(f"{uri}: references point into files, not to other machines", place)
        file = _path_of(uri)
        if not file.resolve().is_relative_to(self.path.parent):
            reason = "a reference points to files in the folder of the document, and in those below"
            raise DocumentError(f"{unquote(uri)}: {reason}", place)
        if file.exists() and not file.is_file():
            raise DocumentError(f"{unquote(uri)} is not a regular file", place)
        try:
            content = self.source(file)
        except DocumentError as error:
            raise DocumentError(str(error), place, spot=error.spot) from error
        is_name = fragment and not fragment.startswith("/")
        found = NOTHING if is_name else reach(content, steps_of(fragment))
        if found is NOTHING:
            name = "" if uri == self._root else os.path.relpath(file, self.path.parent)
            raise DocumentError(points_nowhere(f"{name}#{fragment}", content, fragment), place)
        return self._plain(found, absolute)

    def _plain(self, node: Any, place: str) -> Any:
        """Return a copy as from JSON: keys are text, and parts are not shared."""
        try:
            return json.loads(json.dumps(node, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise DocumentError(f"{place or self._root}: {error}") from error

    def _adopt(self) -> None:
        """Record the components that are only references into other files, and those that replace
        parts of other files.
        """
        for (section, name), component, kind in children(
            self.content.get("components"), "components"
        ):
            if not isinstance(component, dict):
                continue
            replaced = component.pop(REPLACES, None)
            absolute = urljoin(self._root, str(replaced or component.get("$ref", "")))
            if self._is_elsewhere(absolute) and absolute not in self._names:
                if not replaced:
                    try:
                        node = self._lookup(absolute, ("components", section, name))
                    except DocumentError:
                        continue  # reported when references are followed
                    self._waiting.append((absolute, kind, str(name), node))
                self._names[absolute] = f"#/components/{section}/{name}"

    def _is_elsewhere(self, absolute: str) -> bool:
        return urldefrag(absolute)[0] != self._root

    def _point_here(self, node: Any, kind: str, base: str, at: Steps) -> Any:
        """Return an object of the file `base` with its references changed to this document.
        References to a schema's `$id`, and those in such a schema, are not changed.
        """
        if kind == "schema" and isinstance(node, dict) and "$id" in node:
            return node
        reference = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(reference, str):
            absolute = urljoin(base, reference)
            if has_no_reference(kind, has_media_types=self._has_media_types):
                self._misplaced.setdefault(kind, []).append(at)
                node["$ref"] = absolute
                return node
            if urldefrag(absolute)[0] in self._ids:
                return node
            is_elsewhere = self._is_elsewhere(absolute)
            inlined = {"pathItem": is_elsewhere, "example": True}
            try:
                if inlined.get(kind):
                    return self._inline(node, kind, absolute, at)
                own = "#" + urldefrag(absolute)[1]
                node["$ref"] = self._name(absolute, kind, at) if is_elsewhere else own
            except DocumentError as error:
                self.faults.append(error)
                node["$ref"] = absolute
        for steps, child, kind_of_child in list(children(node, kind)):
            holder = node if len(steps) == 1 else node[steps[0]]
            holder[steps[-1]] = self._point_here(child, kind_of_child, base, at + steps)
        return node

    def _inline(self, node: dict[str, Any], kind: str, absolute: str, at: Steps) -> Any:
        """Return the target of a reference, which replaces the reference. Raise `DocumentError`."""
        if absolute in self._inlined:
            raise DocumentError(f'"{node["$ref"]}" refers to itself', at=(*at, "$ref"))
        found = self._lookup(absolute, at)
        if not isinstance(found, dict):
            raise DocumentError(f'"{node["$ref"]}" does not point to an object', at=(*at, "$ref"))
        self._note_origin(at, absolute)
        self._inlined.append(absolute)
        whole = {**found, **{key: value for key, value in node.items() if key != "$ref"}}
        whole = self._point_here(whole, kind, urldefrag(absolute)[0], at)
        self._inlined.pop()
        return whole

    def _name(self, absolute: str, kind: str, at: Steps) -> str:
        """Return the reference to a component for a part of another file. `at` is the place of the
        reference. Raise `DocumentError`.
        """
        if absolute not in self._names:
            found = self._lookup(absolute, at)
            if kind not in SECTIONS:
                raise DocumentError('a "$ref" cannot stand here: write it out', at=(*at, "$ref"))
            section = SECTIONS[kind]
            file, fragment = urldefrag(absolute)
            own_name = str(steps_of(fragment)[-1]) if fragment else _path_of(file).stem
            first = _NO_NAME.sub("_", own_name)
            name, number = first, 2
            taken = self.content.get("components", {}).get(section, {}).keys() | {
                other for _, other_kind, other, _ in self._waiting if other_kind == kind
            }
            while name in taken:
                name, number = f"{first}_{number}", number + 1
            self._names[absolute] = f"#/components/{section}/{name}"
            self._waiting.append((absolute, kind, name, found))
        return self._names[absolute]

    def _add_components(self) -> None:
        components = self.content.setdefault("components", {})
        while self._waiting:
            absolute, kind, name, node = self._waiting[-1]
            place = ("components", SECTIONS[kind], name)
            self._note_origin(place, absolute)
            components.setdefault(SECTIONS[kind], {})[name] = node
            self._waiting.pop()
            self._point_here(node, kind, urldefrag(absolute)[0], place)
        self.content.pop(SHARED, None)
        components.pop("examples", None)
        if not components:
            del self.content["components"]

    def _note_origin(self, at: Steps, absolute: str) -> None:
        file, fragment = urldefrag(absolute)
        self.origins[at] = _path_of(file), steps_of(fragment)


def has_no_reference(kind: str, *, has_media_types: bool) -> bool:
    """Return whether an object of a kind cannot be replaced by a reference. Media types have
    components since OpenAPI 3.2.
    """
    if kind == "media":
        return not has_media_types
    return kind not in SECTIONS and kind != "example"


def _path_of(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Loads YAML 1.2 with the core schema (section 10.3.2), in which `no` and `2026-01-02` are
    text. It records duplicate keys.

    libyaml's loader is ten times as fast. The pure Python loader is used if the wheel does not have
    it.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def __init__(self, text: bytes) -> None:
        super().__init__(text)
        self.merged = 0
        self.repeated: list[yaml.ScalarNode] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        keys = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                if key.value in keys and len(self.repeated) < MAX_REPEATED:
                    self.repeated.append(key)
                keys.add(key.value)
        return super().construct_mapping(node, deep)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge the objects that merge keys name, each key once. PyYAML itself copies all pairs of
        all levels.
        """
        merged: dict[Any, Any] = {}
        own = []
        for key, value in node.value:
            if key.tag != _MERGE:
                own.append((key, value))
                continue
            parts = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for part in reversed(parts):
                if not isinstance(part, yaml.MappingNode):
                    raise yaml.constructor.ConstructorError(
                        None, None, "a merge key takes an object", part.start_mark
                    )
                if any(key.tag == _MERGE for key, _ in part.value):
                    self.flatten_mapping(part)
                self.merged += len(part.value)
                if self.merged > MAX_NODES:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"merge keys repeat over {MAX_NODES:,} values", part.start_mark
                    )
                merged |= {_identity(pair[0]): pair for pair in part.value}
        if merged or len(own) < len(node.value):
            node.value = [*merged.values(), *own]

    def construct_integer(self, node: yaml.ScalarNode) -> int:
        text = node.value
        if len(text) > MAX_DIGITS:
            raise yaml.constructor.ConstructorError(
                None, None, f"a number has at most {MAX_DIGITS} digits", node.start_mark
            )
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _identity(key: yaml.Node) -> Any:
    return (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key)


_MERGE = "tag:yaml.org,2002:merge"
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first
    )
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_integer)


def compose(path: Path) -> yaml.Node:
    """Return the nodes of a valid file, with line numbers."""
    node: yaml.Node = _Loader(_NO_YAML.sub(_replaced, path.read_bytes())).get_single_node()
    return node


def flatten(node: yaml.MappingNode) -> None:
    """Merge the objects that merge keys of an object name into it. Raise `yaml.YAMLError`."""
    _Loader(b"").flatten_mapping(node)


_NO_YAML = re.compile(rb"\x7f|\xc2[\x80-\x84\x86-\x9f]|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""Characters that JSON allows but YAML does not: control characters, and lone surrogates."""


def _replaced(found: re.Match[bytes]) -> bytes:
    return rb"\u0020" if found[0].startswith(b"\\") else b" "


def parse(path: Path) -> tuple[Any, list[DocumentError]]:
    """Return the content of a YAML or JSON file, and an error for each duplicate key. Raise
    `DocumentError` with the spot of a syntax error.

    JSON is read as YAML, which takes 20 times as long, only if it has a mistake, to find its spot.
    """
    try:
        text = _read(path)
        with suppress(ValueError, RecursionError):
            content = _parse_json(text)
            _check_size(path, content)
            return content, []
        _check_flow(path, text)
        loader = _Loader(text)
        try:
            content = loader.get_single_data()
        finally:
            loader.dispose()
        _check_size(path, content)
    except OSError as error:
        siblings = [each.name for each in path.parent.glob("*")]
        right = did_you_mean(path.name, siblings)
        raise DocumentError(f"{path}: {error.strerror}{right}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem)
        raise _error_at(path, mark, _REMEDIES.get(problem, problem)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _error_at(path, None, str(error)) from error
    return content, [
        _error_at(path, key.start_mark, f"the key {key.value} comes twice: remove one of them")
        for key in loader.repeated
    ]


def _read(path: Path) -> bytes:
    """Return the bytes of a file. Raise `DocumentError` for a file that is too large or endless."""
    with path.open("rb") as file:
        text = file.read(MAX_FILE + 1)
    if len(text) > MAX_FILE:
        raise _error_at(path, None, f"the file has more than {MAX_FILE >> 20} MiB")
    return text


def _check_flow(path: Path, text: bytes) -> None:
    """Raise `DocumentError` for brackets and dashes outside quoted texts that are nested so deep
    that YAML's parser would exhaust the stack.
    """
    if text.count(b"[") + text.count(b"{") + text.count(b"- -") <= MAX_FLOW:
        return
    depth = 0
    for number, line in enumerate(_QUOTED.sub(_lines_of, text).split(b"\n"), 1):
        opened = line.count(b"[") + line.count(b"{")
        depth = max(depth + opened - line.count(b"]") - line.count(b"}"), 0)
        if max(opened if depth else 0, depth, line.count(b"- -")) > MAX_FLOW:
            raise _too_deep(path, number)


_QUOTED = re.compile(rb"""'[^']*+'|"(?:[^"\\]|\\.)*+"|#.*+""")


def _lines_of(quoted: re.Match[bytes]) -> bytes:
    return b"\n" * quoted[0].count(b"\n")


def _too_deep(path: Path, line: int = 1) -> DocumentError:
    reason = f"objects and lists are nested deeper than {MAX_DEPTH} levels"
    return DocumentError(f"{path}:{line}:1: {reason}", spot=SourceLocation(path, line, 1))


def _check_size(path: Path, content: Any) -> None:
    """Raise `DocumentError` for a document with too many values or characters, including
    repetitions by aliases, for one that contains itself or is nested too deep, and for lone
    surrogates or numbers that are not finite.
    """
    sizes: dict[int, tuple[int, int, int]] = {}
    """Object -> its numbers of values, characters and levels, which are 0 until it is finished."""
    waiting: list[tuple[Any, bool, Steps]] = [(content, False, ())]
    while waiting:
        node, is_done, at = waiting.pop()
        if not isinstance(node, dict | list):
            continue
        parts = node.items() if isinstance(node, dict) else enumerate(node)
        if not is_done:
            if id(node) in sizes:
                if not sizes[id(node)][0]:
                    raise _error_of(path, at, "it holds itself")
                continue
            if len(at) > MAX_DEPTH:
                raise _error_of(path, at[:3], f"it is nested deeper than {MAX_DEPTH} levels")
            sizes[id(node)] = (0, 0, 0)
            waiting.append((node, True, at))
            waiting += [(it, False, (*at, key)) for key, it in parts if isinstance(it, dict | list)]
            continue
        values, characters, levels = 1, 0, 0
        for key, it in parts:
            texts = [each for each in (key, it) if isinstance(each, str)]
            if isinstance(it, float) and not isfinite(it):
                raise _error_of(path, (*at, key), "it is not a finite number")
            for text in texts:
                characters += len(text)
                if not (text.isascii() or _is_whole(text)):
                    raise _error_of(path, at, "it has half a character (a lone surrogate)")
            inner = sizes[id(it)] if isinstance(it, dict | list) else (1, 0, 0)
            values += inner[0]
            characters += inner[1]
            levels = max(levels, inner[2])
        sizes[id(node)] = (values, characters, levels + 1)
        if values > MAX_NODES:
            raise _error_of(path, at, f"it has more than {MAX_NODES:,} values")
        if characters > MAX_TEXT:
            raise _error_of(path, at, f"it has texts of more than {MAX_TEXT:,} characters")
        if levels + len(at) >= MAX_DEPTH:
            raise _error_of(path, at[:3], f"it is nested deeper than {MAX_DEPTH} levels")


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _error_of(path: Path, at: Steps, problem: str) -> DocumentError:
    place = "/".join(ascii(str(step))[1:-1][:60] for step in at[:20])
    return DocumentError(f"{path}: #/{place}: {problem}", spot=SourceLocation(path, 1, 1))


def _parse_json(text: bytes) -> Any:
    """Return the content of a JSON text. Raise `ValueError` if it is not JSON or has a duplicate
    key.
    """
    _require_shallow(text)
    return json.loads(text, object_pairs_hook=_object_of, parse_constant=_refuse_constant)


def _require_shallow(text: bytes) -> None:
    """Raise RecursionError for JSON that is nested too deeply to parse. Python's own limit is not
    used, because a library may have raised it beyond the size of the stack.
    """
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        sign = match.group()
        depth += (sign in b"[{") - (sign in b"]}")
        if depth > _DEEPEST_JSON:
            raise RecursionError


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key comes twice")
    return made


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_REMEDIES = {
    "mapping values are not allowed in this context": (
        "mapping values are not allowed here: this line is indented too far, or its text has a "
        "colon and needs quotes"
    ),
    "did not find expected key": (
        "this is no key of the object above: indent it as the object's other keys are, and quote "
        "a text that goes on after a closing quote or begins with a special character"
    ),
    "did not find expected '-' indicator": (
        "this is no item of the list above: begin it with a dash, or indent it otherwise"
    ),
    "could not find expected ':'": "a key needs a colon and a space after it",
    "found character that cannot start any token": (
        "a text cannot begin with this character: indent by spaces, not by tabs, and quote a text "
        "that begins with @ or `"
    ),
}
"""A message of libyaml -> a message with a remedy."""


def _error_at(path: Path, mark: Any, problem: str) -> DocumentError:
    spot = (
        SourceLocation(path, mark.line + 1, mark.column + 1) if mark else SourceLocation(path, 1, 1)
    )
    return DocumentError(f"{path}:{spot.line}:{spot.column}: {problem}", spot=spot)


def _has_aliases(text: bytes) -> bool:
    if _ANCHOR.search(text) is None or _is_json(text):
        return False
    tokens = yaml.scan(text, Loader=_Loader)
    return any(isinstance(token, yaml.AliasToken) for token in tokens)


def _is_json(text: bytes) -> bool:
    try:
        _parse_json(text)
    except (ValueError, RecursionError):
        return False
    return True


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _dump_text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _dump_text)


def dump(content: Any) -> bytes:
    """Return YAML without aliases."""
    text: str = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text.encode()
