"""Documents are read from YAML and JSON, combined from several files, and cached."""

import json
import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from specd._engine.document.checking import check_file
from specd._engine.errors import DocumentError
from specd._engine.openapi import loading
from specd._engine.openapi.loading import Bundle, cache_of, load, load_cached

Write = Callable[..., Path]
NEIGHBOUR = """
components:
  schemas:
    A:
      description: Has a B.
      properties:
        b: {$ref: "#/components/schemas/B"}
        c: {$ref: "#/components/schemas/C"}
        properties: {$ref: "#/components/schemas/D"}
    B: {type: string}
    C: {enum: [theirs]}
    D: {type: integer, example: {$ref: no reference}}
  headers:
    H: {schema: {$ref: "#/components/schemas/D"}}
"""
OWN = """
paths:
  /a:
    get:
      responses:
        200:
          headers: {H: {$ref: "other.yaml#/components/headers/H"}}
          content: {application/json: {schema: {$ref: "other.yaml#/components/schemas/A"}}}
components:
  schemas:
    B: {$ref: "other.yaml#/components/schemas/B"}
    C: {enum: [ours]}
    # The last word.
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a document, `own.yaml`, and other files. Return the path of the document."""

    def write(own: str = OWN, **further: str) -> Path:
        for name, text in {"own.yaml": own, "other.yaml": NEIGHBOUR, **further}.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path / "own.yaml"

    return write


def answer(document: Any) -> Any:
    return document["paths"]["/a"]["get"]["responses"]["200"]


class TestOtherFiles:
    def test_referenced_part_is_loaded_with_its_dependencies(self, write: Write) -> None:
        made = load(write()).content
        theirs = yaml.safe_load(NEIGHBOUR)["components"]
        a = theirs["schemas"]["A"]
        a["properties"]["c"]["$ref"] += "_2"
        assert made["components"] == {
            "schemas": {
                "A": a,
                "B": {"type": "string"},
                "C": {"enum": ["ours"]},
                "C_2": {"enum": ["theirs"]},
                "D": theirs["schemas"]["D"],
            },
            "headers": theirs["headers"],
        }
        assert answer(made)["headers"]["H"] == {"$ref": "#/components/headers/H"}

    def test_component_can_replace_that_of_other_files(self, write: Write) -> None:
        place = 'C: {x-replaces: "other.yaml#/components/schemas/C", '
        made = load(write(OWN.replace("C: {", place))).content
        assert made["components"]["schemas"]["C"] == {"enum": ["ours"]}
        assert "C_2" not in made["components"]["schemas"]

    def test_files_in_any_layout_are_loaded(self, write: Write) -> None:
        own = """
        paths:
          /a: {$ref: paths/a.yaml}
          /b: {$ref: "paths/a.yaml#/get/x-other"}
        """
        path = write(
            own,
            **{
                "paths/a.yaml": """
                get:
                  x-other: {post: {responses: {200: {description: Done}}}}
                  parameters: [{$ref: "../parameter.json"}]
                  responses: {200: {$ref: "../responses.json#/ok/0"}}
                """,
                "parameter.json": json.dumps({"name": "q", "in": "query", "schema": {}}),
                "responses.json": json.dumps(
                    {"ok": [{"content": {"a/b": {"schema": {"$ref": "schemas/tree.yaml"}}}}]}
                ),
                "schemas/tree.yaml": "properties: {left: {$ref: tree.yaml}, right: {$ref: '#'}}",
            },
        )
        bundle = Bundle(path)
        assert bundle.content["paths"]["/b"]["post"]["responses"]["200"] == {"description": "Done"}
        assert bundle.content["components"] == {
            "parameters": {"parameter": {"name": "q", "in": "query", "schema": {}}},
            "responses": {
                "0": {"content": {"a/b": {"schema": {"$ref": "#/components/schemas/tree"}}}}
            },
            "schemas": {
                "tree": {
                    "properties": {
                        "left": {"$ref": "#/components/schemas/tree"},
                        "right": {"$ref": "#/components/schemas/tree"},
                    }
                }
            },
        }
        folder = path.parent.resolve()
        assert bundle.origins["paths", "/a"] == (folder / "paths/a.yaml", ())
        assert bundle.origins["components", "responses", "0"] == (
            folder / "responses.json",
            ("ok", "0"),
        )

    @pytest.mark.parametrize(
        ("reference", "fault"),
        [
            ("other.yaml#/components/schemas/Z", "Z"),
            ("other.yaml#Anchor", 'other.yaml#Anchor" points nowhere'),
            ("absent.yaml", "No such file"),
            ("https://example.com/pet.yaml", "not to other machines"),
        ],
    )
    def test_missing_file_is_reported(self, write: Write, reference: str, fault: str) -> None:
        with pytest.raises(DocumentError, match=fault):
            load(write(OWN.replace("other.yaml#/components/schemas/A", reference)))

    def test_schemas_can_have_other_names(self, write: Write) -> None:
        own = """
        openapi: 3.1.0
        paths: {/a: {$ref: paths.yaml}}
        components:
          schemas:
            Node:
              $id: https://example.com/node
              properties: {next: {$ref: "#"}, leaf: {$ref: leaf}, size: {$ref: "#/$defs/size"}}
              $defs: {size: {type: integer}}
            Leaf: {$id: "https://example.com/leaf"}
            Tree: {$ref: "https://example.com/node"}
        """
        made = load(write(own, **{"paths.yaml": "get: {}"})).content
        assert made["components"] == yaml.safe_load(own)["components"]

    def test_cycle_of_paths_is_reported(self, write: Write) -> None:
        own = "paths: {/a: {$ref: circle.yaml}}"
        with pytest.raises(DocumentError, match="refers to itself"):
            load(write(own, **{"circle.yaml": "$ref: circle.yaml#"}))


class TestText:
    def test_single_file_is_published_unchanged(self, write: Write) -> None:
        text = "paths: {} # none yet\n"
        assert load(write(text)).text == text.encode()

    def test_combined_document_is_published_without_aliases(self, write: Write) -> None:
        own = "paths: {/a: &a {get: {summary: 'Two\n\n  lines'}}, /b: *a}\n"
        loaded = load(write(own))
        assert yaml.safe_load(loaded.text) == loaded.content
        assert loaded.content["paths"]["/b"] == {"get": {"summary": "Two\nlines"}}
        assert b"&" not in loaded.text

    def test_shared_parts_and_examples_are_repeated_at_each_place(self, write: Write) -> None:
        own = """
        x-shared:
          errors: &errors
            400: {$ref: "#/components/responses/Bad"}
            404: {$ref: "#/components/responses/Absent"}
        paths:
          /a: {get: {responses: {200: {}, <<: *errors, 404: {description: Ours}}}}
        components:
          examples: {One: {value: {$ref: as it is}}}
          responses:
            Bad:
              content: {a/b: {examples: {bad: {$ref: "#/components/examples/One"}}}}
        """
        bad = {"bad": {"value": {"$ref": "as it is"}}}
        assert load(write(own)).content == {
            "paths": {
                "/a": {
                    "get": {
                        "responses": {
                            "200": {},
                            "400": {"$ref": "#/components/responses/Bad"},
                            "404": {"description": "Ours"},
                        }
                    }
                }
            },
            "components": {
                "responses": {"Bad": {"content": {"a/b": {"examples": bad}}}},
            },
        }


class TestParsing:
    def test_yaml_has_version_1_2(self, write: Write) -> None:
        text = "a: [no, 2026-01-02, 0o17, 017, 0x1f, 1e3, -.5, ~, true, 1_0, 12:30:00, +7]"
        values = ["no", "2026-01-02", 15, 17, 31, 1000.0, -0.5, None, True, "1_0", "12:30:00", 7]
        assert load(write(text)).content == {"a": values}

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("a: 1\nb: {\n", "own.yaml:3:1: "),
            ("a: 1\n  b: 2\n", "own.yaml:2:4: mapping values are not allowed"),
            ("a: 1\nb: 2\na: 3\n", "own.yaml:3:1: the key a comes twice"),
            ("a: .inf\n", "#/a: it is not a finite number"),
            ("- a\n", "own.yaml:1:1: a document is an object"),
            ("a: \x00\n", "own.yaml"),
            ("a: *b\n", "own.yaml:1:4: found undefined alias"),
        ],
    )
    def test_errors_have_a_position(self, write: Write, text: str, fault: str) -> None:
        with pytest.raises(DocumentError, match=fault):
            load(write(text))


class TestCache:
    @pytest.fixture(autouse=True)
    def _parses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.parsed: list[str] = []
        monkeypatch.setattr(sys, "dont_write_bytecode", False)
        monkeypatch.setattr(sys, "pycache_prefix", None)
        parse = loading.parse

        def counted(path: Path) -> Any:
            self.parsed.append(path.name)
            return parse(path)

        monkeypatch.setattr(loading, "parse", counted)

    def test_second_reading_parses_nothing(self, write: Write) -> None:
        path = write()
        first, second = load_cached(path), load_cached(path)
        assert self.parsed == ["own.yaml", "other.yaml"]
        assert first == second
        assert first.content is not second.content

    def test_copied_folder_is_read_from_its_own_files(self, write: Write, tmp_path: Path) -> None:
        path = write()
        load_cached(path)
        shutil.copytree(path.parent, tmp_path / "copy" / "there")
        copied = tmp_path / "copy" / "there" / path.name
        assert load_cached(copied).files[0] == copied.resolve()
        assert self.parsed == ["own.yaml", "other.yaml"]
        copied.write_text(copied.read_text().replace("/a:", "/b:"))
        assert [*load_cached(copied).content["paths"]] == ["/b"]

    @pytest.mark.parametrize("name", ["own.yaml", "other.yaml"])
    def test_changed_file_is_parsed_again(self, write: Write, name: str) -> None:
        path = write()
        load_cached(path)
        file = path.with_name(name)
        before = file.stat()
        file.write_text(file.read_text().replace("B: {", "Y: {"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        if name == "own.yaml":
            assert "Y" in load_cached(path).content["components"]["schemas"]
        else:
            with pytest.raises(DocumentError, match='"B"'):
                load_cached(path)

    @pytest.mark.parametrize("damage", [b"", b"\n\n", b"nonsense", b"\xff\n-1\nx\n", b"{}\n{}"])
    def test_damaged_cache_is_replaced(self, write: Write, damage: bytes) -> None:
        path = write()
        first = load_cached(path)
        cache_of(path).write_bytes(damage)
        assert [load_cached(path), load_cached(path)] == [first, first]
        assert len(self.parsed) == 4

    def test_unwritable_folder_is_not_used(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = write()
        folder = path.parent / "__pycache__"
        folder.write_text("no folder")
        assert load_cached(path) == load_cached(path)
        folder.unlink()
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        load_cached(path)
        assert not folder.exists()

    def test_cache_has_the_permissions_of_the_document(self, write: Write) -> None:
        path = write()
        path.chmod(0o640)
        before = os.umask(0o022)
        try:
            load_cached(path)
        finally:
            os.umask(before)
        assert stat.S_IMODE(cache_of(path).stat().st_mode) == 0o640
        assert list((path.parent / "__pycache__").iterdir()) == [cache_of(path)]


def test_json_that_is_not_yaml_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    info = '{"title": "\x80 \\ud83d\\ude00 &a", "version": "1"}'
    path.write_text(f'{{"openapi": "3.0.3", "info": {info},\n "paths": {{}}, "tag": []}}')
    loaded = load(path)
    assert loaded.content["info"]["title"] == "\x80 \U0001f600 &a"
    assert loaded.text == path.read_bytes()
    (mistake,) = check_file(path)
    assert (mistake.line, mistake.column, mistake.place) == (2, 15, "tag")
